"""A collector of samples: equal calls of one round become one request, where the engine can do it.

Samples of one prompt differ in nothing but their number. An endpoint that is asked for several
replies at once (``n``) reads the prompt once. Each sample stays a call of its own for everybody
else: it has its own completion, its own place in the journal, its own fate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain

from constraint_first.engine.engine import (
    SILENT,
    Engine,
    SampledCall,
    SampledCompletion,
    Watcher,
    most_samples,
)
from constraint_first.engine.error import EngineError
from constraint_first.protocol import Call, Completion

__all__ = ["Sampler"]

_Result = Completion | BaseException


@dataclass(slots=True)
class _Group:
    """Calls that are equal but for their samples, and what becomes of them, in the same order."""

    calls: list[Call] = field(default_factory=list[Call])
    results: asyncio.Task[dict[int, _Result]] | None = None


class Sampler:
    """An engine for the calls of one round, all of which must be made before any is awaited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._groups: dict[Call, _Group] = {}

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call, together with its equals."""
        if watcher.streams:  # several replies at once, piece by piece, are nothing to follow
            return await self._engine.complete(call, watcher)
        alike = replace(call, sample=0)
        group = self._groups.setdefault(alike, _Group())
        place = len(group.calls)
        group.calls.append(call)
        if group.results is None:
            # It begins when all calls of the round have come: they were made before it.
            group.results = asyncio.create_task(self._perform(alike, watcher))
        result = (await group.results)[place]
        if isinstance(result, BaseException):
            raise result
        return result

    async def _perform(self, alike: Call, watcher: Watcher) -> dict[int, _Result]:
        calls = self._groups.pop(alike).calls
        order = sorted(range(len(calls)), key=lambda place: calls[place].sample)
        runs = list(_consecutive([calls[place] for place in order]))
        results = await asyncio.gather(*(self._ask_run(run, watcher) for run in runs))
        return dict(zip(order, chain.from_iterable(results), strict=True))

    async def _ask_run(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result]:
        """Ask for samples that follow on each other, as many together as the engine takes."""
        most = max(1, most_samples(self._engine, _sampled(calls)))
        parts = [calls[start : start + most] for start in range(0, len(calls), most)]
        results = await asyncio.gather(*(self._ask_part(part, watcher) for part in parts))
        return list(chain.from_iterable(results))

    async def _ask_part(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result]:
        """Ask for samples in one request, and one by one for those that it did not bring."""
        found: list[_Result | None] = [None] * len(calls)
        if len(calls) > 1:
            found = await self._ask_together(calls, watcher)
        missing = [place for place, one in enumerate(found) if one is None]
        asked = (self._engine.complete(calls[place], watcher) for place in missing)
        rest = iter(await asyncio.gather(*asked, return_exceptions=True))
        return [next(rest) if one is None else one for one in found]

    async def _ask_together(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result | None]:
        group = _sampled(calls)
        try:
            received = await self._engine.complete(group, watcher)
        except EngineError as fault:
            # Where the engine takes no more groups that was the reason, and single calls may do.
            lost = None if most_samples(self._engine, group) == 1 else fault
            return [lost] * len(calls)
        except Exception as error:  # it fails these calls and no others of the round
            return [error] * len(calls)
        if isinstance(received, SampledCompletion):
            return list(received.replies)
        return [received, *[None] * (len(calls) - 1)]


def _consecutive(calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
    """Part calls where their samples do not follow on each other.

    An endpoint with a seed gives the replies to a request the seeds that follow it, so that samples
    in a row are the same whether they are asked for together or one by one.
    """
    start = 0
    for place in range(1, len(calls) + 1):
        if place == len(calls) or calls[place].sample != calls[place - 1].sample + 1:
            yield calls[start:place]
            start = place


def _sampled(calls: Sequence[Call]) -> SampledCall:
    values = {one.name: getattr(calls[0], one.name) for one in fields(Call)}
    return SampledCall(**values, samples=len(calls))
