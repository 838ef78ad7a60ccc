"""Wrong answers that look right: a gold answer with one thing changed that changes its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SWAPS = [
    ("+", "-"),
    (r"\sin", r"\cos"),
    (r"\cos", r"\tan"),
    (r"\cot", r"\tan"),
    (r"\ln", r"\cos"),
    (r"\pi", r"\pi^2"),
    (r"\pi", "3"),
    (r"\sqrt", r"\sqrt[5]"),
    (r"\infty", "100"),
    (r"\cup", r"\cap"),
    (r"\lfloor", r"\lceil"),
    (r"\geqslant", "<"),
    (r"\geq", "<"),
    (r"\leq", "<"),
    ("i", "3i"),
    ("e", "2e"),
    ("[", "("),
    ("]", ")"),
    ("x", "2x"),
    ("n", "(n+1)"),
    ("k", "(k-1)"),
    (r"\text{ cm}", r"\text{ km}"),
    ("cm", "kg"),
    ("%", "% + 1"),
    (r"^\circ", "0"),
]
# Changed texts that happen to mean what they were made from.
_SAME_AFTER_ALL = {(r"\binom{2n}{n-1}", r"\binom{2n}{n+1}"), (r"2x \le 0", r"x \le 0")}
_DIGIT = re.compile(r"(?<![A-Za-z{_\[])\d(?![^{]*\}\{[clr]+\})")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_PAIR = re.compile(r"\(([^(),]+),([^(),]+)\)")


def near_misses(gold: str) -> Iterator[str]:
    """Yield variants of a gold answer of which none means the same."""
    seen = {gold}
    for variant in _variants(gold):
        if variant not in seen and (variant, gold) not in _SAME_AFTER_ALL:
            seen.add(variant)
            yield variant


def _variants(gold: str) -> Iterator[str]:
    yield from _digits(gold)
    yield from _swapped(gold)
    if fraction := _FRACTION.search(gold):
        over, under = fraction.groups()
        if over.strip().lstrip("-") != under.strip():
            turned = rf"\frac{{{under}}}{{{over}}}"
            yield gold[: fraction.start()] + turned + gold[fraction.end() :]
    if (pair := _PAIR.fullmatch(gold.strip("$ "))) and pair[1].strip() != pair[2].strip():
        yield f"({pair[2]},{pair[1]})"
    if re.fullmatch(r"-?[\d.]+", gold) and float(gold) != 0:
        yield gold[1:] if gold[0] == "-" else f"-{gold}"
        yield f"{gold}0" if "." not in gold else f"1{gold.lstrip('-')}"
        yield f"{gold}x"
        yield rf"\sqrt{{{gold.lstrip('-')}}}" if gold.lstrip("-") != "1" else "17"
    if "," in gold and "(" not in gold and "{" not in gold:
        yield gold.rpartition(",")[0]
        yield f"{gold}, 987"


def _digits(gold: str) -> Iterator[str]:
    places = [m.start() for m in _DIGIT.finditer(gold)]
    for at in places[:2] + places[-1:]:
        yield gold[:at] + str((int(gold[at]) + 1) % 10) + gold[at + 1 :]


def _swapped(gold: str) -> Iterator[str]:
    for old, new in _SWAPS:
        alone = old.isalpha()
        pattern = rf"(?<![A-Za-z\\]){re.escape(old)}(?![A-Za-z])" if alone else re.escape(old)
        if re.search(pattern, gold):
            yield re.sub(pattern, lambda _, new=new: new, gold, count=1)
