import io
import sys
from pathlib import Path

import pytest

from cfr.benchmark.source import names_file, problem_from, read_gold, read_problems
from cfr.error import InputError
from cfr.file.jsonl import JsonLine
from cfr.problem import Json, Problem


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
    with pytest.raises(InputError, match="standard input, line 1: not UTF-8"):
        read_problems("-")


def test_standard_input_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input: cannot be read"):
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


@pytest.mark.parametrize(
    ("value", "gold"),
    [
        ("12", "12"),
        (12, "12"),
        (0.5, "0.5"),
        (10**400, str(10**400)),
        (["12"], "12"),
        ([12], "12"),
        (["1", "2", 3], "1, 2, 3"),
        ([], None),
        (None, None),
    ],
)
def test_a_gold_answer_may_be_a_list(value: Json, gold: str | None) -> None:
    assert read_gold(value, "answer") == gold


@pytest.mark.parametrize("value", [True, {}, {"a": 1}, [["1"]], [None], [True], float("inf")])
def test_a_gold_answer_that_is_none(value: Json) -> None:
    with pytest.raises(InputError, match="'gold' must be a text or a number, or a list of these"):
        read_gold(value, "gold")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"problem": "a\0"}, "'problem' has a NUL character as character 2; replace it"),
        ({"problem": "\ud800"}, "'problem' has half a surrogate pair as character 1"),
        (
            {"problem": "x" * 1_000_001},
            "'problem' has 1,000,001 characters; 1,000,000 are the most",
        ),
        ({"id": "\ud800"}, "'id' has half a surrogate pair"),
        ({"id": "x" * 501}, "'id' has 501 characters; 500 are the most"),
        ({"id": ["a"]}, "'id' must be a text or a number, not \\['a'\\]"),
        ({"id": True}, "'id' must be a text or a number, not True"),
        ({"answer": "\0"}, "'answer' has a NUL character"),
        ({"answer": ["1", "\udfff"]}, "'answer' has half a surrogate pair as character 4"),
        ({"answer": {"value": 1}}, "'answer' must be a text or a number, or a list of these"),
        ({"answer": False}, "'answer' must be a text or a number, or a list of these, not False"),
    ],
)
def test_a_row_that_no_store_takes_is_named(row: dict[str, Json], said: str) -> None:
    with pytest.raises(InputError, match=rf"x\.jsonl, line 7: {said}"):
        problem_from(JsonLine(7, {"problem": "P"} | row), Path("x.jsonl"))


@pytest.mark.parametrize(("given", "name"), [(3, "3"), (1.5, "1.5"), ("", "7"), (None, "7")])
def test_a_problem_without_a_name_goes_by_its_line(given: Json, name: str) -> None:
    row = JsonLine(7, {"problem": "P", "id": given})
    assert problem_from(row, Path("x.jsonl")).id == name


def test_text_that_no_endpoint_takes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_bytes(b"2+2\0?")
    for source, where in ((str(path), "p.txt"), ("2+\udcff2", "the problem")):
        with pytest.raises(InputError, match=f"{where}: 'problem' has"):
            read_problems(source)
    with pytest.raises(InputError, match=r"~nobody-here/x.jsonl: cannot be read"):
        read_problems("~nobody-here/x.jsonl")
