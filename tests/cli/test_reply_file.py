import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constraint_first.constraint.reply.language import can_tell_language

from .conftest import Run

REQUESTS: list[dict[str, Any]] = [
    {"id": "read", "problem": "Write at most 3 words. Do not use commas."},
    {
        "id": "given",
        "problem": "Write.",
        "instructions": [
            {"id": "punctuation:no_comma", "kwargs": {}},
            {"id": "no:such", "kwargs": {}},
            {"id": "startend:quotation"},
        ],
    },
]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_replies_are_judged_in_the_order_of_the_demands(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path / "requests.jsonl", REQUESTS)
    replies = [
        {"id": "given", "run": 1, "text": 'Here:\n"a b"'},
        {"id": "read", "text": "one two, three four"},
        {"id": "read", "text": None},
    ]
    write(tmp_path / "replies.jsonl", replies)
    ran = cfr("constraints", "requests.jsonl", "--replies", "replies.jsonl", "-o", "out.jsonl")
    assert ran.code == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows == [
        {"id": "given", "run": 1, "followed": [True, None, False]},
        {"id": "read", "run": None, "followed": [False, False]},
        {"id": "read", "run": None, "followed": [False, False]},
    ]
    assert "instruction 'no:such' (1 times) is not known" in ran.err
    assert "3 replies, 7 demands: 1 followed, 5 not, 1 undecided" in ran.err
    loose = cfr("constraints", "requests.jsonl", "--replies", "replies.jsonl", "--loose")
    assert json.loads(loose.out.splitlines()[0])["followed"] == [True, None, True]


def test_broken_lines_and_unknown_ids_are_named_and_skipped(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path / "requests.jsonl", REQUESTS)
    (tmp_path / "replies.jsonl").write_text(
        '{"id": "who", "text": "x"}\n{oops\n{"id": "read"}\n{"id": "read", "text": "fine"}\n'
    )
    ran = cfr("constraints", "requests.jsonl", "--replies", "replies.jsonl")
    assert ran.code == 0
    assert [json.loads(line)["followed"] for line in ran.out.splitlines()] == [[True, True]]
    assert "replies.jsonl, line 1: no request has the id 'who'; skipped" in ran.err
    assert "replies.jsonl, line 2: not JSON" in ran.err
    assert "replies.jsonl, line 3: no field 'text'; skipped" in ran.err
    assert "3 skipped" in ran.err


def test_bad_instructions_are_named(cfr: Run, tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [{"id": "a", "problem": "x", "instructions": [{"kwargs": {}}]}]
    write(tmp_path / "requests.jsonl", bad)
    write(tmp_path / "replies.jsonl", [{"id": "a", "text": "x"}])
    ran = cfr("constraints", "requests.jsonl", "--replies", "replies.jsonl")
    assert ran.code == 2
    assert "requests.jsonl, line 1: instructions 1: " in ran.err
    assert ran.err.count("\n") == 1


def test_options_that_do_not_go_together(cfr: Run) -> None:
    assert "go with --replies" in cfr("constraints", "Write.", "-o", "x").err
    assert "goes with a file of requests" in cfr("constraints", "Write.", "--replies", "x").err


def test_a_reply_of_a_megabyte_is_judged(cfr: Run, tmp_path: Path) -> None:
    write(tmp_path / "requests.jsonl", [{"id": "a", "problem": "Use at least 9 words. No commas."}])
    write(tmp_path / "replies.jsonl", [{"id": "a", "text": "word " * 200_000}])
    ran = cfr("constraints", "requests.jsonl", "--replies", "replies.jsonl")
    assert json.loads(ran.out)["followed"] == [True, True]


def test_real_replies(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    requests = benchmark_file("ifeval")
    replies = requests.with_name("ifeval-replies.jsonl.gz")
    if not replies.is_file() or not can_tell_language():
        pytest.skip(f"{replies} is not here, or py3langid is not installed")
    ran = cfr("constraints", str(requests), "--replies", str(replies))
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 990
    assert "990 replies, 1,488 demands: " in ran.err
