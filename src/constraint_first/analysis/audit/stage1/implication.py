"""What a set of predicates implies: intervals, congruences and forms, without enumeration.

The reasoning is sound but not complete: "implied" is always right, "not implied" may only mean
that this file knows too little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from constraint_first.constraint.predicate import Predicate, parts, to_fraction
from constraint_first.problem import Json

__all__ = ["Knowledge", "know"]


@dataclass(slots=True)
class Knowledge:
    """What is known of an answer: an interval, congruences, and facts that stand for themselves."""

    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False
    whole: bool = False
    congruences: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    facts: list[Predicate] = field(default_factory=list[Predicate])

    def learn(self, predicate: Predicate) -> None:
        """Add what one predicate says, and what follows from it at once."""
        self.facts.append(predicate)
        match predicate["op"]:
            case "between" | "measured":
                self._raise(predicate.get("low"), is_open=False)
                self._lower(predicate.get("high"), is_open=False)
            case "above":
                self._raise(predicate["value"], is_open=True)
            case "below":
                self._lower(predicate["value"], is_open=True)
            case "least_residue":
                self._integers(0, int(to_fraction(predicate["modulus"])) - 1)
            case "divides":
                self._integers(1, int(to_fraction(predicate["number"])))
            case "integer" | "digits_ordered" | "digit_sum" | "square":
                self._integers(None if predicate["op"] == "integer" else 0, None)
            case "congruent" | "divisible" | "parity":
                self._integers(None, None)
                self.congruences.append(_congruence(predicate))
            case "encoded" | "counts" | "rounded":
                self._learn_pinned(predicate)
            case _:
                pass

    def _learn_pinned(self, predicate: Predicate) -> None:
        if predicate["op"] == "rounded":
            if to_fraction(predicate["unit"]) == 1:
                self._integers(None, None)
            return
        modulus = predicate.get("modulus")
        self._integers(0, int(to_fraction(modulus)) - 1 if modulus else None)
        if modulus:
            self.facts.append({"op": "least_residue", "modulus": modulus})
        if predicate["op"] == "counts":
            self._lower(cast("int", predicate["high"]) - cast("int", predicate["low"]) + 1)
        elif not modulus and predicate.get("rule") in ("m+n", "a+b"):
            self._raise(2)  # both parts are positive integers

    def _integers(self, low: int | None, high: int | None) -> None:
        self.whole = True
        self._raise(low)
        self._lower(high)

    def _raise(self, value: Json, *, is_open: bool = False) -> None:
        if value is not None:
            bound = to_fraction(value)
            if self.low is None or bound > self.low or (bound == self.low and is_open):
                self.low, self.low_open = bound, is_open

    def _lower(self, value: Json, *, is_open: bool = False) -> None:
        if value is not None:
            bound = to_fraction(value)
            if self.high is None or bound < self.high or (bound == self.high and is_open):
                self.high, self.high_open = bound, is_open

    def implies(self, predicate: Predicate) -> bool:
        """Say whether every answer that fits what is known satisfies the predicate."""
        op = predicate["op"]
        if op == "all":
            return all(self.implies(one) for one in parts(predicate))
        if op == "integer" or (op == "decimals" and self.whole):
            return self.whole
        if op == "least_residue":
            top = to_fraction(predicate["modulus"]) - 1
            return self.whole and self._from(Fraction(0)) and self._to(top)
        if op in ("between", "above", "below"):
            return self._implies_interval(predicate)
        if op in ("congruent", "divisible", "parity"):
            residue, modulus = _congruence(predicate)
            return any(
                m % modulus == 0 and (r - residue) % modulus == 0 for r, m in self.congruences
            )
        return any(_covers(fact, predicate) for fact in self.facts)

    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """Give the ends of the interval; None where it is open."""
        return self.low, self.high

    def states(self, predicate: Predicate) -> bool:
        """Say whether one of the facts is this very predicate."""
        return predicate in self.facts

    def _implies_interval(self, predicate: Predicate) -> bool:
        if predicate["op"] == "above":
            return self._from(to_fraction(predicate["value"]), strictly=True)
        if predicate["op"] == "below":
            return self._to(to_fraction(predicate["value"]), strictly=True)
        low, high = predicate.get("low"), predicate.get("high")
        return (low is None or self._from(to_fraction(low))) and (
            high is None or self._to(to_fraction(high))
        )

    def _from(self, value: Fraction, *, strictly: bool = False) -> bool:
        """Whether the answer is known to be at least (strictly: more than) the value."""
        if self.low is None:
            return False
        # A whole number above 4 is at least 5.
        low = self.low.__floor__() + 1 if self.whole and self.low_open else self.low
        is_open = self.low_open and not self.whole
        return low > value or (low == value and (is_open or not strictly))

    def _to(self, value: Fraction, *, strictly: bool = False) -> bool:
        if self.high is None:
            return False
        high = self.high.__ceil__() - 1 if self.whole and self.high_open else self.high
        is_open = self.high_open and not self.whole
        return high < value or (high == value and (is_open or not strictly))


def know(predicates: Iterable[Predicate]) -> Knowledge:
    """Gather what several predicates say together."""
    knowledge = Knowledge()
    for predicate in predicates:
        for one in parts(predicate):
            knowledge.learn(one)
    return knowledge


def _congruence(predicate: Predicate) -> tuple[int, int]:
    match predicate["op"]:
        case "parity":
            return (1 if predicate["parity"] == "odd" else 0), 2
        case "divisible":
            return 0, cast("int", predicate["by"])
        case _:
            return cast("int", predicate["residue"]), cast("int", predicate["modulus"])


# Which arguments two predicates of one op must share to say the same. Free text cannot give the
# others: a reply that says "rounded to the nearest tenth" says all that there is to say.
_ESSENTIAL = {"encoded": (), "rounded": ("unit",), "in_unit": ("unit",), "measured": ("unit",)}


def _covers(fact: Predicate, predicate: Predicate) -> bool:
    op, known = predicate["op"], fact["op"]
    if op == known and isinstance(op, str):
        essential = _ESSENTIAL.get(op, tuple(predicate))
        return all(_value(fact, name) == _value(predicate, name) for name in essential)
    if (op, known) in (("in_unit", "measured"), ("measured", "in_unit")):
        return fact.get("unit") == predicate.get("unit")
    # A fraction in lowest terms is part of every m + n; a value written as a fraction is not whole.
    return (op == "reduced" and known == "encoded") or (
        op == "not_whole" and fact.get("form") == "fraction"
    )


def _value(predicate: Predicate, name: str) -> Json:
    value = predicate.get(name)
    return str(to_fraction(value)) if name == "unit" and predicate["op"] == "rounded" else value
