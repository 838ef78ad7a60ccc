import asyncio
import json
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, cut_stream, failure, stream
from paged import HOSTILE, Paged, paged
from served import CUED, SPEC

PROGRAM = "```python\nprint(6 * 7)\n```"


async def follow(pages: Paged, method: str, problem: str = CUED, **more: Any) -> list[Any]:
    """Ask, and return the events."""
    body = {"problem": problem, "method": method, **more}
    address = f"{pages.server.root}/playground/answer"
    async with pages.session.post(address, json=body) as reply:
        assert reply.status == 200, await reply.text()
        assert reply.headers["Content-Type"].startswith("text/event-stream")
        told = (await reply.text()).split("\n\n")
    return [json.loads(event[6:]) for event in told if event.startswith("data: ")]


def kinds(events: list[Any]) -> list[str]:
    return [event["kind"] for event in events]


async def test_stages_come_with_a_title_words_and_html(endpoint: Server) -> None:
    endpoint.script(completion(SPEC), stream("It is ", r"\boxed{5}", "."))
    async with paged(endpoint.url) as pages:
        events = await follow(pages, "cfr-brief")
    titles = [event["text"] for event in events if event["kind"] == "step"]
    assert titles == ["Stage 1: constraints", "Stage 2: solution"]
    first, second = ([e for e in events if e["step"] == step] for step in (1, 2))
    assert kinds(first) == ["step", "words", "html"]
    assert "<b>C1</b> <i>modular</i> <p>taken modulo 7</p>" in first[-1]["text"]
    assert "".join(e["text"] for e in second if e["kind"] == "words") == r"It is \boxed{5}."
    assert '<mrow class="boxed">' in second[-1]["text"]
    assert events[-1]["kind"] == "end"
    assert '<p class="final"><span>5</span>' in events[-1]["text"]
    assert 'class="sign holds"' in events[-1]["text"]
    assert "2 calls" not in events[-1]["text"]


async def test_a_program_and_its_output_are_shown(endpoint: Server) -> None:
    endpoint.script(completion(PROGRAM))
    async with paged(endpoint.url) as pages:
        events = await follow(pages, "program", "What is 6 times 7?")
    ran = [e["text"] for e in events if e["kind"] == "html"][1]
    assert "print(6 * 7)" in ran
    assert "<pre>42</pre>" in ran


async def test_a_reply_that_may_be_changed_is_a_draft(endpoint: Server) -> None:
    endpoint.script(stream("Rain, cold ", "rain."))
    async with paged(endpoint.url) as pages:
        events = await follow(pages, "sound", "Write about rain. Do not use any commas.")
    assert [e["text"] for e in events if e["kind"] == "step"] == ["Draft"]
    (draft,) = (e["text"] for e in events if e["kind"] == "html")
    assert draft.startswith("<details>")
    assert "Rain cold rain." in events[-1]["text"]


async def test_samples_that_nobody_followed_are_folded(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        events = await follow(pages, "self-consistency(samples=3)", "What is 2 + 2?")
    whole = [e["text"] for e in events if e["kind"] == "html"]
    assert sum("<summary>7 tokens</summary>" in text for text in whole) == 2


async def test_what_a_model_says_is_shown_and_not_obeyed(endpoint: Server) -> None:
    spec = {"raw_constraints": [{"id": HOSTILE, "type": HOSTILE, "description": HOSTILE}]}
    endpoint.script(completion(json.dumps(spec)), completion(HOSTILE, reasoning_content=HOSTILE))
    async with paged(endpoint.url) as pages:
        events = await follow(pages, "cfr", HOSTILE)
    for event in events:
        if event["kind"] in ("html", "end"):
            text = event["text"]
            assert "<script" not in text
            assert "<img" not in text
            assert "<svg" not in text
            assert "<maction" not in text
            assert "{{ 7 * 7 }}" in text or event["kind"] == "end"


@pytest.mark.parametrize(
    ("reply", "said"),
    [(failure(401, "no such key"), "no such key"), (cut_stream("It", " is"), "cut")],
)
async def test_what_goes_wrong_is_told(endpoint: Server, reply: Reply, said: str) -> None:
    endpoint.script(reply)
    async with paged(endpoint.url) as pages:
        events = await follow(pages, "direct")
        logged = (await pages.server.logged(1))[0]
    assert kinds(events)[-1] == "error"
    assert said in events[-1]["text"] or "ended" in events[-1]["text"]
    assert logged["error"]


async def test_a_browser_that_goes_away_ends_the_call(endpoint: Server) -> None:
    endpoint.script(Reply(endless=b'data: {"choices": [{"delta": {"content": "on "}}]}\n\n'))
    async with paged(endpoint.url) as pages:
        body = {"problem": "x", "method": "direct"}
        address = f"{pages.server.root}/playground/answer"
        async with pages.session.post(address, json=body) as reply:
            while b"words" not in await reply.content.readline():
                pass  # before that the endpoint may not have been asked
            reply.close()
        assert await asyncio.to_thread(endpoint.left.wait, 60)
        assert (await pages.server.logged(1))[0]["error"] == "the client went away"


async def test_long_silence_is_filled(endpoint: Server) -> None:
    endpoint.script(Reply(body=completion("It is 4.").body, delay=0.3))
    async with paged(endpoint.url, silence=0.05) as pages:
        body = {"problem": "x", "method": "direct"}
        async with pages.session.post(f"{pages.server.root}/playground/answer", json=body) as reply:
            told = await reply.text()
    assert ": still at work\n\n" in told
    assert '"kind":"end"' in told
