"""Every benchmark as a task: its samples, its settings, and what cannot be loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspecting import NEEDS_INSPECT, chat, run_task
from loopback import Endpoint

from constraint_first.benchmark.registry import load, names

pytestmark = NEEDS_INSPECT
pytest.importorskip("inspect_ai", reason="inspect_ai (the extra `inspect`) is not installed")

from inspect_ai.util import registry_create  # noqa: E402

from constraint_first.adapter.inspect import PrerequisiteError, benchmark  # noqa: E402


def test_every_benchmark_is_a_task() -> None:
    from inspect_ai._util.registry import registry_lookup  # pyright: ignore[reportPrivateUsage]

    for name in names():
        assert registry_lookup("task", f"cfr/{name}"), name


def test_samples_are_the_problems() -> None:
    task = registry_create("task", "cfr/constraintbench-mini")
    problems = load("constraintbench-mini").problems
    assert [(one.id, one.input, one.target) for one in task.dataset] == [
        (one.id, one.text, one.answer) for one in problems
    ]
    assert (task.config.temperature, task.config.top_p) == (0.7, 0.95)


def test_a_system_prompt_is_a_message_of_its_own(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{1}"))
    given = ["Be brief", " and exact."]  # as Inspect reads a text with a comma
    task = registry_create("task", "cfr/constraintbench-mini", system=given)
    log = run_task(task, endpoint, limit=1, solver=_solver("direct"))
    (sent,) = endpoint.requests
    assert [one["role"] for one in sent["messages"]] == ["system", "user"]
    assert sent["messages"][0]["content"] == "Be brief, and exact."
    assert len(log.samples) == 1


def _solver(name: str) -> Any:
    return registry_create("solver", f"cfr/{name}")


def test_a_file_is_a_task(tmp_path: Path, endpoint: Endpoint) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,task,value\na,What is 1+1?,2\nb,What is 2+2?,4\n")
    task = benchmark(file=str(file), columns=["problem=task", "answer=value"])
    assert [(one.id, one.input, one.target) for one in task.dataset] == [
        ("a", "What is 1+1?", "2"),
        ("b", "What is 2+2?", "4"),
    ]
    assert task.dataset.name == "mine"
    endpoint.script(chat("\\boxed{2}"))
    (score,) = run_task(task, endpoint, epochs=2).results.scores
    assert score.metrics["accuracy"].value == 0.5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"name": "amie24"}, "benchmark 'amie24': not known; did you mean 'aime24'?"),
        ({}, "cfr/benchmark: name a benchmark (-T name=aime24) or a file"),
        ({"name": "aime24", "file": "x.csv"}, "cfr/benchmark: name a benchmark"),
        ({"file": "nowhere.jsonl"}, "nowhere.jsonl"),
        ({"file": "unanswered.jsonl"}, "answer"),
        ({"file": "unanswered.jsonl", "columns": "answer"}, "columns 'answer': write FIELD=COLUMN"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_inspects_way(
    options: dict[str, str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unanswered.jsonl").write_text('{"problem": "What is 1+1?"}\n')
    with pytest.raises(PrerequisiteError) as raised:
        benchmark(**options)
    assert told in str(raised.value.message)
