"""Table of token ratios: what methods cost in multiples of a baseline, counted in three ways."""

from __future__ import annotations

from typing import Final

from constraint_first.analysis.notation import times
from constraint_first.analysis.statistics.comparison import Comparison, Pair
from constraint_first.analysis.study.study import model_label
from constraint_first.analysis.table.decoding import tell_apart
from constraint_first.analysis.table.table import Column, Row, Table, row
from constraint_first.file.stem import file_stem

__all__ = ["COUNTED", "COUNTED_NOTE", "ratios_table"]

COUNTED: Final = ("Output", "Prompt once", "Every time")
"""The three ways to count, as columns are headed."""
COUNTED_NOTE: Final = (
    "Output: written tokens alone. The others are input and output together: a prompt that several "
    "samples of an attempt share counts once, or as often as it was sent."
)
_ATTEMPTS: Final = "Means of the judged attempts at the problems that both have judged."
_NAME: Final = "token-ratios"


def ratios_table(comparison: Comparison, *, named: bool = False) -> Table:
    """Tabulate the tokens of each method relative to the baseline, a row for each benchmark.

    ``named`` gives the table the name of its model, where there is one for each.
    """
    pairs = [pair for pair in comparison.pairs if any(pair.tokens)]
    decodings = tell_apart([pair.decoding for pair in comparison.pairs])
    rows: list[Row] = []
    heading = None
    for pair in pairs:
        setting = decodings[pair.decoding] if len(decodings) > 1 else ""
        if heading != (heading := ", ".join(filter(None, (model_label(pair.model), setting)))):
            rows.append(row(heading or "All attempts", kind="heading"))
        rows.append(_row(pair))
    model, baseline = comparison.pairs[0].model, comparison.pairs[0].labels[0]
    title = f"Tokens relative to {baseline}"
    return Table(
        file_stem(_NAME, model) if named else _NAME,
        f"{title}: {model_label(model)}" if named else title,
        (Column("Method", "left"), Column("Benchmark", "left"), *map(Column, COUNTED)),
        tuple(rows),
        (COUNTED_NOTE, _ATTEMPTS) if rows else ("Tokens are not on record.",),
    )


def _row(pair: Pair) -> Row:
    return row(pair.labels[1], pair.where or "all", *map(times, pair.tokens))
