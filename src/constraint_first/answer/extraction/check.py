"""A check that a reply makes of its answer once it has given it, which is no answer itself."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["without_check"]

_LONGEST_CHECK: Final = 600
_CHECK: Final = re.compile(
    r"(?:^|(?<=[.!?*$)]))\s{0,4}[*_#]{0,4}\s?"
    r"(?:(?:let['’]s|let\s(?:me|us)|let|we|you|i|i['’]ll|can|to|now|quick|quickly|just|a|as|for)\s){0,4}"
    r"(?:(?:double|sanity|cross)[- ]?check(?:ing)?|verif(?:y|ication|ying)"
    r"|check(?=[*_]{0,4}[:,]))\b"
    r"(?!\s(?:each|all|every|which|whether|both|these|those|them|the\s(?:cases|candidates|options)))",
    re.IGNORECASE | re.MULTILINE,
)
_STEP: Final = re.compile(r"\n[\s#*]{0,8}(?:step\s)?\d{1,2}[.):][\s*]{0,8}\Z", re.IGNORECASE)
"""The number of a step in front of the check: "5. **Verify the answer**"."""
_LONGEST_STEP: Final = 40
# What takes the answer back, or goes on to another one.
_TURN: Final = re.compile(
    r"\b(?:wait|actually|hold\son|oops|mistake|wrong|incorrect|but|however|fails?|failed|only"
    r"|instead|remains?|leaves|leaving|not|doesn['’]t)\b",
    re.IGNORECASE,
)
_CONCLUSION: Final = re.compile(
    r"(?:^|(?<=[.!?])\s)[*_]{0,3}(?:so|thus|hence|therefore|in\s(?:total|all)|finally)\b[^\n]{0,200}"
    r"|(?:(?<=[.!?])\s|\n\n)[*_]{0,3}(?-i:[A-Z])[^\n\d]{0,100}\d[^\n]{0,100}",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIRMS: Final = re.compile(
    r"\b(?:works?|holds?|checks?|correct|right|consistent|satisf\w{2,5}|confirm\w{0,3}|indeed"
    r"|verified|match(?:es)?|valid|agrees?)\b|[✓✔✅☑]|\\checkmark",
    re.IGNORECASE,
)


def without_check(text: str) -> str:
    """Cut a reply off before the check it ends in, unless the check comes to its own conclusion."""
    if "heck" not in text and "erif" not in text:
        return text
    starts = [match.start() for match in _CHECK.finditer(text)]
    near = [start for start in starts if len(text) - start <= _LONGEST_CHECK]
    if not near:
        return text
    check = text[near[0] :].lstrip()
    concludes = any(not _CONFIRMS.search(end[0]) for end in _CONCLUSION.finditer(check))
    if concludes or _TURN.search(check):
        return text
    step = _STEP.search(text, max(0, near[0] - _LONGEST_STEP), near[0])
    return text[: step.start() if step else near[0]]
