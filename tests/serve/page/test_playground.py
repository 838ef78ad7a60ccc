"""The playground: its form, its reading of a text, and answers as they come."""

import ast
import asyncio
import html
import json
import shlex
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, cut_stream, failure, stream
from paged import HOSTILE, Paged, paged
from served import CUED, SPEC

from constraint_first.benchmark.constraintbench.family import load
from constraint_first.method.registry import names
from constraint_first.serve.page.playground import write_samples

ITEM = load("public")[0]


async def test_the_form_begins_with_the_servers_method(endpoint: Server) -> None:
    async with paged(endpoint.url, methods=("routed-cfr", "vote(samples=3)")) as pages:
        shown = await pages.get("/")
    assert 'name="left" list="methods" value="routed-cfr"' in shown.text
    assert 'name="right" list="methods" value="direct"' in shown.text
    assert 'placeholder="test-model"' in shown.text
    for name in ("vote(samples=3)", *names()):
        assert f'<option value="{html.escape(name)}">' in shown.text
    assert "<h3>What the text demands" not in shown.text


async def test_an_address_fills_the_form(endpoint: Server, bare: Paged) -> None:
    asked = {"problem": CUED, "left": "cfr", "right": "program", "seed": "7", "model": "m"}
    shown = await bare.get(f"/?{urlencode(asked)}")
    item = await bare.get(f"/?item={ITEM.id}")
    assert f">{CUED}</textarea>" in shown.text
    assert 'name="seed" inputmode="numeric" value="7"' in shown.text
    assert "The answer is a remainder: an integer from 0 to 6." in shown.words
    assert ITEM.text in html.unescape(item.text)
    assert endpoint.requests == []  # a link alone asks no model


async def test_a_text_is_read_before_any_model_is_asked(endpoint: Server, bare: Paged) -> None:
    asked = {"problem": CUED, "left": "cfr", "right": "cfr", "temperature": "0.5"}
    shown = await bare.post("/playground/problem", asked)
    root = bare.server.root
    assert '<mark class="cue cue-1' in shown.text
    assert "modular remainder remainder" in shown.words
    assert shown.text.count("curl ") == 1
    assert '"temperature": 0.5' in shown.words
    link = urlsplit(next(word for word in shown.words.split() if word.startswith(f"{root}/?")))
    assert dict(parse_qsl(link.query)) == asked
    assert endpoint.requests == []


async def test_a_problem_of_constraintbench_comes_by_a_click(bare: Paged) -> None:
    texts = {item.text for item in load("public")}
    shown = await bare.get("/playground/example?left=cfr&right=direct")
    text = html.unescape(shown.text.split(">", 1)[1].split("</textarea>")[0])
    assert text in texts
    assert 'id="reading" class="waits" hx-swap-oob="true"' in shown.text
    assert "problem of ConstraintBench" in shown.words


async def answered(pages: Paged, **body: Any) -> tuple[int, str]:
    address = f"{pages.server.root}/playground/answer"
    async with pages.session.post(address, json=body) as reply:
        return reply.status, await reply.text()


@pytest.mark.parametrize(("given", "sign"), [(ITEM.answer, "✓ right"), ("987654", "✗ wrong")])
async def test_the_answer_to_such_a_problem_is_judged(
    endpoint: Server, bare: Paged, given: str, sign: str
) -> None:
    endpoint.script(completion(rf"It is \boxed{{{given}}}."))
    assert sign in (await answered(bare, problem=ITEM.text, method="direct"))[1]


async def test_settings_reach_the_model(endpoint: Server, bare: Paged) -> None:
    numbers = {"seed": "7", "max_tokens": "9", "temperature": "0.25"}
    await answered(bare, problem="x", method="direct", model="other", **numbers)
    logged = (await bare.server.logged(1))[0]
    (asked,) = endpoint.requests
    assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("other", 0.25, 9)
    assert (logged["model"], logged["method"]) == ("direct@other", "direct")
    assert logged["input_tokens"] == 11


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ({"method": "nonsense"}, 404, "nonsense"),
        ({"problem": " "}, 400, "empty"),
        ({"seed": "1.5"}, 400, "'1.5' is no whole number"),
        ({"temperature": "warm"}, 400, "'warm' is no number"),
        ({"temperature": "9"}, 400, "from 0 to 2"),
        ({"method": "calibrated(policy=/etc/passwd.toml)"}, 400, "policy files"),
        ({"method": "vote(samples=1000)"}, 400, "more than the 256 calls"),
    ],
)
async def test_what_cannot_be_asked_is_refused(
    endpoint: Server, bare: Paged, more: dict[str, str], status: int, said: str
) -> None:
    found, told = await answered(bare, **{"problem": "x", "method": "direct"} | more)
    assert found == status
    assert json.loads(told)["error"]["message"].count(said) == 1
    assert endpoint.requests == []


async def test_an_endpoint_that_is_away_does_not_keep_the_page(endpoint: Server) -> None:
    async with paged("http://127.0.0.1:9/v1", model=None) as pages:
        shown = await pages.get("/")
    assert shown.status == 200
    assert "the server&#39;s own" in shown.text


PROGRAM = "```python\nprint(6 * 7)\n```"


async def follow(pages: Paged, method: str, problem: str = CUED) -> list[Any]:
    """Ask, and return the events."""
    status, told = await answered(pages, problem=problem, method=method)
    assert status == 200, told
    return [json.loads(event[6:]) for event in told.split("\n\n") if event.startswith("data: ")]


def kinds(events: list[Any]) -> list[str]:
    return [event["kind"] for event in events]


async def test_stages_come_with_a_title_words_and_html(endpoint: Server, bare: Paged) -> None:
    endpoint.script(completion(SPEC), stream("It is ", r"\boxed{5}", "."))
    events = await follow(bare, "cfr-brief")
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


async def test_a_program_and_its_output_are_shown(endpoint: Server, bare: Paged) -> None:
    endpoint.script(completion(PROGRAM))
    events = await follow(bare, "program", "What is 6 times 7?")
    ran = [e["text"] for e in events if e["kind"] == "html"][1]
    assert "print(6 * 7)" in ran
    assert "<pre>42</pre>" in ran


async def test_a_reply_that_may_be_changed_is_a_draft(endpoint: Server, bare: Paged) -> None:
    endpoint.script(stream("Rain, cold ", "rain."))
    events = await follow(bare, "sound", "Write about rain. Do not use any commas.")
    assert [e["text"] for e in events if e["kind"] == "step"] == ["Draft"]
    (draft,) = (e["text"] for e in events if e["kind"] == "html")
    assert draft.startswith("<details>")
    assert "Rain cold rain." in events[-1]["text"]


async def test_samples_that_nobody_followed_are_folded(bare: Paged) -> None:
    events = await follow(bare, "self-consistency(samples=3)", "What is 2 + 2?")
    whole = [e["text"] for e in events if e["kind"] == "html"]
    assert sum("<summary>7 tokens</summary>" in text for text in whole) == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [(failure(401, "no such key"), "no such key"), (cut_stream("It", " is"), "cut")],
)
async def test_what_goes_wrong_is_told(
    endpoint: Server, reply: Reply, said: str, bare: Paged
) -> None:
    endpoint.script(reply)
    events = await follow(bare, "direct")
    logged = (await bare.server.logged(1))[0]
    assert kinds(events)[-1] == "error"
    assert said in events[-1]["text"] or "ended" in events[-1]["text"]
    assert logged["error"]


async def test_a_browser_that_goes_away_ends_the_call(endpoint: Server, bare: Paged) -> None:
    endpoint.script(Reply(endless=b'data: {"choices": [{"delta": {"content": "on "}}]}\n\n'))
    body = {"problem": "x", "method": "direct"}
    address = f"{bare.server.root}/playground/answer"
    async with bare.session.post(address, json=body) as reply:
        while b"words" not in await reply.content.readline():
            pass  # before that the endpoint may not have been asked
        reply.close()
    assert await asyncio.to_thread(endpoint.left.wait, 60)
    assert (await bare.server.logged(1))[0]["error"] == "the client went away"


async def test_long_silence_is_filled(endpoint: Server) -> None:
    endpoint.script(Reply(body=completion("It is 4.").body, delay=0.3))
    async with paged(endpoint.url, silence=0.05) as pages:
        _, told = await answered(pages, problem="x", method="direct")
    assert ": still at work\n\n" in told
    assert '"kind":"end"' in told


TEXTS = ["What is 2 + 2?", 'It\'s $HOME `id` "$(id)" \\n\n! 🧮', HOSTILE]


@pytest.mark.parametrize("text", TEXTS)
def test_a_shell_and_python_send_the_very_same(text: str) -> None:
    made = write_samples("http://h/v1", "direct@", "x", {}, token=False)
    assert "CFR_TOKEN" not in made["curl"] + made["python"]
    made = write_samples("http://[::1]:80/v1", "cfr@m'x", text, {"seed": 7}, token=True)
    words = shlex.split(made["curl"])
    sent: dict[str, Any] = {"model": "cfr@m'x", "messages": [{"role": "user", "content": text}]}
    assert words[1] == "http://[::1]:80/v1/chat/completions"
    assert json.loads(words[-1]) == sent | {"seed": 7}
    assert 'Bearer $CFR_TOKEN"' in made["curl"]
    (call,) = [
        node
        for node in ast.walk(ast.parse(made["python"]))
        if isinstance(node, ast.Call) and len(node.keywords) == 3
    ]
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    assert given == sent | {"seed": 7}
    assert 'api_key=os.environ["CFR_TOKEN"]' in made["python"]
