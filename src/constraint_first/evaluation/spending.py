"""Spending of a store: calls and tokens by the model that answered, and what they cost.

A store keeps tokens and no prices. What they cost is worked out when somebody looks, at the prices
that ``models.toml`` has then: one that was entered late or put right holds for old runs too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import sqlalchemy as sa

from constraint_first.engine.presets import presets, price_list
from constraint_first.engine.price import Cost, PriceList
from constraint_first.evaluation import schema
from constraint_first.evaluation.batch.saving import saved_by_batches
from constraint_first.evaluation.shared_prompt import MODEL_AT
from constraint_first.evaluation.store import EXECUTED, Store, usage_columns
from constraint_first.protocol import Usage

__all__ = ["ModelUse", "UseByModel", "cost_of", "series_costs", "use_by_model"]


_NOTHING: Final = Usage()


class ModelUse(NamedTuple):
    """Calls that one model answered, and their tokens."""

    calls: int
    usage: Usage
    saved: Usage = _NOTHING
    """Those of the tokens that batches made free of charge."""


UseByModel = Mapping[str, ModelUse]
"""By the name that the method has for a model; the series' own has an empty one."""


def use_by_model(store: Store, *where: sa.ColumnElement[bool]) -> dict[int, UseByModel]:
    """Add up the calls of attempts by series and model; ``where`` selects the attempts."""
    c, a = schema.calls.c, schema.attempts
    same = sa.and_(*(a.c[name] == c[name] for name in ("series", "problem", "run")))
    by = (c.series, sa.func.substr(c.digest, MODEL_AT))
    # A sum of integers is a decimal number in PostgreSQL.
    sums = [sa.cast(sa.func.sum(c[name]), sa.BigInteger) for name in usage_columns(Usage())]
    counted = sa.func.min(sa.case((c.reported, 1), else_=0))
    query = (
        sa.select(*by, sa.func.count(), *sums, counted)
        .join(a, same)
        .where(c.finish != EXECUTED, *where)
        .group_by(*by)
    )
    saved = saved_by_batches(store, *where)
    found: dict[int, dict[str, ModelUse]] = {}
    for row in store.read(query):
        series, model, calls, *used, reported = tuple(row)
        free = saved.get((series, model), _NOTHING)
        use = ModelUse(calls, Usage(*used, reported=bool(reported)), free)
        found.setdefault(series, {})[model] = use
    return dict(found)


def cost_of(use: UseByModel, prices: PriceList) -> Cost | None:
    """Price what models used; None where none of them has a price."""
    if not prices.has_prices:
        return None
    full = sum((prices.cost(one.usage, model) for model, one in use.items()), Cost())
    saved = sum((prices.cost(one.saved, model).dollars for model, one in use.items()), 0.0)
    return Cost(full.dollars - saved, full.complete)


def series_costs(store: Store, models: Mapping[int, str]) -> dict[int, Cost | None]:
    """Price each series of a store, of which ``models`` names the model, as things cost today."""
    if not any(preset.price for preset in presets().values()):
        return dict.fromkeys(models)
    used = use_by_model(store)
    return {
        number: cost_of(use, price_list(model, filter(None, use)))
        for number, model in models.items()
        for use in [used.get(number, {})]
    }
