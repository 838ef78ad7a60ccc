"""The routes, over real sockets."""

import asyncio
import json
from collections.abc import AsyncGenerator

import aiohttp
import pytest
from loopback import Endpoint as Server
from loopback import completion
from served import CUED, SPEC, Served, chat, events, send, served

from constraint_first.serve import attempt as metric
from constraint_first.serve import guard as bodies


def _missing(name: str) -> None:
    """Find no library of any name."""


async def get(server: Served, path: str) -> tuple[int, str]:
    status, body, _ = await send(server, None, path, "GET")
    return status, body.decode()


async def test_a_method_that_is_named_answers(endpoint: Server, server: Served) -> None:
    endpoint.script(completion(SPEC), completion(r"$243 = 34 \cdot 7 + 5$: \boxed{5}"))
    status, body = await chat(server, "routed-cfr@test-model", CUED)
    assert status == 200
    message = body["choices"][0]["message"]
    assert message["content"] == r"$243 = 34 \cdot 7 + 5$: \boxed{5}"
    assert "taken modulo 7" in message["reasoning_content"]
    assert body["usage"]["total_tokens"] == 36
    assert body["cfr"]["constraints"]["raw_constraints"][0]["description"] == "taken modulo 7"
    assert body["cfr"]["cues"] == {"modular_remainder": ["remainder"]}
    assert body["cfr"]["checks"][0]["truth"] == "holds"
    assert list(body["cfr"]["calls"]) == ["stage1", "stage2"]
    assert {sent["model"] for sent in endpoint.requests} == {"test-model"}


async def test_a_request_without_a_model_gets_the_servers_own(endpoint: Server) -> None:
    async with served(endpoint.url, model=None, methods=("check",)) as server:
        status, body = await chat(server, None)
        assert (status, body["cfr"]["method"], body["model"]) == (200, "check", "check@test-model")
        status, body = await chat(server, "", response_format={"type": "json_object"})
        assert status == 200
    assert endpoint.requests[-1]["model"] == "test-model"
    assert "cfr" not in body


async def test_what_came_before_travels_with_every_call(endpoint: Server, server: Served) -> None:
    endpoint.script(completion(SPEC), completion(r"\boxed{5}"))
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": CUED},
    ]
    status, _ = await chat(server, "cfr@", messages=talk)
    assert status == 200
    for sent in endpoint.requests:
        assert sent["messages"][:3] == talk[:3]
        assert CUED in sent["messages"][3]["content"]
        assert len(sent["messages"]) == 4


async def test_settings_of_the_request_reach_the_calls(endpoint: Server, server: Served) -> None:
    endpoint.script(completion(SPEC), completion(r"\boxed{5}"))
    await chat(
        server, "cfr-brief@", CUED, temperature=0.2, top_p=0.5, seed=7, max_tokens=400,
        stop="END", frequency_penalty=0.1,
    )  # fmt: skip
    stage1, stage2 = endpoint.requests
    for sent in (stage1, stage2):
        named = ("temperature", "top_p", "seed", "frequency_penalty")
        assert [sent[name] for name in named] == [0.2, 0.5, 7, 0.1]
    assert (stage1["max_tokens"], stage2["max_tokens"]) == (100, 393)
    assert ("stop" in stage1, stage2["stop"]) == (False, ["END"])


async def test_several_attempts_run_at_the_same_time_with_seeds_of_their_own(
    endpoint: Server, server: Served
) -> None:
    status, body = await chat(server, "direct@", n=3, seed=7)
    assert (status, [c["index"] for c in body["choices"]]) == (200, [0, 1, 2])
    assert sorted(sent["seed"] for sent in endpoint.requests) == [7, 1_007, 2_007]
    assert body["usage"]["completion_tokens"] == 21
    assert [c["cfr"]["answer"] for c in body["choices"]] == [body["cfr"]["answer"]] * 3 == ["4"] * 3
    found = await events(server, "direct@", n=2)
    indices = [one["choices"][0]["index"] for one in found[:-1]]
    assert set(indices) == {0, 1}
    assert found[-1] == "data: [DONE]"


async def test_a_body_that_is_too_large_or_does_not_come(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_SECONDS", 0.05)
    async with served(endpoint.url, body_bytes=1_000) as server:
        status, body = await chat(server, "direct@", "x" * 2_000)
        assert status == 413
        assert body["error"]["type"] == "invalid_request_error"

        async def never() -> AsyncGenerator[bytes]:
            yield b'{"model":'
            await asyncio.sleep(5)

        async with aiohttp.ClientSession() as session:
            address = f"{server.url}/chat/completions"
            async with session.post(address, data=never()) as reply:
                assert reply.status == 408


async def test_models_are_listed_with_their_methods(endpoint: Server) -> None:
    endpoint.served = [{"id": "org/one", "owned_by": "me", "extra": 1}, {"id": "two"}]
    async with served(endpoint.url, model=None, methods=("auto", "direct")) as server:
        _, text = await get(server, "/v1/models")
        listed = json.loads(text)
        names = [one["id"] for one in listed["data"]]
        assert listed["object"] == "list"
        assert names == [
            "auto@org/one",
            "direct@org/one",
            "auto@two",
            "direct@two",
            "org/one",
            "two",
        ]
        assert listed["data"][4] == endpoint.served[0] | {"object": "model", "created": 0}
        assert {one["object"] for one in listed["data"]} == {"model"}
        for name in ("auto@org/one", "org/one"):
            status, text = await get(server, f"/v1/models/{name}")
            assert (status, json.loads(text)["id"]) == (200, name)
        status, text = await get(server, "/v1/models/three")
        assert (status, json.loads(text)["error"]["code"]) == (404, "model_not_found")


async def test_health_and_counts(endpoint: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(endpoint.url) as server:
        await chat(server, "direct@")
        await chat(server, "test-model")
        assert (await get(server, "/health"))[1] == '{"status": "ok"}'
        status, body, headers = await send(server, None, "/metrics", "GET")
        assert (status, headers["Content-Type"]) == (200, metric.CONTENT_TYPE)
        text = body.decode()
        assert 'cfr_requests_total{method="pass-through",status="200"} 1.0' in text
        assert "test-model" not in text
    monkeypatch.setattr(metric, "find_spec", _missing)
    async with served(endpoint.url) as server:
        status, text = await get(server, "/metrics")
        assert status == 501
        assert "pip install 'constraint-first[serve]'" in text


async def test_half_a_surrogate_pair_is_asked_and_answered(server: Served) -> None:
    body = b'{"model": "direct@", "messages": [{"role": "user", "content": "odd \\ud800 text"}]}'
    assert (await send(server, body))[0] == 200
