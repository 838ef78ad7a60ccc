"""How far results reach (paper: Benchmark Scope, Generalization, the exploratory comparison)."""

from __future__ import annotations

from cfr.analysis.audit.router_agreement import routed_share
from cfr.analysis.notation import NONE, counted, decimal, percent, times
from cfr.analysis.statistics.comparison import pair_arms
from cfr.analysis.statistics.score import pass_at
from cfr.analysis.study.by_model import Block, blocks, relative
from cfr.analysis.study.study import Arm, Study, benchmark_label
from cfr.analysis.table.gain import delta
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.benchmark.constraintbench.split import is_constraintbench
from cfr.benchmark.entry import entries

__all__ = ["benchmarks_table", "exploratory_table", "generalization_table"]


def generalization_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate gain beside the share of problems that the router sends to two stages."""
    rows: list[Row] = []
    for part in blocks(study):
        before, after = part.methods.get(baseline, {}), part.methods.get(method, {})
        if method == baseline:
            break
        for name in [name for name in before if name in after]:
            pair = pair_arms([before[name]], [after[name]], name)
            if pair:
                gain = delta(pair.gain, pair.interval)
                cells = (benchmark_label(name), decimal(pair.before, 2), decimal(pair.after, 2))
                rows.append(row(part.title, *cells, gain, f"{pair.n:,}", _routed(after[name])))
    titles = ("Baseline", "Method", "Gain [95 %]", "n", "Routed")
    return Table(
        "generalization",
        "Gain and routing rate by benchmark",
        (Column("Model", "left"), Column("Benchmark", "left"), *map(Column, titles)),
        tuple(rows),
        (f"{study.method_name(method)} against {study.method_name(baseline)}.",),
        ("tab:olympiadbench",),
    )


def _routed(arm: Arm) -> str:
    found = routed_share(arm)
    if found is None:
        return NONE
    routed, decided = found
    return f"{counted(routed, decided)} ({percent(routed / decided)})"


def exploratory_table(study: Study, baseline: str) -> Table:
    """Tabulate pass@k and overhead (paper: Comparison with Alternative Prompting Strategies)."""
    rows: list[Row] = []
    for part in blocks(study):
        shared = [
            name
            for name in part.methods.get(baseline, {})
            if all(name in arms for arms in part.methods.values())
        ]
        if shared:
            where = ", ".join(map(benchmark_label, shared)) or "all"
            rows.append(row(f"{part.title}: {where}", kind="heading"))
            rows += [_exploratory_row(part, baseline, name, shared) for name in part.methods]
    return Table(
        "prompting-comparison",
        "pass@k and overhead, all benchmarks together",
        (Column("Method", "left"), Column("k"), Column("Average"), Column("n"), Column("Tokens")),
        tuple(rows),
        (
            "Descriptive: the plain mean of pass@k over the benchmarks that all methods have, and "
            f"of tokens relative to {study.method_name(baseline)}. No claim rests on it.",
        ),
        ("tab:prompting-comparison",),
    )


def _exploratory_row(part: Block, baseline: str, method: str, benchmarks: list[str]) -> Row:
    arms = [part.methods[method][name] for name in benchmarks]
    runs = min(arm.fewest_runs for arm in arms)
    passed = [value for arm in arms if (value := pass_at(arm, runs)) is not None]
    pairs = [(arm, part.methods[baseline][arm.benchmark]) for arm in arms]
    costs = [value for arm, base in pairs if (value := relative([arm], [base])) is not None]
    return row(
        part.name(method),
        f"pass@{runs}",
        decimal(sum(passed) / len(passed) if passed else None),
        f"{sum(len(arm.scores) for arm in arms):,}",
        times(sum(costs) / len(costs) if len(costs) == len(arms) else None),
    )


def benchmarks_table(study: Study) -> Table:
    """Say what the benchmarks of a study are."""
    rows: list[Row] = []
    for name in study.names("benchmark"):
        entry = entries().get(name)
        built_in = is_constraintbench(name)
        form = entry.answer_format if entry else "Stated by each problem" if built_in else ""
        strength = entry.strength if entry else "Tight" if built_in else ""
        counts = {len(arm.scores) for arm in study.select(benchmark=name)} - {0} or {0}
        sizes = f"{min(counts)}–{max(counts)}" if len(counts) > 1 else str(*counts)
        rows.append(row(benchmark_label(name) or NONE, sizes, form or NONE, strength or NONE))
    return Table(
        "benchmarks",
        "The benchmarks of this study",
        (
            Column("Benchmark", "left"),
            Column("Problems"),
            Column("Answer format", "left"),
            Column("Constraint strength", "left"),
        ),
        tuple(rows),
        (),
        ("tab:benchmarks",),
    )
