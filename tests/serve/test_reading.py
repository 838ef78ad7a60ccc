"""Texts that are read in workers, and the budget of an attempt."""

import asyncio
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import completion
from served import Served, chat, events, served

from constraint_first.attempt.drive import Scripted, drive
from constraint_first.method.registry import make
from constraint_first.problem import Problem
from constraint_first.process import Undecided
from constraint_first.protocol import (
    Call,
    Completion,
    Output,
    Program,
    Steps,
    Usage,
    ask,
    execute,
    together,
)
from constraint_first.serve import reading
from constraint_first.serve.reading import Readers, within

LONG = (
    "A farmer has 12 rows of 8 trees. " * 20 + "How many trees are there? Answer with an integer."
)
DEMAND = "Write about tea. Use exactly 3 words. " + "Tea is a drink that many people like. " * 20


@pytest.mark.parametrize(
    "method", ["direct", "routed-cfr", "sound", "checked", "self-refine", "auto"]
)
@pytest.mark.parametrize("text", [LONG, DEMAND], ids=["problem", "demand"])
async def test_a_worker_does_what_the_loop_would(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, method: str, text: str
) -> None:
    endpoint.respond = lambda _: completion(r"Green tea soothes. \boxed{96}")
    told: list[tuple[Any, Any, int]] = []
    for short in (10**9, 0):
        monkeypatch.setattr(reading, "SHORT", short)
        monkeypatch.setattr("constraint_first.serve.attempt.SHORT", 0)
        endpoint.requests.clear()
        async with served(endpoint.url) as server:
            _, body = await chat(server, f"{method}@", text, max_tokens=900)
            streamed = await events(server, f"{method}@", text)
        del body["id"], body["created"], body["cfr"]["seconds"]
        whole: list[Any] = [one for one in streamed if one != "data: [DONE]" and one["choices"]]
        said = "".join(str(one["choices"][0]["delta"].get("content", "")) for one in whole)
        told.append((body, said, len(endpoint.requests)))
    assert told[0] == told[1]


class Slow(Readers):
    """Workers that take too long from some step on."""

    left = 0

    async def ask(self, task: str, *arguments: Any) -> Any:
        if self.left == 0:
            raise Undecided
        type(self).left -= 1
        return await super().ask(task, *arguments)


@pytest.mark.parametrize("method", ["auto", "direct", "sound", "self-consistency"])
async def test_a_text_that_takes_too_long_goes_untouched(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, method: str, server: Served
) -> None:
    monkeypatch.setattr(Readers, "ask", Slow.ask)
    monkeypatch.setattr(Readers, "left", 0, raising=False)
    endpoint.respond = lambda _: completion("Here it is.")
    status, body = await chat(server, f"{method}@", LONG)
    assert status == 200
    assert body["choices"][0]["message"]["content"] == "Here it is."
    if method == "auto":  # it passes such a text through, and the reply is the endpoint's own
        assert "cfr" not in body
    else:
        assert "took too long to read" in body["cfr"]["details"]["unread"]
    assert [one["messages"] for one in endpoint.requests] == [[{"role": "user", "content": LONG}]]


async def test_a_reply_that_takes_too_long_goes_on_as_it_is(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, server: Served
) -> None:
    async def ask(self: Readers, task: str, *arguments: Any) -> Any:
        if task == "advance" and arguments[-1]:
            raise Undecided
        return await original(self, task, *arguments)

    original = Readers.ask
    monkeypatch.setattr(Readers, "ask", ask)
    endpoint.respond = lambda _: completion("Here it is.")
    _, body = await chat(server, "sound@", DEMAND)
    assert body["choices"][0]["message"]["content"] == "Here it is."
    assert "unread" in body["cfr"]["details"]
    status, body = await chat(server, "self-consistency@", LONG)
    assert (status, body["error"]["code"]) == (502, "unreadable_reply")


HOSTILE = [
    "\n" * 20_000,
    " \n" * 20_000,
    '"a" ' * 10_000,
    "a " * 50_000,
    "- a\n" * 20_000,
    "(" * 100_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:4]))
async def test_the_loop_goes_on_while_a_hostile_text_is_read(
    endpoint: Server, text: str, server: Served
) -> None:
    endpoint.respond = lambda _: completion("Here it is.")
    asked = asyncio.create_task(chat(server, "auto@", f"Hello. {text} Thanks!"))
    turns = 0
    while not asked.done():
        await asyncio.sleep(0.01)
        turns += 1
    status, _ = await asked
    assert status == 200
    assert turns > 5


CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}'


def replies(*counts: int) -> Scripted:
    left = iter(counts)

    def reply(call: Call) -> Completion:
        text = SPEC if call.stage == "stage1" else r"\boxed{5}"
        return Completion(text, usage=Usage(1, next(left)))

    return Scripted(reply)


async def budgets(method: str, most: int, *counts: int) -> list[int]:
    engine = replies(*counts)
    await drive(within(make(method).solve(CUED), most), engine)
    return [call.max_tokens for call in engine.asked]


@pytest.mark.parametrize(
    ("method", "most", "counts", "expected"),
    [
        ("direct", 500, (100,), [500]),
        ("direct", 10**6, (100,), [32_768]),
        ("cfr", 1_000, (200, 300), [250, 800]),
        ("cfr", 10_000, (200, 300), [1_024, 9_800]),
        ("self-refine", 1_000, (400, 100, 50), [1_000, 600, 500]),
        ("self-consistency(samples=3)", 1_000, (400, 100, 50), [1_000, 1_000, 1_000]),
    ],
)
async def test_stages_share_a_budget_and_samples_do_not(
    method: str, most: int, counts: tuple[int, ...], expected: list[int]
) -> None:
    assert await budgets(method, most, *counts) == expected


async def test_where_nothing_is_left_nothing_is_asked() -> None:
    engine = replies(1_000)
    outcome = await drive(within(make("self-refine").solve(CUED), 1_000), engine)
    assert len(engine.asked) == 1
    assert outcome.result.answer == "5"  # the draft stands


async def test_programs_are_run_even_then() -> None:
    call = Call.user("?", stage="direct", max_tokens=9)

    def method() -> Steps[tuple[object, ...]]:
        yield from ask(call)
        return (yield from together([ask(call), execute(Program("print(1)"))]))

    async def sandbox(program: Program) -> Output:
        return Output("1")

    outcome = await drive(within(method(), 5), replies(5), sandbox=sandbox)
    cut, printed = outcome.result
    assert cut == Completion("", "length", usage=Usage())
    assert printed == Output("1")
