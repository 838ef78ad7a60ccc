"""Verifying a file of ConstraintBench problems: every claim that a row makes is tested again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from constraint_first.benchmark.constraintbench.families import FAMILIES
from constraint_first.benchmark.constraintbench.family import alike, true_label
from constraint_first.benchmark.constraintbench.item import VERSION, Item
from constraint_first.benchmark.constraintbench.measured import LevelCheck, check_levels
from constraint_first.benchmark.constraintbench.shortcut import Shortcut, shortcuts
from constraint_first.constraint.predicate import parts, truth_of
from constraint_first.error import CfrError
from constraint_first.file.jsonl import BadLine
from constraint_first.file.row import scan_rows

__all__ = ["CheckReport", "Fault", "check_file", "check_item", "check_items"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a file, and the line it stands on."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How many problems a file holds, what is wrong with it, and what its problems give away."""

    count: int
    faults: tuple[Fault, ...]
    shortcuts: tuple[Shortcut, ...] = ()
    not_drawn: int = 0
    """Problems of an earlier version, which this package cannot draw again."""
    levels: LevelCheck | None = None
    """None where no family of the file was measured on a model."""


def check_file(path: Path) -> CheckReport:
    """Verify a file; faults are reported, not raised, so that all of them can be named."""
    faults: list[Fault] = []
    items: dict[int, Item] = {}
    count = 0
    for row in scan_rows(path):
        if isinstance(row, BadLine):
            faults.append(Fault(row.number, row.reason))
            continue
        count += 1
        try:
            items[row.number] = Item.from_json(row.value)
        except CfrError as error:
            faults.append(Fault(row.number, str(error)))
    found = check_items(items)
    if not count and not faults:
        faults.append(Fault(1, "no problems in the file"))
    faults = sorted((*faults, *found.faults), key=lambda fault: fault.line)
    return replace(found, count=count, faults=tuple(faults))


def check_items(items: Mapping[int, Item]) -> CheckReport:
    """Verify problems, by the number of their line."""
    faults: list[Fault] = []
    first_line: dict[str, int] = {}
    for line, item in items.items():
        faults.extend(Fault(line, message) for message in _faults(item))
        earlier = first_line.setdefault(item.text, line)
        if earlier != line:
            faults.append(Fault(line, f"the same text as line {earlier}"))
    tried = tuple(shortcuts([*items.values()]))
    old = sum(item.version != VERSION for item in items.values())
    if not old:
        # What version 1 gives away is known, and the reason for version 2.
        faults.extend(Fault(1, f"a shortcut: {one}") for one in tried if one.open)
    levels = check_levels(items.values())
    if levels and not levels.passed:
        faults.append(Fault(1, str(levels)))
    return CheckReport(len(items), tuple(faults), tried, old, levels)


def _faults(item: Item) -> list[str]:
    try:
        return list(check_item(item))
    except CfrError as error:
        return [str(error)]


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
    if item.version == VERSION:
        for lure in item.tempting:
            if true_label(lure, item.answer, item.constraints) != lure.error:
                yield f"the tempting answer {lure.answer} is not {lure.error!r}"
        yield from _pinned(item)
        yield from _drawn_again(item)


# Predicates that hold a computation, so that they leave one answer alone.
_PINNING: Final = frozenset({"encoded", "counts", "rounded", "in_unit"})


def _pinned(item: Item) -> Iterator[str]:
    """Test what is said about pinning: whoever knows an unmarked constraint must still solve."""
    if all(gold.pins for gold in item.constraints):
        yield "no constraint can be known without solving"
    for gold in item.constraints:
        ops = {str(part["op"]) for part in parts(gold.predicate)}
        if not gold.pins and ops & _PINNING:
            yield f"{gold.description!r} pins the answer and is not marked"
        if gold.pins:
            for lure in item.tempting:
                if truth_of(gold.predicate, lure.answer) == "holds":
                    yield f"{gold.description!r} pins the answer and accepts {lure.answer}"


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
