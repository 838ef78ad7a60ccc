"""Answers that a reply is, or only ends in, each with the name of its rule."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from constraint_first.answer.extraction.assertion import asserted, bounds
from constraint_first.answer.extraction.choice import from_choice, leading_letter, lone_letter
from constraint_first.answer.extraction.marker import has_marker
from constraint_first.answer.extraction.phrase import (
    EQUALS,
    LONGEST_ANSWER,
    TO,
    WORD,
    after_equals,
    bald,
    last_match,
    quantity,
    trailing_maths,
    unnamed,
)
from constraint_first.answer.extraction.sign import JOINING

__all__ = ["bare", "concluded", "corrected", "from_end"]

Found: TypeAlias = "tuple[str, str] | None"

_SHORT: Final = 200
_MOST_WORDS: Final = 4
_DISPLAY: Final = re.compile(r"(?:\\\[((?:(?!\\\[).)+?)\\\]|\$\$([^$]+)\$\$)\s*[.。]?\Z", re.DOTALL)
_PLEASANTRY: Final = re.compile(
    r"\s*(?:I hope|Hope|Let me know|Feel free|Please let|Is there anything|Would you|Do you"
    r"|Does th|This completes)[^.!?\n]{0,120}[.!?]?\s*\Z"
)
_FLOURISH: Final = re.compile(
    r"(?:\s|[✓✔✅🎉☑∎■□😊]|\n-{3,}|\ufe0f|\$?\\(?:blacksquare|square|qed|checkmark)\$?|Q\.E\.D\.|QED)+\Z"
)
_LAST_WORDS: Final = 300
_BOLD: Final = re.compile(r"(?<![\w)*])\*\*(?=[^\s*])")
# One piece of ASCII without the signs that marks, emphasis and equations are made of.
_PLAIN: Final = re.compile(r"[!\"$-)+-9;<>-~]+")
_NUMBER: Final = re.compile(
    rf"(?:(?<![{JOINING})}}\]])[-−]|±\s?|\\pm\s?)?(?:\\?[$€£]\s?[-−]?)?(?:\d[\d,]*(?:\.\d+)?|(?<!\d)\.\d+)(?:/\d+|(?::\d+)+)?(?:\s?[%万亿]|°(?!\s?[CF]))?"
)
_IRRATIONAL: Final = re.compile(
    rf"[-−]?(?:\(\d{{1,9}}/\d{{1,9}}\)|\d{{1,20}}(?:/\d{{1,9}})?|(?<![{JOINING})]))\s?(?:π|√\d{{1,20}})(?!\w)"
    rf"(?:/\d{{1,9}})?|{_NUMBER.pattern}"
)
_MEMBER: Final = r"[-−]?\\?[$€£]?\d+(?:,\d{3})*(?:[./]\d+)?(?:\s?%)?"
_OR: Final = r"(?:and|or|und|oder|y|et|ou)(?:\s+(?:maybe|possibly|perhaps))?"
_BEHIND: Final = r"(?:\s+(?!is\b|are\b|so\b|we\b)[a-z]{1,12}){0,2}\s*[.!]?\Z"
# Numbers that a sentence ends in: behind a verb or a colon, or joined by "and", "or", semicolons.
_NUMBERS: Final = re.compile(
    rf"(?:\b(?:are|is|was|were|be|of)|:|=)\s+((?:{_MEMBER}[,;]\s+){{1,12}}{_MEMBER})[.!]?\Z"
    rf"|(?<![\w.,\\])((?:{_MEMBER}[,;]\s+){{0,12}}{_MEMBER}(?:,?\s+{_OR}\s+{_MEMBER}|;\s+{_MEMBER}))"
    rf"{_BEHIND}"
)
# "5 to 2" behind a verb is a ratio, "from 2 to 5" a range; "4.7 to 5" may be a rounding.
_RATIO: Final = re.compile(
    r"(?:\b(?:is|are|was|were|be|of|as|to|by|won|lost|equals|exactly)|[:=])\s+"
    rf"((?:from\s+)?{_MEMBER}(?:\s+{TO}\s+{_MEMBER}){{1,3}}|{_MEMBER}(?:\s:\s{_MEMBER}){{1,3}}){_BEHIND}"
    rf"|\b(from\s+{_MEMBER}\s+{TO}\s+{_MEMBER}){_BEHIND}"
)
_NAME: Final = r"[A-Za-z](?:_?\w|_\{\w{1,2}\})?"
_EQUATIONS: Final = re.compile(
    rf"(?<![\w\\])({_NAME}\s?=\s?{_MEMBER}"
    rf"(?:(?:[,;]|[,;]?\s+{_OR})\s+{_NAME}\s?=\s?{_MEMBER}){{1,12}})[.!]?\Z"
)
_RELATION: Final = r"\s?(?:[<>]=?|[≤≥≠]|!=)\s?"
_INEQUALITY: Final = rf"(?:{_MEMBER}{_RELATION})?{_NAME}{_RELATION}{_MEMBER}"
# Chains and unions: "3 < x < 5", "x < 3 or x > 5".
_INEQUALITIES: Final = re.compile(
    rf"(?<![\w\\])({_MEMBER}{_RELATION}{_NAME}{_RELATION}{_MEMBER}"
    rf"|{_INEQUALITY}(?:(?:,|,?\s+(?:and|or))\s+{_INEQUALITY}){{1,6}})[.!]?\Z"
)
_MEASURE: Final = (
    r"(?:hours?|minutes?|seconds?|days?|weeks?|months?|years?|feet|foot|inch(?:es)?|yards?|miles?"
    r"|pounds?|ounces?|dollars?|cents?|euros?|metres?|meters?|centimet(?:re|er)s?|kilomet(?:re|er)s?"
    r"|kg|grams?|litres?|liters?|h|min|ft|in|lbs?|oz|km|cm|m)"
)
# One quantity in two units: "2 hours and 30 minutes", "5 feet 6 inches".
_TWO_UNITS: Final = re.compile(
    rf"({_MEMBER}\s?{_MEASURE},?\s+(?:and\s+)?{_MEMBER}\s?{_MEASURE})(?:\s+[a-z]{{2,12}}){{0,2}}\s*[.!]?\Z"
)
_SHARES: Final = re.compile(
    rf"({_MEMBER}\s+(?:for|if|when)\s+[^.\d]{{1,40}}?\s+(?:and|or)\s+{_MEMBER}\s+(?:for|if|when)\s+"
    r"[^.\d]{1,40})[.!]?\Z"
)
_DIFFERENCE: Final = re.compile(rf"{_MEMBER}\s?[-–—]\s?\Z")
_BRACKETED: Final = (
    r"(?:\\left\s?)?(?:\\?\{|[(\[])(?:[^(){}\[\]\n]|\{[^{}\n]{0,40}\}){1,120}?"
    r"(?:\\right\s?)?(?:\\?\}|[)\]])"
)
# A set, an interval or a point that a sentence ends in: "x ∈ {1, 2}", "the range is [0, 2)".
_SET: Final = re.compile(
    r"(?:(?:∈|\\in(?![a-z]))|\b(?:is|are|get)\b|=)\s*"
    rf"({_BRACKETED}(?:\s?(?:∪|\\cup)\s?{_BRACKETED}){{0,6}})\s*[.!]?\Z"
)
_SET_STATED: Final = re.compile(
    r"(?:\A|\b(?:so|thus|hence|therefore|then|that|means|implies|gives?|get|obtain|have|iff)"
    r"|[,:⇒→⟹]|\\(?:implies|Rightarrow))\s*(?:[A-Za-z]\w?\s*)?\Z",
    re.IGNORECASE,
)
# What is no word of a sentence, though it is made of letters.
_TYPESET: Final = re.compile(
    r"\\(?:begin|end|text|mbox|mathrm|textbf)\s*\{[^{}]*\}|\$[^$]*\$|(?<=\d)[A-Za-z]{1,3}\b|\b(?:and|or)\b"
    r"|\A(?:yes|no|true|false)\.?\Z",
    re.IGNORECASE,
)
_BULLET: Final = re.compile(r"[-•*]\s+(\S[^\n]{0,60})")
_TEXT: Final = re.compile(r"\\text\s*\{([^}]*)\}")
_STATED_LAST: Final = re.compile(r"(?:\b(?:is|are|get|equals)|=|:)\s*\S{1,20}$")
_SENTENCE_WORDS: Final = frozenset(
    "is are was so thus hence therefore we get she he it there they have has must can could "
    "follows i you not would choose".split()
)
# A sentence in a script whose words are not counted above.
_FOREIGN: Final = re.compile(
    r"[一-鿿ぁ-ヿ가-힯]{2,}[是为為は]\s*[-−$\\\d]|[฀-๿]{4,}[^\n]*\d|"
    r"[一-鿿ぁ-ヿ가-힯]{13,}|\A[一-鿿ぁ-ヿ가-힯，、]{2,}[^\n]*[\d$]|(?:[^\x00-ӿ一-鿿ぁ-ヿ가-힯\s]{2,}\s+){5,}"
)
_PHRASE_BEFORE_NUMBER: Final = re.compile(r"[^\W\d_]+(?:['’ ] ?[^\W\d_]+)+ [-−$€£]*\.?\d")
_BETWEEN_NUMBERS: Final = re.compile(r"[A-Za-z]{2,} -?\d[\d.,]* [A-Za-z]{2,} -?\d")
# A dash may stand for the colon: "Total cost - 31 dollars".
_LABEL: Final = re.compile(
    r"\**(?!(?:pi|sin|cos|tan|log|exp|sqrt|theta|alpha|beta)\b)[^\W\d_][^\W\d_]+(?:\s+[^\W\d_]+){0,5}\**"
    r"(?:\s*[:：]\**\s*(?=\S)|(?<=[^\W\d_]{2})\s[-–—]\s(?=[$€£]?\d[^=]*\Z))"
)
_VALUE: Final = re.compile(r"\d|\\[A-Za-z]|\A\S+(?:\s\S+)?\Z")
_ARITHMETIC: Final = re.compile(r"\\(?:[dt]?frac|sqrt|cdot|times|div|left|right|[dt]?binom)")
_LEAD_IN: Final = re.compile(
    r"(?:∴|⇒|→|\\therefore|=+>|-+>)\s*|\A(?:≈|\\approx(?![a-z])"
    r"|(?i:about|approximately|approx\.?|roughly|around)\s+(?=[$€£]?\d))\s*"
)
_SPEAKER: Final = re.compile(r"I(?:['’][a-z]{1,2})?\s[a-z']{2,}")
_ASIDE: Final = re.compile(
    r"\s+\((?!(?:\\?mod|\\pmod)\b)(?=[^\W\d_]{2}|[≈~=])[^()\n]{0,80}\)\s*(?=[.!]?\Z)"
)
_BECAUSE: Final = re.compile(r"\s+\((?:since|because|as|given|note)\s[^()\n]{1,80}\)\Z")
_NONE_EXIST: Final = re.compile(
    r"\b(no\s+(?:(?:real|integer|positive|rational|such|valid|possible|common|other)\s+){0,2}"
    r"(?:solutions?|roots?)|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers|does\s+not\s+exist|undefined|DNE"
    r"|(?:con|di)vergent|diverges|converges(?:\s+(?:absolutely|conditionally))?|none\s+of\s+(?:these|the\s+above))"
    r"(?:\s+(?:exists?|in\s+\w+|to\s+th(?:e|is)\s+(?:equation|system|problem|inequality)))?[.!]?\Z",
    re.IGNORECASE,
)
_EXCEPT: Final = re.compile(
    r"\ball\s+real\s+numbers\s+except\s+(?:for\s+)?[^.]{1,60}(?=\.?\Z)", re.IGNORECASE
)
# What only says when, or after what: "24 apples left after giving away 6", "5 when x = 3".
_MOST_REASONS: Final = 4
_REASON: Final = re.compile(
    r",?\s+(?:as|since|because|given\s+that|rather\s+than|instead\s+of|as\s+opposed\s+to|and\s+not|not"
    r"|unlike)\s|\s+\((?=[^()]*\Z)"
)
_SPLIT_EQUATION: Final = re.compile(r"\$([^$]*=)\s*\$\s*(?=[-−]?\d)")  # "$k =$ 7"
_SUBORDINATE: Final = re.compile(
    r",?\s+(?:after|when|because|since|before|once|attained|achieved|reached|provided|if)\s"
    r"(?!.*\b(?:we|gets?|gives?|then|so|is|are|has|have|becomes?|obtain|equals)\b)"
    r"|(?<=[\d$%])\s+(?:for|on)\s+(?:all\s+|every\s+)?\$?[A-Za-z]\s?(?:∈|\\in(?![a-z]))"
    r"|(?<=\$),?\s+where\s+\$?[A-Za-z]\$?\s+(?:is|denotes)\s+(?:an?|the)\s+[^$\d]*\Z"
    r"|(?<=\$),?\s+for\s+(?:all\s+)?\$(?:\|[a-z]\|\s*<|[a-z]\s*(?:\\neq?(?![a-z])|≠))[^$]*\$"
    r"|,\s+with\s|,\s+which\s+(?:is\s+)?(?:occurs?|happens?|attained|achieved|reached|holds|less"
    r"|more|greater|smaller|larger|fewer)\b"
)
_BROKEN_OFF: Final = re.compile(
    r"(?:[=+*/,(]|\b(?:is|are|the|an?|and|or|of|to|so|which|that|leaves|gives|equals|be|than|with|we))\s*\Z"
)
# A few words that lead to mathematics: "By symmetry, $f'(x) = 2x$", "The angle equals $\\pi$".
_LED_TO: Final = re.compile(
    r"[A-Z][a-z]+(?:[^$\n]|\$[A-Za-z]\$)*?(?:,|\b(?:equals|gives|yields))\s*"
    r"(?:\$[^$]+\$|\\\[.+\\\]|\\\(.+\\\))\s*\.?",
    re.DOTALL,
)
_VERB: Final = re.compile(r"(?:\bis|\bare|\bequals|\bget|=)\s+|[是为為は]\s*")
_RETRACTION: Final = re.compile(
    r"\b(?:wait|actually|hold\s+on|oops|scratch\s+that|that['’]s\s+(?:wrong|not\s+right|incorrect)"
    r"|i\s+made\s+a\s+(?:mistake|slip)|on\s+second\s+thought)\b",
    re.IGNORECASE,
)
_CONCLUSION: Final = re.compile(
    r"\b(?:so|thus|hence|therefore|it['’]s|it\s+is|should\s+be|must\s+be|instead|correct|then)\b",
    re.IGNORECASE,
)


def bare(text: str) -> str | None:
    """Return the text itself where it is an answer and nothing else."""
    if len(text) > LONGEST_ANSWER:
        return text if text.lstrip("+-")[:32].isdigit() and text.lstrip("+-").isdigit() else None
    if "exist" in text and (none := _NONE_EXIST.fullmatch(text)):
        return none[1]
    if _PLAIN.fullmatch(text):
        return lone_letter(text) or bald(text)
    if has_marker(text) or (" " in text and _BOLD.search(text, 1)):
        return None
    words = [word.lower() for word in WORD.findall(_TEXT.sub(r" \1 ", text))]
    if len(words) > _MOST_WORDS or _SENTENCE_WORDS.intersection(words) or _SPEAKER.match(text):
        return None
    if not text.isascii() and _FOREIGN.search(text):
        return None
    if words and "\n" in text and "\\begin" not in text:
        return None
    if "answer" in words or _BETWEEN_NUMBERS.match(text):
        return None
    if _PHRASE_BEFORE_NUMBER.match(text) or _LABEL.match(text) or _LED_TO.fullmatch(text):
        return None
    text = _BECAUSE.sub("", text)
    if letter := lone_letter(text) or leading_letter(text):
        return letter
    if (words or not text.isascii()) and from_choice(text):
        return None
    text = unnamed(_LEAD_IN.sub("", text, count=1))
    if "\\text" in text and any(bounds(plain := _TEXT.sub(r"\1", text), 0, plain.find(" "))):
        return plain
    parts = EQUALS.split(text)
    # 2 + 3 = 5 is 5; 3 = x stays.
    calculated = len(parts) > 1 and not re.fullmatch(r"\s*[A-Za-z]\s*", parts[-1])
    sums = calculated and not re.search(r"[A-Za-z]", _ARITHMETIC.sub("", "".join(parts[:-1])))
    return quantity(bald(parts[-1] if sums and parts[-1].strip() else text))


def from_end(text: str) -> Found:
    """Read display mathematics, emphasis or a number at the very end; never further back."""
    text = _trimmed(text)
    if display := _DISPLAY.search(text):
        return after_equals((display[1] or display[2]).strip()), "display"
    line = text.rstrip().rpartition("\n")[2].strip()
    if line != text.strip() and not WORD.search(_TYPESET.sub(" ", line)) and (answer := bare(line)):
        return (", ".join(items) if len(items := _bullets(text)) > 1 else answer), "last line"
    label = _LABEL.match(line)
    value = line[label.end() :] if label else ""
    if _VALUE.search(value) and (answer := bare(value)):
        return answer, "label"
    return _from_sentence(re.split(r"(?<=[.!?])\s+(?=[A-Z])", line)[-1], short=len(text) < _SHORT)


def _bullets(text: str) -> list[str]:
    """List the items of the bulleted lines that a text ends in."""
    items = list[str]()
    for line in reversed(text[-_LAST_WORDS:].rstrip().split("\n")):
        if not (item := _BULLET.fullmatch(line.strip())):
            break
        items.insert(0, item[1])
    return items


def _trimmed(text: str) -> str:
    """Drop the courtesies and the tick at the end of a proof."""
    start, tail = text[:-_LAST_WORDS], text[-_LAST_WORDS:]
    while (shorter := _PLEASANTRY.sub("", tail)) != tail:
        tail = shorter
    return start + _FLOURISH.sub("", tail)


def _from_sentence(sentence: str, *, short: bool) -> Found:
    """Read the value that a sentence ends in, with its bound; none where the sentence denies it."""
    sentence = _SPLIT_EQUATION.sub(r"\1 ", sentence)
    for _ in range(_MOST_REASONS):
        if (found := _last_value(sentence, short=short)) is None:
            return None
        if (answer := asserted(sentence, found[0])) == found[0]:
            return found
        # What a reason bounds or denies is not the answer: "it is 6, since it cannot be 5".
        reasons = _REASON.finditer(sentence, 0, max(0, sentence.rfind(found[0])))
        if (reason := last_match(reasons)) is None:
            return (answer, found[1]) if answer else None
        sentence, short = sentence[: reason.start()], True
    return None


def _last_value(sentence: str, *, short: bool) -> Found:
    # A short reply may do without its full stop; a long one without it has been cut off.
    finished = short or sentence.endswith((*".。!$*)", "\\)"))
    aside = _ASIDE.search(sentence)
    if aside and (_NUMBER.search(sentence, 0, aside.start()) or "$" in sentence[: aside.start()]):
        sentence = sentence[: aside.start()] + sentence[aside.end() :]
    if (clause := _SUBORDINATE.search(sentence)) and _NUMBER.search(sentence, 0, clause.start()):
        sentence = sentence[: clause.start()]
    if finished and (exception := _EXCEPT.search(sentence)):
        return exception[0].replace("$", ""), "words"
    if finished and (maths := trailing_maths(sentence)):
        return maths
    if several := _several(sentence):
        return several, "last numbers"
    if members := _set(sentence):
        return members, "last set"
    if finished and (latex := _undelimited(sentence)):
        return latex, "last value"
    exact = "π" in sentence or "√" in sentence
    number = last_match((_IRRATIONAL if exact else _NUMBER).finditer(sentence))
    if number and (finished or _STATED_LAST.search(sentence)) and not _BROKEN_OFF.search(sentence):
        range_ = _DIFFERENCE.search(sentence, 0, number.start())
        start = range_.start() if range_ else number.start()
        return sentence[start : number.end()].strip().rstrip(","), "last number"
    none = _NONE_EXIST.search(sentence)
    return (none[1], "words") if none else None


def _several(sentence: str) -> str:
    """Take the numbers or equations that a sentence ends in, or a quantity in two units."""
    if relations := _INEQUALITIES.search(sentence):
        return relations[1]
    if sentence.count("=") > 1 and (equations := _EQUATIONS.search(sentence)):
        return equations[1]
    if quantity := _TWO_UNITS.search(sentence):
        return quantity[1]
    if shares := _SHARES.search(sentence):
        return shares[1]
    numbers = _NUMBERS.search(sentence) or _RATIO.search(sentence)
    return (numbers[1] or numbers[2]) if numbers else ""


def _set(sentence: str) -> str:
    """Take the set or interval at the end of a sentence that is not about some number in it."""
    found = _SET.search(sentence) if sentence.rstrip(".!")[-1:] in (")", "]", "}") else None
    if found is None or ("," not in found[1] and "{" not in found[1]):
        return ""
    before = sentence[: found.start()]
    return found[1] if _SET_STATED.search(before) or not _NUMBER.search(before) else ""


def _undelimited(sentence: str) -> str:
    """Take LaTeX without its dollar signs from the end of a sentence."""
    verb = last_match(_VERB.finditer(sentence)) if "\\" in sentence else None
    rest = sentence[verb.end() :] if verb else ""
    return bald(rest) if "\\" in rest and not WORD.search(rest) else ""


def corrected(text: str, marked: str) -> Found:
    """Read what a reply ends in, where it takes back the answer that it had stated before."""
    stated = text.rfind(marked)
    retraction = _RETRACTION.search(text, stated + len(marked)) if stated >= 0 else None
    if retraction is None:
        return None
    rest = text[retraction.end() :]
    if instead := _NUMBER.fullmatch(rest.strip(" ,.:;!–—$*\n")):
        return instead[0], "correction"
    return concluded(rest)


def concluded(text: str) -> Found:
    """Read what the last sentence of a text draws as its conclusion."""
    line = _trimmed(text).rpartition("\n")[2]
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])", line)[-1]
    return _from_sentence(sentence, short=True) if _CONCLUSION.search(sentence) else None
