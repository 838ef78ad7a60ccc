"""Two of the tests that carry the project: one transcript on every engine, and crash anywhere."""

import asyncio
import gc
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Endpoint as Server
from loopback import Reply
from loopback import completion as http_completion
from memory_journal import MemoryJournal

from constraint_first.attempt.drive import (
    Allowance,
    AttemptLimit,
    Scripted,
    collecting_rarely,
    digest,
    drive,
    put_ahead,
    storable_call,
    storable_completion,
    storable_output,
    storable_program,
    storable_usage,
)
from constraint_first.attempt.events import Event, Finished, Started, Tell, Wrote
from constraint_first.attempt.solve import asolve
from constraint_first.file.safe import LONGEST, MOST
from constraint_first.method.registry import METHODS, make
from constraint_first.model.client import OpenAI
from constraint_first.model.error import EngineError, JournalMismatch, ServerFault, TooExpensive
from constraint_first.model.transport import Endpoint
from constraint_first.model.wire import SILENT, Engine, Watcher
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import (
    Call,
    Completion,
    Message,
    Output,
    Program,
    Run,
    Steps,
    Usage,
    ask,
    execute,
    together,
)

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.")
CALL = Call.user("x", stage="direct", max_tokens=1)
SPEC = json.dumps({"raw_constraints": [{"id": "C1", "type": "modular", "desc": "mod 7"}]})
VARIANTS = [
    *METHODS,
    "cfr(reply=json)",
    "routed-cfr(reply=json)",
    "routed-cfr(prompts=paper)",
    "self-consistency(base=self-consistency(base=routed-cfr,samples=2),samples=3)",
]
USAGE = Usage(11, 7)
# What a stage is answered with, whatever the engine; one reply is cut off, most have thinking.
REPLIES = {
    "stage1": Completion(SPEC, "length", usage=USAGE),
    "router": Completion('{"restrictive": "yes"}', usage=USAGE),
    "format": Completion("A remainder: an integer from 0 to 6.", usage=USAGE),
    "feedback": Completion("Nothing is wrong.", "stop", "243 - 238 = 5", USAGE),
}


def reply_to(stage: str) -> Completion:
    solved = Completion(r"So it is \boxed{5}.", "stop", "3^5 = 243", USAGE)
    return REPLIES.get(stage, solved)


def over_http(calls: Iterable[Call]) -> Callable[[dict[str, Any]], Reply]:
    """Answer requests by the stage of the calls that they come from."""
    stages = {_spoken(call): call.stage for call in calls}

    def respond(body: dict[str, Any]) -> Reply:
        asked = tuple((message["role"], message["content"]) for message in body["messages"])
        reply = reply_to(stages[asked])
        return http_completion(reply.text, reply.finish, reasoning_content=reply.reasoning)

    return respond


def _spoken(call: Call) -> tuple[tuple[str, str], ...]:
    return tuple((message.role, message.content) for message in call.messages)


async def solve(method: str, engine: Engine, tell: Tell | None = None) -> Run[Solution]:
    return await drive(make(method).solve(PROBLEM), engine, tell=tell)


def same(*runs: Run[Any]) -> bool:
    first, *others = [(run.result, run.transcript) for run in runs]
    return all(one == first for one in others)


@pytest.mark.parametrize("method", VARIANTS)
async def test_every_engine_one_transcript(method: str, endpoint: Server) -> None:
    scripted = await solve(method, Scripted(lambda call: reply_to(call.stage)))
    endpoint.respond = over_http(exchange.call for exchange in scripted.exchanges)
    async with OpenAI(Endpoint(endpoint.url, "m")) as engine:
        whole = await solve(method, engine)
        streamed = await solve(method, engine, lambda _event: None)
    assert same(scripted, whole, streamed)
    expected = scripted.result.text if scripted.result.is_whole else "5"
    assert scripted.result.answer == expected or "json" in method


class PowerCut(Exception):
    pass


class Dies:
    """An engine and a sandbox that fail at the nth step, as a power cut would."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.ran: list[str] = []

    def _step(self, what: str) -> None:
        if len(self.ran) == self.left:
            raise PowerCut
        self.ran.append(what)

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self._step(call.stage)
        return reply_to(call.stage)

    async def run(self, program: Program) -> Output:
        self._step(program.source)
        return Output("42" if "6" in program.source else "43")


@pytest.mark.parametrize("method", VARIANTS)
async def test_crash_anywhere_and_resume(method: str) -> None:
    whole = await solve(method, Scripted(lambda call: reply_to(call.stage)))
    for at in range(len(whole.exchanges)):
        journal = MemoryJournal()
        with pytest.raises(PowerCut):
            await drive(make(method).solve(PROBLEM), Dies(at), journal=journal)
        rest = Dies(99)
        resumed = await drive(make(method).solve(PROBLEM), rest, journal=journal)
        assert same(resumed, whole)
        assert len(rest.ran) == len(whole.exchanges) - at


INLINE = ["<think>3^5 = 243</think>\n{}", "3^5 = 243</think>{}", "<think>3^5 = 243"]


@pytest.mark.parametrize("reply", INLINE)
@pytest.mark.parametrize("method", VARIANTS)
async def test_thinking_inside_a_reply_is_reasoning_in_every_method(
    method: str, reply: str
) -> None:
    def think(call: Call) -> Completion:
        return Completion(reply.format(reply_to(call.stage).text), usage=USAGE)

    journal = MemoryJournal()
    outcome = await drive(make(method).solve(PROBLEM), Scripted(think), journal=journal)
    assert {exchange.completion.reasoning for exchange in outcome.exchanges} == {"3^5 = 243"}
    for exchange in outcome.exchanges:
        said = reply_to(exchange.call.stage).text if "{}" in reply else ""
        assert exchange.completion.text == said
    assert "think>" not in outcome.result.text
    assert same(outcome, await drive(make(method).solve(PROBLEM), Dies(0), journal=journal))


async def test_thinking_that_came_apart_comes_first() -> None:
    engine = Scripted(lambda _: Completion("<think>b</think>c", reasoning="a"))
    run = await drive(ask(CALL), engine)
    assert run.result == Completion("c", reasoning="a\n\nb")


async def test_a_changed_prompt_is_not_answered_from_the_journal() -> None:
    journal = MemoryJournal()
    engine = Scripted(lambda call: reply_to(call.stage))
    await drive(make("direct").solve(PROBLEM), engine, journal=journal)
    with pytest.raises(JournalMismatch, match="start a new run"):
        await drive(make("cfr").solve(PROBLEM), engine, journal=journal)


def two_branches() -> Steps[tuple[Completion, ...]]:
    calls = [Call.user(name, stage="direct", max_tokens=1) for name in ("good", "bad")]
    return (yield from together([ask(call) for call in calls]))


async def test_what_a_round_paid_for_is_kept_when_another_call_of_it_fails() -> None:
    def reply(call: Call) -> str:
        if call.messages[0].content == "bad":
            raise ServerFault("no luck")
        return "fine"

    journal, engine = MemoryJournal(), Scripted(["better"])
    with pytest.raises(ServerFault):
        await drive(two_branches(), Scripted(reply), journal=journal)
    outcome = await drive(two_branches(), engine, journal=journal)
    assert [c.text for c in outcome.result] == ["fine", "better"]
    assert len(engine.asked) == 1


async def test_a_script_replies_in_order_or_by_a_function() -> None:
    cut = Completion("II", "length")
    calls = [Call.user(n, stage="direct", max_tokens=8) for n in "ab"]
    engine = Scripted(["I", cut])
    assert [await engine.complete(call) for call in calls] == [Completion("I"), cut]
    assert engine.asked == calls
    with pytest.raises(EngineError, match="no reply left for a stage2 call"):
        await solve("cfr", Scripted([SPEC]))
    upper = Scripted(lambda call: call.messages[0].content.upper(), name="model-a")
    assert (upper.model, (await upper.complete(calls[1])).text) == ("model-a", "B")


@pytest.mark.parametrize("before", [700, 0])
def test_the_collector_has_its_own_pace_again_afterwards(before: int) -> None:
    usual = gc.get_threshold()
    gc.set_threshold(before, *usual[1:])
    try:
        with collecting_rarely():
            assert (gc.get_threshold()[0] >= 20_000) is bool(before)  # one that is off stays off
            assert gc.get_threshold()[1:] == usual[1:]
        assert gc.get_threshold()[0] == before
    finally:
        gc.set_threshold(*usual)


async def test_a_method_sees_on_its_first_run_what_it_will_see_on_a_replay() -> None:
    def quote() -> Steps[str]:
        first = yield from ask(Call.user("x", stage="stage1", max_tokens=1))
        # What is an escape in JSON is half a surrogate pair once it is read.
        quoted = json.loads(first.text)
        second = yield from ask(Call.user(f"You said {quoted}", stage="stage2", max_tokens=1))
        return first.text + second.text

    journal = MemoryJournal()
    engine = Scripted([r'"\ud83d"', "\0 and \ud83d"])
    outcome = await drive(quote(), engine, journal=journal)
    assert outcome.result == r'"\ud83d"' + "\ufffd and \ufffd"
    assert engine.asked[1].messages[0].content == "You said \ufffd"
    assert same(await drive(quote(), Scripted([]), journal=journal), outcome)


def computing() -> Steps[str]:
    """Ask for a program, run it, and quote what it printed, beside a question."""
    said = yield from ask(Call.user("x", stage="stage1", max_tokens=1))
    asked = Call.user("y", stage="direct", max_tokens=1)
    output, completion = yield (Program(said.text), asked)
    assert isinstance(output, Output)
    assert isinstance(completion, Completion)
    again = yield from execute(Program(f"print({output.text.strip()} + 1)"))
    return f"{output.text}|{again.text}|{completion.text}"


async def test_programs_are_run_and_stand_in_the_transcript() -> None:
    told: list[Event] = []
    run = await drive(computing(), Scripted(["print(6 * 7)", "z"]), tell=told.append)
    assert run.result == "42\n|43\n|z"
    kinds = [type(entry).__name__ for entry in run.transcript]
    assert kinds == ["Exchange", "Execution", "Exchange", "Execution"]
    first, _ = run.exchanges
    assert told[:3] == [
        Started(first.call),
        Wrote(first.call, "print(6 * 7)"),
        Finished(first.call, first.completion),
    ]
    assert [type(event).__name__ for event in told][-2:] == ["Executing", "Executed"]


@pytest.mark.parametrize("at", [0, 1])
async def test_crash_at_a_program_and_resume_without_running_the_others_again(at: int) -> None:
    script, journal = ["print(6 * 7)", "z"], MemoryJournal()
    whole = await drive(computing(), Scripted(script), sandbox=Dies(9).run)
    dies, rest = Dies(at), Dies(9)
    with pytest.raises(PowerCut):
        await drive(computing(), Scripted(script), journal=journal, sandbox=dies.run)
    resumed = await drive(computing(), Scripted([]), journal=journal, sandbox=rest.run)
    assert same(resumed, whole)
    assert [*dies.ran, *rest.ran] == ["print(6 * 7)", "print(42 + 1)"]


async def test_programs_and_calls_of_a_round_run_at_the_same_time() -> None:
    all_here = asyncio.Barrier(3)

    class Meeting:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            await asyncio.wait_for(all_here.wait(), 5)
            return Completion(call.messages[0].content)

    async def sandbox(program: Program) -> Output:
        await asyncio.wait_for(all_here.wait(), 5)
        return Output("o")

    def mixed() -> Steps[str]:
        calls = (Call.user(name, stage="direct", max_tokens=1) for name in "ab")
        answers = yield (Program("x"), *calls)
        return "".join(answer.text for answer in answers)

    assert (await drive(mixed(), Meeting(), sandbox=sandbox)).result == "oab"


async def test_events_name_the_call_of_the_method_whatever_is_sent() -> None:
    told: list[Event] = []
    engine, as_sent = Scripted(["fine"]), put_ahead((Message("system", "Be brief."),), 1_000)
    run = await drive(ask(CALL), engine, tell=told.append, as_sent=as_sent)
    assert [one.call for one in told if isinstance(one, Wrote)] == [CALL]
    assert [one.call for one in run.exchanges] == [CALL]
    (sent,) = engine.asked
    assert (sent.sample, [m.role for m in sent.messages]) == (1_000, ["system", "user"])


async def test_an_output_is_seen_as_it_will_be_on_a_replay() -> None:
    async def sandbox(program: Program) -> Output:
        assert program.source == "\ufffd\ufffd"
        return Output("\0\ud83d", "\ud83d", float("nan"))

    journal, odd = MemoryJournal(), Program("\0\ud83d")
    outcome = await drive(execute(odd), Scripted([]), journal=journal, sandbox=sandbox)
    assert outcome.result == Output("\ufffd\ufffd", "\ufffd", 0.0)
    assert same(await drive(execute(odd), Scripted([]), journal=journal), outcome)


# --- Journals: what is stored of a step, and to which it is handed again.


async def test_an_output_is_not_handed_to_another_program() -> None:
    journal, output = MemoryJournal(), Output("1\n", "", 0.25)
    await journal.record(2, Program("print(1)"), output)
    assert journal.recall(2, Program("print(1)")) is output
    for step, said in (
        (Program("print(2)"), r"program 2 \(program\) differs"),
        (CALL, r"call 2 \(direct\) differs"),
    ):
        with pytest.raises(JournalMismatch, match=said):
            journal.recall(2, step)


@given(st.text(st.characters(exclude_categories=())), st.text(), st.floats())
def test_any_program_and_output_can_be_stored(text: str, error: str, seconds: float) -> None:
    output = storable_output(Output(text, error, seconds))
    assert storable_output(output) == output
    for kept in (output.text, output.error, storable_program(Program(text)).source):
        assert "\0" not in kept
        assert kept.encode().decode() == kept
    assert output.seconds >= 0 or seconds < 0


def test_a_digest_depends_on_everything_that_is_asked() -> None:
    others: list[dict[str, Any]] = [
        *({"messages": (Message("user", "y"),)}, {"stage": "stage2"}, {"max_tokens": 2}),
        *({"json": True}, {"schema": "{}"}, {"sample": 1}),
    ]
    assert len({digest(replace(CALL, **other)) for other in [{}, *others]}) == 7
    assert digest(CALL) == digest(replace(CALL, final=True))
    assert replace(CALL, final=True) == CALL


def test_digests_are_those_of_stores_that_were_written_before() -> None:
    told = (Message("system", "Be brief."), Message("user", "What is $2+2$?"))
    call = Call(told, "stage1", 1_024, json=True, schema='{"type": "object"}', sample=2)
    assert digest(call) == "f09418913bebaffa61e86e3475c2998f5f271aa06427a5887e175bbad8d4ce83"
    assert len(digest(replace(call, messages=(Message("user", "\ud800"),)))) == 64
    # As it was before a call could name another model: stores of that time are resumed.
    assert digest(CALL) == "94648bba88cd531d37bb3870cd87db188309b3507abbbff0264d88cc4c071695"
    assert digest(replace(CALL, model="org/small@q4")) == digest(CALL) + "@org/small@q4"
    assert len(digest(Program("\ud800"))) == 64
    assert digest(Program("a@b")) != digest(Program("a@b", "check"))


def test_what_cannot_be_stored_is_replaced_before_a_method_sees_it() -> None:
    odd = Completion("half \ud83d \0", "stop", "\ud83d", Usage(2**63, -5, reasoning=1))
    counts = Usage(MOST, 0, reasoning=1, reported=False)
    assert storable_completion(odd) == Completion("half \ufffd \ufffd", "stop", "\ufffd", counts)
    assert storable_completion(Completion("x" * LONGEST)).finish == "stop"
    cut = storable_completion(Completion("x" * (LONGEST + 1)))
    assert (len(cut.text), cut.truncated) == (LONGEST, True)
    strange: Any = Usage(True, 2.5, float("nan"), 4)  # pyright: ignore[reportArgumentType]
    kept = storable_usage(strange)
    assert kept == Usage(1, 2, 0, 4, reported=False)
    assert {type(count) for count in (kept.input, kept.output, kept.reasoning)} == {int}
    call = Call((Message("system", "Be brief."), Message("user", "half \ud83d")), "stage2", 9)
    sent = storable_call(call)
    assert sent.messages == (Message("system", "Be brief."), Message("user", "half \ufffd"))
    assert replace(sent, messages=call.messages) == call


# --- An attempt pays what its allowance lets it, whatever its method.


class Counting:
    """An engine no two of whose answers agree, and each of whose replies has so many tokens."""

    def __init__(self, tokens: int = 10) -> None:
        self.tokens = tokens
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        return Completion(rf"It is \boxed{{{self.asked}}}.", usage=Usage(0, self.tokens))


UNBOUNDED = [
    "self-refine(iterations=999999999)",
    "extended(tokens=999999999,rounds=999999999)",
    "until-agreed(base=self-refine(iterations=999999999))",
    "self-consistency(base=self-consistency(samples=10),samples=10)",
    "self-consistency(base=prove(base=self-consistency(samples=10),samples=10),samples=2)",
    "vote(base=self-refine(iterations=9999)+direct,samples=60)",
    "prove(samples=900)",
    "search(width=900)",
    "checked(base=self-refine(iterations=9999))",
]


@pytest.mark.parametrize("method", UNBOUNDED)
async def test_no_method_asks_more_than_its_attempt_may(method: str) -> None:
    engine, allowance = Counting(), Allowance(AttemptLimit(calls=40))
    with pytest.raises(TooExpensive, match=r"more than 40 calls .*--max-calls"):
        await drive(make(method).solve(PROBLEM), engine, allowance=allowance)
    assert engine.asked == allowance.calls <= 40
    assert allowance.usage == Usage(0, 10 * engine.asked)


@pytest.mark.parametrize("method", ["self-refine(iterations=99)", "self-consistency(samples=64)"])
async def test_tokens_are_bounded_within_a_round_too(method: str) -> None:
    engine, allowance = Counting(1_000), Allowance(AttemptLimit(tokens=5_500))
    with pytest.raises(TooExpensive, match=r"more than 5,500 tokens .*--max-attempt-tokens"):
        await drive(make(method).solve(PROBLEM), engine, allowance=allowance)
    assert engine.asked == 6
    assert allowance.usage.output == 6_000


async def test_a_prompt_that_is_too_much_by_itself_is_not_asked() -> None:
    engine = Counting()
    steps = make("self-consistency(samples=64)").solve(Problem("x" * 200_000))
    with pytest.raises(TooExpensive, match="after 0 calls"):
        await drive(steps, engine, allowance=Allowance(AttemptLimit(tokens=3_000_000)))
    assert engine.asked == 0
    with pytest.raises(TooExpensive):
        await asolve(PROBLEM, "self-refine", engine=engine, limit=AttemptLimit(calls=2))


async def test_replayed_calls_count_as_they_did() -> None:
    journal = MemoryJournal()
    for _ in range(2):
        steps, allowance = make("self-refine(iterations=9)").solve(PROBLEM), AttemptLimit(calls=4)
        with pytest.raises(TooExpensive, match="after 4 calls and 40 tokens"):
            await drive(steps, Counting(), journal=journal, allowance=Allowance(allowance))


@pytest.mark.parametrize(
    "method", ["self-consistency(samples=64)", "vote(samples=128)", "self-refine(iterations=60)"]
)
async def test_what_is_usual_passes_by_default(method: str) -> None:
    assert (await asolve(PROBLEM, method, engine=Counting(2_000))).answer
