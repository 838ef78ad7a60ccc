"""The names of series in stores, also in stores from before CFR-brief had a name of its own.

A row says by its fingerprint which names it has: one with a mark behind it was written with the
names of today. Only names that meant something else before need the mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from constraint_first.evaluation import schema
from constraint_first.method.former import NAMES, changed_meaning, renamed, renamed_label

__all__ = [
    "ALL_SERIES",
    "SeriesRow",
    "bring_up_to_date",
    "current",
    "find_rows",
    "marked",
    "read_row",
]

_MARK: Final = f"@{NAMES}"


ALL_SERIES: Final = sa.select(schema.series).order_by(schema.series.c.id)


class SeriesRow(NamedTuple):
    """A series as its store describes it, by the names of today and without any mark."""

    id: int
    benchmark: str
    method: str
    label: str
    model: str
    decoding: str
    fingerprint: str


def marked(method: str, fingerprint: str) -> str:
    """Mark the fingerprint of a method whose name meant something else before."""
    return f"{fingerprint}{_MARK}" if changed_meaning(method) else fingerprint


def current(stored: SeriesRow) -> SeriesRow:
    """Give a series as it is stored its names of today."""
    name, label, fingerprint = stored.method, stored.label, stored.fingerprint
    if fingerprint.endswith(_MARK):
        return stored._replace(fingerprint=fingerprint.removesuffix(_MARK))
    return stored._replace(method=renamed(name), label=renamed_label(name, label))


def read_row(row: Mapping[Any, Any]) -> SeriesRow:
    """Read a row of the table of series, whatever else it has."""
    return current(SeriesRow(*(row[name] for name in SeriesRow._fields)))


def find_rows(rows: Iterable[Any], **wanted: str) -> list[SeriesRow]:
    """Find series among rows of their table by what is given of their names."""
    found = (read_row(row._mapping) for row in rows)
    return [row for row in found if all(getattr(row, n) == value for n, value in wanted.items())]


def bring_up_to_date(connection: sa.Connection) -> None:
    """Give the series of a store from before their names of today; what they asked stays."""
    table = schema.series
    stored = connection.execute(sa.select(table)).mappings().all()
    changed = [(row, read_row(row)) for row in stored]
    changed = [(row, new) for row, new in changed if (row["method"], row["label"]) != new[2:4]]
    taken = {_identity(SeriesRow(**row)) for row in stored}
    # The variant's first: the paper's protocol gets the names that those leave.
    for row, new in sorted(changed, key=lambda one: changed_meaning(one[1].method)):
        before, after = _identity(SeriesRow(**row)), _identity(new)
        if after != before and after in taken:  # one that was spelled in two ways
            continue
        taken = taken - {before} | {after}
        values = {"method": new.method, "label": new.label}
        values["fingerprint"] = marked(new.method, new.fingerprint)
        connection.execute(table.update().where(table.c.id == new.id).values(values))


def _identity(row: SeriesRow) -> tuple[str, ...]:
    return row.benchmark, row.method, row.model, row.decoding
