"""Every gold answer of every public set is equal to itself, as a bare answer and in a box."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from constraint_first.answer.grade import GradingCase, grade_each
from constraint_first.answer.value import interpret, plain_words

from .collection import DATA

NO_VALUE = {"-"}
"""What stands for a missing answer in a set (ASDiv)."""


def gold_answers(folder: Path = DATA) -> dict[str, list[str]]:
    """The gold answers of every file of problems below a folder, by the name of the file."""
    golds: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        answers = {row["answer"] for row in rows if isinstance(row.get("answer"), str)}
        if answers:
            golds[path.stem] = sorted(answers - NO_VALUE)
    return golds


def plain(gold: str) -> str:
    return gold


def boxed(gold: str) -> str:
    undelimited = re.sub(r"(?<!\\)\$", "", gold)
    return rf"\boxed{{{undelimited}}}"


def respaced(gold: str) -> str:
    """The same answer typed in another way, so that it is not equal by its text alone."""
    undelimited = re.sub(r"(?<!\\)\$", "", gold)
    return f"$ {undelimited} $."


@pytest.mark.parametrize("write", [plain, boxed])
def test_every_gold_answer_is_itself_as_a_reply(write: Callable[[str], str]) -> None:
    golds = gold_answers()
    if not golds:
        pytest.skip("no benchmark files; set CFR_DATA to a folder that has them")
    cases = [(name, gold) for name, answers in golds.items() for gold in answers]
    verdicts = grade_each(GradingCase.from_reply(write(gold), gold) for _, gold in cases)
    wrong = [case for case, verdict in zip(cases, verdicts, strict=True) if not verdict.correct]
    assert wrong == []


def test_every_gold_answer_is_itself_as_an_answer() -> None:
    golds = gold_answers()
    if not golds:
        pytest.skip("no benchmark files; set CFR_DATA to a folder that has them")
    cases = [(name, gold) for name, answers in golds.items() for gold in answers if interpret(gold)]
    verdicts = grade_each(GradingCase(respaced(gold), gold) for _, gold in cases)
    wrong = [case for case, verdict in zip(cases, verdicts, strict=True) if not verdict.correct]
    assert wrong == []


def unread(golds: dict[str, list[str]]) -> dict[str, list[str]]:
    """The gold answers that are neither values nor plain words: compared as text alone."""
    found = {
        name: [gold for gold in answers if not interpret(gold) and not plain_words(gold).isalpha()]
        for name, answers in golds.items()
    }
    return {name: answers for name, answers in found.items() if answers}


def test_few_gold_answers_are_neither_values_nor_words() -> None:
    golds = gold_answers()
    if not golds:
        pytest.skip("no benchmark files; set CFR_DATA to a folder that has them")
    missing = unread(golds)
    assert sum(map(len, missing.values())) <= 80, missing


if __name__ == "__main__":
    for answers in unread(gold_answers()).values():
        for _answer in answers:
            pass
