import asyncio
from dataclasses import replace

import pytest
import sqlalchemy as sa

from constraint_first.attempt.attempt import Attempt, failed
from constraint_first.attempt.drive import Scripted, drive
from constraint_first.method.baselines import Direct
from constraint_first.problem import Problem
from constraint_first.store import database as schema
from constraint_first.store import store as module
from constraint_first.store.database import StoreError
from constraint_first.store.query import SeriesName, read_attempt, summaries
from constraint_first.store.series import Series
from constraint_first.store.store import Store, Traffic

SERIES = Series("served", "direct", "m")
FOUR, FIVE = (Problem(f"What is {n} + 1?", id=f"q{n}") for n in (3, 4))


async def serve(traffic: Traffic, problem: Problem, text: str = r"\boxed{4}") -> int:
    begun = await traffic.begin(SERIES, problem)
    run = await drive(Direct().solve(problem), Scripted([text]), journal=begun.journal)
    await begun.finish(Attempt(problem, Direct(), run.result, tuple(run.transcript)))
    return begun.run


async def test_each_request_is_a_run_and_the_next_server_goes_on(url: str) -> None:
    with Store(url) as store, store.exclusively():
        served = Traffic(store)
        runs = await asyncio.gather(*(serve(served, FOUR) for _ in range(5)))
        assert sorted(runs) == [0, 1, 2, 3, 4]
        assert await serve(served, FIVE) == 0
    with Store(url) as store, store.exclusively():
        assert await serve(Traffic(store), FOUR) == 5
        found = read_attempt(store, SeriesName("direct"), "q3", 5)
        assert found.ending
        assert (found.ending["answer"], found.ending["verdict"]) == ("4", None)
        assert found.problem["gold"] is None
        assert "What is 3 + 1?" in str(found.steps[0]["messages"])
        (summary,) = summaries(store)
        assert (summary.tally.total, summary.tally.ok, summary.accuracy) == (7, 7, None)


async def test_what_was_broken_off_is_there_with_its_reason_and_its_calls(url: str) -> None:
    with Store(url) as store, store.exclusively():
        begun = await Traffic(store).begin(SERIES, FOUR)
        await drive(Direct().solve(FOUR), Scripted(["a reply"]), journal=begun.journal)
        gone = failed(Attempt(FOUR, Direct()), "the client went away", begun.journal.usage)
        begun.abandon(gone)
        store.flush()
        found = read_attempt(store, SeriesName("direct"), "q3", 0)
        assert found.ending
        assert (found.ending["status"], found.ending["error"]) == ("failed", "the client went away")
        assert [step["reply"] for step in found.steps] == ["a reply"]


async def test_a_run_that_is_under_way_is_given_to_nobody_else(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT", 1)
    monkeypatch.setattr(module, "_KEPT_SERIES", 1)
    with Store(url) as store, store.exclusively():
        served = Traffic(store)
        first = await served.begin(SERIES, FOUR)
        for n in range(5):
            await serve(served, replace(FIVE, id=f"other{n}"))
        assert (await served.begin(replace(SERIES, model="n"), FOUR)).run == 0
        assert (await served.begin(SERIES, FOUR)).run == 1
        assert first.run == 0


async def test_whoever_goes_away_while_it_is_entered_keeps_nobody_waiting(url: str) -> None:
    with Store(url) as store, store.exclusively():
        served = Traffic(store)
        first, second = (asyncio.create_task(served.begin(SERIES, FOUR)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).run == 0
        assert first.cancelled()


async def test_a_text_that_no_database_holds_is_made_storable(url: str) -> None:
    with Store(url) as store, store.exclusively():
        await serve(Traffic(store), Problem("a\0b\ud800c", id="odd"))
        assert read_attempt(store, SeriesName("direct"), "odd", 0).problem["text"] == "a�b�c"


async def test_a_method_that_has_changed_since_is_refused_and_no_other(url: str) -> None:
    with Store(url) as store, store.exclusively():
        served = Traffic(store)
        await serve(served, FOUR)
        store.change(lambda c: c.execute(sa.update(schema.series).values(fingerprint="old")))
        again = Traffic(store)
        refused = asyncio.create_task(again.begin(SERIES, FOUR))
        taken = asyncio.create_task(again.begin(replace(SERIES, model="n"), FOUR))
        with pytest.raises(StoreError, match="other prompts or settings"):
            await refused
        assert (await taken).run == 0
