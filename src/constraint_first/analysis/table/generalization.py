"""Tables of generalization: gain and routing by benchmark, pass@k, the benchmarks themselves.

Paper: Benchmark Scope, Generalization, the exploratory comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constraint_first.analysis.audit.router_agreement import routed_share
from constraint_first.analysis.notation import NONE, counted, decimal, percent, span, times
from constraint_first.analysis.statistics.comparison import POOLED, pair_arms
from constraint_first.analysis.statistics.cost import token_ratios
from constraint_first.analysis.statistics.score import mean_of_all, mean_pass
from constraint_first.analysis.statistics.subset import ModelPairs, pairs_by_model
from constraint_first.analysis.study.by_model import ModelArms, by_model
from constraint_first.analysis.study.group import groups_and_all, groups_of
from constraint_first.analysis.study.study import Arm, Study, benchmark_label, model_label
from constraint_first.analysis.table.gain import absent, delta
from constraint_first.analysis.table.note import GAIN_INTERVAL
from constraint_first.analysis.table.table import Column, Row, Table, row
from constraint_first.benchmark.constraintbench.split import is_constraintbench
from constraint_first.benchmark.entry import entries

__all__ = ["benchmarks_table", "exploratory_table", "generalization_table"]


def generalization_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate gain beside the share of problems that the router sends to two stages."""
    found = pairs_by_model(study, method, baseline)
    titles = ("Baseline", "Method", "Gain [95 %]", "n", "Routed")
    said = f"{study.method_name(method)} against {study.method_name(baseline)}."
    return Table(
        "generalization",
        "Gain and routing rate by benchmark",
        (Column("Model", "left"), Column("Benchmark", "left"), *map(Column, titles)),
        tuple(line for one in found for line in _gain_rows(one)),
        (said, GAIN_INTERVAL) if found else (absent(method, baseline),),
        ("tab:olympiadbench",),
    )


def _gain_rows(found: ModelPairs) -> Iterator[Row]:
    groups = groups_of(found.benchmarks).values()
    for names in (*((name,) for name in found.benchmarks), *groups):
        pairs = [pair for pair in found.pairs if pair[0].benchmark in names]
        arms = [arm for _, arm in pairs]
        pair = pair_arms([base for base, _ in pairs], arms, POOLED if pairs[1:] else names[0])
        if pair:
            cells = (decimal(pair.before, 2), decimal(pair.after, 2))
            gain = (delta(pair.gain, pair.interval), f"{pair.n:,}", _routed(arms))
            yield row(model_label(found.model) or "All attempts", pair.where, *cells, *gain)


def _routed(arms: Sequence[Arm]) -> str:
    shares = [found for arm in arms if (found := routed_share(arm))]
    if not shares:
        return NONE
    routed, decided = (sum(counts) for counts in zip(*shares, strict=True))
    return f"{counted(routed, decided)} ({percent(routed / decided)})"


def exploratory_table(study: Study, baseline: str) -> Table:
    """Tabulate pass@k and overhead (paper: Comparison with Alternative Prompting Strategies).

    Each group of benchmarks that all methods share has its mean, as AIME has in the paper, and so
    have all that they share.
    """
    rows: list[Row] = []
    for part in by_model(study):
        shared = part.shared_benchmarks(next(iter(part.methods)))
        for names in groups_and_all(shared):
            where = ", ".join(map(benchmark_label, names)) or "all"
            rows.append(row(f"{part.title}: {where}", kind="heading"))
            rows += [_exploratory_row(part, baseline, name, names) for name in part.methods]
    lacking = "The methods of each model share no judged benchmark: there is no mean to compare."
    return Table(
        "prompting-comparison",
        "pass@k and overhead, averaged over benchmarks",
        (Column("Method", "left"), Column("k"), Column("Average"), Column("n"), Column("Tokens")),
        tuple(rows),
        (
            "Descriptive: the plain mean of pass@k over the benchmarks that all methods have, and "
            f"of tokens relative to {study.method_name(baseline)}. No claim rests on it."
            if rows
            else lacking,
        ),
        ("tab:prompting-comparison",),
    )


def _exploratory_row(part: ModelArms, baseline: str, method: str, benchmarks: Sequence[str]) -> Row:
    arms = [part.methods[method][name] for name in benchmarks]
    found = mean_pass(arms)
    bases = part.methods.get(baseline, {})
    costs = [
        token_ratios([arm], [bases[arm.benchmark]]).every_time if arm.benchmark in bases else None
        for arm in arms
    ]
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
