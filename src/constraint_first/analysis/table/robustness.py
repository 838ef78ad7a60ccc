"""Table of accuracy under other decodings.

Paper: appendix Implementation Details, "Robustness Across Decoding Settings".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from constraint_first.analysis.audit.robustness import Setting, robustness
from constraint_first.analysis.notation import NONE, decimal, interval, several
from constraint_first.analysis.statistics.score import Score
from constraint_first.analysis.statistics.subset import BASELINE
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.decoding import describe_decoding, tell_apart
from constraint_first.analysis.table.gain import gain_cell
from constraint_first.analysis.table.note import ACCURACY_INTERVAL, GAIN_INTERVAL
from constraint_first.analysis.table.table import Cell, Column, Row, Table, row

__all__ = ["robustness_table"]


def robustness_table(study: Study, methods: Sequence[str], baseline: str = BASELINE) -> Table:
    """Tabulate accuracy under every decoding, with a row for the gain below each method."""
    found = robustness(study, methods, baseline)
    benchmarks = [
        name
        for name in study.names("benchmark")
        if any(name == own for one in found for _, own in one.scores)
    ]
    names = {arm.method: arm.name for arm in study.arms}
    columns = (
        *(Column("Model", "left"), Column("Setting", "left"), Column("Method", "left")),
        *(Column(benchmark_label(name), group="Accuracy, % [95 %]") for name in benchmarks),
    )
    rows = (line for one in found for line in _rows(one, _ahead(one, found), benchmarks, names))
    alone = "No model of this study was run under more than one decoding."
    return Table(
        "robustness",
        "Accuracy under other decodings",
        columns,
        tuple(rows),
        notes=tuple(_notes(study, found, benchmarks)) if found else (alone,),
        paper=("tab:robustness",),
    )


def _ahead(one: Setting, found: Sequence[Setting]) -> tuple[str, str]:
    """Name a setting's model, and its decoding by what tells it from the model's others."""
    labels = tell_apart([other.decoding for other in found if other.model == one.model])
    return model_label(one.model), labels[one.decoding]


def _rows(
    one: Setting,
    ahead: tuple[str, str],
    benchmarks: Sequence[str],
    names: Mapping[str, str],
) -> Iterator[Row]:
    methods = list(dict.fromkeys(method for method, _ in one.scores))
    methods.sort(key=lambda method: method != one.baseline)
    best = {
        b: max(s.accuracy for (_, own), s in one.scores.items() if own == b)
        for b in {own for _, own in one.scores}
    }
    for method in methods:
        cells = (_score_cell(one.scores.get((method, b)), best.get(b)) for b in benchmarks)
        yield row(*ahead, names[method], *cells)
        if method != one.baseline:
            gains = (gain_cell(one.gains.get((method, b))) for b in benchmarks)
            yield row(*ahead, f"Δ {names[method]}", *gains, kind="delta")


def _score_cell(found: Score | None, best: float | None) -> Cell:
    if found is None:
        return Cell(NONE)
    return Cell(decimal(found.accuracy) + interval(found.interval), bold=found.accuracy == best)


def _notes(study: Study, found: Sequence[Setting], benchmarks: Sequence[str]) -> Iterator[str]:
    yield "Bold: the best of a setting. Δ: points over the baseline in the same setting."
    for name in benchmarks:
        sizes = {
            (s.problems, s.runs)
            for one in found
            for (_, own), s in one.scores.items()
            if own == name
        }
        texts = [
            f"{several(problems, 'problem')}, {several(runs, 'run')}"
            for problems, runs in sorted(sizes)
        ]
        yield f"{benchmark_label(name)}: {'; in other rows '.join(texts)}."
    yield f"{ACCURACY_INTERVAL} {GAIN_INTERVAL}"
    for model in dict.fromkeys(one.model for one in found):
        main = {study.primary[b, model] for b in benchmarks if (b, model) in study.primary}
        known = (describe_decoding(one) or "what has no settings on record" for one in sorted(main))
        yield f"{model_label(model)}: other tables show {' and '.join(known)}."
