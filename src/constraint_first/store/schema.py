"""The store's tables. One definition serves SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.event import listen

VERSION: Final = 1
METADATA: Final = sa.MetaData()

store = sa.Table(
    "store",
    METADATA,
    sa.Column("version", sa.Integer, nullable=False),
)

problems = sa.Table(
    "problems",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("benchmark", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("answer", sa.Text),
    sa.UniqueConstraint("benchmark", "name"),
)

series = sa.Table(
    "series",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("benchmark", sa.Text, nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("decoding", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.UniqueConstraint("benchmark", "method", "model", "decoding"),
)

# Own prompts in the place of a method's; stores from before there were any lack the table.
prompts = sa.Table(
    "prompts",
    METADATA,
    sa.Column("series", sa.Integer, sa.ForeignKey("series.id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.PrimaryKeyConstraint("series", "name"),
)

_KEY = ("series", "problem", "run")


def _key() -> list[sa.Column[int]]:
    return [
        sa.Column("series", sa.Integer, sa.ForeignKey("series.id"), nullable=False),
        sa.Column("problem", sa.Integer, sa.ForeignKey("problems.id"), nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
    ]


def _tokens() -> list[sa.Column[int]]:
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
    return [sa.Column(name, sa.Integer, nullable=False) for name in names]


attempts = sa.Table(
    "attempts",
    METADATA,
    *_key(),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text),
    sa.Column("tier", sa.Text),
    *_tokens(),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("finished_at", sa.Float, nullable=False),
    # What may be long stands last: SQLite reads a row only as far as it has to.
    sa.Column("answer", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.PrimaryKeyConstraint(*_KEY),
)

# Calls and the programs among them; a program's row is described at ``store.EXECUTED``.
calls = sa.Table(
    "calls",
    METADATA,
    *_key(),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    # Behind an @ it ends with the model that answered, where that is not the one of the series.
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("messages", sa.Text, nullable=False),
    sa.Column("max_tokens", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("reasoning", sa.Text, nullable=False),
    sa.Column("finish", sa.Text, nullable=False),
    *_tokens(),
    sa.Column("reported", sa.Boolean, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.PrimaryKeyConstraint(*_KEY, "ordinal"),
)

# What follows is for many workers on one store and therefore on PostgreSQL alone. Stores from
# before there were any get these tables when they are next run.

# The attempts that are to be made: a row without an owner is free, one with an owner is that
# worker's until it expires, and one that was made is gone. No foreign keys: there may be millions
# of rows, and they do not last.
leases = sa.Table(
    "leases",
    METADATA,
    *(sa.Column(name, sa.Integer, nullable=False, autoincrement=False) for name in _KEY),
    sa.Column("owner", sa.Text),
    sa.Column("expires", sa.DateTime(timezone=True)),
    # Whether there may be calls of it: an earlier run, or a worker that had it before.
    sa.Column("begun", sa.Boolean, nullable=False),
    sa.PrimaryKeyConstraint(*_KEY),
)
# As text: an Index with postgresql_where imports that dialect at every start, SQLite or not.
for index in (
    "leases_free ON leases (series, run, problem) WHERE owner IS NULL",
    "leases_owned ON leases (owner) WHERE owner IS NOT NULL",
):
    listen(leases, "after_create", sa.DDL(f"CREATE INDEX {index}"))

# What a worker elsewhere needs to know of a series, beside what the tables above have.
run_settings = sa.Table(
    "run_settings",
    METADATA,
    sa.Column("series", sa.Integer, primary_key=True, autoincrement=False),
    # How its models are named and where they are served, as JSON and without any key.
    sa.Column("models", sa.Text),
    sa.Column("budget", sa.Text),
)

budgets = sa.Table(
    "budgets",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("max_tokens", sa.BigInteger),
    sa.Column("max_cost", sa.Float),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Float, nullable=False),
    # The part of the two above that workers had set aside when they died.
    sa.Column("lost_tokens", sa.BigInteger, nullable=False),
    sa.Column("lost_cost", sa.Float, nullable=False),
)

# What each worker has set aside for calls under way, until it expires.
reservations = sa.Table(
    "reservations",
    METADATA,
    sa.Column("budget", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Float, nullable=False),
    # The number of the last change, so that one that is sent twice is made once.
    sa.Column("change", sa.Integer, nullable=False),
    sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint("budget", "owner"),
)

SHARED: Final = (leases, run_settings, budgets, reservations)
"""The tables of a store that many workers share."""

ONE_BY_ONE: Final = sa.select(sa.func.pg_advisory_xact_lock(0x63_66_73))
"""Makes transactions that enter something wait for each other: both would find it missing."""


def make_tables(connection: sa.Connection) -> bool:
    """Make the tables that a store lacks; say whether it was there before."""
    later = SHARED if connection.dialect.name == "postgresql" else ()
    if _is_complete(connection, later):
        return True
    if later:
        connection.execute(ONE_BY_ONE)  # workers that start together
    if _is_complete(connection):
        METADATA.create_all(connection, later)
        return True
    METADATA.create_all(connection, [*_FIRST, *later])
    connection.execute(store.insert(), {"version": VERSION})
    return False


_FIRST: Final = tuple(table for table in METADATA.sorted_tables if table not in SHARED)


def _is_complete(connection: sa.Connection, later: Sequence[sa.Table] = ()) -> bool:
    """Say whether the making of a store came to its end, and these tables are there too."""
    there = {*sa.inspect(connection).get_table_names()}
    if not {store.name, *(table.name for table in later)} <= there:
        return False
    return connection.scalar(sa.select(store.c.version)) is not None


# The store's tables of batches; a store gets them with its first batch.
#
# They stand apart from the other tables, so that stores from before there were batches, and those
# that never have one, stay as they are.

BATCHES: Final = sa.MetaData()

batches = sa.Table(
    "batches",
    BATCHES,
    sa.Column("tag", sa.Text, primary_key=True),
    # The address without anything secret, or the folder.
    sa.Column("endpoint", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("wave", sa.Integer, nullable=False),
    sa.Column("requests", sa.Integer, nullable=False),
    # Dollars paid for a dollar of the model's price.
    sa.Column("price_factor", sa.Float, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    # collected, uploaded, created, ended, closed, forgotten: log.py says what each means.
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("input_file", sa.Text, nullable=False, server_default=""),
    sa.Column("batch", sa.Text, nullable=False, server_default=""),
    sa.Column("status", sa.Text, nullable=False, server_default=""),
    sa.Column("output_file", sa.Text, nullable=False, server_default=""),
    sa.Column("error_file", sa.Text, nullable=False, server_default=""),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
)

# One for each request of a batch; its custom_id is made of these columns (engine/batch/place.py).
requests = sa.Table(
    "batch_requests",
    BATCHES,
    sa.Column("tag", sa.Text, sa.ForeignKey("batches.tag"), nullable=False),
    sa.Column("series", sa.Integer, nullable=False),
    sa.Column("problem", sa.Integer, nullable=False),
    sa.Column("run", sa.Integer, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("digests", sa.Text, nullable=False),
    # HTTP's, 0 where the request was not performed, NULL while nothing is known.
    sa.Column("status", sa.Integer),
    # What a refusal said.
    sa.Column("said", sa.Text),
    sa.PrimaryKeyConstraint("series", "problem", "run", "ordinal", "tag"),
    sa.Index("batch_requests_tag", "tag"),
)
