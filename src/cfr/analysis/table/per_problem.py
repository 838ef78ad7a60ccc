"""One benchmark problem by problem (paper: the appendices Per-Problem Analysis)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cfr.analysis.audit.categories import kinds_named
from cfr.analysis.audit.error_rule import RULES, Judging
from cfr.analysis.audit.flips import Flip, flips_between
from cfr.analysis.audit.mistake import MISTAKE_LABELS
from cfr.analysis.audit.outcomes import both_outcomes
from cfr.analysis.audit.routing import FAMILY_LABELS
from cfr.analysis.notation import NONE
from cfr.analysis.statistics.subset import BASELINE, sides
from cfr.analysis.study.study import Arm, Study, benchmark_label, model_label
from cfr.analysis.table.gain import absent
from cfr.analysis.table.table import Cell, Column, Row, Table, row
from cfr.constraint.router import route
from cfr.file.stem import file_stem

__all__ = ["per_problem", "per_problem_tables"]

_MOST_ROWS: Final = 60
_JUDGING: Final = Judging()
_PAPER: Final[Mapping[tuple[str, str], str]] = {
    ("aime24", "Qwen3.5-9B"): "tab:aime24-perproblem",
    ("aime25", "DeepSeek-V4-Pro"): "tab:aime25-ds",
    ("aime25", "Qwen3.5-9B"): "tab:aime25-qwen9b",
    ("aime26", "DeepSeek-V4-Pro"): "tab:aime26-ds",
    ("aime26", "Qwen3.5-9B"): "tab:aime26-qwen9b",
}


def per_problem_tables(
    study: Study, method: str, baseline: str = BASELINE, judging: Judging = _JUDGING
) -> Iterator[Table]:
    """Make one such table for each benchmark and model that has both methods."""
    for side in sides(study, method, baseline):
        for benchmark in side.benchmarks:
            yield per_problem(study, benchmark, side.model, method, baseline, judging=judging)


def per_problem(
    study: Study,
    benchmark: str,
    model: str,
    method: str,
    baseline: str = BASELINE,
    *,
    judging: Judging = _JUDGING,
    limit: int = _MOST_ROWS,
) -> Table:
    """Show each problem of a benchmark: what restricts it, who has it right, what was fixed."""
    pairs = [
        (base, arm)
        for side in sides(study, method, baseline)
        for base, arm in side.pairs
        if (base.benchmark, base.model) == (benchmark, model)
    ]
    place = benchmark_label(benchmark) or "This set"
    title = ", ".join(filter(None, (f"{place} problem by problem", model_label(model))))
    columns = (
        *(Column("Problem", "left"), Column("Constraint", "left"), Column("Base", "left")),
        *(Column("Method", "left"), Column("Fix type", "left")),
    )
    rows, notes = (
        _body(study, *pairs[0], judging, limit) if pairs else ((), (absent(method, baseline),))
    )
    paper = _PAPER.get((benchmark, model_label(model)))
    name = file_stem("per-problem", benchmark, model)
    return Table(name, title, columns, rows, notes=notes, paper=(paper,) if paper else ())


def _body(
    study: Study, base: Arm, arm: Arm, judging: Judging, limit: int
) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    ends = dict(both_outcomes(base, arm, judging.rule))
    flipped = {flip.problem: flip for flip in flips_between(study, base, arm, judging)}
    # Where not all can be shown, those that changed come first.
    shown = sorted(ends, key=lambda p: p not in flipped) if len(ends) > limit else [*ends]
    restrictions = _Restrictions(study, arm)
    rows = [
        row(
            problem,
            restrictions.of(problem),
            _mark(base, problem, right=ends[problem][0]),
            _mark(arm, problem, right=ends[problem][1]),
            _fix(flipped.get(problem)),
        )
        for problem in shown[:limit]
    ]
    before, after = (sum(side) for side in zip(*ends.values(), strict=True))
    fixed = sum(flip.fixed for flip in flipped.values())
    change = f"{fixed:,} fixed, {len(flipped) - fixed:,} introduced"
    rows.append(
        row("Correct", f"of {len(ends):,}", f"{before:,}", f"{after:,}", change, kind="delta")
    )
    notes = [
        f"Base is {base.name}, method is {arm.name}; in brackets, right runs of judged runs.",
        RULES[judging.rule],
        f"Constraint: {restrictions.source}.",
    ]
    if len(ends) > limit:
        notes.append(
            f"{len(ends) - limit:,} of {len(ends):,} problems are left out; those that changed "
            "come first."
        )
    return tuple(rows), tuple(notes)


class _Restrictions:
    """What restricts a problem: the kinds that Stage 1 named, or else the cues in its text."""

    def __init__(self, study: Study, arm: Arm) -> None:
        self._study, self._arm = study, arm
        self._kinds = kinds_named([arm])

    @property
    def source(self) -> str:
        """Where it was read, in words."""
        cues = "the router's cues in the text"
        return f"kinds that Stage 1 named, or where it has none {cues}" if self._kinds else cues

    def of(self, problem: str) -> str:
        """Name the restrictions of a problem."""
        key = (self._arm.benchmark, problem)
        if kinds := self._kinds.get(key):
            return ", ".join(kinds)
        asked = self._study.problems.get(key)
        cues = route(asked.text) if asked else ()
        names = [FAMILY_LABELS[cue.family].partition(": ")[2] for cue in cues]
        return ", ".join(names) or NONE


def _mark(arm: Arm, problem: str, *, right: bool) -> str:
    good, runs = arm.scores[problem]
    return f"{'✓' if right else '✗'} ({good}/{runs})"


def _fix(flip: Flip | None) -> Cell:
    if flip is None:
        return Cell(NONE)
    label = MISTAKE_LABELS[flip.mistake]
    return Cell(label, tone="gain") if flip.fixed else Cell(f"introduced: {label}", tone="loss")
