"""The methods that answer problems, each a generator of model calls."""

from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import CFR, Routed
from constraint_first.method.method import Method
from constraint_first.method.registry import make, names

__all__ = ["CFR", "Direct", "Method", "Routed", "make", "names"]
