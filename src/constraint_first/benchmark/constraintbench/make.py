"""ConstraintBench in the layout of a Hugging Face dataset: a card and files of JSON Lines."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import resources
from itertools import chain, count, pairwise, product, zip_longest
from pathlib import Path
from typing import Final

from constraint_first.benchmark.constraintbench import explicit, implicit, joint, misleading
from constraint_first.benchmark.constraintbench.family import (
    NAMES,
    PINNING,
    SEED,
    TIERS,
    USUAL_LEVELS,
    VERSION,
    Family,
    Item,
    Level,
    Split,
    Tier,
    alike,
    encode,
    load,
    true_label,
)
from constraint_first.constraint.predicate import parts, truth_of
from constraint_first.error import CfrError
from constraint_first.file.rows import BadLine, scan_rows
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_TEXT: Final = {"dtype": "string"}
_FEATURES: Final[dict[str, dict[str, Json]]] = {
    **{name: {**_TEXT} for name in ("id", "problem", "answer", "source", "form", "tier")},
    "kinds": {"sequence": "string"},
    "level": {"dtype": "int64"},
    "family": {"dtype": "string"},
    "seed": {"dtype": "int64"},
    "index": {"dtype": "int64"},
    "constraints": {
        "list": [
            *({"name": name, **_TEXT} for name in ("kind", "description", "predicate", "span")),
            {"name": "pins", "dtype": "bool"},
        ]
    },
    "tempting": {"list": [{"name": name, **_TEXT} for name in ("answer", "error")]},
    "version": {"dtype": "int64"},
}
"""The columns, as a dataset's card declares them."""

_BODY: Final = """
# ConstraintBench

Problems whose mathematics is modest and whose difficulty is what they demand of the answer: a
remainder, a whole number, a range, m + n instead of m/n, a cue that misleads, several conditions
that must hold together. Every answer was computed in two independent ways.

| config | split | problems |
| --- | --- | --: |
{splits}

```python
from datasets import load_dataset

problems = load_dataset("FOLDER", split="public")
```

Every row has the problem's text, its answer, and the gold constraints on that answer: kind,
description, `predicate` (JSON in a text, because its fields differ from one predicate to the next),
the `span` of the text that states it (null where it is implied), and whether it `pins` the answer
(null where that was not recorded, in version 1). A constraint that pins contains the answer: never
hand it to a solver. `tempting` lists wrong answers that a hurried solver may give, each with the
error that it would show. `id` is family, level, seed and index, from which the generator of the
package `constraint-first` draws the problem again (`cfr bench check`).

The problems are under Apache-2.0. All texts were written for this benchmark. To keep measurements
honest, do not train on `public`, `mini` or `hard`: any number of other problems can be drawn.
"""


def dataset_files(splits: Sequence[Split]) -> Iterator[tuple[Path, bytes]]:
    loaded: dict[Split, Sequence[Item]] = {split: load(split) for split in splits}
    yield Path("README.md"), _card(loaded).encode()
    for split, items in loaded.items():
        lines = (json.dumps(_row(item), ensure_ascii=False) for item in items)
        yield Path(_place(split)), "".join(f"{line}\n" for line in lines).encode()


def _row(item: Item) -> dict[str, Json]:
    """Return a row whose fields have the same types in all rows and versions."""
    constraints: list[Json] = [
        {
            "kind": gold.kind,
            "description": gold.description,
            "predicate": json.dumps(dict(gold.predicate), ensure_ascii=False),
            "span": gold.span,
            "pins": gold.pins if item.version == VERSION else None,
        }
        for gold in item.constraints
    ]
    row = item.to_json()
    row["constraints"], row["version"] = constraints, item.version
    return row


def _card(loaded: dict[Split, Sequence[Item]]) -> str:
    configs: dict[str, list[Json]] = {}
    table: list[str] = []
    for split, items in loaded.items():
        kind, version, _ = split.partition("@")
        config = "version-1" if version else "default"
        configs.setdefault(config, []).append({"split": kind, "path": _place(split)})
        table.append(f"| {config} | `{kind}` | {len(items)} |")
    features: list[Json] = [{"name": name, **kind} for name, kind in _FEATURES.items()]
    head: dict[str, Json] = {
        "pretty_name": "ConstraintBench",
        "license": "apache-2.0",
        "language": ["en"],
        "task_categories": ["question-answering"],
        "tags": ["mathematics", "constraints", "reasoning"],
        "size_categories": ["n<1K" if sum(map(len, loaded.values())) < 1000 else "1K<n<10K"],
        "configs": [
            {"config_name": config, "data_files": members} for config, members in configs.items()
        ],
        "dataset_info": [{"config_name": name, "features": features} for name in configs],
    }
    # JSON is a subset of YAML, so each value below is valid YAML.
    lines = (f"{name}: {json.dumps(value)}" for name, value in head.items())
    front = "---\n" + "\n".join(lines) + "\n---\n"
    return front + _BODY.replace("{splits}", "\n".join(table))


def _place(split: Split) -> str:
    return f"data/{split.replace('@', '-version-')}.jsonl"


# All families of ConstraintBench.

FAMILIES: dict[str, Family] = {
    family.name: family
    for module in (explicit, implicit, misleading, joint)
    for family in vars(module).values()
    if isinstance(family, Family)
}


# Shortcuts: ways to answer problems of a set without solving them.

MOST: Final = 0.08
"""The highest share of problems that a shortcut may answer."""
ENOUGH: Final = 300
"""With fewer problems, a share of one in twelve cannot be estimated."""
_MANY: Final = 100
_DRAWS: Final = 40
_SEED: Final = 0
_NUMBER: Final = lazy_pattern(r"\d+(?:\.\d+)?")
_NAME: Final = lazy_pattern(rf"\b(?:{'|'.join(NAMES)})\b")


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A way to guess an answer or to recognise a known problem, and how often it succeeds."""

    name: str
    hits: int
    of: int
    most: float = MOST

    @property
    def open(self) -> bool:
        return self.of >= ENOUGH and self.hits > self.most * self.of

    def __str__(self) -> str:
        share = f" ({100 * self.hits / self.of:.1f} %)" if self.of else ""
        return f"{self.name}: {self.hits} of {self.of}{share}"


def shortcuts(items: Sequence[Item]) -> Iterator[Shortcut]:
    count = len(items)
    families: dict[str, list[Item]] = {}
    for item in items:
        families.setdefault(item.family, []).append(item)
    guesses = {name: _guess(own) for name, own in families.items()}
    hits = sum(item.answer == guesses[item.family] for item in items)
    where = "among others drawn" if all(map(_can_be_drawn, items)) else "in this set itself"
    yield Shortcut(f"guess, the most frequent answer of the family {where}", hits, count)
    frequent = (
        Shortcut(f"guess, the most frequent answer of `{name}`", _most_frequent(own)[1], len(own))
        for name, own in families.items()
        if len(own) >= _MANY
    )
    if worst := max(frequent, key=lambda one: one.hits / one.of, default=None):
        yield worst
    read = [(item.answer, _NUMBER.findall(item.text)) for item in items]
    for name, choose in _POSITIONS.items():
        hits = sum(bool(numbers) and answer == choose(numbers) for answer, numbers in read)
        yield Shortcut(f"leak, the answer is the {name} number of the text", hits, count)
    letters = Counter(item.answer for item in items if item.form == "choice")
    if letters:
        hits = max(letters.values())
        yield Shortcut("leak, the most frequent letter", hits, letters.total(), 0.3)
    for what, seen, most in (
        ("the numbers of another problem of the family", {*map(numbers_of, items)}, 0.05),
        ("the text of another problem up to names", {*map(text_without_names, items)}, 0),
    ):
        yield Shortcut(f"near-duplicates, {what}", count - len(seen), count, most)


def numbers_of(item: Item) -> tuple[str, ...]:
    """Return a problem's family and numbers; problems with equal ones are near-duplicates."""
    return (item.family, *sorted(_NUMBER.findall(item.text)))


def text_without_names(item: Item) -> str:
    return _NAME.sub("_", item.text)


_POSITIONS: Final[Mapping[str, Callable[[list[str]], str]]] = {
    "first": lambda numbers: numbers[0],
    "last": lambda numbers: numbers[-1],
    "smallest": lambda numbers: min(numbers, key=float),
    "largest": lambda numbers: max(numbers, key=float),
}


def _guess(items: Sequence[Item]) -> str:
    """Find the most frequent answer of a family.

    It is learnt from problems of another seed where they can be drawn, because in a small set
    every answer is frequent. For a family of an earlier version the set itself has to do.
    """
    if not all(map(_can_be_drawn, items)):
        return _most_frequent(items)[0]
    return _most_drawn(items[0].family, frozenset(item.level for item in items))


@cache
def _most_drawn(name: str, present: frozenset[Level]) -> str:
    family = FAMILIES[name]
    levels: list[Level] = [level for level in family.levels if level in present]
    places = product(levels, range(_DRAWS))
    return _most_frequent(family.make(_SEED, level, index) for level, index in places)[0]


def _can_be_drawn(item: Item) -> bool:
    family = FAMILIES.get(item.family)
    return family is not None and item.level in family.levels and item.version == VERSION


def _most_frequent(items: Iterable[Item]) -> tuple[str, int]:
    return Counter(item.answer for item in items).most_common(1)[0]


# Drawing problems: any number of them from a seed, evenly over families and levels.

# After so many repetitions in a row, a family counts as exhausted.
_MOST_REPEATS = 400
# After so many in a row with known numbers, a family may reuse numbers in another wording.
_MOST_OLD_NUMBERS = 40


class GenerateError(CfrError):
    """The requested problems cannot be generated."""

    exit_code = 2


def generate(
    seed: int, n: int, *, families: Sequence[Family] = (), levels: Sequence[Level] = USUAL_LEVELS
) -> Iterator[Item]:
    """Draw n problems with different texts; the same arguments always give the same problems.

    Families alternate, tier by tier, and each cycles through the levels, so that a prefix of the
    result is as balanced as the whole. Families without any of the levels are skipped.
    """
    if n < 1:
        raise GenerateError(f"cannot generate {n} problems; ask for at least 1")
    asked = families or tuple(FAMILIES.values())
    able = [family for family in asked if {*family.levels} & {*levels}]
    by_tier = ([family for family in able if family.tier == tier] for tier in TIERS)
    chosen = [family for family in chain(*zip_longest(*by_tier)) if family is not None]
    if not chosen:
        raise GenerateError(
            f"no problems of level {' or '.join(map(str, levels))} in {asked[0].name}; "
            f"it has level {' and '.join(map(str, asked[0].levels))}"
        )
    turns: list[tuple[Family, Level]] = [
        (family, levels[(place + lap) % len(levels)])
        for lap in range(len(levels))
        for place, family in enumerate(chosen)
        if levels[(place + lap) % len(levels)] in family.levels
    ]
    seen = set[str | tuple[str, ...]]()
    cells = {turn: _different(seen, seed, *turn) for turn in turns}
    return (next(cells[turns[place % len(turns)]]) for place in range(n))


def choose(names: Sequence[str] = (), tiers: Sequence[Tier] = ()) -> tuple[Family, ...]:
    """Find families by name and tier; no names or no tiers means all of them."""
    for name in names:
        if name not in FAMILIES:
            near = get_close_matches(name, FAMILIES, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "`cfr bench show` lists them"
            raise GenerateError(f"no family is called {name!r}; {hint}")
    wanted = [FAMILIES[name] for name in dict.fromkeys(names)] or list(FAMILIES.values())
    found = tuple(family for family in wanted if not tiers or family.tier in tiers)
    if not found:
        raise GenerateError(
            f"none of the families {', '.join(names)} is in tier {' or '.join(tiers)}"
        )
    return found


def _different(
    seen: set[str | tuple[str, ...]], seed: int, family: Family, level: Level
) -> Iterator[Item]:
    """Draw at index 0, 1, 2, … and skip problems that equal an earlier one of any family.

    Problems are equal if they differ only in names, or only in wording; the latter are accepted
    once a family has no new numbers left.
    """
    given = repeats = 0
    lenient = False
    for index in count():
        item = family.make(seed, level, index)
        text, numbers = text_without_names(item), numbers_of(item)
        if text not in seen and (lenient or numbers not in seen):
            seen.update((text, numbers))
            given, repeats = given + 1, 0
            yield item
            continue
        repeats += 1
        lenient = lenient or repeats > _MOST_OLD_NUMBERS
        if repeats > _MOST_REPEATS:
            raise GenerateError(
                f"family {family.name} at level {level} has only about {given} different "
                "problems to give; ask for fewer, or for more families or levels"
            )


# Verification of a file of ConstraintBench problems: every field of a row is tested again.


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a line of a file."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The number of problems in a file, its faults, and the shortcuts of its problems."""

    count: int
    faults: tuple[Fault, ...]
    shortcuts: tuple[Shortcut, ...]
    not_drawn: int
    """Problems of an earlier version, which this package cannot draw again."""
    levels: LevelCheck | None
    """None where no family of the file was measured on a model."""


def check_file(path: Path) -> CheckReport:
    """Verify a file; faults are collected, not raised, so that all of them are reported."""
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
        try:
            faults.extend([Fault(line, message) for message in check_item(item)])
        except CfrError as error:
            faults.append(Fault(line, str(error)))
        earlier = first_line.setdefault(item.text, line)
        if earlier != line:
            faults.append(Fault(line, f"the same text as line {earlier}"))
    tried = tuple(shortcuts([*items.values()]))
    old = sum(item.version != VERSION for item in items.values())
    if not old:
        # The shortcuts of version 1 are known: they were the reason for version 2.
        faults.extend(Fault(1, f"a shortcut: {one}") for one in tried if one.open)
    levels = check_levels(items.values())
    if levels and not levels.passed:
        faults.append(Fault(1, str(levels)))
    return CheckReport(len(items), tuple(faults), tried, old, levels)


def check_item(item: Item) -> Iterator[str]:
    """Yield all faults of one problem."""
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


def _pinned(item: Item) -> Iterator[str]:
    """Test ``pins``: a constraint without the mark must allow other answers."""
    if all(gold.pins for gold in item.constraints):
        yield "no constraint can be known without solving"
    for gold in item.constraints:
        ops = {str(part["op"]) for part in parts(gold.predicate)}
        if not gold.pins and ops & PINNING:
            yield f"{gold.description!r} pins the answer and is not marked"
        if gold.pins:
            for lure in item.tempting:
                if truth_of(gold.predicate, lure.answer) == "holds":
                    yield f"{gold.description!r} pins the answer and accepts {lure.answer}"


def _drawn_again(item: Item) -> Iterator[str]:
    """Draw the problem again and compare; this also repeats both computations of its answer."""
    family = FAMILIES.get(item.family)
    if family is None:
        yield f"no family is called {item.family!r}"
        return
    again = family.make(item.seed, item.level, item.index).to_json()
    changed = [name for name, value in item.to_json().items() if again[name] != value]
    if changed:
        yield f"the generator draws another {' and '.join(map(repr, changed))} for {item.id}"


# Difficulty of the levels: accuracies measured on a model.

LEAST: Final = 0.9
"""The share of the families that must be harder at their last level than at their first."""


@dataclass(frozen=True, slots=True)
class MeasuredLevels:
    """A model's accuracy on each family at each level."""

    model: str
    method: str
    date: str
    attempts: int
    """Attempts for each family at each level."""
    correct: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class LevelCheck:
    """Whether the measured families of a set become harder with the level."""

    measured: MeasuredLevels
    families: tuple[str, ...]

    @property
    def harder(self) -> tuple[str, ...]:
        """The families that are solved less often at their last level than at their first."""
        solved = self.measured.correct
        return tuple(name for name in self.families if solved[name][0] > solved[name][-1])

    @property
    def falling(self) -> tuple[str, ...]:
        """The families that are solved less often at every level than at the one before."""
        return tuple(
            name
            for name in self.families
            if all(low > high for low, high in pairwise(self.measured.correct[name]))
        )

    @property
    def passed(self) -> bool:
        return len(self.harder) >= LEAST * len(self.families)

    def __str__(self) -> str:
        by = f"{self.measured.method}, {self.measured.model}, {self.measured.date}"
        of = f"of {len(self.families)} families"
        return (
            f"levels, solved less often at the last than at the first: {len(self.harder)} {of}, "
            f"falling at each: {len(self.falling)} ({by})"
        )


@cache
def measured_levels() -> MeasuredLevels:
    """Read the measurements on the split `public`."""
    folder = resources.files("constraint_first.benchmark.constraintbench")
    found = json.loads((folder / "data/2/levels.json").read_text(encoding="utf-8"))
    correct = {name: tuple(counts) for name, counts in found.pop("correct").items()}
    return MeasuredLevels(correct=correct, **found)


def check_levels(items: Iterable[Item]) -> LevelCheck | None:
    """Check the levels of the families in a set; None where none of them was measured."""
    measured = measured_levels()
    present = {item.family for item in items if item.version == VERSION}
    known = tuple(name for name in FAMILIES if name in present and name in measured.correct)
    return LevelCheck(measured, known) if known else None


# Drawing the shipped splits: ``python -m constraint_first.benchmark.constraintbench.make FOLDER``.


def release(folder: Path) -> None:
    """Write ``public.jsonl`` and ``hard.jsonl``; print the constants for ``family.py``."""
    # The number for each family and level: some 700 problems, and some 120 hard ones.
    recipes: dict[str, tuple[tuple[Level, ...], int]] = {
        "public": (USUAL_LEVELS, 5),
        "hard": ((4,), 15),
    }
    for name, (levels, each) in recipes.items():
        cells = sum(level in family.levels for family in FAMILIES.values() for level in levels)
        content = encode(generate(SEED, each * cells, levels=levels))
        (folder / f"{name}.jsonl").write_bytes(content)
        sys.stdout.write(f"{name.upper()}_SIZE: Final = {each * cells}\n")
        sys.stdout.write(f'    "{name}": "{hashlib.sha256(content).hexdigest()}",\n')


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m constraint_first.benchmark.constraintbench.make FOLDER")
    release(Path(sys.argv[1]))
