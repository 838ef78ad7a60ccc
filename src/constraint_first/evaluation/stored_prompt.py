"""Own prompts of a series, kept beside it, so that a later reader sees what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from constraint_first.evaluation import schema

__all__ = ["drop_prompts", "read_prompts", "write_prompts"]

_TABLE = schema.prompts


def write_prompts(connection: sa.Connection, series: int, texts: Mapping[str, str]) -> None:
    """Keep the prompts of a series that is new; a store from before there were any gets room."""
    if texts:
        _TABLE.create(connection, checkfirst=True)
        rows = [{"series": series, "name": name, "text": text} for name, text in texts.items()]
        connection.execute(_TABLE.insert(), rows)


def read_prompts(connection: sa.Connection, series: int) -> dict[str, str]:
    """Return the own prompts of a series by name; none where it has the originals."""
    if not sa.inspect(connection).has_table(_TABLE.name):
        return {}
    query = sa.select(_TABLE.c.name, _TABLE.c.text).where(_TABLE.c.series == series)
    return {row.name: row.text for row in connection.execute(query.order_by(_TABLE.c.name))}


def drop_prompts(connection: sa.Connection, numbers: Sequence[int]) -> None:
    """Forget the prompts of series that are taken out."""
    if sa.inspect(connection).has_table(_TABLE.name):
        connection.execute(_TABLE.delete().where(_TABLE.c.series.in_(numbers)))
