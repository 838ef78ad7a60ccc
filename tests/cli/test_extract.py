import json
from pathlib import Path

from .conftest import Ran, Run

REPLIES: list[dict[str, object]] = [
    {"id": 1, "text": r"Thus \boxed{7}."},
    {"id": "two", "text": "I give up."},
    {"id": 3, "text": '{"final_answer": "\\frac{1}{2}", "confidence": 1'},
    {"id": 4, "text": "\ud800 so the answer is 5"},
    {"id": None, "text": None},
    {"id": [6], "text": 8},
]


def write(folder: Path, *rows: object) -> None:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_answers_in_the_order_of_the_replies(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path, *REPLIES)
    ran = cfr("extract", "in.jsonl", "-o", "out.jsonl")
    assert (ran.code, ran.out) == (0, "")
    found = rows((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert [(row["id"], row["answer"]) for row in found] == [
        (1, "7"),
        ("two", None),
        (3, r"\frac{1}{2}"),
        (4, "5"),
        (None, None),
        ([6], "8"),
    ]
    assert all(set(row) == {"id", "answer", "how"} for row in found)
    assert found[0]["how"] == "boxed"
    taken = "in.jsonl: 6 rows; text from 'text', id from 'id'\n"
    assert ran.err == taken + "6 replies: 4 with an answer\n"


def test_without_a_file_they_go_to_standard_output(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path, REPLIES[0])
    ran = cfr("extract", "in.jsonl")
    (row,) = rows(ran.out)
    assert (row["id"], row["answer"]) == (1, "7")
    assert ran.err.endswith("\n1 replies: 1 with an answer\n")


def test_lines_that_cannot_be_read_are_named_and_skipped(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path, REPLIES[0], "{oops", "[1]", {"id": 5}, {"id": 6, "text": [1]}, REPLIES[1])
    ran = cfr("extract", "in.jsonl")
    assert ran.code == 0
    assert [row["id"] for row in rows(ran.out)] == [1, "two"]
    *bad, taken, total = ran.err.splitlines()
    said = ("not JSON", "a list and not an object", "no field 'text'", "is a list, not text")
    assert len(bad) == 4
    for line, number, reason in zip(bad, (2, 3, 4, 5), said, strict=True):
        assert line.startswith(f"cfr: in.jsonl, line {number}: ")
        assert f"{reason}" in line
        assert line.endswith("; skipped")
    assert taken == "in.jsonl: 2 rows; text from 'text', id from 'id'"
    assert total == "2 replies: 1 with an answer, 4 skipped"


def _fails(ran: Ran) -> bool:
    one_line = ran.err.startswith("cfr: ") and ran.err.count("\n") == 1
    return ran.code == 2 and one_line and ran.out == ""


def test_what_cannot_work_is_one_clear_line(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path, REPLIES[0])
    (tmp_path / "latin.jsonl").write_bytes('{"id": 1, "text": "é"}'.encode("latin-1"))
    assert _fails(cfr("extract", "absent.jsonl"))
    assert _fails(cfr("extract", "latin.jsonl"))
    assert _fails(cfr("extract", "in.jsonl", "-o", "none/out.jsonl"))
    assert _fails(cfr("extract", "in.jsonl", "-o", "."))
