"""Earlier runs of a model in a store: what their attempts took, by method and benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from constraint_first.engine.price import Cost, PriceList
from constraint_first.evaluation import schema
from constraint_first.evaluation.call_bound import Demand, Span
from constraint_first.evaluation.series_name import read_row
from constraint_first.evaluation.spending import use_by_model
from constraint_first.evaluation.store import Store
from constraint_first.protocol import Usage

__all__ = ["EarlierRuns", "EarlierUse", "read_earlier_runs"]


@dataclass(frozen=True, slots=True)
class EarlierUse:
    """What attempts took together: seconds, and calls and tokens by the model that answered."""

    attempts: int
    seconds: float
    calls: Mapping[str, int]
    usage: Mapping[str, Usage]

    def plus(self, other: EarlierUse) -> EarlierUse:
        """Add two."""
        models = {*self.usage, *other.usage}
        return EarlierUse(
            self.attempts + other.attempts,
            self.seconds + other.seconds,
            Counter(self.calls) + Counter(other.calls),
            {m: self.usage.get(m, Usage()) + other.usage.get(m, Usage()) for m in models},
        )

    def demand(self, prices: PriceList) -> Demand:
        """Say what an attempt takes on average."""
        used = sum(self.usage.values(), Usage())
        cost = sum((prices.cost(usage, model) for model, usage in self.usage.items()), Cost())
        sums = (sum(self.calls.values()), used.input, used.output, cost.dollars)
        together = Demand(*(Span(one, one) for one in sums), complete=cost.complete)
        return together.times(1 / self.attempts)


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """What earlier runs of one model took, by method and benchmark."""

    uses: Mapping[tuple[str, str], EarlierUse] = field(
        default_factory=dict[tuple[str, str], EarlierUse]
    )
    at_a_time: float = 1.0
    """How many attempts were under way at the same time, on average."""

    def find(self, method: str, benchmark: str | None) -> EarlierUse | None:
        """Find what a method took on a benchmark, or on all of them; None where nothing did."""
        found = None
        for (named, at), use in self.uses.items():
            if named == method and benchmark in (None, at):
                found = found.plus(use) if found else use
        return found


def read_earlier_runs(store: Store, model: str) -> EarlierRuns:
    """Read what finished attempts took; series whose tokens were not all counted tell nothing."""
    s, a = schema.series, schema.attempts
    finished = (a.c.status != "failed", s.c.model == model)
    columns = (s, sa.func.count().label("attempts"), sa.func.sum(a.c.seconds).label("seconds"))
    query = sa.select(*columns).join(s, a.c.series == s.c.id).where(*finished)
    rows: list[Any] = list(store.read(query.group_by(*s.c)))
    numbers = [row.id for row in rows]
    used = use_by_model(store, a.c.series.in_(numbers), a.c.status != "failed") if rows else {}
    uses: dict[tuple[str, str], EarlierUse] = {}
    for row in rows:
        series = read_row(row._mapping)
        by_model = used.get(series.id, {})
        if not by_model or not all(one.usage.reported for one in by_model.values()):
            continue
        calls = {name: one.calls for name, one in by_model.items()}
        usage = {name: one.usage for name, one in by_model.items()}
        use = EarlierUse(row.attempts, float(row.seconds), calls, usage)
        at = (series.method, series.benchmark)
        uses[at] = uses[at].plus(use) if at in uses else use
    times = sa.select(a.c.finished_at, a.c.seconds).join(s, a.c.series == s.c.id).where(*finished)
    return EarlierRuns(uses, _at_a_time((end - took, end) for end, took in store.read(times)))


def _at_a_time(spans: Iterable[tuple[float, float]]) -> float:
    """Divide the time of all attempts by the time in which any was under way."""
    total = busy = 0.0
    until = float("-inf")
    for start, end in sorted(spans):
        total += end - start
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return total / busy if busy else 1.0
