"""Tables of generalization: gain and routing by benchmark, pass@k, the benchmarks themselves.

Paper: Benchmark Scope, Generalization, the exploratory comparison.
"""

from __future__ import annotations

from cfr.analysis.audit.router_agreement import routed_share
from cfr.analysis.notation import NONE, counted, decimal, percent, span, times
from cfr.analysis.statistics.comparison import pair_arms
from cfr.analysis.statistics.cost import token_ratio
from cfr.analysis.statistics.score import mean_of_all, mean_pass
from cfr.analysis.study.by_model import ModelArms, by_model
from cfr.analysis.study.study import Arm, Study, benchmark_label
from cfr.analysis.table.gain import delta
from cfr.analysis.table.note import GAIN_INTERVAL
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.benchmark.constraintbench.split import is_constraintbench
from cfr.benchmark.entry import entries

__all__ = ["benchmarks_table", "exploratory_table", "generalization_table"]


def generalization_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate gain beside the share of problems that the router sends to two stages."""
    rows: list[Row] = []
    for part in by_model(study) if method != baseline else ():
        for base, arm in part.paired(baseline, method):
            pair = pair_arms([base], [arm], base.benchmark)
            if pair:
                where = benchmark_label(base.benchmark)
                cells = (where, decimal(pair.before, 2), decimal(pair.after, 2))
                gain = delta(pair.gain, pair.interval)
                rows.append(row(part.title, *cells, gain, f"{pair.n:,}", _routed(arm)))
    titles = ("Baseline", "Method", "Gain [95 %]", "n", "Routed")
    return Table(
        "generalization",
        "Gain and routing rate by benchmark",
        (Column("Model", "left"), Column("Benchmark", "left"), *map(Column, titles)),
        tuple(rows),
        (f"{study.method_name(method)} against {study.method_name(baseline)}.", GAIN_INTERVAL),
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
    for part in by_model(study):
        if shared := part.shared_benchmarks(baseline):
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


def _exploratory_row(part: ModelArms, baseline: str, method: str, benchmarks: list[str]) -> Row:
    arms = [part.methods[method][name] for name in benchmarks]
    bases = [part.methods[baseline][name] for name in benchmarks]
    found = mean_pass(arms)
    costs = [token_ratio([arm], [base]) for arm, base in zip(arms, bases, strict=True)]
    return row(
        part.name(method),
        f"pass@{found.k}",
        decimal(found.percent),
        f"{found.problems:,}",
        times(mean_of_all(costs)),
    )


def benchmarks_table(study: Study) -> Table:
    """Say what the benchmarks of a study are."""
    rows: list[Row] = []
    for name in study.names("benchmark"):
        entry = entries().get(name)
        built_in = is_constraintbench(name)
        form = entry.answer_format if entry else "Stated by each problem" if built_in else ""
        strength = entry.strength if entry else "Tight" if built_in else ""
        sizes = span(*study.sizes(name))
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
