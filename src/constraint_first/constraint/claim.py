"""Claims: decidable statements in free text, read by a small grammar into predicates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain
from math import isqrt
from typing import Final, Literal, TypeAlias

from constraint_first.answer.value import AnswerValue, read_answer
from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import Predicate, holds
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

# Digits of a number: enough for any constraint, few enough to convert; a modulus is never 0.
_NUMBER = r"(-?\d{1,18}(?:\.\d{1,18}|/[1-9]\d{0,17})?)"
_MODULUS = r"([1-9]\d{0,17})"
NAME = r"(?:[a-z](?:\s*\+\s*[a-z])?|answer|result|remainder|probability)"
_WORDS = {"one": 1, "single": 1, "two": 2, "three": 3, "four": 4}
_UNITS = "centimetres|centimeters|metres|meters|minutes|hours|grams|kilograms|dollars|cents"
_SPELLING = {"centimeters": "centimetres", "meters": "metres", "percentage": "percent"}
_PRECISION = {
    "integer": "1", "whole number": "1", "whole": "1", "unit": "1", "one": "1", "percent": "1",
    "tenth": "1/10", "hundredth": "1/100", "dollar": "1", "cent": "1/100",
}  # fmt: skip

_LATEX = (
    (r"\\(?:d|t)?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2"),
    (r"\\pmod\{?\s*(\w+)\s*\}?", r" (mod \1)"),
    (r"\\(?:leq?|leqslant)\b|≤", "<="),
    (r"\\(?:geq?|geqslant)\b|≥", ">="),
    (r"\\equiv|≡", " = "),
    (r"\\in\b|∈", " in "),
    (r"\\l?dots|\.\.\.", "…"),
    (r"\\(?:text|mathrm|textbf|mathbf|mathbb|boxed)\{([^{}]*)\}", r"\1"),
    (r"%", " percent "),
    (r"[–—−]", "-"),
    (r"\\([{}])", r"\1"),
    (r"\s*\+\s*", "+"),
    (r"\\[a-zA-Z]+", " "),
    (r"\\[,;!]|[$\\*`]", ""),
    (r"(?<=\d),(?=\d{3}\b)(?![^\[{(]*[\]})])", ""),  # 1,000 but not the set {0,100}
)  # fmt: skip


def plain(text: str) -> str:
    """Normalise LaTeX, typography and case."""
    for pattern, new in _LATEX:
        text = re.sub(pattern, new, text)
    return re.sub(r"\s+", " ", text).strip().lower()


_Build: TypeAlias = "Callable[[re.Match[str]], list[Predicate]]"


_BOUNDS = {"<": demand.below, ">": demand.above, "<=": demand.at_most, ">=": demand.at_least}
_DIRECTIONS: dict[str, demand.Direction] = {
    "increas": "increasing", "ascend": "increasing",
    "decreas": "decreasing", "descend": "decreasing",
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">="}


def _bound(sign: str, number: str) -> Predicate:
    return _BOUNDS[sign](Fraction(number))


def _range(match: re.Match[str]) -> list[Predicate]:
    low, high = Fraction(match[1]), Fraction(match[2])
    return [demand.between(low, high)] if low <= high else []


def _size(word: str) -> int:
    return _WORDS.get(word) or int(word)


def _digits(match: re.Match[str]) -> list[Predicate]:
    size = _size(match[1])
    return [demand.integer(), demand.between(10 ** (size - 1) if size > 1 else 0, 10**size - 1)]


def _unit(match: re.Match[str]) -> list[Predicate]:
    return [{"op": "in_unit", "unit": _SPELLING.get(match[1], match[1])}]


def _list(match: re.Match[str]) -> list[Predicate]:
    """Read consecutive numbers (7, 8, 9) as a range. Other lists give no predicate."""
    values = [int(one) for one in re.findall(r"\d{1,18}", match[0])]
    low, high = values[0], values[-1]
    return [demand.between(low, high)] if values == list(range(low, low + len(values))) else []


def _always(*predicates: Predicate) -> _Build:
    return lambda _match: list(predicates)


# The order matters: the words that a pattern matches are removed before the next one is tried, so
# that the 7 of "remainder when divided by 7" is not read a second time as a bound.
_GRAMMAR: tuple[tuple[str, _Build], ...] = (
    (rf"\bnearest ({'|'.join(_PRECISION)})\b",
     lambda m: [{"op": "rounded", "unit": _PRECISION[m[1]]}]),
    # Phrases without a constraint: alternatives, permissions, and what the answer is not.
    (r"\bintegers? or (?:an? )?(?:\w+ )?(?:fraction|decimal)s?\b", _always()),
    (r"\b(?:needs? not|not necessarily|not always|may not)(?: be)?(?: an?)? (?:integers?|whole)\b",
     _always()),
    (r"\bnot (?:an? |in )?(?:percent(?:age)?|fraction|decimal)\b", _always()),
    (r"\b(?:no|not|not an?) (?:integer|whole number)|\bnon-?integer", _always(demand.not_whole())),
    (r"\b(?:(?:at most|no more than|to|with) )?(no|\d|one|two|three) decimals?\b(?: places?)?",
     lambda m: [demand.decimals(0 if m[1] == "no" else _size(m[1]))]),
    (r"(?:remainder (?:of )?|leaves (?:a remainder of )?|congruent to )(\d{1,18})[^.;]{0,30}?"
     rf"(?:divided by|division by|modulo|mod) {_MODULUS}",
     lambda m: [demand.congruent(int(m[1]), int(m[2]))]),
    (rf"= ?(\d{{1,18}}) ?\(?mod(?:ulo)? ?{_MODULUS}\)?",
     lambda m: [demand.congruent(int(m[1]), int(m[2]))]),
    (r"\b(?:remainder|mod|modulo|reduced)\b[^.;]{0,60}?(?:divided by|division by|modulo|mod) "
     rf"{_MODULUS}|\b(?:mod|modulo) {_MODULUS}",
     lambda m: [demand.least_residue(int(m[1] or m[2]))]),
    (rf"\bform {_MODULUS}[a-z]\+(\d{{1,18}})(?![\da-z])",
     lambda m: [demand.congruent(int(m[2]), int(m[1]))]),
    (r"\b(?:last|final) (one|two|three|four|\d) digits?",
     lambda m: [demand.least_residue(10 ** _size(m[1]))]),
    (r"\b(single|one|two|three|four|\d)[- ]digit\b", _digits),
    (r"\b(?:not |in)divisible by\b[^,.;]*|\bnot (?:a )?multiple of\b[^,.;]*", _always()),
    (rf"\b(?:divisible by|(?:a )?multiples? of) {_MODULUS}",
     lambda m: [demand.divisible(int(m[1]))]),
    (rf"\b{_MODULUS} (?:is|must be) (?:evenly )?divisible by (?![\d\x00])",
     lambda m: [demand.divides(int(m[1]))]),
    (rf"\b(?:divides|divisors? of|factors? of) {_MODULUS}", lambda m: [demand.divides(int(m[1]))]),
    (r"\bdigits?\b[^.;]{0,40}\b(increas|decreas|ascend|descend)",
     lambda m: [demand.digits_ordered(_DIRECTIONS[m[1]])]),
    (r"\bdigit(?:s|al)?\b[^.;]{0,12}?\b(?:sum|add up|total)[^.;\d]{0,20}(\d{1,18})"
     r"|\bsum of (?:its |the |their )?digits[^.;\d]{0,20}(\d{1,18})",
     lambda m: [demand.digit_sum(int(m[1] or m[2]))]),
    (rf"{_NUMBER} ?(<=|<) ?{NAME} ?(<=|<) ?{_NUMBER}",
     lambda m: [_bound(_TURNED[m[2]], m[1]), _bound(m[3], m[4])]),
    (rf"\bstrictly between {_NUMBER} and {_NUMBER}",
     lambda m: [_bound(">", m[1]), _bound("<", m[2])]),
    (rf"\bbetween {_NUMBER} (?:and|to) {_NUMBER}", _range),
    (rf"[\[{{(] ?{_NUMBER} ?(?:,[^\[\]{{}}()]*)?(?:,|…|to|-) ?{_NUMBER} ?[\]}})]", _range),
    (rf"\b(?:from )?{_NUMBER} ?(?:to|through|-) ?{_NUMBER}\b", _range),
    (rf"(<=|>=|<|>) ?{_NUMBER}", lambda m: [_bound(m[1], m[2])]),
    (rf"\b(?:at most|no (?:more|greater|larger) than|not exceed(?:ing)?|cannot exceed|up to"
     rf"|maximum of|(?:less|smaller) than or equal to) {_NUMBER}",
     lambda m: [_bound("<=", m[1])]),
    (rf"\b(?:at least|no (?:less|smaller) than|minimum of|greater than or equal to) {_NUMBER}",
     lambda m: [_bound(">=", m[1])]),
    (rf"\b(?:less|smaller|fewer|lower) than {_NUMBER}|\b(?:below|under) {_NUMBER}",
     lambda m: [_bound("<", m[1] or m[2])]),
    (rf"\b(?:greater|more|larger|bigger) than {_NUMBER}|\b(?:above|exceeds?|over) {_NUMBER}",
     lambda m: [_bound(">", m[1] or m[2])]),
    (r"\bnon-?negative\b", _always(demand.at_least(0))),
    (r"\bpositive\b", _always(demand.above(0))),
    # In the plural, or before a noun, these mostly describe other things: "a sum of odd integers".
    (r"\b(?:integer|whole number|natural number|count)\b|(?:^|\bare )integers\b",
     _always(demand.integer())),
    (r"(?:^|\b(?:is|are|be|an?) )(?:\x00 )*(even|odd)\b(?! number of)",
     lambda m: [demand.parity("even" if m[1] == "even" else "odd")]),
    (r"\bperfect square\b|\bsquare of an integer\b", _always(demand.square())),
    (r"\b(?:m ?\+ ?n|p ?\+ ?q|a ?\+ ?b(?: ?\+ ?c)?)\b", _always({"op": "encoded"})),
    (r"\b(?:lowest terms|relatively prime|coprime|simplest form|reduced|simplified|irreducible)\b",
     _always(demand.reduced())),
    (r"\bfraction\b", _always(demand.form("fraction"))),
    (r"\bmultiple[- ]choice\b|\bletter\b|\boptions?\b|\ba, ?b, ?c\b|\ba-e\b",
     _always(demand.form("choice"))),
    (r"(?<!\d )\b(percent(?:age)?)\b", _unit),
    (rf"(?:\bin |^)({_UNITS})\b", _unit),
    # One value, or a list of values; with a unit the number could be a different one.
    (r"^ ?\d{1,18}(?:, ?\d{1,18})+(?:,? and \d{1,18})? ?$", _list),
    (rf"(?:^|\b(?:is|are|be|equals?|written as|(?<![^ ]){NAME} ?=) ?){_NUMBER}"
     rf"(?! (?:{_UNITS})\b)(?= ?(?:$|,|\(| [a-z]+ ?$))",
     lambda m: [demand.between(Fraction(m[1]), Fraction(m[1]))]),
)  # fmt: skip

_COMPILED = tuple((lazy_pattern(pattern), build) for pattern, build in _GRAMMAR)


def read_predicates(sentence: str) -> Iterator[Predicate]:
    """Read the predicates in a sentence, whatever their subject."""
    for pattern, build in _COMPILED:
        while match := pattern.search(sentence):
            yield from build(match)
            sentence = f"{sentence[: match.start()]}\x00{sentence[match.end() :]}"


# Extraction of decidable statements from free text: "the answer is an even integer below 1000".
#
# A claim is a predicate together with its subject. The grammar is small on purpose: other
# statements are left out, and the audit counts a text without claims as undecided.

Subject: TypeAlias = Literal["answer", "other"]
"""The subject of a claim: the final answer, something else, or unknown."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A predicate that a text states, and its subject."""

    predicate: Predicate
    subject: Subject = "answer"


_SENTENCE = lazy_pattern(r"\.(?=\s|$)|;")
_VERB = lazy_pattern(
    r"\b(?:is|are|must|should|shall|will|can|cannot|lies|lie|has|have|leaves|ranges?|needs?|in|equals?)"
    r"\b|<=|>=|<|>|=|:"
)
_ANSWER = lazy_pattern(r"\b(?:final|answer|answers|result|output|solution|response)\b")
_LEADING = lazy_pattern(r"^(?:the|a|an|this|that|it|they|value|of) |^\W+")
_REASON = lazy_pattern(r"\((?:since|because|as|when|if)\b[^()]*\)")
_EACH = lazy_pattern(r"^\W*(?:each|every|all|any|both)\b")


def read_claims(text: str, names: frozenset[str] = frozenset()) -> list[Claim]:
    """Read the claims of a text; ``names`` are words that mean the answer of this problem."""
    return [
        Claim(predicate, _subject(sentence, names))
        for sentence in _SENTENCE.split(_REASON.sub("", plain(text)))
        for predicate in read_predicates(sentence)
    ]


def _subject(sentence: str, names: frozenset[str]) -> Subject:
    """Find the subject of a sentence from the words before its first verb.

    Without a subject ("positive integer", "at most 999") the sentence is about the final answer; a
    variable or noun that the problem does not ask for is another subject.
    """
    if _ANSWER.search(sentence):
        return "answer"
    verb = _VERB.search(sentence)
    head = sentence[: verb.start()] if verb else ""
    inequality = re.search(rf"\d ?<=? ?({NAME}) ?<", sentence)
    head = inequality[1] if inequality else head
    while (shorter := _LEADING.sub("", head)) != head:
        head = shorter
    if _EACH.match(sentence):  # "each …" is about several things, the answer is one
        return "other"
    # "The digit sum of the number" is not the number.
    words = set(_WORD.findall(re.split(r" (?:of|when) ", head)[0]))
    named = words & names or any(" " in name and name in head for name in names)
    return "answer" if named or not head.strip() else "other"


# --- Names of the answer: the words with which the problem asks for it.

_WORD = lazy_pattern(r"\b[a-z]+(?:\+[a-z])*\b")
_ASKING = lazy_pattern(
    r"\b(?:find|determine|compute|give(?! (?:the exact|the number|them))|what|which|solve"
    r"|how (?:many|long|old|likely))\b[^?.]*"
)
_STOP = lazy_pattern(r"\b(?:of|that|when|if|such|with|on|to|between|for|do(?:es)?|can|from|at)\b|,")
_COUNT = lazy_pattern(r"^(?:how many|find the number of) ")
_IDLE = frozenset(
    "find determine compute give what which how solve the a an is are was it its this their there "
    "in be all one exact".split()
)
_ALSO = {
    "likely": "probability", "chance": "probability", "old": "age", "long": "length",
    "mean": "average", "average": "mean", "integer": "number", "number": "integer",
    "percent": "percentage", "modulo": "remainder",
}  # fmt: skip


def names_of_answer(text: str) -> frozenset[str]:
    """Collect the words that mean the answer of a problem: "remainder", "m+n", "width", …"""
    asked = _ASKING.findall(plain(text))
    if not asked:
        return frozenset()
    words = set(_WORD.findall(_STOP.split(_COUNT.sub("", asked[-1]))[0])) - _IDLE
    if _COUNT.match(asked[-1]):
        # The counted things are not the answer: "the multiples are odd" is not about their number.
        left = ["remaining"] if re.search(r"\b(?:left|remains?|unsold)\b", asked[-1]) else []
        return frozenset(["count", *left, *(f"number of {word}" for word in words)])
    return frozenset(words | {_ALSO[word] for word in words if word in _ALSO})


# Consistency of a statement about the answer with the constraints that the problem's text states.
#
# Values of many kinds are tried, and integers around the numbers in either text. A statement
# contradicts the text if some values satisfy the text and none of these satisfies the statement; a
# text without readable constraints contradicts nothing.

_WHOLE_TO: Final = 1_000
_WHOLE: Final = (*range(-20, _WHOLE_TO + 1), *(10**power for power in range(4, 10)))
_CONTRADICTION_NUMBER: Final = lazy_pattern(r"\d{1,18}")
_MOST_NAMED: Final = 8
_OTHER: Final = ("0.5", "2.25", "12.5", "-0.75", r"\sqrt{2}", r"3\sqrt{5}")


def contradicts(stated: Iterable[Stated], said: str, problem: str) -> bool:
    """Whether a sentence about a problem's answer contradicts the stated constraints."""
    read = read_claims(said, names_of_answer(problem))
    claims = [claim.predicate for claim in read if claim.subject == "answer"]
    if not claims:
        return False
    facts = [one.predicate for one in stated]
    tried = chain(_values(), _values_near([*facts, *claims]))
    possible = (_allows(claims, value) for value in tried if _allows(facts, value))
    first = next(possible, None)
    return first is False and not any(possible)


def _allows(predicates: Iterable[Predicate], value: AnswerValue) -> bool:
    return all(holds(one, value) != "violated" for one in predicates)


def _values_near(predicates: Iterable[Predicate]) -> Iterator[AnswerValue]:
    """Yield the integers around the numbers in predicates, and the next squares."""
    named = {int(found) for one in predicates for found in _CONTRADICTION_NUMBER.findall(repr(one))}
    for number in sorted(one for one in named if one > _WHOLE_TO)[:_MOST_NAMED]:
        root = isqrt(number)
        squares = ((root + more) ** 2 for more in range(1, 4))
        for whole in chain(range(number - 20, number + _WHOLE_TO + 1), squares):
            yield AnswerValue(Fraction(whole))


@cache
def _values() -> tuple[AnswerValue, ...]:
    fractions = (f"{top}/{bottom}" for bottom in range(2, 13) for top in range(1, 2 * bottom))
    texts = (*map(str, _WHOLE), *fractions, *_OTHER)
    return tuple(value for text in texts if (value := read_answer(text)) is not None)
