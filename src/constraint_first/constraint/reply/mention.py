"""Words that a request names, in quotation marks or after a noun, and how often it wants them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from constraint_first.constraint.reply.bound import Amount, amounts
from constraint_first.constraint.reply.directive import VERBS
from constraint_first.constraint.reply.pattern import either
from constraint_first.constraint.reply.request import QUOTED, Sentence
from constraint_first.pattern import lazy_pattern

_NO_WORD: Final = either(
    "in, with, that, which, of, you, your, to, for, by, count, counts, counter, limit, limits, per,"
    " should, must, are, is, be, from, on, as, and, or, long, before, after, than, only, each, all,"
    " such, below, above, like, starting, appear, appears, used, not, at, have, has, it, the, a,"
    " an, this, these, those, can, cannot, will, do, does, occur, occurs, may, play, choice,"
    " choices, problem, game, maximum, minimum, we, i, if, but, when, where, so, then, were, was,"
    " between, length, processing, processor, document, file, within, less, more, exactly, max,"
    " min, total, written, here, there, using, without, people, please, too, also, somewhere,"
    " following, follow, afterwards, else, completely, entirely, altogether, anywhere, nor,"
    " whatsoever, would, could, might, shall, ideal"
)
_BARE: Final = rf"(?<![\w-])(?!{_NO_WORD}\b)[a-z][\w-]*"
_JOIN: Final = (
    r"(?:\s*,\s*(?:(?:and|or)\s+|&\s*)?|\s+(?:and|or|nor|&|as\s+well\s+as)\s+|\s*/\s*)"
    r"(?:of\s+)?(?:the\s+(?:key)?words?\s+)?"
)
_MARKED: Final = rf"(?:{QUOTED}|\*\*[a-z][\w' -]{{0,40}}\*\*)"
"""A word that is set apart: in quotation marks, or in bold."""
_QUOTES: Final = rf"{_MARKED}(?:{_JOIN}{_MARKED}){{0,30}}"
_LISTED: Final = rf"{_QUOTES}|{_BARE}(?:{_JOIN}{_BARE}){{0,30}}"
_SURE_NOUN: Final = r"(?:key\s?words?|words?|phrases?|expressions?)"
_NOUN: Final = rf"(?:{_SURE_NOUN}|terms?|items|names?|vocabulary)"
_BETWEEN: Final = (
    r"(?:such\s+as\s+|like\s+|of\s+(?=[\"*])"
    r"|to\s+(?:include|use|mention|avoid|leave\s+out)\s*(?=:)"
    r"|(?:(?:that|which)\s+)?(?:must|should|need|have)\b[^:.;\"]{0,80}(?=:)"
    r"|(?:in|within|throughout)\s+(?:your|the)\s+(?:entire\s+)?[a-z]+\s*(?=:))?"
    r"[:,-]?\s*[\[({]?\s*"
)
_COUNTED: Final = r"(?<!\ba\s)(?<!\bone\s)(?<!\bsingle\s)(?<!\d\s)\b"
"""No name follows *a word* or *180 words*."""
_NAMED: Final = lazy_pattern(
    rf"(?:{_COUNTED}{_SURE_NOUN}\b\s*{_BETWEEN}(?P<list>{_LISTED})"
    rf"|\b{_NOUN}\b\s*{_BETWEEN}(?P<quotes>{_QUOTES})"
    r"|\b(?:any\s+of\s+)?(?:these|the\s+following)(?:\s+(?:terms|items|names))?\s*:\s*"
    rf"(?P<these>{_LISTED}))\s*[\])}}]?"
)
_ONE_NOUN: Final = lazy_pattern(r"(?:key\s?word|word|phrase|expression)\b")
_BARE_TIMES: Final = lazy_pattern(
    rf"\b{either('say, saying, mention, use, repeat, sure, ensure')}\s+"
    rf"(?P<list>{_BARE})(?=\s+(?:(?:is|gets)\s+(?:used|mentioned)|appears|occurs"
    r"|(?:comes|shows|turns)\s+up)?\s*(?:(?:at|no|not|more|less|fewer|than|least|most|exactly|a"
    r"|minimum|of)\s+)*"
    r"(?:\w+\s+times|once|twice|thrice)\b)"
)
"""A word without anything around it, of which the text says how often it is wanted."""
_ALONE: Final = lazy_pattern(rf"[\[({{]?(?P<list>{_QUOTES})[\])}}]?")
# What may follow words that stand without quotation marks, so that they are sure to end there.
_FOLLOWS: Final = lazy_pattern(
    r"\s*(?:$|[.,;:!?()\]}\n<\d]|in\s*(?:$|[.,;!]|somewhere\b)|"
    + either(
        "appear(s), should, must, at least, at most, at all, no more, no less, no fewer, more than,"
        " less than, fewer than, once, twice, thrice, in your, in the, in it, in this, in any,"
        " to be, to appear, is, are, be, can, cannot, can't, may, do, does, don't, doesn't,"
        " anywhere, throughout, exactly, for at, each, somewhere, will, need(s), has, a minimum,"
        " a maximum, a total, and, but, within, while, when, only, itself, all, in there, into,"
        " used, out of, both, two, three, four, five, six, seven, eight, nine, ten, to, no,"
        " shouldn't, mustn't, may not, so, because, occur(s), show(s), come(s), turn(s), too, or"
    )
    + r"\b)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that a sentence names, in small letters, and where."""

    words: list[str]
    start: int
    end: int
    named: bool
    """Whether a noun like *keyword* stands before them."""
    choice: bool = False
    """Whether one of them is enough: *a or b*."""


_NO_MENTION: Final = lazy_pattern(
    r"\bletters?\s*$|\b(?:chang|alter|edit|miss)[a-z]*\s+(?:a|one|any)\s+(?:single\s+)?$"
)
"""Words before a quotation that name no word: a letter, *without changing a word*."""
_NEAR: Final = 40
"""How far before a quotation such words are looked for."""


def find_mentions(sentence: Sentence) -> Iterator[Mention]:
    """Find the words that a sentence names, from left to right."""
    plain = sentence.plain
    # Each pattern is looked for again only behind its last place, so that the time stays linear.
    next_of = {one: one.search(plain) for one in (_NAMED, _ALONE, _BARE_TIMES)}
    while waiting := [one for one in next_of.values() if one]:
        found = min(waiting, key=lambda one: one.start())
        for pattern, one in next_of.items():
            if one and one.start() < found.end():
                next_of[pattern] = pattern.search(plain, found.end())
        if _NO_MENTION.search(plain, max(0, found.start() - _NEAR), found.start()):
            continue
        mention = _mention(sentence, found)
        if mention:
            yield mention


def _mention(sentence: Sentence, found: re.Match[str]) -> Mention | None:
    group = next(name for name, text in found.groupdict().items() if text)
    start, end = found.span(group)
    named, quoted = found.re.pattern != _ALONE.pattern, found[group][0] in '"*'
    if not quoted:
        end = _without_order(sentence.plain, start, end)
        end = _without_rest(sentence.plain, found, start, end)
        if not _FOLLOWS.match(sentence.plain, end):
            return None
    words = _words(sentence, start, end, quoted=quoted)
    stop = found.end() if quoted else end
    choice = bool(re.search(r"\bor\b", sentence.plain[start:stop]))
    return Mention(words, found.start(), stop, named, choice) if words else None


def _without_order(plain: str, start: int, end: int) -> int:
    """Cut what begins the next order from a list: *the words a or b, describe …*."""
    last = [*re.finditer(_BARE, plain[start:end])][-1]
    if last.start() and last[0] in VERBS and re.match(r"\s+\w", plain[end:]):
        return start + len(plain[start : start + last.start()].rstrip(" ,"))
    return end


def _without_rest(plain: str, found: re.Match[str], start: int, end: int) -> int:
    """Cut what goes on after one word from a list: *the word cute, everyone uses it*."""
    comma = plain.find(",", start, end)
    one = _ONE_NOUN.match(found[0]) and not re.search(r"\b(?:and|or|nor)\b", plain[start:end])
    return comma if one and comma >= 0 else end


def _words(sentence: Sentence, start: int, end: int, *, quoted: bool) -> list[str]:
    """Give the words of a list as they are written; none where one of them is no word."""
    spans = [
        one.span() for one in re.finditer(_MARKED if quoted else _BARE, sentence.plain[start:end])
    ]
    words = [sentence.original(start + a + quoted, start + b - quoted) for a, b in spans]
    if quoted and len(words) == 1:  # "the words 'a, b, c'"
        words = words[0].split(",")
    cleaned = [one.strip(" *\n").rstrip(".,;:").strip().lower() for one in words]
    good = all(one and len(one) <= 60 and re.search(r"\w", one) for one in cleaned)
    return cleaned if good else []


# --- How often.

_GAP: Final = lazy_pattern(
    r"[\s,(:]*(?:(?!word|letter|keyword|sentence|paragraph|but|and)[a-z']+[\s,()]+){0,9}"
)
_TIMES: Final = lazy_pattern(
    r"\s*(?:or\s+(?P<before>more|less|fewer)\s+)?(?:(?:separate|different)\s+)?"
    + either(
        "time(s), occurrence(s), instance(s), mention(s), uses, appearances, occasions, places"
    )
    + r"\b"
)
_TIMES_OF: Final = lazy_pattern(
    rf"\s*{either('occurrence(s), instance(s), mention(s), uses, appearances, repetitions, times')}"
    r"\s+of\s+(?:the\s+)?|\s+(?:times|of)\s+the\s+"
)


def read_frequency(plain: str, start: int, end: int) -> tuple[Amount | None, int]:
    """Find how often what is named between two places is wanted, and where that is said."""
    for amount in amounts(plain):
        if _TIMES_OF.fullmatch(plain, amount.end, max(amount.end, start)):
            return amount.at_least, end
        if amount.number < end or not _GAP.fullmatch(plain, end, amount.number):
            continue
        times = _TIMES.match(plain, amount.end)
        if times or amount.times:
            stop = times.end() if times else amount.end
            way = times and times["before"]
            return amount.widened(f" or {way}" if way else plain[stop:]).at_least, stop
    return None, end
