"""The ledger of a shared budget: what is spent, and set aside by this worker and by others.

It is read, changed and written back within one transaction, and performs no I/O itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from constraint_first.evaluation.budget import is_within

__all__ = ["NOTHING", "Amount", "Ledger", "Settlement"]


class Amount(NamedTuple):
    """Tokens and money."""

    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Amount) -> Amount:
        """Add."""
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def less(self, other: Amount) -> Amount:
        """Take away, down to nothing; sums of decimal fractions are not exact."""
        tokens = max(0, self.tokens - other.tokens)
        return Amount(tokens, max(0.0, self.cost - other.cost) if tokens else 0.0)


NOTHING: Final = Amount()


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a call had set aside, and what it used."""

    reserved: Amount
    used: Amount


@dataclass(slots=True)
class Ledger:
    """A budget as it is within a transaction."""

    limits: tuple[int | None, float | None]
    spent: Amount
    lost: Amount
    mine: Amount = NOTHING
    others: Amount = NOTHING
    change: int = 0

    @property
    def reserved(self) -> Amount:
        """What all workers have set aside."""
        return self.mine.plus(self.others)

    def settle(self, one: Settlement) -> None:
        """Give back and take. What others took for dead was counted as spent in full already."""
        already = one.reserved.less(self.mine)
        self.mine = self.mine.less(one.reserved)
        self.spent = self.spent.plus(one.used.less(already) if already.tokens else one.used)

    def reserve(self, wish: Amount) -> bool:
        """Set something aside, if it fits."""
        if fits := self._fits(wish):
            self.mine = self.mine.plus(wish)
        return fits

    def spend(self, amount: Amount) -> bool:
        """Take something that was not set aside, if it fits."""
        if fits := self._fits(amount):
            self.spent = self.spent.plus(amount)
        return fits

    def _fits(self, wish: Amount) -> bool:
        return is_within(*self.limits, *self.spent.plus(self.reserved).plus(wish))
