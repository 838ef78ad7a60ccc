"""Events in an order for one reader, as progress, and in a feed for a slow one."""

import asyncio
import tracemalloc
from contextlib import aclosing
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import completion, failure

import constraint_first
from constraint_first.attempt.attempt import attempt
from constraint_first.attempt.events import (
    Ended,
    Event,
    Executed,
    Feed,
    Finished,
    InOrder,
    ProgressMeter,
    Retrying,
    SolveProgress,
    Started,
    Wrote,
    stage_title,
)
from constraint_first.method.registry import make
from constraint_first.model.error import StreamCut
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Output, Program, Usage
from constraint_first.serve.attempt import Outbox

FIRST, SECOND = (Call.user(text, stage="direct", max_tokens=9) for text in ("one", "two"))
TEXT = "Find the remainder when $3^5$ is divided by 7."
CONSTRAINTS = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "in 0..6"}]}'
PRINTED = [Executed(Program(f"print({n})"), Output(str(n))) for n in (1, 2)]


def ordered(*events: Event) -> list[Event]:
    told: list[Event] = []
    in_order = InOrder(told.append)
    for event in events:
        in_order(event)
    return told


def test_calls_at_the_same_time_come_one_after_the_other() -> None:
    shown, whole = Wrote(FIRST, "shown"), Finished(SECOND, Completion("two is whole"))
    done = Finished(FIRST, Completion("shown"))
    begun = [Started(FIRST), Started(SECOND), Wrote(SECOND, "hidden"), shown]
    told = ordered(*begun, PRINTED[0], whole, done, PRINTED[1])
    done = Finished(FIRST, Completion("shown"), written=True)
    assert told == [Started(FIRST), shown, done, PRINTED[0], whole, PRINTED[1]]


def test_a_call_that_outlasts_the_followed_one_comes_when_it_is_complete() -> None:
    whole, empty = Finished(SECOND, Completion("two is whole")), Completion("")
    told = ordered(
        Started(FIRST), Started(SECOND), Finished(FIRST, empty), Wrote(SECOND, "hidden"), whole
    )
    assert told == [Started(FIRST), Finished(FIRST, empty, written=True), whole]


def test_thinking_is_set_apart_wherever_it_is() -> None:
    pieces = [Wrote(FIRST, one) for one in ("<thi", "nk>inside</think>", "said", " <")]
    _, *told, _ = ordered(
        Started(FIRST), Wrote(FIRST, "apart", True), *pieces, Finished(FIRST, Completion("said <"))
    )
    expected = [("apart", True), ("inside", True), ("said", False), (" ", False), ("<", False)]
    assert told == [Wrote(FIRST, text, thought) for text, thought in expected]


def test_a_reply_that_begins_anew_forgets_half_a_mark() -> None:
    again = Retrying(FIRST, StreamCut("cut"), 0.1)
    told = ordered(Started(FIRST), Wrote(FIRST, "<thi"), again, Wrote(FIRST, "nk"))
    assert told == [Started(FIRST), again, Wrote(FIRST, "nk")]


def test_progress_comes_at_the_beginning_and_end_of_each_stage(endpoint: Server) -> None:
    busy = failure(503, "busy", Retry_After="0")
    endpoint.script(completion(CONSTRAINTS), busy, completion(r"\boxed{5}"))
    told: list[SolveProgress] = []
    solved = constraint_first.solve(TEXT, "routed-cfr", base_url=endpoint.url, progress=told.append)
    assert [(one.stage, one.state, one.calls, one.tokens) for one in told] == [
        ("stage1", "started", 0, 0),
        ("stage1", "finished", 1, 18),
        ("stage2", "started", 1, 18),
        ("stage2", "retrying", 1, 18),
        ("stage2", "finished", 2, 36),
    ]
    assert "busy" in told[3].detail
    assert told[-1].usage == solved.usage
    assert [one.seconds for one in told] == sorted(one.seconds for one in told)
    assert not any("stream" in body for body in endpoint.requests)


def test_progress_reads_as_a_line() -> None:
    moment = SolveProgress("stage1", "finished", "", 1, Usage(1_000, 234), 2.04)
    assert str(moment) == "stage1 finished: 1,234 tokens, 2.0 s"
    fetching = SolveProgress("model", "fetching", "1 of 9 MB")
    assert str(fetching).startswith("model fetching (1 of 9 MB): ")
    titles = {"stage2": "Stage 2: solution", "feedback": "Feedback", "direct": "Solution"}
    assert {stage: stage_title(stage) for stage in titles} == titles


def test_progress_has_programs_and_every_tenth_of_a_file() -> None:
    told: list[SolveProgress] = []
    engine = constraint_first.Scripted(["```python\nprint(6 * 7)\n```"])
    constraint_first.solve("6 * 7?", "program", engine=engine, progress=told.append)
    assert [one.state for one in told if one.stage == "program"][-1] == "finished"
    assert len(told) >= 4
    told.clear()
    meter = ProgressMeter(told.append)
    for done in range(1_001):
        meter.fetching(done * 10**6, 10**9, "fetching")
    assert len(told) == 11
    assert told[5].detail == "fetching, 500 of 1,000 MB"


@pytest.mark.parametrize("name", ["progress", "tell"])
def test_what_a_listener_raises_ends_the_solution(name: str) -> None:
    def stop(_event: object) -> None:
        raise KeyError("enough")

    given: dict[str, Any] = {name: stop, "engine": constraint_first.Scripted([r"\boxed{5}"])}
    with pytest.raises(KeyError, match="enough"):
        constraint_first.solve(TEXT, "direct", **given)


async def test_an_attempt_yields_events_and_then_itself() -> None:
    engine = constraint_first.Scripted([CONSTRAINTS, r"\boxed{5}"])
    events = [one async for one in attempt(make("cfr"), Problem(TEXT), engine)]
    kinds = [type(event).__name__ for event in events]
    assert kinds == [*["Started", "Wrote", "Finished"] * 2, "Ended"]
    last = events[-1]
    assert isinstance(last, Ended)
    assert (last.attempt.answer, last.attempt.status) == ("5", "ok")


async def test_whoever_leaves_an_attempt_early_stops_it() -> None:
    stopped = asyncio.Event()

    class Slow:
        async def complete(self, call: Call, watcher: object = None) -> Completion:
            try:
                await asyncio.sleep(600)
            finally:
                stopped.set()
            return Completion("")

    async with aclosing(attempt(make("direct"), Problem(TEXT), Slow())) as events:
        async for _ in events:
            await asyncio.sleep(0)
            break
    assert stopped.is_set()


async def test_a_feed_never_makes_its_writer_wait_and_raises_what_it_raised() -> None:
    feed = Feed[int]()

    async def work() -> None:
        feed.tell(1)
        feed.tell(2)
        await asyncio.sleep(0.05)
        feed.tell(3)
        raise KeyError("the end")

    taken: list[list[int]] = []

    async def read() -> None:
        async for told in feed.follow(work(), silence=0.001):
            taken.append(told)  # noqa: PERF401 — it ends in an error

    with pytest.raises(KeyError, match="the end"):
        await read()
    assert [one for one in taken if one] == [[1, 2], [3]]
    assert [] in taken


async def test_a_reader_that_is_slow_costs_the_words_alone() -> None:
    outbox = Outbox()

    async def work() -> None:
        for index, name, text in (
            (0, "content", "a"), (0, "content", "b"), (1, "content", "c"), (0, "content", "d"),
            (0, "reasoning_content", "e"),
        ):  # fmt: skip
            outbox.write(index, name, text)

    ((*taken,),) = [words async for words in outbox.follow(work())]
    assert [(one.index, one.name, one.text.getvalue()) for one in taken] == [
        (0, "content", "ab"),
        (1, "content", "c"),
        (0, "content", "d"),
        (0, "reasoning_content", "e"),
    ]
    tracemalloc.start()
    for _ in range(500_000):
        outbox.write(0, "content", "word ")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(outbox.waiting[0].text.getvalue()) == 2_500_000
    assert peak < 40_000_000
