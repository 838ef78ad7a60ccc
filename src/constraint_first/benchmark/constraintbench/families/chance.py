"""Probabilities for the families that ask for one: drawing without replacement, lowest terms."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from constraint_first.benchmark.constraintbench.family import agree

__all__ = ["all_good", "lowest_terms"]


def all_good(good: int, total: int, draws: int) -> Fraction:
    """Compute the probability that all draws are good: by counting sets, and draw by draw."""
    one_by_one = Fraction(1)
    for drawn in range(draws):
        one_by_one *= Fraction(good - drawn, total - drawn)
    return agree(Fraction(comb(good, draws), comb(total, draws)), one_by_one)


def lowest_terms(above: int, below: int) -> tuple[int, int]:
    """Reduce a fraction by trying every common divisor, without Euclid."""
    common = max(d for d in range(1, above + 1) if above % d == 0 and below % d == 0)
    return above // common, below // common
