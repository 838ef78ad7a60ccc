import asyncio
import json
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import pytest
import sqlalchemy as sa
from instructed import NO_COMMA, TITLE, requests
from loopback import Endpoint as Server
from sums import number_in, reply_right, right, sums
from sums_run import run_sums

from constraint_first.answer.grade import Verdict
from constraint_first.attempt.attempt import Attempt, judge, judge_attempt, judge_reply
from constraint_first.attempt.drive import Scripted, drive
from constraint_first.benchmark.registry import GoldInstruction, write_instructions
from constraint_first.file.safe import MOST
from constraint_first.method.baselines import Direct
from constraint_first.method.method import Method
from constraint_first.method.registry import make as make_method
from constraint_first.model.client import Client, OpenAI
from constraint_first.model.error import JournalMismatch
from constraint_first.model.limit import BudgetSpent
from constraint_first.model.transport import Endpoint
from constraint_first.model.wire import Decoding, Engine
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program, Steps, Usage, ask, execute
from constraint_first.run.job import Job, prepare, run
from constraint_first.store import database as schema
from constraint_first.store import store as journal
from constraint_first.store import store as module
from constraint_first.store.database import StoreError
from constraint_first.store.query import (
    SeriesName,
    attempt_rows,
    begun_calls,
    read_attempt,
    stage_rows,
    summaries,
)
from constraint_first.store.series import Series
from constraint_first.store.store import Store, StoredJournal, Traffic

SERIES = Series("sums", "direct", "model-a")


async def test_runs_and_samples_have_seeds_of_their_own(url: str, endpoint: Server) -> None:
    endpoint.respond = reply_right
    seeded = Decoding(seed=7)
    series = Series("sums", "self-consistency(samples=3)", "model-a", seeded)
    with Store(url) as store:
        async with OpenAI(Endpoint(endpoint.url, "model-a")) as served:
            await run_sums(store, series, 1, 2, Client(served, decoding=seeded))
    seeds = [body["seed"] for body in endpoint.requests]
    assert len(set(seeds)) == 6
    assert min(seeds) == 7


async def test_a_system_prompt_goes_ahead_of_every_call_and_makes_another_series(url: str) -> None:
    engine = Scripted(lambda call: right(call))
    told = replace(SERIES, method="cfr", system="Answer in English.")
    with Store(url) as store:
        for series in (replace(told, system=""), told):
            await run_sums(store, series, 1, 1, engine, width=1)
    first = [call.messages[0] for call in engine.asked]
    assert [message.role for message in first] == ["user", "user", "system", "system"]
    assert {message.content for message in first[2:]} == {"Answer in English."}


class Broken(Exception):
    def __str__(self) -> str:
        raise ValueError("it cannot even say what is wrong")


@dataclass(frozen=True)
class Odd:
    """A plugin's method: it asks once, and then something is wrong with it."""

    what: str
    label: ClassVar[str] = "Odd"

    def solve(self, problem: Problem) -> Steps[Solution]:
        if self.what == "before":
            raise KeyError("nothing was asked")
        if self.what == "garbage":
            yield cast("Any", "not a round of calls")
        completion = yield from ask(Call.user(problem.text, stage="direct", max_tokens=9))
        if completion.text == "healthy":
            return Solution("4", completion.text)
        return self._misled(completion)

    def _misled(self, completion: Completion) -> Solution:
        if self.what == "nonsense":
            return cast("Any", "not a solution")
        if self.what == "recursion":
            return self._misled(completion)
        if self.what == "memory":
            raise MemoryError
        if self.what == "speechless":
            raise Broken
        raise ValueError(f"cannot make sense of {completion.text}\nat all \x1b[31m \ud83d")


# What is wrong with the method, and how its attempts say so.
ODD = {
    "before": r"KeyError: 'nothing was asked' \(in \S*test_attempt, line \d+\)",
    "garbage": r"AttributeError: .*",
    "nonsense": r"AttributeError: 'str' object has no .+ \(in constraint_first\.method.*\)",
    "recursion": r"RecursionError: maximum recursion depth exceeded.*",
    "memory": r"MemoryError:  ?\(in \S*test_attempt, line \d+\)",
    "speechless": r"Broken: … \(in \S*test_attempt, line \d+\)",
    "value": r"ValueError: cannot make sense of odd at all �\[31m � \(in \S*test_attempt, .*\)",
}


async def make(store: Store, method: Method, engine: Engine, runs: int = 1) -> Job:
    return await run_sums(store, replace(SERIES, method="odd", given=method), 3, runs, engine)


@pytest.mark.parametrize("what", ODD)
async def test_a_method_that_breaks_fails_its_attempts_and_no_others(what: str, url: str) -> None:
    with Store(url) as store:
        job = await make(store, Odd(what), Scripted(lambda _: "odd"))
        assert (job.tally.failed, job.tally.total) == (3, 3)
        ((reason, count),) = job.tally.reasons.items()
        assert count == 3
        assert re.fullmatch(ODD[what], reason)
        assert {row["error"] for row in attempt_rows(store)} == {reason}


@pytest.mark.parametrize("what", ["nonsense", "recursion", "value"])
async def test_replies_on_which_a_method_breaks_are_asked_for_anew(what: str, url: str) -> None:
    with Store(url) as store:
        await make(store, Odd(what), Scripted(lambda _: "odd"))
        healthy = Scripted(lambda _: "healthy")
        job = await make(store, Odd(what), healthy)
        assert job.tally.complete
        assert len(healthy.asked) == 3
        assert store.read(sa.select(schema.calls.c.text)) == [("healthy",)] * 3


async def test_a_method_that_was_mended_goes_on_with_what_is_stored(url: str) -> None:
    class Mended(Odd):
        def _misled(self, completion: Completion) -> Solution:
            return Solution("1", completion.text)

        def __repr__(self) -> str:
            return repr(Odd(self.what))

    with Store(url) as store:
        await make(store, Odd("value"), Scripted(lambda _: "odd"))
        none_left = Scripted([])
        job = await make(store, Mended("value"), none_left)
        assert job.tally.complete
        assert not none_left.asked


def failing(error: BaseException) -> Scripted:
    """Make an engine that raises what no engine should."""

    def reply(_call: Call) -> str:
        raise error

    return Scripted(reply)


HUSH = "sk-12345"


@pytest.mark.parametrize(
    "error", [ValueError(HUSH), MemoryError(HUSH), OverflowError(HUSH), Broken(HUSH)]
)
async def test_a_broken_engine_fails_its_attempts_without_a_secret(
    error: Exception, url: str
) -> None:
    with Store(url) as store:
        job = await make(store, make_method("cfr"), failing(error))
        ((reason, count),) = job.tally.reasons.items()
        assert count == job.tally.failed == 3
        kind = type(error).__name__
        assert re.fullmatch(rf"the call broke off: {kind} in \S*test_attempt, line \d+", reason)
        assert (await make(store, make_method("cfr"), Scripted(right))).tally.complete


@pytest.mark.parametrize("error", [StoreError("full"), BudgetSpent("spent"), JournalMismatch("x")])
async def test_what_concerns_the_whole_run_ends_it(error: Exception, url: str) -> None:
    with Store(url) as store, pytest.raises(type(error), match=str(error)):
        await make(store, make_method("direct"), failing(error))


ODD_TEXT = r'{"raw_constraints": [{"id": "C\ud83d", "desc": "\u0000"}], "final_answer": "\ud83d4"}'
HUGE = '{"raw_constraints": [{"id": 99, "desc": 1e999}], "final_answer": 7}'.replace("9", "9" * 40)


@pytest.mark.parametrize("text", [ODD_TEXT, HUGE, "[" * 5_000 + "]" * 5_000, "\0\ud83d"])
@pytest.mark.parametrize("method", ["cfr", "cfr(reply=json)", "self-consistency(samples=2)"])
async def test_any_text_of_a_model_is_stored(method: str, text: str, url: str) -> None:
    usage = Usage(2**63, -500, 3 * 10**9)
    with Store(url) as store:
        engine = Scripted(lambda _: Completion(text, usage=usage))
        job = await make(store, make_method(method), engine)
        assert job.tally.complete
        rows = list(attempt_rows(store))
        (summary,) = summaries(store)
    assert {row["status"] for row in rows} <= {"ok", "unparsed"}
    assert {type(json.loads(row["details"])) for row in rows} == {dict}
    assert {(row["input_tokens"], row["output_tokens"]) for row in rows} == {(MOST, 0)}
    shared = 3 * MOST if "samples" in method else 0
    assert summary.tally.usage == Usage(3 * MOST, 0, 3 * MOST, shared=shared)


async def test_a_refused_row_fails_its_attempt(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is known that passes the gate and is refused all the same; so we open the gate.
    monkeypatch.setattr(journal, "storable_text", str)
    bad = Scripted(lambda call: "healthy" if number_in(call) else "bad")

    @dataclass(frozen=True)
    class Unbounded:
        label: ClassVar[str] = "Unbounded"

        def solve(self, problem: Problem) -> Steps[Solution]:
            completion = yield from ask(Call.user(problem.text, stage="direct", max_tokens=9))
            return Solution("\ud83d" if completion.text == "bad" else "1", completion.text)

    with Store(url) as store:
        job = await make(store, Unbounded(), bad)
        rows = {row["problem"]: row for row in attempt_rows(store)}
    assert [rows[f"p{n}"]["status"] for n in range(3)] == ["failed", "ok", "ok"]
    assert re.search(r"refused to store it \(.*surrogates", rows["p0"]["error"])
    assert (job.tally.failed, job.tally.ok) == (1, 2)
    assert list(job.tally.reasons) == [rows["p0"]["error"]]


async def test_a_call_that_is_refused_fails_its_attempt_and_no_other(url: str) -> None:
    odd: Any = "\ud83d"  # an engine that keeps to its types says stop, length or other

    def reply(call: Call) -> Completion:
        return Completion(right(call), "stop" if number_in(call) else odd)

    with Store(url) as store:
        job = await make(store, make_method("cfr"), Scripted(reply))
        rows = {row["problem"]: row for row in attempt_rows(store)}
        assert [rows[f"p{n}"]["status"] for n in range(3)] == ["failed", "ok", "ok"]
        assert "refused to store it" in rows["p0"]["error"]
        assert (job.tally.failed, job.tally.ok) == (1, 2)
        assert (await make(store, make_method("cfr"), Scripted(right))).tally.complete


@dataclass(frozen=True)
class Computes:
    """A method whose model writes programs."""

    label: ClassVar[str] = "Computes"

    def solve(self, problem: Problem) -> Steps[Solution]:
        said = yield from ask(Call.user(problem.text, stage="direct", max_tokens=9))
        output = yield from execute(Program(said.text))
        yield from ask(Call.user(output.text, stage="direct", max_tokens=9))
        ran: Json = [{"source": said.text, "output": output.text, "error": output.error}]
        return Solution(output.text.strip(), said.text, details={"programs": ran})


class Unplugged(Exception):
    pass


async def test_an_attempt_goes_on_behind_a_program_without_running_it_again(url: str) -> None:
    replies = iter(["print(40 + 2)"])

    def reply(call: Call) -> str:
        for said in replies:
            return said
        raise Unplugged

    with Store(url) as store:
        series = replace(SERIES, method="computes", given=Computes())
        assert (await run_sums(store, series, 1, 1, Scripted(reply))).tally.failed == 1
        (stored,) = begun_calls(store, 1).values()
        assert [type(one.answer) for one in stored.values()] == [Completion, Output]
        assert cast("Output", stored[1].answer).seconds > 0
        seen = cast("Output", stored[1].answer)
        engine = Scripted(["fine"])
        await run_sums(store, series, 1, 1, engine)
        assert [call.messages[0].content for call in engine.asked] == ["42\n"]
        (row,) = attempt_rows(store)
        assert row["answer"] == "42"
        stages = json.loads(row["stages"])
        assert stages["direct"]["calls"] == 2
        ran = {"calls": 0, "programs": 1, "input_tokens": 0, "output_tokens": 0}
        assert stages["program"] == ran | {"seconds": seen.seconds}
        assert "programs" not in stages["direct"]
        assert [stage["stage"] for stage in stage_rows(store)] in (["direct"], [])


@pytest.mark.parametrize("text", ["\0", "\ud83d", "\x1b[2J\x1b]0;title\x07", "=cmd()", "\u202e"])
async def test_programs_and_outputs_cannot_break_a_store(url: str, text: str) -> None:
    async def sandbox(program: Program) -> Output:
        return Output(text, text, 0.5)

    with Store(url) as store:
        registered = store.register(SERIES, sums(1))
        key = {"series": registered.series, "problem": registered.problems["p0"], "run": 0}
        steps, engine = execute(Program(text)), Scripted([])
        first = await drive(steps, engine, journal=StoredJournal(store, key, {}), sandbox=sandbox)
        store.flush()
        known = begun_calls(store, registered.series)[key["problem"], 0]
        again = StoredJournal(store, key, known)
        replayed = await drive(execute(Program(text)), engine, journal=again)
        assert replayed.transcript == first.transcript


@pytest.mark.parametrize(
    ("reply", "status", "verdict"),
    [
        (Completion("Thing one is there."), "unparsed", "correct"),
        (Completion("Thing one is \\boxed{there}."), "ok", "correct"),
        (Completion("Thing one is th", finish="length"), "truncated", "correct"),
        (Completion("One, tw", finish="length"), "truncated", "incorrect"),
        (Completion(""), "unparsed", "incorrect"),
        (Completion("<think>One, two.</think>Thing one."), "ok", "correct"),
        (Completion("", finish="length"), "truncated", "incorrect"),
    ],
)
async def test_whole_replies_judged(reply: Completion, status: str, verdict: str, url: str) -> None:
    """Gold instructions decide; how the attempt ended stays what it is with every benchmark."""
    series = Series("requests", "direct", "model-a")
    asked: list[Call] = []
    engine = Scripted(lambda call: asked.append(call) or reply)
    with Store(url) as store:
        for _ in range(2):
            await run(store, [prepare(store, series, requests(1), 1, engine)], width=1)
        (row,) = attempt_rows(store)
    assert (row["status"], row["verdict"], row["tier"]) == (status, verdict, "instructions")
    assert len(asked) == 1, "whatever the verdict, it is not made again"


UNKNOWN = GoldInstruction("emoji:count", {"count": 3})


async def both(problem: Problem, answer: str | None, text: str) -> Verdict | None:
    """Judge with and without an event loop; both must say the same."""
    one, two = await judge_attempt(problem, answer, text), judge(problem, answer, text)
    assert (one and (one.verdict, one.tier, one.why)) == (two and (two.verdict, two.tier, two.why))
    return one


async def test_a_gold_answer_is_compared_with_the_answer() -> None:
    problem = Problem("What is 1 + 1?", answer="2")
    for answer, word in (("2", "correct"), ("3", "incorrect"), (None, "incorrect")):
        found = await both(problem, answer, "no commas, but \\boxed{2}")
        assert found
        assert (found.verdict, found.tier) == (word, "exact")
    assert await both(Problem("What is 1 + 1?"), "2", "2") is None
    # In a reply that is given whole as the answer, the answer is looked for.
    for text, word in (("One and one make \\boxed{2}.", "correct"), ("It is 3.", "incorrect")):
        found = await both(problem, text, text)
        assert found
        assert found.verdict == word


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("<<One>>\nIt is.", "correct", "follows 3 of 3 instructions"),
        ("It is.", "incorrect", "follows 2 of 3 instructions; broken: The reply has a title"),
        ("One, two", "incorrect", "follows 1 of 3 instructions; broken: The reply does without"),
        ("", "incorrect", "follows 0 of 3 instructions; broken"),
    ],
)
async def test_instructions_are_checked_on_whole_replies(text: str, word: str, why: str) -> None:
    """The answer that was read from it does not matter, whatever it is."""
    for answer in (None, "42", requests(2)[1].answer):
        found = await both(requests(2)[1], answer, text)
        assert found
        assert (found.verdict, found.tier, found.answer) == (word, "instructions", None)
        assert found.why.startswith(why)


@pytest.mark.parametrize(
    ("text", "word"), [("Yes.", "undecided"), ("No, no.", "incorrect"), ("", "incorrect")]
)
def test_what_cannot_be_decided(text: str, word: str) -> None:
    found = judge_reply([NO_COMMA, UNKNOWN], text)
    assert found.verdict == word
    assert not found.correct


async def test_the_event_loop_is_not_held_up() -> None:
    """A long reply is checked in a thread: what else there is to do goes on meanwhile."""
    problem = Problem("Write much.", answer=write_instructions([NO_COMMA, TITLE] * 20))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await judge_attempt(problem, None, "word " * 200_000)
    counting.cancel()
    assert turns > 1


SERVED = Series("served", "direct", "m")
FOUR, FIVE = (Problem(f"What is {n} + 1?", id=f"q{n}") for n in (3, 4))


async def serve(traffic: Traffic, problem: Problem, text: str = r"\boxed{4}") -> int:
    begun = await traffic.begin(SERVED, problem)
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


async def test_a_run_under_way_is_not_reused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 1)
    monkeypatch.setattr(module, "_KEPT_SERIES", 1)
    with Store(url) as store, store.exclusively():
        served = Traffic(store)
        first = await served.begin(SERVED, FOUR)
        for n in range(5):
            await serve(served, replace(FIVE, id=f"other{n}"))
        assert (await served.begin(replace(SERVED, model="n"), FOUR)).run == 0
        assert (await served.begin(SERVED, FOUR)).run == 1
        assert first.run == 0


async def test_whoever_goes_away_while_it_is_entered_keeps_nobody_waiting(url: str) -> None:
    with Store(url) as store, store.exclusively():
        served = Traffic(store)
        first, second = (asyncio.create_task(served.begin(SERVED, FOUR)) for _ in range(2))
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
        refused = asyncio.create_task(again.begin(SERVED, FOUR))
        taken = asyncio.create_task(again.begin(replace(SERVED, model="n"), FOUR))
        with pytest.raises(StoreError, match="other prompts or settings"):
            await refused
        assert (await taken).run == 0
