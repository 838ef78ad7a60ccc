"""Prices of models in US dollars, what calls cost at them, and how money is written for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import floor, log10
from typing import Final

from constraint_first.problem import Json
from constraint_first.protocol import Exchange, Usage

__all__ = ["Cost", "Price", "PriceList", "sum_costs", "write_dollars"]

_SMALLEST: Final = 0.000_001


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input from the endpoint's prompt cache; the full price where none is given."""

    def cost(self, usage: Usage) -> float:
        """Price what was used, in dollars."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        spent = fresh * self.input + usage.cached * cached + usage.output * self.output
        return spent / 1_000_000

    def scaled(self, factor: float) -> Price:
        """Return the price of a call that costs only a part of it, as in a batch."""
        cached = None if self.cached is None else factor * self.cached
        return Price(factor * self.input, factor * self.output, cached)


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount of money that calls cost together."""

    dollars: float = 0.0
    complete: bool = True
    """False where a part is missing: tokens that nobody counted, a model without a price."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.dollars + other.dollars, self.complete and other.complete)

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs."""
        return {"dollars": self.dollars, "dollars_complete": self.complete}

    def __str__(self) -> str:
        return write_dollars(self.dollars) + ("" if self.complete else "+")


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of a model and of those that are asked beside it; None for one without."""

    main: Price | None = None
    others: Mapping[str, Price | None] = field(default_factory=dict[str, "Price | None"])
    """By the names that calls have for them."""

    @property
    def has_prices(self) -> bool:
        """Whether any of the models has a price; without one nobody speaks of money."""
        return self.main is not None or any(self.others.values())

    def cost(self, usage: Usage, model: str | None = None) -> Cost:
        """Price what one model used; the main one where none is named."""
        price = self.others.get(model) if model else self.main
        if price is None:
            return Cost(complete=False)
        return Cost(price.cost(usage), usage.reported)

    def scaled(self, factor: float) -> PriceList:
        """Return the prices of calls that cost only a part of them."""
        others = {name: one and one.scaled(factor) for name, one in self.others.items()}
        return PriceList(self.main and self.main.scaled(factor), others)

    def total(self, exchanges: Iterable[Exchange]) -> Cost | None:
        """Price calls, each at the price of the model that answered; None without any price."""
        if not self.has_prices:
            return None
        each = (self.cost(one.completion.usage, one.call.model) for one in exchanges)
        return sum(each, Cost())


def sum_costs(costs: Iterable[Cost | None]) -> Cost | None:
    """Add up what is known of costs; None where nothing is."""
    known = [cost for cost in costs if cost is not None]
    return sum(known, Cost()) if known else None


def write_dollars(amount: float) -> str:
    """Write an amount of money: $1.37, $0.05, $0.0042; a small one with two digits that count."""
    if not amount:
        return "$0"
    if abs(amount) < _SMALLEST:
        return f"under ${_SMALLEST:f}"
    places = max(2, 1 - floor(log10(abs(amount))))
    whole, _, part = f"{amount:,.{places}f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"
