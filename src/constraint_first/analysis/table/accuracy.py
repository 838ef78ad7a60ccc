"""Tables of accuracy (paper: Main Results, Ablation Results, Extended Results)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from constraint_first.analysis.notation import NONE, decimal, percent, scored, times, whole
from constraint_first.analysis.statistics.comparison import pair_arms
from constraint_first.analysis.statistics.cost import mean_tokens, token_ratios
from constraint_first.analysis.statistics.score import (
    leads,
    majority_at,
    mean_accuracy,
    mean_of_all,
    pass_at,
    score,
)
from constraint_first.analysis.study.by_model import ModelArms, benchmarks_of, by_model
from constraint_first.analysis.study.family import CFR, ROUTED_CFR, family_label
from constraint_first.analysis.study.study import Arm, Study, benchmark_label, model_label
from constraint_first.analysis.table.decoding import tell_apart
from constraint_first.analysis.table.gain import delta
from constraint_first.analysis.table.note import (
    ACCURACY_INTERVAL,
    GAIN_INTERVAL,
    size_note,
    status_note,
)
from constraint_first.analysis.table.published import paper_accuracy
from constraint_first.analysis.table.table import Cell, Column, Row, Table, row

__all__ = ["accuracy_cell", "main_table", "routing_table", "scores_table"]


def scores_table(study: Study) -> Table:
    """List every arm with all that is known of its score."""
    rows: list[Row] = []
    for model in study.names("model"):
        if model:
            rows.append(row(model_label(model), kind="heading"))
        arms = study.select(model=model)
        settings = tell_apart([arm.decoding for arm in arms])
        for arm in arms:
            aside = arm.decoding != study.primary[arm.benchmark, arm.model]
            rows.append(_score_row(arm, settings[arm.decoding] if aside else ""))
    titles = ("n", "Runs", "Accuracy [95 %]", "pass@k", "maj@k")
    titles = (*titles, "Truncated", "Unparsed", "Failed", "Tokens")
    return Table(
        "scores",
        "Scores of every method, model and benchmark",
        (Column("Benchmark", "left"), Column("Method", "left"), *map(Column, titles)),
        tuple(rows),
        (
            "Accuracy in per cent: the runs of a problem are averaged, then the problems. "
            + ACCURACY_INTERVAL,
            "pass@k: one of k runs is right, estimated without bias; maj@k: the answer that most "
            "of the first k runs give is right; k is the fewest runs of a problem. Two runs are "
            "no vote: where they differ, the first would decide. Tokens: means.",
        ),
    )


def _score_row(arm: Arm, setting: str) -> Row:
    found, tokens = score(arm), mean_tokens([arm])
    name = f"{arm.name}, {setting}" if setting else arm.name
    if found is None:
        failed = arm.statuses.get("failed", 0)
        return row(benchmark_label(arm.benchmark), name, "0", *[NONE] * 6, str(failed), NONE)
    return row(
        benchmark_label(arm.benchmark) or NONE,
        name,
        f"{found.problems:,}",
        str(arm.runs),
        scored(found.accuracy, found.interval),
        decimal(pass_at(arm, arm.fewest_runs)),
        decimal(majority_at(arm, arm.fewest_runs)),
        percent(arm.rate("truncated")),
        percent(arm.rate("unparsed")),
        str(arm.statuses.get("failed", 0)),
        whole(tokens.total if tokens else None),
    )


def main_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate accuracy by model and benchmark, with Δ rows and, where it is, the paper's rows."""
    parts = [part.keep((baseline, method)) for part in by_model(study)]
    parts = [part for part in parts if part.methods]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        rows += [_accuracies(part, name, benchmarks) for name in part.methods]
        if len(part.methods) == 2:
            rows.append(_deltas(part, baseline, method, benchmarks))
        rows += _paper_rows(part, benchmarks)
    columns = (Column("Method", "left"), *map(_benchmark_column, benchmarks), Column("Avg."))
    return Table(
        "main",
        "Accuracy by model and benchmark",
        columns,
        tuple(rows),
        (
            "Accuracy in per cent with its 95 % interval, problems and runs; Δ in points with its "
            "paired 95 % interval, over the problems that both have. Avg. is the plain mean of the "
            "benchmarks, as in the paper.",
            status_note(arm for part in parts for arm in part.arms()),
            f"{ACCURACY_INTERVAL} {GAIN_INTERVAL}",
        ),
        ("tab:model-performance-main", "tab:model-performance-additional"),
    )


def _benchmark_column(benchmark: str) -> Column:
    return Column(benchmark_label(benchmark) or "Accuracy")


def _accuracies(part: ModelArms, method: str, benchmarks: Sequence[str]) -> Row:
    cells = [accuracy_cell(part, method, name, sized=True) for name in benchmarks]
    average = mean_accuracy([part.methods[method].get(name) for name in benchmarks])
    return row(part.name(method), *cells, decimal(average))


def accuracy_cell(part: ModelArms, method: str, benchmark: str, *, sized: bool = False) -> Cell:
    """Write an accuracy with its interval and, where ``sized``, its size; the best is bold."""
    arm = part.methods[method].get(benchmark)
    found = score(arm) if arm else None
    if arm is None or found is None:
        return Cell(NONE)
    size = f" (n = {found.problems:,} × {found.runs})" if sized else ""
    best = leads(arm, [arms[benchmark] for arms in part.methods.values() if benchmark in arms])
    return Cell(scored(found.accuracy, found.interval) + size, bold=best)


def _deltas(part: ModelArms, baseline: str, method: str, benchmarks: Sequence[str]) -> Row:
    both = {base.benchmark: (base, arm) for base, arm in part.paired(baseline, method)}
    pairs = [
        pair_arms([both[name][0]], [both[name][1]], name) if name in both else None
        for name in benchmarks
    ]
    cells = [delta(pair.gain, pair.interval) if pair else Cell(NONE) for pair in pairs]
    average = mean_of_all([pair.gain if pair else None for pair in pairs])
    return row(f"Δ vs. {part.name(baseline)}", *cells, delta(average), kind="delta")


def _paper_rows(part: ModelArms, benchmarks: Sequence[str]) -> list[Row]:
    """Print what the paper has for the same model, method and benchmarks."""
    rows: list[Row] = []
    for method in part.methods:
        label = next(iter(part.methods[method].values())).label
        found = [paper_accuracy(part.title, label, benchmark_label(b)) for b in benchmarks]
        if any(value is not None for value in found):
            cells = (Cell(decimal(value), tone="muted") for value in found)
            rows.append(row(Cell(f"{label}, paper", tone="muted"), *cells, NONE))
    return rows


def routing_table(study: Study, baseline: str, constrained: Mapping[str, str | None]) -> Table:
    """Tabulate what routing saves: accuracy and tokens, always on and routed.

    ``constrained`` has a method of each kind of CFR, or None where the study has none of that
    family; of the paper's two the table says so.
    """
    wanted = (baseline, *filter(None, constrained.values()))
    parts = [part.keep(wanted) for part in by_model(study)]
    parts = [part for part in parts if len(part.methods) > 1]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        for name in part.methods:
            cells = [c for b in benchmarks for c in _accuracy_and_cost(part, name, baseline, b)]
            rows.append(row(part.name(name), *cells))
    columns = [
        Column(title, group=benchmark_label(name) or "all")
        for name in benchmarks
        for title in ("Acc. [95 %]", "Tokens")
    ]
    papers = {family: constrained.get(family) for family in (ROUTED_CFR, CFR)}
    lacking = _lacking(study, {baseline: baseline, **papers})
    notes = (
        f"Tokens, in and out, are relative to {study.method_name(baseline)} on the same set.",
        ACCURACY_INTERVAL,
        size_note(parts),
        status_note(arm for part in parts for arm in part.arms()),
    )
    return Table(
        "routing-ablation",
        "Routing ablation: routed and always on",
        (Column("Method", "left"), *columns),
        tuple(rows),
        (*lacking, *notes) if rows else lacking or (_APART,),
        ("tab:model-performance-sub",),
    )


_APART: Final = (
    "No model of this study has two of Direct CoT, Routed-CFR and CFR (always-on) judged, nor of "
    "Direct CoT and CFR-brief."
)


def _lacking(study: Study, wanted: Mapping[str, str | None]) -> tuple[str, ...]:
    """Name the families of a comparison that a study has nothing of, and the way out."""
    known = study.names("method")
    return tuple(
        f"{family_label(family)} is not in these data; run {family} to compare with it."
        for family, method in wanted.items()
        if method not in known
    )


def _accuracy_and_cost(part: ModelArms, method: str, baseline: str, benchmark: str) -> list[Cell]:
    arm, base = part.methods[method].get(benchmark), part.methods.get(baseline, {}).get(benchmark)
    found = score(arm) if arm else None
    accuracy = Cell(scored(found.accuracy, found.interval) if found else NONE)
    ratio = token_ratios([arm], [base]).every_time if arm and base else None
    return [accuracy, Cell(times(ratio))]
