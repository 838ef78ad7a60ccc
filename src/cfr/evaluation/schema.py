"""The store's tables. One definition serves SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

__all__ = ["METADATA", "VERSION", "attempts", "calls", "problems", "prompts", "series", "store"]

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
