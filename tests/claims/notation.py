"""Notation of claims: pieces of a page, written from numbers as the page has them."""

from constraint_first.report.comparison import Pair
from constraint_first.report.table import decimal, interval, p_value, points

__all__ = ["WORDS", "cells", "comparison_row", "gain", "loss"]

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
"""Small numbers as a page writes them."""


def gain(pair: Pair) -> str:
    """Write a gain with its interval."""
    return points(pair.gain) + interval(pair.interval)


def loss(pair: Pair) -> str:
    """Write a loss as a positive number, with its interval."""
    low, high = pair.ci
    return decimal(-pair.gain) + interval((-high, -low))


def cells(*values: object) -> str:
    """Write a row of a table; a cell may be empty."""
    return "|" + "".join(f" {value} |" if value != "" else " |" for value in values)


def comparison_row(pair: Pair, accuracy: str, tokens: str) -> str:
    """Write a row of a table of paired comparisons."""
    counts = f"{pair.improved} / {pair.tied} / {pair.degraded}"
    ps = (p_value(pair.p), p_value(pair.p_holm))
    return cells(pair.labels[1], accuracy, gain(pair), counts, *ps, tokens)
