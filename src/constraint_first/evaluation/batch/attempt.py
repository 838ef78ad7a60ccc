"""One attempt whose calls go into batches: each is given its place on its way to the model."""

from __future__ import annotations

from collections import deque
from dataclasses import fields

from constraint_first.engine.batch.place import Place, PlacedCall
from constraint_first.engine.engine import SILENT, Engine, SampledCall, Watcher
from constraint_first.engine.journal import digest, storable_call
from constraint_first.engine.price import PriceList
from constraint_first.evaluation.attempt import EngineForRun, StoredJournal
from constraint_first.evaluation.store import Store, StoredCall
from constraint_first.protocol import Answer, Call, Completion, Step

__all__ = ["PlacedEngine", "PlacedJournal"]


class PlacedJournal(StoredJournal):
    """The calls of one attempt, which remembers the places of those that it has no answer to."""

    def __init__(
        self,
        store: Store,
        key: dict[str, int],
        known: dict[int, StoredCall],
        prices: PriceList,
    ) -> None:
        super().__init__(store, key, known, prices)
        self._attempt = (key["series"], key["problem"], key["run"])
        self._asked: dict[Call, deque[tuple[int, str]]] = {}

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return what is stored; what is not is about to be asked, under this number."""
        answer = super().recall(ordinal, step)
        if answer is None and isinstance(step, Call):
            waiting = self._asked.setdefault(storable_call(step), deque())
            waiting.append((ordinal, digest(step)))
        return answer

    def place(self, call: Call) -> PlacedCall:
        """Give a call its place; equal ones have theirs in the order in which they are asked."""
        ordinal, asked = self._asked[call].popleft()
        values = {one.name: getattr(call, one.name) for one in fields(Call)}
        return PlacedCall(**values, place=Place(*self._attempt, ordinal), asked=asked)


class PlacedEngine(EngineForRun):
    """An engine for one attempt, which tells the model the place of each call."""

    def __init__(self, engine: Engine, journal: PlacedJournal, run_index: int, system: str) -> None:
        super().__init__(engine, run_index, system)
        self._journal = journal

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call."""
        return await super().complete(self._journal.place(call), watcher)

    def most_samples(self, group: SampledCall) -> int:  # noqa: ARG002
        """One: every sample is a request of its own, with a place of its own."""
        return 1
