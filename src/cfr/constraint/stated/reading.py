"""A problem's text prepared for the rules: its sentences, and which of them asks for the answer.

What is asked must be told from what is given. A text is cut into sentences; the last one that asks
(a question mark, or a verb like *find* that begins a clause) is the question; what stands after it
can only say in what form the answer is wanted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

__all__ = ["ASK", "LONGEST", "Reading", "plain_text"]

LONGEST: Final = 20_000
"""Characters of the longest text that is read; no problem that people pose is longer."""

ASK: Final = (
    r"(?:what(?:'s|\s+is|\s+are|\s+was|\s+were|\s+will\s+be|\s+would\s+be|\s+must\s+be)?"
    r"|which(?:\s+is)?|find|determine|compute|calculate|evaluate|give|state|name|identify|obtain)"
)
"""The pattern of a word that asks, with the verb that may follow it."""

_END: Final = re.compile(r"[.?!]+[\"')\]]*(?=\s|$)|\n\s*\n")
_ABBREVIATION: Final = re.compile(r"(?:^|[^a-z])(?:mr|mrs|ms|dr|st|vs|jr|i\.e|e\.g)$")
_HALF_OF_DAY: Final = re.compile(r"[ap]\.m$")
_IMPERATIVE: Final = re.compile(
    r"(?:^|[,;:]|\bthen|\band|\bplease|\balso|\bso|\bhence|\bthus|\bnow|\bto)\s*"
    r"(?:find|determine|compute|calculate|evaluate|give|state|express|write|work\s+out|solve"
    r"|simplify|identify|name|list|prove|show|estimate)\b"
)
_FORM: Final = re.compile(
    r"\b(?:your|the|final|an)\s+(?:final\s+)?(?:answers?|solution)\b|\bround\b"
)
_PARTS: Final = re.compile(
    r"\(\s*(?:a|i|1)\s*\)[^()]{1,2000}\(\s*(?:b|ii|2)\s*\)|(?:^|\n)\s*(?:a|i|1)[.)]\s[^\n]*\n+\s*(?:b|ii|2)[.)]\s"
    r"|\bpart\s+(?:a|i|1|one|\(a\))\b"
)
_BLANKS: Final = (("\\$", " €"), ("$", " "), ("\\(", "  "), ("\\)", "  "), ("\\,", "  "), ("\\{", "  "), ("\\}", "  "))


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


@dataclass(frozen=True)
class Reading:
    """A text with its sentences; positions in ``plain`` are positions in ``text``."""

    text: str
    plain: str

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Where each sentence begins and ends, the mark at its end included."""
        found: list[tuple[int, int]] = []
        start = 0
        for end in _END.finditer(self.plain):
            if end.group()[0] == "." and self._goes_on(end.start(), end.end()):
                continue
            if self.plain[start : end.end()].strip():
                found.append((start, end.end()))
            start = end.end()
        if self.plain[start:].strip():
            found.append((start, len(self.plain)))
        return tuple(found)

    def _goes_on(self, stop: int, after: int) -> bool:
        """Whether a full stop belongs to an abbreviation and ends nothing."""
        before = self.plain[max(stop - 5, 0) : stop]
        if _HALF_OF_DAY.search(before):
            return self.text[after : after + 3].strip()[:1].islower()
        return bool(_ABBREVIATION.search(before))

    @cached_property
    def asking(self) -> tuple[int, ...]:
        """The sentences that ask for something, by their number."""
        return tuple(i for i, span in enumerate(self.sentences) if self._asks(*span))

    def _asks(self, start: int, end: int) -> bool:
        sentence = self.plain[start:end].strip()
        if _FORM.search(sentence) and "?" not in sentence:
            return False
        return "?" in sentence[-4:] or bool(_IMPERATIVE.search(sentence))

    @cached_property
    def question(self) -> tuple[int, int] | None:
        """Where the sentence stands that asks for the answer."""
        return self.sentences[self.asking[-1]] if self.asking else None

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
        """Whether what follows the question asks for something made of its answer."""
        return bool(_INSTRUCTION.search(self.tail) and _RECODED.search(self.tail))


_INSTRUCTION: Final = re.compile(
    r"\b(?:answers?|express|write|give|report|submit|enter|let|output|form|can\s+be|find|compute)\b"
)
_RECODED: Final = re.compile(
    r"[+]|\bform\b|\bpercent|%|\bmultipl|\btimes\b|\bsubmit\b|\benter\b|\bsum\b|\bproduct\b|\bmod"
    r"|\bremainder\b|\bdivide|\bconcat|\blet\b|\breport\b|\boutput\b|\bfloor\b|\bcoded?\b"
)
