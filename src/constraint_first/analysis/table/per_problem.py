"""Tables of one benchmark problem by problem (paper: the appendices Per-Problem Analysis)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from constraint_first.analysis.audit.mistake import FIX_LABELS, MISTAKE_LABELS
from constraint_first.analysis.audit.per_problem import (
    PerProblem,
    ProblemFacts,
    ProblemResult,
    per_problem,
)
from constraint_first.analysis.notation import NONE
from constraint_first.analysis.statistics.subset import BASELINE, pairs_by_model
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.note import RIGHT_RULES
from constraint_first.analysis.table.table import Cell, Column, Row, Table, row
from constraint_first.file.stem import file_stem

__all__ = ["per_problem_tables"]

_MOST_ROWS: Final = 60
_PAPER: Final[Mapping[tuple[str, str], str]] = {
    ("aime24", "Qwen3.5-9B"): "tab:aime24-perproblem",
    ("aime25", "DeepSeek-V4-Pro"): "tab:aime25-ds",
    ("aime25", "Qwen3.5-9B"): "tab:aime25-qwen9b",
    ("aime26", "DeepSeek-V4-Pro"): "tab:aime26-ds",
    ("aime26", "Qwen3.5-9B"): "tab:aime26-qwen9b",
}


def per_problem_tables(
    study: Study,
    method: str,
    baseline: str = BASELINE,
    rule: ErrorRule = DEFAULT_RULE,
    *,
    most: int = _MOST_ROWS,
) -> Iterator[Table]:
    """Show each problem: what restricts it, who has it right, what was fixed.

    There is a table for each benchmark and model that has both methods.
    """
    for one in pairs_by_model(study, method, baseline):
        for base, arm in one.pairs:
            yield _table(per_problem(study, base, arm, rule, most=most), rule)


def _table(found: PerProblem, rule: ErrorRule) -> Table:
    benchmark, model = found.base.benchmark, found.base.model
    place = benchmark_label(benchmark) or "This set"
    title = ", ".join(filter(None, (f"{place} problem by problem", model_label(model))))
    columns = (
        *(Column("Problem", "left"), Column("Constraint", "left"), Column("Base", "left")),
        *(Column("Method", "left"), Column("Fix type", "left")),
    )
    counts = (f"of {found.problems:,}", f"{found.right_before:,}", f"{found.right_after:,}")
    change = f"{found.fixed:,} fixed, {found.introduced:,} introduced"
    total = row("Correct", *counts, change, kind="delta")
    paper = _PAPER.get((benchmark, model_label(model)))
    return Table(
        file_stem("per-problem", benchmark, model),
        title,
        columns,
        (*map(_row, found.shown), total),
        notes=tuple(_notes(found, rule)),
        paper=(paper,) if paper else (),
    )


def _row(one: ProblemFacts) -> Row:
    dominant = one.dominant.label or NONE
    return row(one.problem, dominant, _mark(one.before), _mark(one.after), _fix(one))


def _mark(result: ProblemResult) -> str:
    return f"{'✓' if result.right else '✗'} ({result.right_runs}/{result.runs})"


def _fix(one: ProblemFacts) -> Cell:
    if not one.routed:
        return Cell("not routed", tone="muted")
    if one.flip is None:
        return Cell("Reasoning error" if one.missed else NONE)
    if one.flip.fixed:
        return Cell(FIX_LABELS[one.flip.mistake], tone="gain")
    return Cell(f"introduced: {MISTAKE_LABELS[one.flip.mistake]}", tone="loss")


def _notes(found: PerProblem, rule: ErrorRule) -> Iterator[str]:
    base, method = found.base.name, found.method.name
    yield f"Base is {base}, method is {method}; in brackets, right runs of judged runs."
    yield RIGHT_RULES[rule.right]
    cues = "the router's cues in the text"
    stage1 = (
        "the kind that most constraints have which Stage 1 calls critical, or lists where it calls "
        f"none critical; domain only where there is no other. Where Stage 1 names none, {cues}"
    )
    yield f"Constraint: {stage1 if found.by_stage1 else cues}."
    if not all(one.routed for one in found.shown):
        yield f"Not routed: {method} solves it as {base} does; where they differ, it is by chance."
    if any(one.missed and one.routed for one in found.shown):
        yield "Reasoning error: both have it wrong, whatever their answers (the paper's word)."
    if found.left_out:
        yield (
            f"{found.left_out:,} of {found.problems:,} problems are left out; those that changed "
            "come first."
        )
