"""A wave of requests: what came back of the last one is handed out, the next one is collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from constraint_first.engine.batch.line import Result, request_line
from constraint_first.engine.batch.model import BatchModel, Request
from constraint_first.engine.batch.place import Place, RequestId
from constraint_first.engine.batch.request_file import FileLimits, RequestFile
from constraint_first.engine.batch.result_file import FoundResult, ResultIndex
from constraint_first.engine.error import JournalMismatch
from constraint_first.engine.price import Price
from constraint_first.evaluation.budget import Budget
from constraint_first.protocol import Usage

__all__ = ["CollectRequests", "OpenWave", "WaveMemory"]

_TRIES: Final = 3
"""How often a request is made in one run of the command, where it gets no reply."""
_FREE: Final = Price(0.0, 0.0)

CollectRequests: TypeAlias = Callable[[BatchModel, Path, Sequence[RequestId]], None]
"""What is told of an input file that is complete, ahead of everything that is done with it."""


@dataclass(slots=True)
class WaveMemory:
    """What is remembered from wave to wave while the command runs."""

    budget: Budget | None = None
    tries: Counter[Place] = field(default_factory=Counter[Place])
    prepaid: dict[Place, tuple[Usage, float]] = field(
        default_factory=dict[Place, "tuple[Usage, float]"]
    )
    """What was taken out of the budget for requests under way: the most that each can use."""


@dataclass(slots=True)
class _Part:
    file: RequestFile
    names: list[RequestId] = field(default_factory=list[RequestId])


@dataclass(slots=True)
class OpenWave:
    """The results of one wave and the requests of the next."""

    results: ResultIndex
    memory: WaveMemory
    folder: Path
    limits: FileLimits
    collect: CollectRequests
    missing: Mapping[Place, FoundResult] = field(default_factory=dict[Place, FoundResult])
    """Requests of the last wave of which there is no line, and why."""
    refused: Mapping[Place, FoundResult] = field(default_factory=dict[Place, FoundResult])
    """What an earlier run was refused, for the series at hand."""
    postponed: Request | None = None
    """A request that the budget had no room for."""
    requests: int = 0
    taken: int = 0
    """Results that were handed out."""
    _parts: dict[BatchModel, _Part] = field(default_factory=dict[BatchModel, _Part])
    _files: int = 0

    def find(self, name: RequestId) -> Result | None:
        """Return what became of a request; None where it was not made yet.

        A reply is that of its place, however its body was written. A refusal is that of a body:
        the same call without what was refused is another request.
        """
        place = name.place
        found = self.results.find(place) or self.missing.get(place) or self.refused.get(place)
        if found is None:
            return None
        if found.request.asked != name.asked:
            raise JournalMismatch(
                f"call {place.ordinal} differs from the one in the batch: a prompt, budget, model "
                "or method has changed since; start a new run for the changed method"
            )
        if not found.result.succeeded and found.request.body != name.body:
            return None
        self.taken += 1
        return found.result

    def failed(self, name: RequestId) -> bool:
        """Count a request that got no reply; whether it may be made again."""
        self.memory.tries[name.place] += 1
        return self.memory.tries[name.place] < _TRIES

    def spent(self, name: RequestId, used: Usage | None, price: Price | None) -> None:
        """Give back what was taken out of the budget ahead, and take what was used."""
        if (budget := self.memory.budget) is None:
            return
        most, reserved = self.memory.prepaid.pop(name.place, (Usage(), 0.0))
        taken = most if used is None else used
        budget.tokens += taken.total - most.total
        budget.cost += (price or _FREE).cost(taken) - reserved

    def ask(self, request: Request) -> None:
        """Put a request into an input file, if even its dearest reply can be paid."""
        if not self._pay(request):
            self.postponed = request
            return
        line = request_line(str(request.name), request.body)
        part = self._parts.get(request.model)
        if part is not None and not part.file.has_room(line):
            self._finish(request.model)
            part = None
        if part is None:
            part = self._parts[request.model] = self._new_part()
        part.file.add(line)
        part.names.append(request.name)
        self.requests += 1

    def finish(self) -> None:
        """Hand over the input files that are not full."""
        for model in list(self._parts):
            self._finish(model)

    def _pay(self, request: Request) -> bool:
        if (budget := self.memory.budget) is None:
            return True
        cost = (request.model.price or _FREE).cost(request.most)
        if not budget.spend(request.most, cost):
            return False
        self.memory.prepaid[request.name.place] = (request.most, cost)
        return True

    def _new_part(self) -> _Part:
        self._files += 1
        return _Part(RequestFile(self.folder / f"requests-{self._files}.jsonl", self.limits))

    def _finish(self, model: BatchModel) -> None:
        part = self._parts.pop(model)
        self.collect(model, part.file.path, part.names)
