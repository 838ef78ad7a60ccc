"""Solve problems from ordinary, synchronous code."""

from __future__ import annotations

import asyncio

from cfr.engine.drive import drive
from cfr.engine.engine import Decoding
from cfr.engine.resolve import Wanted, resolve
from cfr.method import Method, make
from cfr.problem import Problem, Solution

__all__ = ["solve"]


def solve(
    problem: str | Problem,
    method: str | Method = "routed-cfr",
    *,
    model: str | None = None,
    base_url: str | None = None,
    decoding: Decoding | None = None,
) -> Solution:
    """Solve one problem; without a model or an address the embedded model does it, here."""
    posed = problem if isinstance(problem, Problem) else Problem(problem)
    chosen = make(method) if isinstance(method, str) else method

    async def run() -> Solution:
        async with resolve(Wanted(model, base_url), decoding) as engine:
            return (await drive(chosen.solve(posed), engine)).result

    return asyncio.run(run())
