import io
import sys
from pathlib import Path

import pytest

from cfr.benchmark.source import names_file, read_problems
from cfr.error import InputError
from cfr.problem import Problem


def test_text_is_the_problem_itself() -> None:
    assert read_problems(" What is {x}? \n") == [Problem("What is {x}?")]


def test_a_file_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text("What is $2+2$?\n")
    assert read_problems(str(path)) == [Problem("What is $2+2$?")]


def test_json_lines_are_many(tmp_path: Path) -> None:
    path = tmp_path / "aime99.jsonl"
    path.write_text('{"id": "a", "problem": "P", "answer": 7}\n{"question": "Q"}\n')
    assert read_problems(str(path)) == [
        Problem("P", "a", "7", "aime99"),
        Problem("Q", "2", None, "aime99"),
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Is π > 3?".encode())))
    assert read_problems("-") == [Problem("Is π > 3?")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(InputError, match="standard input: not UTF-8"):
        read_problems("-")


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_problem(text: str) -> None:
    with pytest.raises(InputError, match="is empty; give the text"):
        read_problems(text)


def test_files_without_problems(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n")
    with pytest.raises(InputError, match="has no problems"):
        read_problems(str(path))
    path.write_text('{"id": 1}\n')
    with pytest.raises(InputError, match="line 1: has no text under 'problem'"):
        read_problems(str(path))
    path.write_text('{"problem": " "}\n')
    with pytest.raises(InputError, match="line 1: is empty"):
        read_problems(str(path))
    path.write_text('{"problem": "P"}\nnot json\n')
    with pytest.raises(InputError, match="line 2: not JSON"):
        read_problems(str(path))


@pytest.mark.parametrize(
    ("source", "is_file"),
    [
        ("missing.txt", True),
        ("dir/missing.jsonl", True),
        ("Compute 2.5", False),
        ("2+2", False),
        ("x" * 5_000, False),
        ("\0", False),
    ],
)
def test_a_file_is_told_from_a_problem(source: str, is_file: bool) -> None:
    assert names_file(source) is is_file
