import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from instructed import NO_COMMA

from constraint_first.benchmark.registry import (
    names_rows,
    read_problem_file,
    read_problems,
    write_instructions,
)
from constraint_first.error import InputError
from constraint_first.problem import Json, Problem


def read_line(tmp_path: Path, row: dict[str, Json]) -> Problem:
    path = tmp_path / "x.jsonl"
    path.write_text("\n" * 6 + json.dumps(row))
    (problem,) = read_problem_file(path).problems
    return problem


def test_text_is_the_problem_itself() -> None:
    assert read_problems(" What is {x}? \n").problems == [Problem("What is {x}?")]


def test_a_file_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text("What is $2+2$?\n")
    assert read_problems(str(path)).problems == [Problem("What is $2+2$?")]


def test_json_lines_are_many(tmp_path: Path) -> None:
    path = tmp_path / "aime99.jsonl"
    path.write_text('{"id": "a", "problem": "P", "answer": 7}\n{"question": "Q"}\n')
    assert read_problems(str(path)).problems == [
        Problem("P", "a", "7", "aime99"),
        Problem("Q", "2", None, "aime99"),
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Is π > 3?".encode())))
    assert read_problems("-").problems == [Problem("Is π > 3?")]
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
def test_a_row_that_no_store_takes_is_named(
    row: dict[str, Json], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=rf"x\.jsonl, line 7: {said}"):
        read_line(tmp_path, {"problem": "P"} | row)


@pytest.mark.parametrize(("given", "name"), [(3, "3"), (1.5, "1.5"), ("", "7"), (None, "7")])
def test_a_problem_without_a_name_goes_by_its_line(given: Json, name: str, tmp_path: Path) -> None:
    assert read_line(tmp_path, {"problem": "P", "id": given}).id == name


def test_text_that_no_endpoint_takes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_bytes(b"2+2\0?")
    for source, where in ((str(path), "p.txt"), ("2+\udcff2", "the problem")):
        with pytest.raises(InputError, match=f"{where}: 'problem' has"):
            read_problems(source)
    with pytest.raises(InputError, match=r"~nobody-here/x.jsonl: cannot be read"):
        read_problems("~nobody-here/x.jsonl")


ROWS = [
    {"ID": "a", "Question": "What, exactly, is 2+2?", "solution": "So\n#### 1,004"},
    {"ID": "b", "Question": "Is it; so?", "solution": "thus $\\boxed{\\frac{1}{2}}$."},
    {"ID": "c", "Question": "Why?", "solution": "7"},
]
PROBLEMS = [
    Problem("What, exactly, is 2+2?", "a", "1004", "q"),
    Problem("Is it; so?", "b", r"\frac{1}{2}", "q"),
    Problem("Why?", "c", "7", "q"),
]


def table(delimiter: str) -> str:
    cells = [[*ROWS[0]], *([*row.values()] for row in ROWS)]
    quoted = [[f'"{cell}"' for cell in line] for line in cells]
    return "\r\n".join(map(delimiter.join, quoted))


FILES = {
    "q.jsonl": "\n".join(map(json.dumps, ROWS)),
    "q.ndjson": "\n".join(map(json.dumps, ROWS)),
    "q.json": json.dumps(ROWS, indent=1),
    "q.JSON": json.dumps({"version": 1, "data": ROWS}),
    "q.csv": "\ufeff" + table(","),
    "q.CSV": table(";"),
    "q.tsv": table("\t"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_problems(name: str, packed: bool, tmp_path: Path) -> None:
    data = FILES[name].encode()
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    read = read_problems(str(path))
    assert read.problems == PROBLEMS
    told = f"{path}: 3 problems; problem from 'Question', answer from 'solution' (1 after ####, "
    assert read.taken == told + r"1 in \boxed{}, 1 as written), id from 'ID'"


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("problem,question,answer,key\n1,P,wrong,right\n")
    read = read_problems(str(path), {"problem": "QUESTION", "answer": "key", "id": "problem"})
    assert read.problems == [Problem("P", "1", "right", "q")]
    assert read.taken.endswith(
        "1 problem; problem from 'question', answer from 'key', id from 'problem'"
    )
    for columns, said in (
        ({"problem": "qestion"}, "q.csv: no column is called 'qestion'.*did you mean 'question'"),
        ({"answer": "x"}, "'x' .*it has 'problem', 'question', 'answer', 'key'"),
        ({"gold": "key"}, "--columns gold=…: nothing here is called 'gold'; choose from problem"),
    ):
        with pytest.raises(InputError, match=said):
            read_problems(str(path), columns)
    for source in ("2+2", "-"):
        with pytest.raises(InputError, match="--columns: goes with a file of rows"):
            read_problems(source, {"problem": "x"})


def test_a_file_without_answers_says_so(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("prompt,answer\nP,\nQ, \n")
    read = read_problems(str(path))
    assert read.problems == [Problem("P", "2", None, "q"), Problem("Q", "3", None, "q")]
    assert read.taken == f"{path}: 2 problems; problem from 'prompt'; no answers"


def test_a_number_is_no_text_where_another_column_has_one(tmp_path: Path) -> None:
    row: dict[str, Json] = {"problem": 7, "question": "Q", "answer": None, "gold": [1, 2.5]}
    assert read_line(tmp_path, row) == Problem("Q", "7", "1, 2.5", "x")
    with pytest.raises(InputError, match=r"line 7: has no text under 'problem'.*choose one of 'q'"):
        read_line(tmp_path, {"q": "Q"})


@pytest.mark.parametrize(
    "text",
    [
        '{"problem": "P", "answer": 5}',
        '{"Question": "P"}\n{"Question": "Q"}',
        '[\n {"text": "P", "gold": 5}\n]',
        '{"data": [{"prompt": "P"}]}',
        "id,problem,answer\na,P,5\n",
        '"Question";"Gold"\nP;5\n',
        "text\tsolution\nP\t5\n",
    ],
)
def test_rows_that_come_as_one_text_are_refused(text: str, tmp_path: Path) -> None:
    for name in ("q.txt", "q.dat"):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=f"{name}: rows of problems, not the text of one"):
            read_problems(str(tmp_path / name))
    with pytest.raises(InputError, match="the problem: rows of problems"):
        read_problems(text)


def test_names_of_files_of_rows() -> None:
    assert all(map(names_rows, ("q.csv", "q.parquet", "a b.jsonl.gz")))
    assert not any(map(names_rows, ("q.txt", "q", "What is q.csv?", "2.5")))


def test_instructions_where_there_is_no_answer(tmp_path: Path) -> None:
    gold = write_instructions([NO_COMMA])
    listed: Json = [{"id": NO_COMMA.kind}]
    assert read_line(tmp_path, {"problem": "P", "instructions": listed}).answer == gold
    assert read_line(tmp_path, {"problem": "P", "instructions": json.dumps(listed)}).answer == gold
    upstream: dict[str, Json] = {"prompt": "P", "instruction_id_list": [NO_COMMA.kind]}
    upstream["kwargs"] = [{"n": None}]
    assert read_line(tmp_path, upstream).answer == gold
    assert (
        read_line(tmp_path, {"problem": "P", "answer": "7", "instructions": listed}).answer == "7"
    )
    text: dict[str, Json] = {"problem": "P", "instructions": "Think step by step."}
    assert read_line(tmp_path, text | {"answer": 7}).answer == "7"
    assert read_line(tmp_path, text).answer is None


def test_instructions_from_a_column_that_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    cell = json.dumps([{"id": NO_COMMA.kind}]).replace('"', '""')
    path.write_text(f'problem,answer,rules\nP,7,"{cell}"\nQ,8,\n')
    read = read_problem_file(path, {"instructions": "rules"})
    assert [one.answer for one in read.problems] == [write_instructions([NO_COMMA]), "8"]
    assert read.taken == (
        f"{path}: 2 problems; problem from 'problem', answer from 'answer' (in 1 of 2), "
        "instructions from 'rules' (in 1 of 2)"
    )


def test_instructions_that_no_store_takes(tmp_path: Path) -> None:
    listed: Json = [{"id": "keywords:existence", "kwargs": {"keywords": ["\ud800"]}}]
    with pytest.raises(InputError, match="line 7: 'instructions' has half a surrogate pair"):
        read_line(tmp_path, {"problem": "P", "instructions": listed})
