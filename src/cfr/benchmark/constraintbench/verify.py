"""Verifying a file of ConstraintBench problems: every claim that a row makes is tested again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cfr.benchmark.constraintbench.families import FAMILIES
from cfr.benchmark.constraintbench.family import alike
from cfr.benchmark.constraintbench.item import Item
from cfr.constraint.predicate import truth_of
from cfr.error import CfrError
from cfr.file.jsonl import BadLine, scan

__all__ = ["CheckReport", "Fault", "check_file", "check_item"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a file, and the line it stands on."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How many problems a file holds and what is wrong with it."""

    count: int
    faults: tuple[Fault, ...]


def check_file(path: Path) -> CheckReport:
    """Verify a file; faults are reported, not raised, so that all of them can be named."""
    first_line: dict[str, int] = {}
    faults: list[Fault] = []
    count = 0
    for row in scan(path):
        if isinstance(row, BadLine):
            faults.append(Fault(row.number, row.reason))
            continue
        count += 1
        try:
            item = Item.from_json(row.value)
            faults.extend(Fault(row.number, message) for message in check_item(item))
        except CfrError as error:
            faults.append(Fault(row.number, str(error)))
            continue
        earlier = first_line.setdefault(item.text, row.number)
        if earlier != row.number:
            faults.append(Fault(row.number, f"the same text as line {earlier}"))
    if not count and not faults:
        faults.append(Fault(1, "no problems in the file"))
    return CheckReport(count, tuple(faults))


def check_item(item: Item) -> Iterator[str]:
    """Name everything that is wrong with one problem."""
    for lure in item.tempting:
        if alike(lure.answer, item.answer):
            yield f"the tempting answer {lure.answer} is the answer itself"
    for gold in item.constraints:
        if truth_of(gold.predicate, item.answer) != "holds":
            yield f"the answer {item.answer} does not satisfy {gold.description!r}"
        if not any(truth_of(gold.predicate, lure.answer) == "violated" for lure in item.tempting):
            yield f"{gold.description!r} rejects no tempting answer"
        if gold.span is not None and gold.span not in item.text:
            yield f"the span {gold.span!r} is not in the text"
    yield from _drawn_again(item)


def _drawn_again(item: Item) -> Iterator[str]:
    """Draw the problem again, which also repeats the two computations of its answer."""
    family = FAMILIES.get(item.family)
    if family is None:
        yield f"no family is called {item.family!r}"
        return
    again = family.make(item.seed, item.level, item.index).to_json()
    changed = [name for name, value in item.to_json().items() if again[name] != value]
    if changed:
        yield f"the generator draws another {' and '.join(map(repr, changed))} for {item.id}"
