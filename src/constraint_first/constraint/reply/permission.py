"""Whether words only allow what they name: *you may use commas*, *a title would be nice*."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from constraint_first.pattern import lazy_pattern

_PERMISSION: Final = lazy_pattern(
    r"\byou\s+(?:can|may|could|might)\b(?!\s+(?:not|only|just))|\bfeel\s+free\b|\boptional"
    r"|\bif\s+(?:you|it|possible|needed)\b|\bdon't\s+(?:mind|care)\b"
    r"|\b(?:do\s+not|don't|doesn't|does\s+not)\s+(?:have|need)\s+to\b|\bneed\s+not\b|\bno\s+need\b"
    r"|\bnot\s+necessar|\bis\s+(?:fine|ok|okay|acceptable)\b|\binstead\s+of\b|\brather\s+than\b"
    r"|\bunless\b|\bwould\s+be\s+nice\b|\byou(?:'re|\s+are)\s+(?:welcome|free)\s+to\b"
    r"|(?<!n't\s)(?<!not\s)(?<!people\s)(?<!they\s)(?<!\bi\s)(?<!\bwe\s)(?<!always\s)"
    r"\b(?:ignore|disregard|forget)\b"
)
"""Words that allow what follows them, and do not demand it."""
_REACH: Final = 90
"""How many characters a permission reaches."""
_STOP: Final = lazy_pattern(r"[.;!?]|,\s*(?:but|and)\b|\bbut\b")
_OPTIONAL: Final = lazy_pattern(
    r"(?:p\.s\.|[^,;.!?]){0,40}?\b"
    r"(?:(?:(?:would|might|could)\s+be|is|are)\s+(?:ok|okay|fine|nice|welcome|great|lovely|cute)\b"
    r"|(?:isn't|aren't|not)\s+(?:strictly\s+)?(?:necessary|needed|required|essential)"
    r"|optional|if\s+you\s+(?:like|want|wish|must))"
)
"""Words after something by which it is not demanded either."""


def is_permitted(plain: str, at: int) -> bool:
    """Whether what stands at a place of a sentence is allowed and not demanded."""
    if _OPTIONAL.match(plain, at):
        return True
    near = (end for start, end in _permissions(plain) if at - _REACH < start < at)
    return any(not _STOP.search(plain[end:at]) for end in near)


@lru_cache(maxsize=128)
def _permissions(plain: str) -> tuple[tuple[int, int], ...]:
    return tuple(one.span() for one in _PERMISSION.finditer(plain))
