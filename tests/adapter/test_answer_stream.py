import asyncio
import json
import threading
from collections.abc import AsyncGenerator

import pytest
from loopback import Endpoint, completion, failure

from constraint_first.adapter.llm_plugin import Piece, Question, Streamed, stream_answer
from constraint_first.attempt.attempt import Attempt
from constraint_first.attempt.solve import iterate
from constraint_first.model.client import Client
from constraint_first.model.error import Unauthorized
from constraint_first.model.resolve import ModelRef, resolve
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem
from constraint_first.protocol import Message

REMAINDER = Problem("Find the remainder when $3^5$ is divided by 7.")
SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}
)
SOLUTION = r"$243 = 34 \cdot 7 + 5$, so \boxed{5}."


def engine_of(endpoint: Endpoint) -> Client:
    return Client(resolve(ModelRef(None, endpoint.url), Decoding()))


@pytest.fixture
def served(endpoint: Endpoint) -> Endpoint:
    endpoint.script(completion(SPEC), completion(SOLUTION))
    return endpoint


def words(found: list[Streamed], *, is_work: bool) -> str:
    return "".join(one.text for one in found if isinstance(one, Piece) and one.is_work is is_work)


async def test_work_and_solution_come_apart_and_the_whole_comes_last(served: Endpoint) -> None:
    asked = Question(REMAINDER, "routed-cfr")
    found = [one async for one in stream_answer(asked, engine_of(served))]
    assert words(found, is_work=False) == SOLUTION
    work = words(found, is_work=True)
    assert "an integer from 0 to 6" in work
    assert "taken modulo 7" in work
    last = found[-1]
    assert isinstance(last, Attempt)
    assert (last.name, last.model) == ("routed-cfr", "test-model")
    assert (last.answer, last.method.label) == ("5", "Routed-CFR")
    assert (last.usage.input, last.usage.output) == (22, 14)


async def test_what_was_said_before_goes_ahead_of_every_call(served: Endpoint) -> None:
    before = (Message("system", "be brief"), Message("user", "hello"), Message("assistant", "yes"))
    question = Question(REMAINDER, "cfr", before)
    assert [one async for one in stream_answer(question, engine_of(served))]
    assert len(served.requests) == 2
    for request in served.requests:
        assert [one["content"] for one in request["messages"][:-1]] == ["be brief", "hello", "yes"]


@pytest.mark.parametrize("text", ["and why?", "What is $3^6$?"])
async def test_auto_leaves_a_conversation_to_the_model(endpoint: Endpoint, text: str) -> None:
    endpoint.script(completion("Because."))
    before = (Message("user", REMAINDER.text), Message("assistant", "5"))
    question = Question(Problem(text), context=before)
    *_, last = [one async for one in stream_answer(question, engine_of(endpoint))]
    (request,) = endpoint.requests
    assert [one["content"] for one in request["messages"]] == [REMAINDER.text, "5", text]
    assert isinstance(last, Attempt)
    assert last.answer == "Because."


async def test_what_goes_wrong_ends_the_stream(endpoint: Endpoint) -> None:
    endpoint.script(failure(401, "no"))
    with pytest.raises(Unauthorized):
        assert not [one async for one in stream_answer(Question(REMAINDER), engine_of(endpoint))]


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_ordinary_code_reads_a_stream_also_where_a_loop_runs(
    served: Endpoint, *, in_a_loop: bool
) -> None:
    def read() -> list[Streamed]:
        asked = Question(REMAINDER, "routed-cfr")
        return list(iterate(stream_answer(asked, engine_of(served))))

    async def main() -> list[Streamed]:
        return read()

    assert words(asyncio.run(main()) if in_a_loop else read(), is_work=False) == SOLUTION


def test_a_reader_that_goes_away_stops_the_work() -> None:
    stopped = threading.Event()

    async def endless() -> AsyncGenerator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(0.001)
        finally:
            stopped.set()

    reading = iterate(endless())
    assert next(reading) == 1
    reading.close()
    assert stopped.is_set()


def test_what_goes_wrong_reaches_ordinary_code(endpoint: Endpoint) -> None:
    endpoint.script(failure(401, "no"))
    with pytest.raises(Unauthorized):
        list(iterate(stream_answer(Question(REMAINDER), engine_of(endpoint))))
