from collections.abc import Iterator
from pathlib import Path

import pytest
from sums import sums

from constraint_first.attempt.drive import digest
from constraint_first.model.batch import Place, PlacedCall
from constraint_first.model.resolve import PriceList
from constraint_first.model.wire import SILENT, SampledCall, Watcher
from constraint_first.protocol import Call, Completion, Program
from constraint_first.run.batch import PlacedEngine, PlacedJournal
from constraint_first.store.store import Series, Store
from constraint_first.store.writer import StoredCall

CALL = Call.user("What is 1 + 1?", stage="direct", max_tokens=9)


class Asked:
    def __init__(self) -> None:
        self.calls: list[Call] = []

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.calls.append(call)
        return Completion("2")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "runs.db")) as opened:
        opened.register(Series("sums", "direct", "m"), sums(1))
        yield opened


async def test_every_call_has_the_place_that_the_journal_has_for_it(store: Store) -> None:
    known = {0: StoredCall(digest(CALL), Completion("2"))}
    key = {"series": 1, "problem": 1, "run": 2}
    journal, asked = PlacedJournal(store, key, known, PriceList()), Asked()
    engine = PlacedEngine(asked, journal, 2, "be brief")
    assert journal.recall(0, CALL) == Completion("2")
    assert journal.recall(1, Program("1")) is None
    assert journal.recall(2, CALL) is journal.recall(3, CALL) is None
    for _ in range(2):  # equal ones have theirs in order
        await engine.complete(CALL)
    first, second = asked.calls
    assert isinstance(first, PlacedCall)
    assert isinstance(second, PlacedCall)
    assert (first.place, second.place) == (Place(1, 1, 2, 2), Place(1, 1, 2, 3))
    assert first.asked == digest(CALL)
    assert (first.sample, first.messages[0].content) == (2_000, "be brief")


async def test_samples_are_requests_of_their_own(store: Store) -> None:
    journal = PlacedJournal(store, {"series": 1, "problem": 1, "run": 0}, {}, PriceList())
    engine = PlacedEngine(Asked(), journal, 0, "")
    assert engine.most_samples(SampledCall(CALL.messages, "direct", 9, samples=8)) == 1
