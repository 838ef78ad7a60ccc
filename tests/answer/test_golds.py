"""Golds of public sets: each is equal to itself, and read back out of replies that state it."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from constraint_first.answer.grade import GradingCase, grade_each
from constraint_first.answer.value import interpret, plain_words

from .golds import DATA, TEMPLATES, fits, golds, stated

# Words that follow no mark are no answer, and some golds of these sets are words.
UNMARKED = ("G on the last line",)
# College mathematics has golds in two forms, exact and rounded, of which the exact one is read.
LEAST = {"college-math": 0.98}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no benchmark data in {DATA}")
@pytest.mark.parametrize("how", [name for name in TEMPLATES if name not in UNMARKED])
def test_golds_are_read_back_out_of_replies(how: str) -> None:
    for name, every in golds(DATA).items():
        chosen = [gold for gold in every if fits(how, gold) and any(map(str.isalnum, gold))]
        verdicts = grade_each(GradingCase.from_reply(stated(how, gold), gold) for gold in chosen)
        lost = [
            (gold, verdict.answer)
            for gold, verdict in zip(chosen, verdicts, strict=True)
            if not verdict.correct
        ]
        assert len(lost) <= len(chosen) * (1 - LEAST.get(name, 1)), (name, lost)


@pytest.fixture(scope="module")
def own_golds() -> dict[str, list[str]]:
    """The gold answers of every file of problems below the folder of data, by the file's name."""
    found: dict[str, list[str]] = {}
    for path in sorted(DATA.rglob("*.jsonl")):
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        answers = {row["answer"] for row in rows if isinstance(row.get("answer"), str)}
        if answers:
            found[path.stem] = sorted(answers - {"-"})  # ASDiv's mark of a missing answer
    if not found:
        pytest.skip("no benchmark files; set CFR_DATA to a folder that has them")
    return found


def wrong(golds: dict[str, list[str]], case: Callable[[str], GradingCase]) -> list[Any]:
    named = [(name, gold) for name, answers in golds.items() for gold in answers]
    verdicts = grade_each(case(gold) for _, gold in named)
    return [one for one, verdict in zip(named, verdicts, strict=True) if not verdict.correct]


def undelimited(gold: str) -> str:
    return re.sub(r"(?<!\\)\$", "", gold)


def test_every_gold_answer_is_itself_as_a_reply(own_golds: dict[str, list[str]]) -> None:
    assert wrong(own_golds, lambda gold: GradingCase.from_reply(gold, gold)) == []
    boxed = r"\boxed{{{}}}".format
    assert wrong(own_golds, lambda g: GradingCase.from_reply(boxed(undelimited(g)), g)) == []


def test_every_gold_answer_is_itself_typed_in_another_way(own_golds: dict[str, list[str]]) -> None:
    read = {name: [*filter(interpret, answers)] for name, answers in own_golds.items()}
    assert wrong(read, lambda gold: GradingCase(f"$ {undelimited(gold)} $.", gold)) == []


def test_few_gold_answers_are_neither_values_nor_words(own_golds: dict[str, list[str]]) -> None:
    missing = {
        name: [gold for gold in answers if not interpret(gold) and not plain_words(gold).isalpha()]
        for name, answers in own_golds.items()
    }
    assert sum(map(len, missing.values())) <= 80, missing
