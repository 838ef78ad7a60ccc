"""The server asked by the SDK's own client: in this process, and as a process of its own."""

import asyncio
import json
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint, completion, failure

pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from constraint_first.adapter.mcp_server import Asked, ToolServer, check_answer, stated_in
from constraint_first.attempt.drive import AttemptLimit
from constraint_first.model.resolve import ModelRef

REPOSITORY = Path(__file__).parent.parent.parent
REMAINDER = "Find the remainder when $3^5$ is divided by 7."
SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}
)
SOLUTION = r"$243 = 34 \cdot 7 + 5$, so \boxed{5}."
KEY = "sk-secret-0123456789"
TOOLS = {"solve", "constraints", "check_answer", "grade"}


@pytest.fixture
def served(endpoint: Endpoint) -> Endpoint:
    endpoint.script(completion(SPEC), completion(SOLUTION))
    return endpoint


def command(*arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "constraint_first", "mcp", *arguments],
        env={"PYTHONPATH": str(REPOSITORY / "src"), "OPENAI_API_KEY": KEY},
    )


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    found = await client.call_tool(name, arguments)
    assert not found.is_error, found.content
    assert found.structured_content is not None
    return found.structured_content


@pytest.mark.parametrize("handshake", ["legacy", "auto"])
async def test_a_client_starts_it_and_uses_every_tool(served: Endpoint, handshake: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    process = stdio_client(command("--base-url", served.url))
    async with Client(process, mode=handshake) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == TOOLS
        for tool in listed.values():
            assert tool.description
            assert tool.output_schema
        asked = {"problem": REMAINDER, "method": "routed-cfr"}
        solved = await client.call_tool("solve", asked, progress_callback=hear)
        constraints = await call(client, "constraints", problem=REMAINDER)
        checked = await call(client, "check_answer", problem=REMAINDER, answer="12")
        graded = await call(client, "grade", answer="0.5", gold=r"\frac{1}{2}")
    found = solved.structured_content
    assert found is not None
    assert (found["answer"], found["solution"], found["model"]) == ("5", SOLUTION, "test-model")
    assert (found["calls"], found["input_tokens"], found["output_tokens"]) == (2, 22, 14)
    assert [one["truth"] for one in found["checks"]] == ["holds"]
    assert [number for number, _ in heard] == [1, 2, 3, 4]
    assert [str(message).split(":")[0] for _, message in heard] == [
        *("stage1 started", "stage1 finished", "stage2 started", "stage2 finished")
    ]
    (stated,) = constraints["constraints"]
    assert stated["sentence"] == "The answer is a remainder: an integer from 0 to 6."
    assert checked["sound"] is False
    assert graded["verdict"] == "correct"
    assert served.headers[-1]["Authorization"] == f"Bearer {KEY}"


def test_nothing_but_the_protocol_is_written_to_standard_output(endpoint: Endpoint) -> None:
    endpoint.script(completion("```python\nprint(5)\n```"))
    client = {"name": "test", "version": "0"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    solve = {"name": "solve", "arguments": {"problem": REMAINDER, "method": "program"}}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": solve},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "constraint_first", "mcp", "--base-url", endpoint.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        lines: list[dict[str, Any]] = []
        for one in asked:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | one) + "\n")
            process.stdin.flush()
            if "id" in one:
                lines.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(30) == 0
    assert [one["id"] for one in lines] == [1, 2]
    assert lines[1]["result"]["structuredContent"]["answer"] == "5"
    assert rest == ""


@pytest.fixture
def port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as plug:
        return plug.getsockname()[1]


async def test_it_serves_http_on_this_machine(served: Endpoint, port: int) -> None:
    arguments = ["--http", str(port), "--base-url", served.url]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "constraint_first", "mcp", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr
    assert process.stdout
    try:
        said = await process.stderr.readline()
        assert f"http://127.0.0.1:{port}/mcp" in said.decode()
        await listening(port)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert (await call(client, "solve", problem=REMAINDER, method="cfr"))["answer"] == "5"
    finally:
        process.terminate()
        out, _ = await process.communicate()
    assert out == b""


async def listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("solve", {"problem": " "}, "problem: is empty"),
        ("solve", {"problem": "x", "method": "nope"}, "method 'nope': not known"),
        ("solve", {"problem": "x", "method": "cfr(extractor=m)"}, "other models can only be named"),
        ("solve", {"problem": "x", "method": "calibrated(policy=/x.toml)"}, "policy files"),
        (
            *("solve", {"problem": "x", "method": "vote(samples=1000)"}),
            "method 'vote(samples=1000)': needs more than the 256 calls that one request may cost; "
            "--max-calls of the server allows more",
        ),
        (
            *("solve", {"problem": "x", "method": "self-refine(iterations=999999999)"}),
            "more than the 256 calls",
        ),
        ("solve", {}, "Field required"),
        ("constraints", {"problem": ["x"]}, "valid string"),
        ("constraints", {"problem": ""}, "problem: is empty"),
        ("constraints", {"problem": "x" * 200_001}, "at most 200000 characters"),
        ("check_answer", {"problem": "x", "answer": " "}, "answer: is empty"),
        ("grade", {"answer": "1", "gold": ""}, "gold: is empty"),
        ("nope", {}, "Unknown tool"),
    ],
)
async def test_bad_input_is_an_error_of_the_tool(
    endpoint: Endpoint, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with (
        ToolServer(Asked(ModelRef(None, endpoint.url))) as tools,
        Client(tools.server()) as client,
    ):
        found = await client.call_tool(tool, arguments)
    assert found.is_error
    text = getattr(found.content[0], "text", "")
    assert said in text
    assert "Traceback" not in text
    assert not endpoint.requests


async def test_a_call_of_the_tool_costs_no_more_than_the_server_allows(endpoint: Endpoint) -> None:
    endpoint.script(*(completion(rf"\boxed{{{n}}}") for n in range(8)))
    asked = Asked(ModelRef(None, endpoint.url), limit=AttemptLimit(calls=3))
    async with ToolServer(asked) as tools, Client(tools.server()) as client:
        arguments = {"problem": REMAINDER, "method": "until-agreed(base=direct,most=8)"}
        found = await client.call_tool("solve", arguments)
    assert found.is_error
    assert "allow more with --max-calls" in getattr(found.content[0], "text", "")
    assert len(endpoint.requests) <= 3


async def test_a_model_that_fails_is_an_error_of_the_tool_and_the_next_call_goes_well(
    endpoint: Endpoint,
) -> None:
    endpoint.script(failure(401, f"the key {KEY} is not known"), completion(SOLUTION))
    asked = Asked(ModelRef(None, endpoint.url, key=KEY), method="direct")
    async with ToolServer(asked) as tools, Client(tools.server()) as client:
        failed = await client.call_tool("solve", {"problem": REMAINDER})
        assert (await call(client, "solve", problem=REMAINDER))["answer"] == "5"
    assert failed.is_error
    text = getattr(failed.content[0], "text", "")
    assert "HTTP 401" in text
    assert KEY not in text


async def test_a_client_that_goes_away_ends_what_it_asked_for(endpoint: Endpoint) -> None:
    reply = completion(SOLUTION)
    reply.delay = 3_600.0
    endpoint.script(reply)
    asked = Asked(ModelRef(None, endpoint.url), method="direct")
    async with ToolServer(asked) as tools, Client(tools.server()) as client:
        calling = asyncio.create_task(client.call_tool("solve", {"problem": REMAINDER}))
        while not endpoint.requests:
            await asyncio.sleep(0.01)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert await call(client, "constraints", problem="x") == {"constraints": []}


@pytest.mark.parametrize(
    ("problem", "answer", "truths", "summary"),
    [
        (
            *(REMAINDER, "12", ["violated"]),
            "The answer breaks 1 of 1 demands: The answer is a remainder: an integer from 0 to 6.",
        ),
        (REMAINDER, "4", ["holds"], "The answer breaks no demand: 1 met, 0 undecided."),
        ("What is it?", "4", [], "The text states no demand that can be checked."),
        *(
            (garbage, garbage, [], "The text states no demand that can be checked.")
            for garbage in ("\x00\x1b[2J" * 50, "{" * 5_000, "9" * 10_000, "\ud800")
        ),
    ],
)
def test_an_answer_is_checked_without_a_model(
    problem: str, answer: str, truths: list[str], summary: str
) -> None:
    found = check_answer(problem, answer)
    assert (found.sound, found.summary) == ("violated" not in truths, summary)
    assert [one.truth for one in found.checks] == truths
    assert [one.words for one in stated_in(problem)] == [one.words for one in found.checks]
