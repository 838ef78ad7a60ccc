"""Choice letters: alone, in brackets, with the reason for them or with the letters they beat."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["from_choice", "leading_letter", "lone_letter"]

_OPEN: Final = (
    r"(?:\\(?:text|math)(?:bf|rm|it|sf|tt|sc)?\s*\{|\\boldsymbol\s*\{|\\[(\[{]|[\[({*_$`\"“'])"
)
_CLOSE: Final = r"(?:\\[)\]}]|[\])}*_$`\"”'])"
_LETTER: Final = rf"{_OPEN}{{0,5}}(?P<letter>[A-J])(?P<close>{_CLOSE}{{0,5}})"
_NAMED: Final = r"(?i:(?:option|choice|letter|answer)\s*:?\s*)?"
_LONE: Final = re.compile(rf"{_NAMED}{_LETTER}[.:;,]?\**")
_LEADING: Final = re.compile(rf"{_NAMED}{_LETTER}(?![\w'’])")
# What follows a letter where the letter is all of the answer.
_REASON: Final = re.compile(
    r"\s*[,;.(]?\s*(?i:because|since|as|for|rather|not|over|instead|is|being|which|where|given|due"
    r"|so|with|but|while|whereas|although|though|by|the|all|others?|it|this|that|we|none|only"
    r"|every|options?|choices?|both|any|if|when|than|to|in|from|corresponding|i\.e|namely|weil|da"
    r"|denn|car|puisque|porque|ya\s+que|perché|poiché|pois|porque|так|потому)\b"
    r"|\s*,\s+(?=[a-z]{2})|\s*[–—，。、；（]|\s+-+\s+(?=[^\W\d_]{2})|\s+\((?=[^\W\d_]{2}|\d+\))|\s*[.:)]\s+\S"
)
_ANOTHER: Final = re.compile(rf"\s*(?:,|;|&|/|\band\b|\bor\b|,\s*and\b)\s*{_LETTER}(?![\w'’])")
_LIST: Final = re.compile(
    r"(?:\s*(?:,\s*(?:and|or)?|;|&|and|or)\s*[(\[*]{0,3}[A-J][)\]*]{0,3})+[.!]?"
)
_OPERATOR: Final = re.compile(r"\s*[=+^_<>/∪∩×·]|\s*-\s*\d")

_LAST: Final = 400
_STARTED: Final = re.compile(
    rf"{_LETTER}(?!\w)\s*[,;:–—-]?\s*(?i:because|since|as|for|due)\b"
    r"|[*_(\[]{0,3}(?P<listed>[A-J])[)\]][*_]{0,2}\s+\S[^\n]*\Z"
)
_NOT_A_VALUE: Final = r"(?![\w'’]|\s*[=+^(<>])"
_PICKED: Final = re.compile(
    r"(?i:options?|antwort|choice|choose|chose|pick|select(?:ed)?|answer\s+is|correct(?:\s+one)?|go\s+with"
    r"|going\s+with|opt\s+for|故选|故選|应选|應選|选|選)\s*"
    rf"(?i:is|be|:|：)?\s*(?i:the\s+)?{_NAMED}{_LETTER}{_NOT_A_VALUE}"
)
_PREFERRED: Final = re.compile(
    r"(?i:prefer|must\s+be|has\s+to\s+be|have\s+to\s+be|should\s+be|rather|closest\s+to|it['’]s"
    rf"|leaves(?:\s+us)?(?:\s+with)?|leaving|only)\s+{_NAMED}{_LETTER}{_NOT_A_VALUE}"
)
_CONCLUDED: Final = re.compile(
    rf"(?:(?i:\b(?:so|hence|thus|therefore|say|on|be|is|was|with|for))|,)\s+{_LETTER}(?=\s+it\s+is\b|[.!]*\s*\Z)"
)
_PRAISED: Final = re.compile(
    rf"(?<![\w\\]){_LETTER}(?:\s*\([^()\n]{{0,40}}\))?\s+"
    r"(?i:wins|works|fits|(?:is|must\s+be|would\s+be|seems|looks|remains)\s+(?:(?:the|our|my)\s+)?"
    r"(?:only\s+)?(?:correct|right|best|true|valid|answer|choice|option))\b"
)
_OVER: Final = re.compile(
    rf"(?<![\w\\]){_LETTER},?\s+(?i:rather\s+than|instead\s+of|over|and\s+not|not)\s+"
    rf"(?i:option\s+|choice\s+)?{_OPEN}{{0,5}}[A-J]{_CLOSE}{{0,5}}(?![\w'’])"
)
_REJECTED: Final = re.compile(
    r"\s+(?i:is|are|was|would|gives?|fails?|cannot|can['’]t|needs?|has|violates?|ignores?|does"
    r"|can|and|or)\b(?!\s+(?i:(?:the\s+|our\s+)?(?:only\s+)?(?:correct|right|best|true|answer)))"
)
_DISMISSED: Final = re.compile(
    r"\b(?i:is|are|was)\s+(?i:(?:clearly|also|not)\s+)?(?i:wrong|incorrect|false|not|out|impossible)\b"
)
_NEGATED: Final = re.compile(
    r"(?i:\bnot|\bcannot|n['’]t|\bnever|\bneither|\bnor|\brul\w+\s+out|\beliminat\w+|\bexclud\w+"
    r"|\breject\w*|\bdiscard\w*|\bdismiss\w*)\s+(?:\w+\s+)?\Z"
)


def lone_letter(text: str) -> str:
    """Return a choice letter without its brackets, where a text is nothing else."""
    match = _LONE.fullmatch(text)
    return match["letter"] if match else ""


def leading_letter(phrase: str) -> str:
    """Return the letter that an answer begins with, where what follows only speaks of it."""
    match = _LEADING.match(phrase)
    if match is None:
        return ""
    rest = phrase[match.end() :]
    if not rest.strip(" .,;:!*"):
        return match["letter"]
    if _LIST.fullmatch(rest):
        return ""
    if (another := _ANOTHER.match(rest)) and not _REJECTED.match(rest, another.end()):
        return ""
    if _OPERATOR.match(rest):
        return ""
    bracketed = another is not None or (
        any(mark in match["close"] for mark in ")]}") and rest[0] in " \n\t.,:;"
    )
    if not bracketed and match["letter"] == "I":
        return ""  # the speaker, more likely
    return match["letter"] if bracketed or _REASON.match(rest) else ""


def from_choice(text: str) -> tuple[str, str] | None:
    """Read the letter that the end of a reply chooses, or prefers to another."""
    tail = text[-_LAST:]
    started = _STARTED.match(text.strip()) if len(text) < _LAST else None
    if started and not _DISMISSED.search(text):
        return started["letter"] or started["listed"], "choice"
    found = [
        (match.start("letter"), match["letter"])
        for pattern in (_PICKED, _PREFERRED, _CONCLUDED, _PRAISED, _OVER)
        for match in pattern.finditer(tail)
        if _counts(match, tail, weak=pattern is _PREFERRED)
    ]
    return (max(found)[1], "choice") if found else None


def _counts(match: re.Match[str], tail: str, *, weak: bool) -> bool:
    """Leave out what is rejected, and in a reply that goes on to a number what may be a point."""
    before, after = tail[max(0, match.start() - 20) : match.start()], tail[match.end() :]
    if _NEGATED.search(before) or (match["letter"] == "I" and after[:1] == " "):
        return False
    praised = match.re is _PRAISED or match.re is _OVER
    if not praised and _REJECTED.match(after):
        return False
    return not (weak and any(char.isdigit() for char in after))
