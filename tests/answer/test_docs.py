"""docs/grading.md says nothing that is not so."""

import re
from pathlib import Path

import pytest

from constraint_first.answer.extract import extract
from constraint_first.answer.grade import grade, grade_reply

DOCS = (Path(__file__).parents[2] / "docs" / "grading.md").read_text(encoding="utf-8")
CELL = re.compile(r"^`(.*)`$")


def tables(header: str) -> list[list[str]]:
    """The cells of every table with this header, without their backticks."""
    rows = [
        [CELL.sub(r"\1", cell.strip()) for cell in re.split(r"(?<= )\|", line[1:])[:-1]]
        for block in DOCS.split(header)[1:]
        for line in block.split("\n\n")[0].strip().splitlines()[1:]
    ]
    assert rows
    return rows


@pytest.mark.parametrize(("answer", "gold", "verdict"), tables("| answer | gold | verdict |"))
def test_each_policy_holds(answer: str, gold: str, verdict: str) -> None:
    assert grade(answer, gold).verdict == verdict
    assert grade_reply(answer, gold).verdict == verdict


@pytest.mark.parametrize(("reply", "answer"), tables("| reply | answer |"))
def test_each_reply_is_read_so(reply: str, answer: str) -> None:
    assert extract(reply).answer == (answer or None)


def test_the_snippet_runs(capsys: pytest.CaptureFixture[str]) -> None:
    snippet = DOCS.split("```python\n")[1].split("```")[0]
    exec(compile(snippet, "docs/grading.md", "exec"), {})  # noqa: S102
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "correct",
        "incorrect",
    ]
