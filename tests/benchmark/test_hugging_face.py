"""The library ``datasets`` is an optional extra; a module in its place plays it here."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from instructed import FEW_WORDS, NO_COMMA

from constraint_first.benchmark.registry import Entry, fetch
from constraint_first.benchmark.source import write_instructions
from constraint_first.error import InputError
from constraint_first.problem import Problem

ENTRY = Entry("gsm8k", "GSM8K", "openai/gsm8k", "test", "main", "question", "answer", "n")
HINT = "put gsm8k.jsonl into a folder"


class Library:
    """Answers with its rows, or raises its error."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.error: Exception | None = None
        self.asked: list[tuple[str, str | None, str]] = []

    def load_dataset(self, path: str, name: str | None, *, split: str) -> list[dict[str, Any]]:
        self.asked.append((path, name, split))
        if self.error:
            raise self.error
        return self.rows


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    played = Library()
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=played.load_dataset))
    return played


def test_problems_come_with_the_numbers_of_their_rows(library: Library) -> None:
    library.rows = [
        {"question": " Q1 ", "answer": " 4", "n": 7, "other": object()},
        {"question": "Q2", "answer": 5, "n": 8},
    ]
    assert fetch(ENTRY, HINT) == [
        (1, Problem("Q1", "gsm8k-7", "4", "gsm8k")),
        (2, Problem("Q2", "gsm8k-8", "5", "gsm8k")),
    ]
    assert library.asked == [("openai/gsm8k", "main", "test")]


def test_no_configuration_is_none(library: Library) -> None:
    assert fetch(Entry("x", "X", "a/b", "train"), HINT) == []
    assert library.asked == [("a/b", None, "train")]


def test_gaps_are_left_for_the_check_and_lose_no_row(library: Library) -> None:
    library.rows = [{"question": None, "answer": None}] * 2
    assert fetch(ENTRY, HINT) == [
        (1, Problem("", "gsm8k-test-0", "", "gsm8k")),
        (2, Problem("", "gsm8k-test-1", "", "gsm8k")),
    ]


def test_a_column_that_is_not_there_is_named(library: Library) -> None:
    library.rows = [{"question": "Q", "answer": "4"}, {"text": "Q", "gold": "4"}]
    with pytest.raises(InputError) as caught:
        fetch(ENTRY, HINT)
    assert str(caught.value) == (
        "benchmark 'gsm8k': row 2 of openai/gsm8k has no field answer, question "
        f"(it has text, gold); {HINT}"
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("no route\nto host"), "ConnectionError: no route"),
        (ValueError("x" * 10_000), "ValueError: " + "x" * 188),
        (RuntimeError(), "RuntimeError: "),
    ],
)
def test_whatever_the_library_raises_is_one_line(
    library: Library, error: Exception, said: str
) -> None:
    library.error = error
    with pytest.raises(InputError) as caught:
        fetch(ENTRY, HINT)
    assert str(caught.value) == (
        f"benchmark 'gsm8k': openai/gsm8k could not be fetched from Hugging Face ({said}); "
        f"check the network, or {HINT}"
    )
    assert caught.value.__cause__ is error


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"pip install 'constraint-first\[datasets\]', or put gsm"):
        fetch(ENTRY, HINT)


IFEVAL = Entry(
    *("ifeval", "IFEval", "google/IFEval", "train"),
    problem="prompt",
    id="key",
    instructions="instruction_id_list",
    arguments="kwargs",
)


def test_instructions_take_the_place_of_an_answer(library: Library) -> None:
    """Upstream each object of arguments has all names there are; those not used are null."""
    none = {"num_words": None, "relation": None, "keywords": None}
    row = {"key": 1000, "prompt": "Write.", "instruction_id_list": [NO_COMMA.kind, FEW_WORDS.kind]}
    library.rows = [row | {"kwargs": [none, none | dict(FEW_WORDS.arguments)]}]
    gold = write_instructions([NO_COMMA, FEW_WORDS])
    assert fetch(IFEVAL, HINT) == [(1, Problem("Write.", "ifeval-1000", gold, "ifeval"))]
    library.rows = [row | {"kwargs": [none]}]
    with pytest.raises(InputError, match=r"'ifeval': row 1 of google/IFEval: 'kwargs' must be a"):
        fetch(IFEVAL, HINT)
    library.rows = [row]
    with pytest.raises(InputError, match=r"row 1 of google/IFEval has no field kwargs \(it has"):
        fetch(IFEVAL, HINT)
