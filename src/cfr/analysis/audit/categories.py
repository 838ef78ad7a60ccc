"""Which kinds of constraint Stage 1 names (paper: Constraint Category Analysis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cfr.analysis.audit.extraction import NOTHING, extracting, replies
from cfr.analysis.notation import several, share
from cfr.analysis.statistics.subset import BASELINE, Gain, Key
from cfr.analysis.statistics.subset import pairs_by_model as sides
from cfr.analysis.study.study import Arm, Study, benchmark_label, model_label
from cfr.analysis.table.gain import gain_cell
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.constraint.spec import KINDS

__all__ = ["OTHER_KIND", "Category", "categories", "categories_table", "kinds_named"]

OTHER_KIND: Final = "other"
"""All kinds that a model names outside the paper's eight, and constraints without a kind."""

_KINDS: Final = (*KINDS, OTHER_KIND)


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of constraint: where Stage 1 names it, and a method's gain there."""

    model: str
    kind: str
    present: int
    problems: int
    """Problems that have a Stage 1 reply."""
    gain: Gain | None

    @property
    def frequency(self) -> float:
        """The share of problems that have the kind."""
        return self.present / self.problems


def categories(study: Study, method: str, baseline: str = BASELINE) -> tuple[Category, ...]:
    """Find the kinds that Stage 1 names, by model, and the gain on the problems that have each.

    A problem has a kind where at least half of the replies to it name one. To ask for any reply
    would let every kind grow with the number of runs.
    """
    gains = {side.model: side for side in sides(study, method, baseline)}
    found: list[Category] = []
    for (model, name), arms in extracting(study).items():
        if name == method:
            named, side = kinds_named(arms), gains.get(model)
            for kind in _KINDS:
                having = {key for key, kinds in named.items() if kind in kinds}
                gain = side.gain(having) if side else None
                found.append(Category(model, kind, len(having), len(named), gain))
    return tuple(found)


def kinds_named(arms: Iterable[Arm]) -> dict[Key, tuple[str, ...]]:
    """List the kinds that each problem with a Stage 1 reply has, in the paper's order."""
    named: Counter[tuple[Key, str]] = Counter()
    made: Counter[Key] = Counter()
    for key, reply in replies(arms):
        made[key] += 1
        for kind in {kind if kind in KINDS else OTHER_KIND for kind in reply.kinds}:
            named[key, kind] += 1
    return {
        key: tuple(kind for kind in _KINDS if 2 * named[key, kind] >= count)
        for key, count in made.items()
    }


def categories_table(study: Study, method: str, baseline: str = BASELINE) -> Table:
    """Show the kinds that Stage 1 names, the most frequent first."""
    found = categories(study, method, baseline)
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in found):
        own = sorted((o for o in found if o.model == model), key=lambda one: -one.present)
        rows += [
            row(
                "" if at else model_label(model),
                one.kind.capitalize(),
                share(one.present, one.problems),
                gain_cell(one.gain),
                f"{one.gain.n if one.gain else 0:,}",
            )
            for at, one in enumerate(own)
        ]
    names = {arm.method: arm.name for arm in study.arms}
    columns = (
        *(Column("Model", "left"), Column("Category", "left"), Column("Problems that have it")),
        *(Column("Δ there, points [95 %]"), Column("Problems compared")),
    )
    return Table(
        "categories",
        f"Kinds of constraint that Stage 1 of {names.get(method, method)} names, and its gain over "
        f"{names.get(baseline, baseline)} there",
        columns,
        tuple(rows),
        notes=tuple(_category_notes(study, found, method)) if found else (NOTHING,),
        paper=("tab:constraint-categories",),
    )


def _category_notes(study: Study, found: Sequence[Category], method: str) -> Iterator[str]:
    yield "A problem has a kind where at least half of the Stage 1 replies to it name one."
    for model in dict.fromkeys(one.model for one in found):
        where = ", ".join(
            benchmark_label(arm.benchmark)
            for arm in study.main_arms()
            if arm.model == model and arm.method == method and arm.attempts
        )
        problems = next(one.problems for one in found if one.model == model)
        replied = several(problems, "problem")
        yield f"{model_label(model)}: {replied} of {where} with a Stage 1 reply."
    if any(one.present for one in found if one.kind == OTHER_KIND):
        yield "Other: kinds outside the eight, and constraints that name none."
    yield "Problems of a kind differ in other ways too: a gain there is not what the kind brings."
