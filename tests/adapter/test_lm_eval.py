"""lm-evaluation-harness itself in front of a real ``cfr serve``, and its page as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint, Reply, completion
from serve_process import serve_process

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
os.environ.update(OFFLINE)
lm_eval: Any = pytest.importorskip(
    "lm_eval", reason="lm-eval brings half a gigabyte, too much for CI: make recipes"
)
TaskManager: Any = pytest.importorskip("lm_eval.tasks").TaskManager

pytestmark = [
    pytest.mark.recipe,
    # Warnings of its own and of libraries under it, on files and loops that they leave open.
    pytest.mark.filterwarnings("default"),
]

PAGE = Path(__file__).parents[2] / "docs" / "lm-eval.md"
TEXT = PAGE.read_text()
*_, (GENERATE, EVALUATE, TABLE) = re.findall(
    r"^```console\n\$ (cfr bench [^\n]*)\n\$ (lm_eval .*?[^\\]\n)(.*?)^```", TEXT, re.S | re.M
)


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.S | re.M)
    return found


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    tool, *arguments = shlex.split(command.replace("\\\n", " "))
    tool = {"cfr": "constraint_first"}.get(tool, tool)
    ran = subprocess.run(
        [sys.executable, "-m", tool, *arguments],
        cwd=folder,
        env=os.environ | {"HF_HOME": str(folder / "hf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the page shows."""
    made = tmp_path_factory.mktemp("lm-eval")
    (made / "tasks").mkdir()
    (made / "tasks" / "constraintbench.yaml").write_text(block("yaml"))
    (made / "tasks" / "grading.py").write_text(block("python"))
    run(made, GENERATE)
    return made


@pytest.fixture(scope="module")
def problems(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "problems.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def server(folder: Path, problems: list[dict[str, Any]]) -> Iterator[tuple[str, Endpoint]]:
    with Endpoint() as endpoint, serve_process(endpoint.url, folder) as address:
        endpoint.respond = lambda body: right_but_for_the_last(body, problems)
        yield address, endpoint


def right_but_for_the_last(body: dict[str, Any], problems: list[dict[str, Any]]) -> Reply:
    asked = body["messages"][-1]["content"]
    number = next(n for n, one in enumerate(problems) if one["problem"] in asked)
    wrong = number == len(problems) - 1
    return completion(rf"So it is \boxed{{{'none' if wrong else problems[number]['answer']}}}.")


def test_the_page_is_as_it_says(folder: Path, server: tuple[str, Endpoint]) -> None:
    address, endpoint = server
    endpoint.requests = []
    ran = run(folder, EVALUATE.replace("http://127.0.0.1:8080", address))
    shown = ran.stdout[ran.stdout.index("|") :]
    assert shown.split("\n\n")[0].strip() == TABLE.strip()
    assert {body["max_tokens"] for body in endpoint.requests} == {1024}
    assert {body["temperature"] for body in endpoint.requests} == {0}
    assert len(endpoint.requests) == 4


def evaluate(folder: Path, address: str, model: str, **more: Any) -> Any:
    """Evaluate from Python, which does not read the harness's fourteen thousand own tasks."""
    url = f"{address}/v1/chat/completions"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return lm_eval.simple_evaluate(
            model="local-chat-completions",
            model_args=f"base_url={url},model={model},num_concurrent=2,tokenizer_backend=None"
            ",max_gen_toks=1024,max_retries=1",
            tasks=["constraintbench"],
            task_manager=TaskManager(include_path="tasks", include_defaults=False),
            apply_chat_template=True,
            bootstrap_iters=0,
            **more,
        )


def test_the_replies_are_the_methods_own(
    folder: Path, server: tuple[str, Endpoint], problems: list[dict[str, Any]]
) -> None:
    address, endpoint = server
    endpoint.requests = []
    found = evaluate(folder, address, "vote(samples=3)@", log_samples=True)
    assert found["results"]["constraintbench"]["correct,none"] == 0.75
    samples = sorted(found["samples"]["constraintbench"], key=lambda one: one["doc_id"])
    assert [one["correct"] for one in samples] == [True, True, True, False]
    assert rf"\boxed{{{problems[0]['answer']}}}" in samples[0]["resps"][0][0]
    assert len(endpoint.requests) == 3 * len(problems)
