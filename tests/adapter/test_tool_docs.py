"""What docs/llm.md and docs/mcp.md show is what happens."""

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint, completion

REPOSITORY = Path(__file__).parents[2]
SPEC = json.dumps(
    {
        "raw_constraints": [
            {"id": "C1", "type": "modular", "description": "The answer is taken modulo 7."}
        ],
        "answer_format": "integer",
    }
)
SOLUTION = r"$3^5 = 243 = 34 \cdot 7 + 5$, so the answer is \boxed{5}."


@pytest.fixture(autouse=True)
def _surroundings(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that solves the problem of both pages, and commands that find this package."""
    endpoint.script(completion(SPEC), completion(SOLUTION))
    for name, module in {"cfr": "constraint_first", "llm": "llm"}.items():
        command = tmp_path / "bin" / name
        command.parent.mkdir(exist_ok=True)
        sources = f"PYTHONPATH={REPOSITORY / 'src'}"
        command.write_text(f'#!/bin/sh\n{sources} exec {sys.executable} -m {module} "$@"\n')
        command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))


def blocks(page: str, language: str) -> list[str]:
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found
    return found


def run_session(page: str) -> None:
    """Run what is typed into Python on a page, and compare what it says."""
    runner, parser = doctest.DocTestRunner(), doctest.DocTestParser()
    names: dict[str, Any] = {}
    for block in blocks(page, "pycon"):
        session = parser.get_doctest(block, names, page, page, 0)
        assert session.examples
        runner.run(session, clear_globs=False)
    assert runner.summarize().failed == 0


def typed(page: str, start: str) -> str:
    """Find the command on a page that starts so."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return next(line.removeprefix("$ ") for line in lines if line.startswith(f"$ {start}"))


def test_llm_shows_what_the_page_shows(endpoint: Endpoint, tmp_path: Path) -> None:
    pytest.importorskip("llm", reason="pip install 'constraint-first[llm]'")
    from importlib.metadata import entry_points

    if not entry_points(group="llm", name="cfr"):
        pytest.skip("the package is on the path alone; install it to have its entry points")
    ran = subprocess.run(
        ["/bin/sh", "-c", typed("llm.md", "llm -m cfr/routed-cfr")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OPENAI_BASE_URL": endpoint.url},
        cwd=tmp_path,
        timeout=300,
        check=True,
    )
    (shown,) = blocks("llm.md", "text")
    assert ran.stdout == shown


def test_the_python_of_the_llm_page_runs(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llm", reason="pip install 'constraint-first[llm]'")
    from llm.plugins import load_plugins, pm

    from constraint_first.adapter import llm_plugin

    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    load_plugins()
    if not pm.is_registered(llm_plugin):
        pm.register(llm_plugin, "cfr")
    run_session("llm.md")


def test_the_python_of_the_mcp_page_runs() -> None:
    pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")
    run_session("mcp.md")


async def test_a_client_that_is_set_up_as_the_mcp_page_says_gets_its_tools(
    endpoint: Endpoint,
) -> None:
    pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    (written,) = blocks("mcp.md", "json")
    setting = json.loads(written)["mcpServers"]["constraint-first"]
    arguments = [endpoint.url if one.startswith("http") else one for one in setting["args"]]
    server = StdioServerParameters(
        command=setting["command"], args=arguments, env=dict(os.environ) | setting["env"]
    )
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
    text = (REPOSITORY / "docs" / "mcp.md").read_text(encoding="utf-8")
    for tool in tools:
        row = re.search(rf"^\| `{tool.name}` \| (.*) \| (.*) \|$", text, re.MULTILINE)
        assert row
        given, returned = (re.findall(r"`(\w+)`", cell) for cell in row.groups())
        assert given == list(tool.input_schema["properties"])
        assert tool.output_schema
        assert returned == list(tool.output_schema["properties"])
    assert len(tools) == text.count("\n| `")
