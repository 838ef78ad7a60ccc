"""Published numbers: each table and figure of the paper as data, and the accuracy of one cell.

The files are in ``paper/`` beside this one. Figures stand there as the paper prints them, mistakes
included; a file's note says where they contradict each other.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from constraint_first.analysis.table.table import Cell, Column, Row, Table, Tone
from constraint_first.benchmark.entry import entries
from constraint_first.error import CfrError

__all__ = [
    "PrintedValue",
    "Published",
    "PublishedError",
    "paper_accuracy",
    "published",
    "published_names",
]

PrintedValue: TypeAlias = int | Decimal | str
"""A printed figure or word; a decimal keeps the digits that are printed, so 5.00 stays 5.00."""

_DIFFERENCE: Final = "Δ"
_ACCURACIES: Final = ("main", "additional", "routing-ablation", "prompting", "olympiadbench")
"""The tables of pass@1 at temperature 0.7; where two contradict each other the earlier counts."""


class PublishedError(CfrError):
    """A table that the paper does not have under this name."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Published:
    """A table or figure of the paper, figure by figure."""

    name: str
    label: tuple[str, ...]
    """The paper's labels for it: ``tab:robustness``."""
    title: str
    note: str
    """What has to be known to read it, and where the paper contradicts itself; may be empty."""
    columns: tuple[str, ...]
    rows: tuple[tuple[PrintedValue, ...], ...]

    def to_table(self) -> Table:
        """Lay it out with its figures as the paper prints them."""
        columns = (
            Column(title, "right" if any(not isinstance(v, str) for v in values) else "left")
            for title, values in zip(self.columns, zip(*self.rows, strict=True), strict=True)
        )
        return Table(
            name=f"paper-{self.name}",
            title=f"{self.title} (paper)",
            columns=tuple(columns),
            rows=tuple(self._row(values) for values in self.rows),
            notes=(self.note,) if self.note else (),
            paper=self.label,
        )

    def _row(self, values: tuple[PrintedValue, ...]) -> Row:
        if _DIFFERENCE in values:
            return Row(tuple(Cell(_signed(v), tone=_tone(v)) for v in values), "delta")
        signed = (title.startswith(_DIFFERENCE) for title in self.columns)
        pairs = zip(values, signed, strict=True)
        return Row(tuple(Cell(_signed(v) if s else _printed(v)) for v, s in pairs))


def published_names() -> tuple[str, ...]:
    """List the paper's tables and figures that have figures, by our names for them."""
    return tuple(_texts())


@cache
def published(name: str) -> Published:
    """Give a table or figure of the paper by its name: ``main``, ``robustness``."""
    text = _texts().get(name)
    if text is None:
        close = difflib.get_close_matches(name, published_names(), n=1)
        way = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(_texts())}"
        raise PublishedError(f"table {name!r} of the paper: not known; {way}")
    fields: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
    return Published(
        name=name,
        label=tuple(fields["label"]),
        title=fields["title"],
        note=fields.get("note", ""),
        columns=tuple(fields["columns"]),
        rows=tuple(tuple(row) for row in fields["rows"]),
    )


def paper_accuracy(model_label: str, method_label: str, benchmark_label: str) -> float | None:
    """Look up a published pass@1 (%, four runs at temperature 0.7); None where there is none."""
    return _accuracies().get((model_label, method_label, benchmark_label))


@cache
def _texts() -> Mapping[str, str]:
    folder = files("constraint_first.analysis.table").joinpath("paper")
    found = {f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


@cache
def _accuracies() -> Mapping[tuple[str, str, str], float]:
    """Read every accuracy once; backwards, so that an earlier table wins over a later one."""
    tables = [published(name) for name in reversed(_ACCURACIES)]
    return {key: value for table in tables for key, value in _cells(table)}


def _cells(table: Published) -> Iterable[tuple[tuple[str, str, str], float]]:
    """Find a table's accuracies: they stand in the columns that are named for a benchmark."""
    benchmarks = {entry.label for entry in entries().values()}
    for values in table.rows:
        row = dict(zip(table.columns, values, strict=True))
        model, method = str(row["model"]), str(row["method"])
        for column, value in row.items():
            known = column in benchmarks and not isinstance(value, str)
            if known and method != _DIFFERENCE:
                yield (model, method, column), float(value)


def _printed(value: PrintedValue) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}".replace("-", "−")


def _signed(value: PrintedValue) -> str:
    """Write a difference: what is gained has a plus, as the paper has it."""
    plus = "+" if not isinstance(value, str) and value > 0 else ""
    return plus + _printed(value)


def _tone(value: PrintedValue) -> Tone:
    if isinstance(value, str) or value == 0:
        return "plain"
    return "gain" if value > 0 else "loss"
