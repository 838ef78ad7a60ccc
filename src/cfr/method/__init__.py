"""Every way to answer a problem, each a generator of model calls."""

from cfr.method.constraint_first import CFR, Routed
from cfr.method.direct import Direct
from cfr.method.method import Method
from cfr.method.registry import make, names

__all__ = ["CFR", "Direct", "Method", "Routed", "make", "names"]
