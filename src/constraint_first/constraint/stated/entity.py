"""The one number that a text is about: described here, asked for there.

*A number divides 450. It is odd. Which number is it?* The properties stand in other sentences than
the question, so they count only where the question points back at the number (*which number is
it?*) and where nothing is done to it on the way (no sums, no second number).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from constraint_first.constraint.predicate import parity
from constraint_first.constraint.stated.asked import ANOTHER_BASE
from constraint_first.constraint.stated.property import read_properties
from constraint_first.constraint.stated.reading import Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_POINTS_BACK: Final = lazy_pattern(
    r"\b(?:which|what)\s*\?|\bhow\s+many\s+[a-z]+\s+from\s+the\s+[a-z]+\s+is\s+it\s*\?"
    r"|\bwhat\s+is\s+(?:it|this|that)\s*\?"
    r"|\bwhich\s+(?:is\s+it|one)\b"
    r"|\b(?:which|what)\s+(?:[a-z]+-digit\s+)?(?:number|integer|year|page|code)\s+(?:is\s+(?:it"
    r"|this|that|on|the|a)\b"
    r"|fits|remains|results|does|do\b|has\b|becomes|between|above|below|goes)"
    r"|\bwhich\s+(?:even|odd)\s+number\b"
    r"|\bwhich\s+of\s+the\s+numbers\b|\bwhat\s+is\s+the\s+(?:locker|room|ticket|house|page"
    r"|phone|secret|right|original)"
    r"\s+(?:number|price)\s*\?"
    r"|\b(?:find|determine|what\s+is|name|give)\s+(?:the|this|that|my|his|her)\s+(?:original\s+)?"
    r"(?:number|integer|code|year)\s*[.?]"
    r"|\b(?:what\s+is|find)\s+the\s+number\s+of\s+(?:the|this|that|his|her)\s+(?:[a-z]+\s+"
    r")?[a-z]+(?<!s)\s*[.?]"
    r"|\bwhich\s+(?:second|minute|day)\b"
    r"|\bfind\s+the\s+[a-z]+-digit\s+number\b|\bfind\b[^.?]{1,300}?,\s*the\s+only\s+one\b"
    r"|\b(?:find|which\s+is)\s+the\s+(?:smallest|largest|greatest|least)\s+(?:of\s+(?:them"
    r"|these)|that|number)\b"
)
_COUNTS: Final = lazy_pattern(r"\bhow\s+many\s+([a-z]+)|\bwhat\s+is\s+it\s*\?")
# Words by which a number becomes another one, or by which a second one comes in.
_CHANGED: Final = lazy_pattern(
    r"\b(?:sum|product|difference|quotient|result|resulting|twice|double[ds]?|triple[ds]?|half"
    r"|squared"
    r"|taken|years?\s+(?:ago|later|from)|in\s+[a-z]+\s+years|another|add(?:ed|s|ing)?"
    r"|subtract\w*|multipl(?:y|ied|ies|ying)|increase[ds]?|decrease[ds]?"
    r"|(?:two|three|four|several|other|new|second|first)\s+(?:different\s+|positive\s+)*"
    r"(?:numbers?|integers?))\b"
)
_DIGITS: Final = lazy_pattern(
    r"\b(?:the\s+)?sum\s+of\s+(?:its|whose|the)\s+digits\b|\bdigit\s+sum\b|\badd\s+up\s+to\b"
    r"|\bdigits\s+with\s+(?:the\s+)?sum\b"
)
_KIND: Final = r"(?:(?:whole|natural|positive|possible|page|biggest|largest|smallest)\s+)*"
_THING: Final = r"(?:number|integer|code|year|divisor|factor|multiple)"
_IS: Final = (
    r"(?:is|was|are|must\s+be|should\s+be|has\s+to\s+be|lies|has|becomes?|remain(?:s|ing)?)"
)
_SUBJECT: Final = lazy_pattern(
    r"^\s*(?=more\s+than\s+\d+\s+and\s+less\s+than\s)|\b(?:[a-z]+'s\s+[a-z]+\s+number)\s+"
    rf"(?={_IS}\b)|\b(?:it|this\s+number|(?:the|its|this)\s+(?:page\s+)?(?:number|code"
    rf"|integer))\s+(?={_IS}\b)"
    rf"|(?<!than\s)\b(?:an?|one)\s+(?=(?:[a-z0-9\-]+\s+){{0,3}}?(?:number|integer|code|year)\b)"
    rf"|\b(?:exactly\s+one|only\s+one|the\s+only)\s+(?=(?:[a-z0-9\-]+\s+){{0,3}}?{_THING}\b)"
    r"|\bthe\s+(?=(?:even|odd)\s+ones\b)|\b(?:the\s+(?:only\s+)?one|such\s+number)\s+(?=that\b)"
    r"|\bthe\s+(?:last|first|biggest|smallest|largest)\s+(?=possible\s+number\b|(?:even|odd)\s+"
    r"number\b)"
    r"|\bthe\s+numbers\s+(?=under\b|below\b|over\b|above\b|from\b|between\b)"
    r"|\bwhile\s+remaining\s+|\bthe\s+(?:winning|lucky)\s+[a-z]+\s+(?=is\b)|\bwhich\s+is\s+"
    r"the\s+[a-z]+\s+(?=that\b)"
    r"|\bat\s+which\s+(?:second|minute|day)\s+|\bwhose\s+[a-z]+\s[^.?!]{0,30},\s*in\s+"
    r"[a-z]+\s*,\s*(?=is\b)"
    r"|\bexactly\s+one\s+of\s+the\s+numbers\s+[\d\s,]{1,200}and\s+\d+\s+(?=is\b)"
    r"|\bwhich\s+of\s+the\s+numbers\s+[\d\s,]{1,200}and\s+\d+\s+(?=is\b)"
    r"|\b(?:and|if|so\s+that)\s+(?=(?:the|its)\s+digits\s+(?:add|sum))|\b(?=the\s+digits\s+"
    r"of\s+(?:a|the)\b)"
    r"|\b(?=the\s+sum\s+of\s+its\s+digits\s+is\b)|\bform\s+the\s+[a-z]+\s+possible\s+|\bhas\s+"
    r"(?=the\s+digit\s+sum\b)"
)
_COUNT_SUBJECT: Final = lazy_pattern(
    r"\b(?:their|this)\s+number\s+(?=is\b)|\bthe\s+number\s+of\s+([a-z]+)\s+(?=is\b)"
    r"|\b(?=there\s+are\s+(?:more|fewer|less|at)\b)|\b(?=(?:and\s+)?the\s+digits\s+of\s+(?:the"
    r"|this)\s+number\b)"
    r"|\band\s+(?=it\s+is\s+(?:even|odd)\b)|\bas\s+many\s+as\s+possible\s+(?=but\b)"
)

# What is done in one case and in another says nothing of the number itself.
_CASES: Final = lazy_pattern(
    r"\b(?:if|when|whenever|unless|in\s+case)\s+(?:it|(?:the|this|that|a|your)\s+[a-z]+)\s+"
    r"(?:is|was|ends)\s+[^.?!,]{1,40},"
)
# What is said of a part of the number, of what is made of it or of what is compared with it.
_ABOUT_ANOTHER: Final = lazy_pattern(
    r"(?:\bof|\bthan|\bby|\bfrom|(?<!\bit\s)(?<!this\s)(?<!that\s)(?<!which\s)(?<!one\s)"
    r"(?<!number\s)"
    r"(?<!code\s)(?<!year\s)(?<!integer\s)\b(?:is|are|was)(?:\s+also)?"
    r"|\bof\s+(?:an?|the|this)\s+(?:[a-z]+\s+)?(?:number|code|integer|year)\s+(?:is|was))\s+$"
)
_CHOICE: Final = lazy_pattern(r"\b(?:picks?|chooses?|thinks\s+of|writes|guesses)\s+(?:an?|one)\b")
_IS_A: Final = lazy_pattern(r"\bis\s+$")
_NO_NOUN: Final = frozenset(("are", "were", "do", "does", "did", None))
_COUNTED: Final = lazy_pattern(r"\d\s+([a-z]+s)\b(?<!is)(?<!has)(?<!was)")
_WANTED: Final = lazy_pattern(r"\bwants\s+an\s+(even|odd)\s+number\s+of\s+([a-z]+)")


def read_entity(reading: Reading) -> Iterator[Stated]:
    if reading.asked(_POINTS_BACK) and _is_fixed(reading):
        yield from _described(reading)


def _is_fixed(reading: Reading) -> bool:
    """Whether nothing is done to the number and the digits are those of base ten."""
    plain = reading.plain
    if reading.recoded or ANOTHER_BASE.search(plain) or _CASES.search(plain):
        return False
    if len(_CHOICE.findall(plain)) > 1:
        return False
    return not _CHANGED.search(_DIGITS.sub(" ", plain))


def read_counted(reading: Reading) -> Iterator[Stated]:
    plain = reading.plain
    counted = reading.asked(_COUNTS)
    if counted and _is_fixed(reading):
        for wanted in _WANTED.finditer(plain):
            if wanted[2] == counted[1]:
                which: Literal["even", "odd"] = "even" if wanted[1] == "even" else "odd"
                yield Stated("parity", parity(which), wanted.span(), f"The answer is {which}.")
        for subject in _COUNT_SUBJECT.finditer(plain):
            stop = _sentence_end(reading, subject.end())
            nouns = set(_COUNTED.findall(plain[subject.end() : stop]))
            if subject[1] in (None, counted[1]) and (
                nouns <= {counted[1]} or counted[1] in _NO_NOUN
            ):
                yield from read_properties(plain, subject.end(), stop)[0]


def _described(reading: Reading) -> list[Stated]:
    """Read all that is said of the number; nothing where the text brings in more than one."""
    found: list[Stated] = []
    introduced = 0
    for subject in _SUBJECT.finditer(reading.plain):
        before = reading.plain[max(subject.start() - 60, 0) : subject.start()]
        if _ABOUT_ANOTHER.search(before):
            continue
        stop = _sentence_end(reading, subject.end())
        properties, _ = read_properties(reading.plain, subject.end(), stop)
        new = subject.group().startswith(("a ", "an ")) and not _IS_A.search(
            reading.plain, max(subject.start() - 6, 0), subject.start()
        )
        introduced += bool(properties) and new
        found.extend(properties)
    return found if introduced <= 1 else []


def _sentence_end(reading: Reading, at: int) -> int:
    return next((end for start, end in reading.sentences if start <= at < end), len(reading.plain))
