"""Any reply at all, on every method: the run ends, no attempt is lost, a resume completes it."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loopback import Endpoint as Server
from loopback import Reply
from sums import reply_right, sums

from constraint_first.method.registry import METHODS
from constraint_first.model.client import Client
from constraint_first.model.limit import Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Endpoint
from constraint_first.model.wire import Decoding
from constraint_first.run.job import Job, prepare, run
from constraint_first.store import schema
from constraint_first.store.query import outcome_rows
from constraint_first.store.series import Series
from constraint_first.store.store import Store

VARIANTS = (
    *METHODS,
    "cfr(reply=prose)",
    "cfr-brief(reply=json)",
    "self-consistency(base=cfr,samples=2)",
)
UNWORRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
TEXTS = st.text() | st.text(st.sampled_from('0a{}[]"\\boxed\0\x1b\ud83d\ude00\U0001f600é'))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, -1, 9**99, 1e308])
    | st.floats()
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def replied(content: Any, **changes: Any) -> bytes:
    """Write a completion, with something else in one of its places."""
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    whole = {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    for place, value in changes.items():
        target: dict[str, Any] = whole if place in ("choices", "usage", "error") else choice
        target[place] = value
    return json.dumps(whole).encode()


PLACES = st.sampled_from(["choices", "usage", "error", "message", "finish_reason"])
SPECS = st.fixed_dictionaries(
    {}, optional={"raw_constraints": JSON, "answer_format": JSON, "final_answer": JSON}
)
BODIES = st.one_of(
    JSON.map(lambda value: json.dumps(value).encode()),
    st.binary(),
    JSON.map(replied),
    st.tuples(PLACES, JSON).map(lambda at: replied("\\boxed{4}", **{at[0]: at[1]})),
    (JSON | SPECS).map(lambda value: replied(json.dumps(value))),  # what a model takes for JSON
    TEXTS.map(replied),
    st.binary().map(lambda data: replied("@").replace(b"@", data)),
)


@dataclass
class Bench:
    """A store and a server that last for all examples; each has a benchmark of its own."""

    store: Store
    server: Server
    names: Iterator[int]

    async def run(self, name: str) -> list[Job]:
        """Run every method once on one problem of a benchmark."""
        endpoint, hasty = Endpoint(self.server.url, "m"), Retry(attempts=1)
        async with OpenAI(endpoint, retry=hasty) as served:
            engine = Client(served, decoding=Decoding())
            jobs = [
                prepare(self.store, Series(name, method, "m"), sums(1), 1, engine)
                for method in VARIANTS
            ]
            await run(self.store, jobs, width=8)
        return jobs

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [row for row in outcome_rows(self.store) if row["benchmark"] == name]

    def survives(self, body: bytes) -> None:
        """Run all methods on this reply, and once more on a healthy one."""
        name = f"example-{next(self.names)}"
        self.server.respond = lambda _: Reply(body=body)
        jobs = asyncio.run(self.run(name))
        rows = self.rows(name)
        assert sorted(row["method"] for row in rows) == sorted(VARIANTS)
        assert all(job.tally.scored + job.tally.failed == 1 for job in jobs)
        assert all(isinstance(orjson.loads(row["details"]), dict) for row in rows)
        self.server.respond = reply_right
        again = asyncio.run(self.run(name))
        assert [job.tally.complete for job in again] == [True] * len(VARIANTS)
        rows = self.rows(name)
        assert sorted(row["method"] for row in rows) == sorted(VARIANTS)
        assert "failed" not in {row["status"] for row in rows}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="module")
def on_sqlite(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    path: Path = tmp_path_factory.mktemp("any") / "runs.db"
    with Store(str(path)) as store:
        with store.database.connect() as connection:
            connection.execute(sa.text("PRAGMA synchronous=OFF"))
        yield Bench(store, server, count())


@pytest.fixture(scope="module")
def on_postgres(server: Server, postgres: str) -> Iterator[Bench]:
    with Store(postgres) as store:
        yield Bench(store, server, count())
        schema.METADATA.drop_all(store.database)


# Half a surrogate pair and NUL, as escapes: plain ASCII until somebody reads the JSON.
ESCAPES = (
    r'{"raw_constraints": [{"id": "\ud83d", "desc": "\u0000"}], "final_answer": "\ud83d\u0000"}'
)


@pytest.mark.slow
@given(BODIES)
@example(b"[" * 100_000)
@example(replied("[" * 3_000))
@example(
    replied(r'{"raw_constraints": [{"id": "\ud83d", "desc": "\u0000"}], "final_answer": "\ud83d"}')
)
@settings(max_examples=40, deadline=None, suppress_health_check=UNWORRIED)
def test_any_reply_on_sqlite(on_sqlite: Bench, body: bytes) -> None:
    on_sqlite.survives(body)


@pytest.mark.slow
@given(BODIES)
@example(
    replied(r'{"raw_constraints": [{"id": "\ud83d", "desc": "\u0000"}], "final_answer": "\u0000"}')
)
@example(replied("4", usage={"prompt_tokens": 3 * 10**9, "completion_tokens": -1}))
@settings(max_examples=10, deadline=None, suppress_health_check=UNWORRIED)
def test_any_reply_on_postgresql(on_postgres: Bench, body: bytes) -> None:
    on_postgres.survives(body)
