"""A problem's text prepared for the rules: its sentences, its question, its numbers.

What is asked must be told from what is given. A text is cut into sentences; the last one that asks
(a question mark, or a verb like *find* that begins a clause) is the question; what stands after it
can only say in what form the answer is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from constraint_first.pattern import lazy_pattern

LONGEST: Final = 20_000
"""Characters of the longest text that is read; no problem that people pose is longer."""

_ONE: Final = lazy_pattern(r"\d+(?:,\d{3})*(?!\d)")
WORDS: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
}

# A number that is the beginning of something longer (2.5, 3!, 4^n, 5 + x, 6%) is not this number.
_DIGITS: Final = r"(?<![\d.,^_\\])(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,30})(?![\d\w]|[.,]\d)"
_NO_MORE: Final = (
    r"(?!\s*(?:[\^!+*/=%\\{_:<>-]|\((?!\s*(?:both|incl))|times\b|percent\b|per\s?cent\b"
    r"|divided\b|plus\b|minus\b"
    r"|factorial\b|squared\b|cubed\b|[b-z]\b))"
)
INTEGER: Final = f"{_DIGITS}{_NO_MORE}"
"""The pattern of a whole number that stands for itself."""
NUMBERS: Final = rf"{INTEGER}(?:\s*,\s*(?:and\s+)?{INTEGER}|\s+and\s+{INTEGER})*"
"""The pattern of one or more of them: ``10, 11 and 14``."""

ANOTHER_BASE: Final = lazy_pattern(
    r"\bbase\b|\bbinary\b|\bhexadecimal\b|\boctal\b|\bternary\b|_\{?\d"
)
ASK: Final = (
    r"(?:what(?:'s|\s+is|\s+are|\s+was|\s+were|\s+will\s+be|\s+would\s+be|\s+must\s+be)?"
    r"|which(?:\s+is)?|find|determine|compute|calculate|evaluate|give|state|name|identify|obtain)"
)
"""The pattern of a word that asks, with the verb that may follow it."""

_END: Final = lazy_pattern(r"[.?!\n][.?!\n\"')\]]*(?=\s|$)")
_ABBREVIATION: Final = lazy_pattern(r"(?:^|[^a-z])(?:mr|mrs|ms|dr|st|vs|jr|i\.e|e\.g)$")
_SHORT: Final = frozenset(("mr", "rs", "ms", "dr", "st", "vs", "jr", ".e", ".g", ".m"))
_HALF_OF_DAY: Final = lazy_pattern(r"[ap]\.m$")
_CLAUSE: Final = lazy_pattern(r"(?:^|[,;:]|\b(?:then|and|please|also|so|hence|thus|now|to))\s*$")
_OPENING: Final = lazy_pattern(
    r"(?:^|[,;:.?!-]|\b(?:then|and|so|of|at|in|on|to|by|for|from|if|with))\s*$"
)
_FORM: Final = lazy_pattern(
    r"\b(?:your|the|final|an)\s+(?:final\s+)?(?:answers?|solution)\b|\bround\b"
)
_PARTS: Final = lazy_pattern(
    r"\(\s*(?:a|i|1)\s*\)[^()]{1,2000}\(\s*(?:b|ii|2)\s*\)|(?:^|\n)\s*(?:a|i"
    r"|1)[.)]\s[^\n]*\n+\s*(?:b|ii|2)[.)]\s"
    r"|\bpart\s+(?:a|i|1|one|\(a\))\b"
)
_VERBS: Final = (
    *("find", "determine", "compute", "calculate", "evaluate", "give", "state", "express", "write"),
    *("work", "solve", "simplify", "identify", "name", "list", "prove", "show", "estimate"),
)
_FIRST: Final = (*_VERBS, "arrange", "sort ", "order the ", "put the ")
"""How a sentence may begin that asks for something."""
_PLAIN_VERBS: Final = ("find", "determine", "compute", "calculate", "evaluate")
_HEADS: Final = (
    *("what", "which", "find", "determine", "compute", "calculate", "evaluate", "give", "state"),
    *("name", "identify", "obtain", "how", "express", "write"),
)
_BLANKS: Final = (
    ("\\$", " €"),
    ("$", " "),
    ("\\(", "  "),
    ("\\)", "  "),
    ("\\,", "  "),
    ("\\{", "  "),
    ("\\}", "  "),
)


def to_integer(text: str) -> int:
    return int(text.replace(",", ""))


def to_integers(text: str) -> list[int]:
    """Read the numbers of a list that NUMBERS has matched."""
    return [to_integer(one) for one in _ONE.findall(text)]


def plain_text(text: str) -> str:
    """Give a text in lower case without marks of formulas, each character in its old place."""
    plain = text.lower()
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # a lone surrogate becomes a question mark
        plain = text.lower()
        if len(plain) != len(text):
            plain = "".join(low if len(low := one.lower()) == 1 else "?" for one in text)
    for mark, blank in _BLANKS:
        plain = plain.replace(mark, blank)
    return plain


def _has_imperative(sentence: str) -> bool:
    """Whether a verb like *find* begins a clause of a sentence."""
    for verb in _VERBS:
        at = sentence.find(verb)
        while at >= 0:
            if _CLAUSE.search(sentence[max(at - 8, 0) : at]):
                return True
            at = sentence.find(verb, at + 1)
    return False


@dataclass(frozen=True)
class Reading:
    """A text with its sentences; positions in ``plain`` are positions in ``text``."""

    text: str
    plain: str

    @cached_property
    def cased(self) -> str:
        """The plain text in the case of the text: *N* and *n* are two letters."""
        return "".join(
            one if one.lower() == low else low
            for one, low in zip(self.text, self.plain, strict=True)
        )

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Where each sentence begins and ends, the mark at its end included."""
        found: list[tuple[int, int]] = []
        start = 0
        for end in _END.finditer(self.plain):
            mark = end.group()
            if mark[0] == "\n" and mark.count("\n") == 1 and len(mark) == 1:
                continue
            if mark[0] == "." and self._goes_on(end.start(), end.end()):
                continue
            found.append((start, end.end()))
            start = end.end()
        if start < len(self.plain):
            found.append((start, len(self.plain)))
        return tuple(found)

    def _goes_on(self, stop: int, after: int) -> bool:
        """Whether a full stop belongs to an abbreviation and ends nothing."""
        if self.plain[max(stop - 2, 0) : stop] not in _SHORT:
            return False
        before = self.plain[max(stop - 5, 0) : stop]
        if _HALF_OF_DAY.search(before):
            return self.text[after : after + 3].strip()[:1].islower()
        return bool(_ABBREVIATION.search(before))

    def _asks(self, start: int, end: int) -> bool:
        sentence = self.plain[start:end].strip()
        if "?" in sentence[-4:]:
            return True
        if not sentence.startswith(_FIRST) and not _has_imperative(sentence):
            return False
        if sentence.startswith(_PLAIN_VERBS):
            return True
        formal = "answer" in sentence or "solution" in sentence or "round" in sentence
        return not (formal and _FORM.search(sentence))

    @cached_property
    def question(self) -> tuple[int, int] | None:
        """Where the sentence stands that asks for the answer."""
        return next((span for span in reversed(self.sentences) if self._asks(*span)), None)

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """Where the question has a word that asks."""
        if self.question is None:
            return ()
        found = self.places(_HEADS, *self.question)
        if "which" not in self.plain:
            return found
        return tuple(
            at
            for at in found
            if not self.plain.startswith("which", at) or (at == found[0] and self._opens(at))
        )

    def _opens(self, at: int) -> bool:
        """Whether *which* begins a clause here, and does not refer to the noun before it."""
        return self.question is not None and bool(
            _OPENING.search(self.plain[max(at - 12, self.question[0]) : at])
        )

    def places(self, words: Iterable[str], start: int, end: int) -> tuple[int, ...]:
        """Find where one of these words begins, between two positions."""
        found: list[int] = []
        for word in words:
            at = self.plain.find(word, start, end)
            while at >= 0:
                if at == 0 or not self.plain[at - 1].isalnum():
                    found.append(at)
                at = self.plain.find(word, at + 1, end)
        return tuple(sorted(found))

    def asked(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern that begins with a word that asks, where the question has one."""
        if self.question is None:
            return None
        for at in self.heads:
            if found := pattern.match(self.plain, at, self.question[1]):
                return found
        return None

    @property
    def tail(self) -> str:
        """What stands after the question."""
        return self.plain[self.question[1] :] if self.question else ""

    @cached_property
    def in_parts(self) -> bool:
        """Whether several things are asked under letters or numbers of their own."""
        return bool(_PARTS.search(self.text))

    @cached_property
    def recoded(self) -> bool:
        """Whether another value is made of the answer, or a second one is asked for."""
        if self.heads and (
            _NEXT_STEP.search(self.plain, self.heads[0])
            or _SECOND.search(self.plain, self.heads[0] + 1, (self.question or (0, 0))[1])
        ):
            return True
        return bool(_INSTRUCTION.search(self.tail) and _RECODED.search(self.tail))


_NEXT_STEP: Final = lazy_pattern(
    r"(?:[,;.?]|\band|\bthen)\s+(?:then\s+)?(?:add|subtract|multiply|divide|double|triple|halve"
    r"|square)\b(?!\s+(?:root|feet|foot|inch|met|cent|unit|mile|yard))"
    r"|,\s*(?:times|plus|minus|divided\s+by)\b"
)
_SECOND: Final = lazy_pattern(
    r"(?:[,;:]|\b(?:and|then|hence|thus|so|also))\s+(?:then\s+|hence\s+|also\s+|thus\s+)?"
    r"(?:find|determine|compute|calculate|evaluate|give|report|state|what|how)\b"
)
_INSTRUCTION: Final = lazy_pattern(
    r"\b(?:answers?|express|write|give|report|submit|enter|let|output|form|can\s+be|find|compute)\b"
)
_RECODED: Final = lazy_pattern(
    r"[+]|\bform\b|\bmultipl|\btimes\b|\bsubmit\b|\benter\b|\bsum\b|\bproduct\b|\bmod"
    r"|\bremainder\b|\bdivide|\bconcat|\blet\b|\breport\b|\boutput\b|\bfloor\b|\bcoded?\b"
    r"|\bfind\b|\bcompute\b|\bwhat\b"
)
