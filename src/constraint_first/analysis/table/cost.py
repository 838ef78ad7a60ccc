"""Tables of cost: tokens by method, model and stage (paper: Token Overhead)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from constraint_first.analysis.notation import NONE, decimal, percent, times, whole
from constraint_first.analysis.statistics.cost import (
    mean_cost,
    mean_tokens,
    stage_means,
    token_ratios,
)
from constraint_first.analysis.study.by_model import ModelArms, benchmarks_of, by_model
from constraint_first.analysis.study.study import Arm, Study, benchmark_label
from constraint_first.analysis.table.accuracy import accuracy_cell
from constraint_first.analysis.table.note import ACCURACY_INTERVAL, size_note, status_note
from constraint_first.analysis.table.table import Cell, Column, Row, Table, row

__all__ = ["prompting_table", "stages_table", "tokens_table"]

_COST_NOTE: Final = (
    "Costs are US dollars, the mean of an attempt, at the prices that models.toml had when this "
    "was made; a + marks one that lacks a part, since a model has no price."
)


def prompting_table(
    study: Study, baseline: str, references: Sequence[str | None], named: str = "CFR"
) -> Table:
    """Tabulate all methods side by side: accuracy, and tokens in, out, together and relative.

    The first of ``references`` that a model has is what "vs. CFR" compares with, or what else it is
    ``named``; None is a family that the study has no method of.
    """
    parts = by_model(study)
    benchmarks = benchmarks_of(parts)
    costs = {
        (part.title, m): mean_cost(a.values()) for part in parts for m, a in part.methods.items()
    }
    priced = any(costs.values())
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        beside = next((name for name in references if name in part.methods), None)
        for method in part.methods:
            cells = _method_cells(part, method, (baseline, beside), benchmarks)
            cost = (str(costs[part.title, method] or NONE),) if priced else ()
            rows.append(row(*cells, *cost))
    accuracy = [Column(benchmark_label(b) or "all", group="Accuracy [95 %]") for b in benchmarks]
    known = study.names("method")
    names = [study.method_name(name) for name in references if name and name in known]
    tokens = ("Input", "Output", "Total", f"vs. {study.method_name(baseline)}", f"vs. {named}")
    return Table(
        "prompting",
        "All methods side by side: accuracy and mean tokens of an attempt",
        (
            Column("Method", "left"),
            *accuracy,
            *(Column(title, group="Mean tokens") for title in tokens),
            *((Column("Cost an attempt"),) if priced else ()),
        ),
        tuple(rows),
        (
            "Accuracy in per cent; bold is the best of its model. Ratios are of total tokens, on "
            "the benchmarks that both methods have; "
            f"{named} is {' or else '.join(names) or 'absent'}.",
            *((_COST_NOTE,) if priced else ()),
            ACCURACY_INTERVAL,
            size_note(parts),
            status_note(arm for part in parts for arm in part.arms()),
        ),
        ("tab:prompting-main", "tab:cost-accounting"),
    )


def _method_cells(
    part: ModelArms, method: str, references: tuple[str, str | None], benchmarks: Sequence[str]
) -> tuple[str | Cell, ...]:
    arms = part.methods[method]
    cells = [accuracy_cell(part, method, name) for name in benchmarks]
    tokens = mean_tokens(arms.values())
    counts = (tokens.input, tokens.output, tokens.total) if tokens else (None, None, None)
    ratios = (_ratio(part, method, name) for name in references)
    return part.name(method), *cells, *map(whole, counts), *map(times, ratios)


def _ratio(part: ModelArms, method: str, reference: str | None) -> float | None:
    both = part.paired(reference, method) if reference else []
    return token_ratios([arm for _, arm in both], [base for base, _ in both]).every_time


def tokens_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate output tokens by model and benchmark (paper: Per-Model Output-Token Overview)."""
    parts = [part.keep((baseline, method)) for part in by_model(study)]
    parts = [part for part in parts if part.methods]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        base = part.methods.get(baseline, {})
        for name, arms in part.methods.items():
            cells = [
                _output(arms.get(b), base.get(b) if name != baseline else None) for b in benchmarks
            ]
            rows.append(row(part.title, part.name(name), *cells))
    return Table(
        "tokens-by-model",
        "Mean output tokens by model and benchmark",
        (
            Column("Model", "left"),
            Column("Method", "left"),
            *(Column(benchmark_label(name) or "all") for name in benchmarks),
        ),
        tuple(rows),
        ("In brackets the ratio to the baseline. Prompts are not counted here.",),
        ("tab:token-by-model",),
    )


def _output(arm: Arm | None, base: Arm | None) -> str:
    used = mean_tokens([arm]) if arm else None
    if arm is None or used is None:
        return NONE
    ratio = token_ratios([arm], [base]).output if base else None
    return whole(used.output) + (f" ({times(ratio)})" if ratio is not None else "")


def stages_table(study: Study) -> Table:
    """Tabulate where the tokens go: by stage, for an attempt that was judged."""
    rows: list[Row] = []
    for part in by_model(study):
        found = [
            line
            for method, arms in part.methods.items()
            for line in _stage_rows(part.name(method), list(arms.values()))
        ]
        rows += [row(part.title, kind="heading"), *found] if found else []
    titles = ("Calls", "Input", "Output", "Share of all tokens")
    note = "Attempts that did not reach a stage count as zero there."
    return Table(
        "stages",
        "Tokens by stage: the mean of an attempt",
        (Column("Method", "left"), Column("Stage", "left"), *map(Column, titles)),
        tuple(rows),
        (note if rows else "Calls and tokens by stage are not on record.",),
        ("tab:cost-accounting",),
    )


def _stage_rows(name: str, arms: Sequence[Arm]) -> list[Row]:
    return [
        row(
            name if at == 0 else "",
            one.stage,
            decimal(one.calls, 2),
            whole(one.tokens.input),
            whole(one.tokens.output),
            percent(one.share),
        )
        for at, one in enumerate(stage_means(arms))
    ]
