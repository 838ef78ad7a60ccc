"""A pass over attempts between two waves: what goes on, what waits, what failed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sums import right, sums

from constraint_first.model.batch import Deferred
from constraint_first.model.error import JournalMismatch, Rejected, Unauthorized
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion
from constraint_first.run.batch import replay_attempts
from constraint_first.run.batch_service import BatchLog
from constraint_first.run.job import Job, prepare
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "self-consistency(samples=3)", "m")
MOST = 200


class Answering:
    """Has replies to some calls; the others wait for a wave."""

    def __init__(self, problems: set[int], error: Exception | None = None) -> None:
        self.problems = problems
        self.error = error
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        text = right(call)
        if int(text[text.index("{") + 1 : text.index("}")]) - 1 not in self.problems:
            raise Deferred
        if self.error:
            raise self.error
        return Completion(text)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "runs.db")) as opened, opened.exclusively():
        yield opened


async def replayed(store: Store, engine: Answering) -> tuple[Job, int]:
    job, counted = prepare(store, SERIES, sums(MOST), 1, engine), list[int]()
    await replay_attempts(store, job, BatchLog(store), lambda: counted.append(1))
    return job, len(counted)


async def test_a_refusal_fails_its_attempt_until_the_next_command(store: Store) -> None:
    job, counted = await replayed(store, Answering({1, 2}, Rejected("no")))
    assert (job.tally.failed, counted, job.tally.reasons) == (2, 2, {"no": 2})
    assert len(list(job.missing())) == MOST - 2
    job, _ = await replayed(store, Answering({1, 2}))
    assert job.tally.correct == 2


async def test_a_key_that_is_refused_at_once_fails_the_rest_unasked(store: Store) -> None:
    engine = Answering(set(range(MOST)), Unauthorized("wrong key"))
    job, counted = await replayed(store, engine)
    assert (job.tally.failed, counted) == (MOST, MOST)
    assert engine.asked < 3 * MOST


async def test_what_ends_the_run_ends_the_pass(store: Store) -> None:
    with pytest.raises(JournalMismatch):
        await replayed(store, Answering({7}, JournalMismatch("differs")))
