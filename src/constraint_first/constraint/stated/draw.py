"""One thing drawn at random from a heap that the text counts, and its probability."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import gcd
from typing import Final

from constraint_first.constraint.predicate import all_of, between, divides, integer
from constraint_first.constraint.stated.quantity import stem
from constraint_first.constraint.stated.reading import ASK, Reading
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

_HEAP: Final = lazy_pattern(r"(?<![\w.,])(\d+)\s+([a-z]+)\s+([a-z]+)")
_ONE: Final = lazy_pattern(
    r"\bone\s+[a-z]+\s+is\s+(?:drawn|taken|picked|chosen)\b|\b(?:picks?|takes?|draws?|strikes"
    r"|chooses?)\s+(?:an?|one)\s+([a-z]+)\b"
)
_RANDOM: Final = lazy_pattern(r"\bat\s+random\b|\bwithout\s+looking\b|\bequally\s+likely\b")
_WANTED: Final = lazy_pattern(r"\bthat\s+(?:it|the\s+[a-z]+)\s+is\s+(?:an?\s+)?([a-z]+)\b")
_DENOMINATOR: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:the\s+value\s+of\s+)?(?:the\s+|its\s+)?(?:denominator\b|n\s*(?:[?.]|alone\b"
    r"|for\s+which\b))"
    r"|\bwhich\s+number\s+n\s+is\s+the\s+denominator\b|\bwhat\s+is\s+the\s+value\s+of\s+n\b"
)
_FRACTION: Final = lazy_pattern(r"\\[dt]?frac\s*\{\s*[a-z]\s*\}\s*\{\s*n\s*\}|\b[a-z]\s*/\s*n\b")


def read_draw(reading: Reading) -> Iterator[Stated]:
    """Read the range of the denominator of a probability that is reduced to lowest terms."""
    plain = reading.plain
    asked = reading.question and _DENOMINATOR.search(plain)
    if (
        not asked
        or not _FRACTION.search(plain)
        or not (_RANDOM.search(plain) and _ONE.search(plain))
    ):
        return
    heaps, wanted = [*_HEAP.finditer(plain)], {one[1] for one in _WANTED.finditer(plain)}
    counts = {one[2]: int(one[1]) for one in heaps}
    if len({stem(one[3]) for one in heaps}) != 1 or len(counts) != len(heaps) or len(wanted) != 1:
        return
    if len(re.findall(r"\d+", plain)) != len(heaps) or len(heaps) < 2:
        return
    kind = wanted.pop()
    total = sum(counts.values())
    if kind not in counts or not 0 < counts[kind] < total:
        return
    most = total // gcd(counts[kind], total)
    words = f"The answer is a divisor of {total} from 2 to {most}."
    predicate = all_of(integer(), between(2, most), divides(total))
    yield Stated("domain", predicate, asked.span(), words)
