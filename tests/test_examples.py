"""The programs in examples/ are run as their readers would, against a real server."""

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure
from sums import reply_right

EXAMPLES = Path(__file__).parent.parent / "examples"
KEY = "sk-" + "0123456789abcdef" * 2
CONSTRAINTS = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "0 to 12"}]}'


def run(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        env=os.environ | {"ENDPOINT_KEY": KEY, "CFR_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("method", "replies"),
    [
        ((), {"direct": r"So it is \boxed{9}."}),
        (("routed-cfr",), {"stage1": CONSTRAINTS, "stage2": '{"final_answer": "9"}'}),
    ],
)
def test_the_script_shows_its_stages_and_what_they_took(
    method: tuple[str, ...], replies: dict[str, str], endpoint: Server, tmp_path: Path
) -> None:
    endpoint.script(*map(completion, replies.values()))
    ran = run("script.py", tmp_path, endpoint.url, *method)
    assert ran.returncode == 0, ran.stderr
    stages = [line.partition(":")[0] for line in ran.stdout.splitlines()]
    began_and_ended = [f"{name} {word}" for name in replies for word in ("started", "finished")]
    assert stages == [*began_and_ended, "9 is right"]
    assert f"9 is right: {18 * len(replies)} tokens" in ran.stdout
    assert {headers["Authorization"] for headers in endpoint.headers} == {f"Bearer {KEY}"}
    assert [body["temperature"] for body in endpoint.requests] == [0.0] * len(replies)


def test_a_refused_key_is_one_line_that_does_not_show_it(endpoint: Server, tmp_path: Path) -> None:
    endpoint.script(failure(401, f"Incorrect API key provided: {KEY}"))
    ran = run("script.py", tmp_path, endpoint.url)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert "put a valid key into the argument key" in ran.stderr
    assert KEY not in ran.stdout + ran.stderr


def test_the_async_program_asks_all_at_once(endpoint: Server, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Reply:
        text = str(body["messages"])
        answer = next(n for word, n in (("100", 2), ("divide 12", 6), ("7.5", 7)) if word in text)
        return completion(rf"\boxed{{{answer}}}")

    endpoint.respond = reply
    ran = run("async_program.py", tmp_path, endpoint.url)
    assert ran.returncode == 0, ran.stderr
    answers = [line.partition("? ")[2] for line in ran.stdout.splitlines()]
    assert answers == ["2 (18 tokens)", "6 (18 tokens)", "7 (18 tokens)"]


async def test_the_notebook_runs_from_its_first_cell_to_its_last(
    endpoint: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    endpoint.respond = reply_right
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        # As a kernel does it: inside a loop that is running, where a cell may await.
        code = compile(cell, f"cell {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        awaited = eval(code, names)  # noqa: S307
        if inspect.iscoroutine(awaited):
            await awaited
    shown = capsys.readouterr().out
    assert "direct finished: 18 tokens" in shown
    assert "\n3 18 tokens" in shown
    assert "0 of 8 attempts, 0 tokens" in shown
    assert "8 of 8 attempts, 1" in shown
    assert "direct 1.0\ncheck 1.0\n0.0 1.0\n" in shown


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    assert notebook["nbformat"] == 4
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
