"""Attempts of served requests, in a store that everything else can read."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, completion, failure
from served import CUED, PLAIN, SPEC, Served, chat, events, send, served

from constraint_first.store import database as schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import SeriesName, attempt_rows, read_attempt, summaries
from constraint_first.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "served.db")


def rows(path: str) -> list[dict[str, Any]]:
    with Store(path, existing=True) as store:
        return list(attempt_rows(store))


async def test_every_answer_is_stored_with_all_its_calls(endpoint: Server, path: str) -> None:
    endpoint.script(completion(SPEC), completion(r"So \boxed{5}."))
    async with served(endpoint.url, store=path) as server:
        assert server.notes[1] == f"every answer of a method is kept in {path}"
        talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": CUED}]
        _, body = await chat(
            server, "routed-cfr@", messages=talk, temperature=0.2, seed=3, user="u"
        )
    stored = body["cfr"]["stored"]
    with Store(path, existing=True) as store:
        found = read_attempt(store, SeriesName("routed-cfr"), stored["problem"], stored["run"])
        (summary,) = summaries(store)
    assert found.series["benchmark"] == "served"
    assert found.series["model"] == "test-model"
    assert found.series["decoding"] == {"temperature": 0.2, "top_p": 0.95, "seed": None}
    assert (found.problem["text"], found.problem["gold"]) == (CUED, None)
    assert [step["stage"] for step in found.steps] == ["stage1", "stage2"]
    assert "Be brief." in str(found.steps[1]["messages"])
    assert found.ending
    assert [found.ending[n] for n in ("status", "answer", "verdict")] == ["ok", "5", None]
    assert found.details["request"] == {"id": body["id"], "seed": 3, "user": "u"}
    assert found.details["routed"] is True
    assert (summary.tally.total, summary.tally.usage.total, summary.accuracy) == (1, 36, None)


async def test_the_same_question_is_another_run_and_another_context_another_problem(
    endpoint: Server, path: str
) -> None:
    async with served(endpoint.url, store=path) as server:
        await asyncio.gather(*(chat(server) for _ in range(4)), chat(server, n=3))
        await events(server, n=2)
        await chat(server, messages=[{"role": "system", "content": "Hm."},
                                     {"role": "user", "content": PLAIN}])  # fmt: skip
        await chat(server, temperature=0)
    found = rows(path)
    first = [row for row in found if row["problem"] == found[0]["problem"]]
    usual = [row for row in first if '"temperature":0.7' in row["decoding"]]
    assert sorted(row["run"] for row in usual) == [*range(9)]
    assert len(found) == 11
    assert len({row["problem"] for row in found}) == 2
    assert {row["status"] for row in found} == {"ok"}


async def test_what_fails_is_stored_with_its_reason(endpoint: Server, path: str) -> None:
    endpoint.script(completion(SPEC), failure(400, "no more today"))
    async with served(endpoint.url, store=path) as server:
        assert (await chat(server, "cfr@", CUED))[0] == 400
    (row,) = rows(path)
    assert row["status"] == "failed"
    assert "no more today" in row["error"]
    assert row["output_tokens"] == 7  # of the call that was answered


async def leave(server: Served, endpoint: Server, **fields: Any) -> None:
    """Ask, and go away once the endpoint has been asked for the second stage."""
    body = {"model": "cfr@", "messages": [{"role": "user", "content": CUED}], **fields}
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(session.post(f"{server.url}/chat/completions", json=body))
        while len(endpoint.requests) < 2:
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])
        if not asking.cancelled():
            asking.result().close()


@pytest.mark.parametrize("streams", [True, False])
async def test_what_a_client_breaks_off_is_stored_as_that(
    endpoint: Server, path: str, *, streams: bool
) -> None:
    endpoint.script(completion(SPEC), Reply(endless=b": wait\n\n"))
    async with served(endpoint.url, store=path) as server:
        await leave(server, endpoint, stream=streams)
        assert await asyncio.to_thread(endpoint.left.wait, 10)
        (line,) = await server.logged(1)
    assert (line["status"], line["error"]) == (499, "the client went away")
    (row,) = rows(path)
    assert (row["status"], row["error"]) == ("failed", "the client went away")
    assert row["output_tokens"] == 7


async def test_a_store_that_cannot_be_written_fails_requests(endpoint: Server, path: str) -> None:
    async with served(endpoint.url, store=path) as server:
        assert (await chat(server))[0] == 200
        with Store(path) as other:
            other.change(lambda c: c.execute(sa.update(schema.series).values(fingerprint="old")))
    async with served(endpoint.url, store=path) as server:
        status, body = await chat(server)
    assert (status, body["error"]["code"]) == (500, "journal")
    assert "name a new store" in body["error"]["message"]


async def test_one_server_holds_a_store_at_a_time(endpoint: Server, path: str) -> None:
    async with served(endpoint.url, store=path):
        with pytest.raises(Exception, match="another run is using this store"):
            async with served(endpoint.url, store=path):
                pass


async def test_no_key_is_stored(endpoint: Server, path: str) -> None:
    key = "sk-very-secret-key-0123456789"
    endpoint.script(failure(400, f"bad key {key}"))
    async with served(endpoint.url, store=path, key=key, token="a-token-of-ours") as server:  # noqa: S106
        body = {"model": "direct@", "messages": [{"role": "user", "content": PLAIN}]}
        status, said, _ = await send(server, body, Authorization="Bearer a-token-of-ours")
        assert (status, b"[key]" in said) == (400, True)
    written = b"".join(file.read_bytes() for file in Path(path).parent.glob("served.db*"))
    assert b"[key]" in written
    assert b"very-secret" not in written
    assert b"a-token-of-ours" not in written


async def test_a_store_that_is_deleted_fails_requests_and_the_end(
    endpoint: Server, path: str
) -> None:
    async def serve() -> None:
        async with served(endpoint.url, store=path) as server:
            assert (await chat(server))[0] == 200
            Path(path).unlink()
            status, body = await chat(server)
            assert status == 500
            assert "the file was deleted or moved" in body["error"]["message"]

    with pytest.raises(StoreError, match=r"deleted or moved .*1 attempt was saved to .*rescued"):
        await serve()
