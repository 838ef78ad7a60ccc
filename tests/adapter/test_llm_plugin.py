"""The plugin inside the real ``llm``, asked through its command line and from Python."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loopback import Endpoint, completion, cut_stream, failure

llm: Any = pytest.importorskip("llm", reason="pip install 'constraint-first[llm]'")

from llm.cli import cli  # noqa: E402
from llm.plugins import load_plugins, pm  # noqa: E402

from constraint_first.adapter import llm_plugin  # noqa: E402
from constraint_first.attempt.solve import iterate  # noqa: E402
from constraint_first.method.registry import names  # noqa: E402

REPOSITORY = Path(__file__).parent.parent.parent
REMAINDER = "Find the remainder when $3^5$ is divided by 7."
SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}
)
SOLUTION = r"$243 = 34 \cdot 7 + 5$, so \boxed{5}."
KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the plugin loaded even where the package is on the path alone, and not installed."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    load_plugins()
    ours = not pm.is_registered(llm_plugin)
    if ours:
        pm.register(llm_plugin, "cfr")
    yield
    if ours:
        pm.unregister(llm_plugin)


@pytest.fixture
def served(endpoint: Endpoint) -> Endpoint:
    endpoint.script(completion(SPEC), completion(SOLUTION))
    return endpoint


def ask(endpoint: Endpoint, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["prompt", *arguments, "-o", "base_url", endpoint.url])


def test_a_prompt_is_answered_with_the_work_on_standard_error(served: Endpoint) -> None:
    ran = ask(served, "-m", "cfr/routed-cfr", REMAINDER, "-u")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == f"{SOLUTION}\n"
    assert "an integer from 0 to 6" in ran.stderr
    assert "taken modulo 7" in ran.stderr
    assert "Token usage: 22 input, 14 output" in ran.stderr


@pytest.mark.parametrize("way", [["--no-stream"], ["--async"], ["--async", "--no-stream"]])
def test_every_way_of_asking_gives_the_same_answer(served: Endpoint, way: list[str]) -> None:
    ran = ask(served, "-m", "cfr/cfr", REMAINDER, *way)
    assert ran.stdout == f"{SOLUTION}\n"


def test_what_led_to_an_answer_is_logged(served: Endpoint) -> None:
    assert ask(served, "-m", "cfr/routed-cfr", REMAINDER).exit_code == 0
    (logged,) = json.loads(CliRunner().invoke(cli, ["logs", "--json"]).stdout)
    assert (logged["model"], logged["resolved_model"]) == ("cfr/routed-cfr", "test-model")
    assert (logged["input_tokens"], logged["output_tokens"]) == (22, 14)
    assert logged["response_json"]["answer"] == "5"
    assert logged["response_json"]["method"] == "routed-cfr"
    assert "taken modulo 7" in logged["reasoning"]


def test_a_conversation_goes_ahead_of_the_next_problem(served: Endpoint) -> None:
    assert ask(served, "-m", "cfr/routed-cfr", REMAINDER, "-s", "be brief").exit_code == 0
    assert ask(served, "-c", "And $3^6$?").exit_code == 0
    *before, last = served.requests[-1]["messages"]
    assert [(one["role"], one["content"]) for one in before] == [
        ("system", "be brief"),
        ("user", REMAINDER),
        ("assistant", SOLUTION),
    ]
    assert "And $3^6$?" in last["content"]


def test_auto_leaves_a_conversation_to_the_model(endpoint: Endpoint) -> None:
    endpoint.script(completion("Because."))
    ran = ask(endpoint, "-m", "cfr/auto", REMAINDER, "-s", "Answer in one word.")
    assert ran.stdout == "Because.\n"
    (request,) = endpoint.requests
    assert [one["content"] for one in request["messages"]] == ["Answer in one word.", REMAINDER]


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


def test_options_reach_the_endpoint(endpoint: Endpoint) -> None:
    given = {"method": "cfr(reply=json)", "model": "m", "temperature": "0.1", "seed": "5"}
    options = [word for pair in given.items() for word in ("-o", *pair)]
    assert ask(endpoint, "-m", "cfr/auto", REMAINDER, *options, "--key", KEY).exit_code == 0
    assert len(endpoint.requests) == 2
    sent = endpoint.requests[0]
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("m", 0.1, 5)
    assert endpoint.headers[-1]["Authorization"] == f"Bearer {KEY}"


def test_a_program_in_python_asks_in_the_same_way(served: Endpoint) -> None:
    response = llm.get_model("cfr/routed-cfr").prompt(REMAINDER, base_url=served.url)
    assert response.text() == SOLUTION
    assert (response.usage().input, response.usage().output) == (22, 14)
    assert response.response_json["answer"] == "5"


def test_there_is_a_model_for_every_method() -> None:
    listed = CliRunner().invoke(cli, ["models", "list"]).stdout
    found = re.findall(r"Constraint-First: cfr/(\S+)", listed)
    assert found == ["auto", *names()]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "cfr/auto", "x", "-o", "method", "nope"], "method 'nope': not known"),
        (["-m", "cfr/nope", "x"], "Unknown model: cfr/nope"),
        (["-m", "cfr/direct", " "], "the prompt has no text"),
        (["-m", "cfr/direct", "x", "-o", "temperature", "9"], "less than or equal to 2"),
        (["-m", "cfr/direct", "x", "-T", "llm_version"], "does not support tools"),
    ],
)
def test_bad_input_is_an_error_of_llm(endpoint: Endpoint, arguments: list[str], said: str) -> None:
    ran = ask(endpoint, *arguments)
    assert ran.exit_code == 1
    assert ran.stderr.startswith("Error: ")
    assert said in ran.stderr
    assert "Traceback" not in ran.output
    assert not endpoint.requests


@pytest.mark.parametrize("way", [[], ["--async"]])
def test_a_model_that_fails_is_an_error_of_llm(endpoint: Endpoint, way: list[str]) -> None:
    endpoint.script(failure(401, f"the key {KEY} is not known"))
    ran = ask(endpoint, "-m", "cfr/direct", REMAINDER, "--key", KEY, *way)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert re.match(r"Error: http://127\.0\.0\.1:\d+/v1: HTTP 401 ", ran.stderr)
    assert KEY not in ran.output


def test_an_error_in_python_is_a_model_error(endpoint: Endpoint) -> None:
    endpoint.script(failure(404, "no such model"))
    with pytest.raises(llm.ModelError, match="HTTP 404"):
        llm.get_model("cfr/direct").prompt("x", base_url=endpoint.url).text()


def test_a_solution_that_breaks_off_is_no_answer(endpoint: Endpoint) -> None:
    endpoint.script(cut_stream("It is ", "five"), failure(401, "no"))
    ran = ask(endpoint, "-m", "cfr/direct", REMAINDER)
    assert ran.exit_code == 1
    assert "Error: " in ran.stderr


def test_another_model_checks_its_answer_with_our_tool(endpoint: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "extra-openai-models.yaml").write_text(
        f"- model_id: loop\n  model_name: m\n  api_base: {endpoint.url}\n  supports_tools: true\n"
    )
    arguments = json.dumps({"problem": REMAINDER, "answer": "12"})
    called = {"id": "1", "type": "function"} | {
        "function": {"name": "check_answer", "arguments": arguments}
    }
    endpoint.script(
        completion(None, "tool_calls", role="assistant", tool_calls=[called]),
        completion("It is 5.", role="assistant"),
    )
    tool = ["prompt", "-m", "loop", "-T", "check_answer", "--no-stream", "--key", "x", REMAINDER]
    ran = CliRunner().invoke(cli, tool)
    assert ran.exit_code == 0, ran.output
    offered = endpoint.requests[0]["tools"][0]["function"]
    assert offered["parameters"]["properties"] == {
        "problem": {"type": "string"},
        "answer": {"type": "string"},
    }
    told = json.loads(endpoint.requests[1]["messages"][-1]["content"])
    assert told["sound"] is False
    assert told["checks"][0]["truth"] == "violated"


def test_llm_finds_it_by_itself(tmp_path: Path) -> None:
    if not entry_points(group="llm", name="cfr"):
        pytest.skip("the package is on the path alone; install it to have its entry points")
    ran = subprocess.run(
        [sys.executable, "-m", "llm", "models", "list", "-q", "cfr/auto"],
        capture_output=True,
        text=True,
        env=os.environ | {"LLM_USER_PATH": str(tmp_path)},
        timeout=300,
        check=True,
    )
    assert ran.stdout == "Constraint-First: cfr/auto\n"
