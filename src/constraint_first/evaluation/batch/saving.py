"""What batches saved: tokens of calls in batches that were not paid for, as far as they were not.

A store keeps tokens and no prices, and of a batch what part of the price it was to cost.
"""

from __future__ import annotations

import sqlalchemy as sa

from constraint_first.evaluation import schema
from constraint_first.evaluation.batch.schema import batches, requests
from constraint_first.evaluation.shared_prompt import MODEL_AT
from constraint_first.evaluation.store import Store, usage_columns
from constraint_first.protocol import Usage

__all__ = ["saved_by_batches"]

_KEY = ("series", "problem", "run", "ordinal")


def saved_by_batches(store: Store, *where: sa.ColumnElement[bool]) -> dict[tuple[int, str], Usage]:
    """Add up the tokens that batches saved, by series and model; ``where`` selects attempts."""
    if not sa.inspect(store.database).has_table(requests.name):
        return {}
    c, a = schema.calls.c, schema.attempts
    answered = sa.func.coalesce(requests.c.status, 200) == 200
    made = (
        sa.select(*(requests.c[name] for name in _KEY), sa.func.min(batches.c.price_factor))
        .join(batches)
        .where(answered, batches.c.state != "forgotten")
        .group_by(*(requests.c[name] for name in _KEY))
        .subquery()
    )
    factor = list(made.c)[-1]
    by = (c.series, sa.func.substr(c.digest, MODEL_AT))
    sums = [sa.func.sum(c[name] * (1.0 - factor)) for name in usage_columns(Usage())]
    query = (
        sa.select(*by, *sums)
        .join(made, sa.and_(*(made.c[name] == c[name] for name in _KEY)))
        .join(a, sa.and_(*(a.c[name] == c[name] for name in _KEY[:3])))
        .where(*where)
        .group_by(*by)
    )
    return {
        (series, model): Usage(*(round(amount) for amount in saved))
        for series, model, *saved in map(tuple, store.read(query))
    }
