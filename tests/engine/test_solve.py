import asyncio
import threading
from contextvars import ContextVar
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar, cast

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure

from constraint_first import (
    Bounds,
    Call,
    CfrError,
    Decoding,
    ModelRef,
    Problem,
    Program,
    Scripted,
    Solution,
    Steps,
    asolve,
    execute,
    make,
    solve,
)
from constraint_first.attempt.solve import run_sync
from constraint_first.model.error import Unauthorized

CONSTRAINTS = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "in 0..6"}]}'
TEXT = "Find the remainder when $3^5$ is divided by 7."
BRIEF = "routed-cfr-brief"


def scripted() -> Scripted:
    return Scripted([CONSTRAINTS, r"243 = 34 · 7 + 5, so \boxed{5}."])


async def test_a_problem_is_solved_with_an_open_engine() -> None:
    solved = await asolve(TEXT, BRIEF, engine=scripted())
    assert solved.answer == solved.solution.answer == "5"
    assert [exchange.call.stage for exchange in solved.exchanges] == ["stage1", "stage2"]
    assert (solved.method, solved.problem) == (make(BRIEF), Problem(TEXT))
    # Ordinary code runs inside an event loop too, as in a notebook.
    assert solve(TEXT, BRIEF, engine=scripted()).answer == "5"

    def refuse(_call: Call) -> str:
        raise Unauthorized("no key")

    with pytest.raises(Unauthorized, match="no key"):
        solve(TEXT, engine=Scripted(refuse))


def test_a_key_goes_to_the_endpoint_and_is_shown_nowhere(endpoint: Server) -> None:
    key = "sk-" + "abcdef0123456789" * 2
    endpoint.script(completion(r"\boxed{5}"), failure(401, f"no such key: {key}"))
    solved = solve(TEXT, "direct", base_url=endpoint.url, key=key)
    assert endpoint.headers[-1]["Authorization"] == f"Bearer {key}"
    with pytest.raises(Unauthorized, match="put a valid key into the argument key") as refused:
        solve(TEXT, "direct", base_url=endpoint.url, key=key)
    named = ModelRef("m", base_url=endpoint.url, key=key)
    shown = (repr(solved), str(solved.to_json()), repr(refused.value), repr(named))
    assert not any(key in text for text in shown)


def test_the_settings_of_a_model_reach_its_engine(endpoint: Server) -> None:
    endpoint.script(completion(r"\boxed{5}"))
    ref, bounds = ModelRef("m", base_url=endpoint.url), Bounds(seconds=60)
    cold = Decoding(temperature=0.0, seed=7)
    solved = solve(TEXT, "direct", model=ref, context=2_000, decoding=cold, bounds=bounds)
    (body,) = endpoint.requests
    assert (body["temperature"], body["seed"], body["max_tokens"] < 2_000) == (0.0, 7, True)
    assert (solved.answer, solved.tokens, solved.usage.total) == ("5", 18, 18)
    assert solved.seconds > 0
    endpoint.script(Reply(endless=b" "))
    with pytest.raises(CfrError, match=r"not done after 0\.2 s"):
        solve(TEXT, "direct", base_url=endpoint.url, bounds=Bounds(seconds=0.2))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "runs on this machine and takes no key"),
        ({"engine": scripted(), "model": "m"}, "^key=, model=: engine= has its own"),
    ],
)
def test_settings_beside_an_engine_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(CfrError, match=said) as refused:
        solve(TEXT, "direct", key="sk-secret-secret", **settings)
    assert "secret" not in str(refused.value)


def test_what_is_known_is_told_to_programs() -> None:
    told: dict[str, Any] = solve(Problem(TEXT, id="p1"), BRIEF, engine=scripted()).to_json()
    assert (told["id"], told["method"], told["answer"]) == ("p1", "Routed-CFR-brief", "5")
    assert [stage["stage"] for stage in told["stages"]] == ["stage1", "stage2"]
    counts = dict.fromkeys(("input", "output", "reasoning", "cached", "shared", "total"), 0)
    assert told["tokens"] == {**counts, "reported": True}


class Computes:
    label: ClassVar[str] = "Computes"

    def solve(self, problem: Problem) -> Steps[Solution]:
        output = yield from execute(Program(problem.text))
        return Solution(output.text.strip(), output.text)


def test_programs_are_told_with_their_output() -> None:
    solved = solve("print(6 * 7)\n1 / 0", Computes(), engine=Scripted([]))
    assert solved.answer == "42"
    assert (solved.exchanges, solved.usage.total) == ((), 0)
    (program,) = cast("list[dict[str, Any]]", solved.to_json()["programs"])
    assert program.pop("seconds") > 0
    assert program == {
        "stage": "program",
        "source": "print(6 * 7)\n1 / 0",
        "output": "42\n",
        "error": "ZeroDivisionError: division by zero",
    }


def test_thinking_inside_a_reply_is_told_as_reasoning() -> None:
    engine = Scripted(
        [f"<think>modulo 7</think>\n{CONSTRAINTS}", r"<think>\boxed{6}?</think>\boxed{5}"]
    )
    solved = solve(TEXT, BRIEF, engine=engine)
    assert solved.solution.text == r"\boxed{5}"
    assert solved.solution.details["rung"] == "parsed"
    stages = cast("list[dict[str, Any]]", solved.to_json()["stages"])
    assert [(stage["reasoning"], stage["text"]) for stage in stages] == [
        ("modulo 7", CONSTRAINTS),
        (r"\boxed{6}?", r"\boxed{5}"),
    ]


async def test_an_interrupted_caller_stops_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()

    async def endless() -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    class Interrupted:
        """A queue; the reader of the first one is interrupted."""

        def __init__(self) -> None:
            self.items: Any = SimpleQueue()
            self.put = self.items.put
            queues.append(self)

        def get(self) -> Any:
            if self is queues[0]:
                raise KeyboardInterrupt
            return self.items.get()

    queues: list[Any] = []
    monkeypatch.setattr("constraint_first.attempt.solve.SimpleQueue", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_sync(endless())
    assert cancelled.is_set()


@pytest.mark.parametrize("in_loop", [True, False])
def test_a_coroutine_sees_the_context_variables_of_its_caller(*, in_loop: bool) -> None:
    seen: ContextVar[str] = ContextVar("seen", default="nothing")

    async def work() -> str:
        return seen.get()

    async def notebook() -> str:
        return run_sync(work())

    token = seen.set("the caller's")
    try:
        assert (asyncio.run(notebook()) if in_loop else run_sync(work())) == "the caller's"
    finally:
        seen.reset(token)


def test_own_prompts_and_a_system_message_come_from_the_caller(tmp_path: Path) -> None:
    (tmp_path / "direct.txt").write_text("Please: [[problem]]")
    engine = Scripted([r"\boxed{5}"])
    solved = solve(TEXT, "direct", engine=engine, prompts=tmp_path, system="Be brief.")
    assert [(m.role, m.content) for m in engine.asked[0].messages] == [
        ("system", "Be brief."),
        ("user", f"Please: {TEXT}"),
    ]
    assert solved.exchanges[0].call.messages == engine.asked[0].messages  # as they were sent
    plain = Scripted([r"\boxed{5}"])
    solve(TEXT, "direct", engine=plain)
    assert [m.role for m in plain.asked[0].messages] == ["user"]
    with pytest.raises(CfrError, match=r"no method that is to be run asks with direct\.txt"):
        solve(TEXT, "reminder", engine=engine, prompts=str(tmp_path))
    assert len(engine.asked) == 1
