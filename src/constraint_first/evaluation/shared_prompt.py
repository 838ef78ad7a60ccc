"""Shared prompts in a store: input tokens that an earlier call of the same attempt had sent.

They follow from the calls themselves, by the rule that ``Usage.shared`` states: a call whose
messages are those of an earlier call to the same model. So every store tells them, also one that
was written before anybody counted them.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from constraint_first.evaluation import schema

__all__ = ["MODEL_AT", "shared_tokens"]

MODEL_AT: Final = 66
"""Where a call's digest has the name of another model: 64 characters of a hash, an @, the name."""
_KEY: Final = ("series", "problem", "run")


def shared_tokens() -> sa.ScalarSelect[int]:
    """Build the column of attempts that counts them."""
    attempts, calls, earlier = schema.attempts, schema.calls, schema.calls.alias()
    said_before = sa.exists().where(
        *(earlier.c[name] == calls.c[name] for name in (*_KEY, "messages")),
        earlier.c.ordinal < calls.c.ordinal,
        _model(earlier) == _model(calls),
    )
    return (
        sa.select(sa.func.coalesce(sa.func.sum(calls.c.input_tokens), 0))
        .where(
            *(calls.c[name] == attempts.c[name] for name in _KEY),
            calls.c.ordinal > 0,
            said_before.correlate(calls),
        )
        .correlate(attempts)
        .scalar_subquery()
    )


def _model(calls: sa.FromClause) -> sa.Function[str]:
    return sa.func.substr(calls.c.digest, MODEL_AT)
