import json
from collections.abc import Callable
from pathlib import Path

from instructed import write_requests

from .conftest import Run

REMAINDER = "Find the remainder when [bold]n[/bold] is divided by 7."


def test_a_problem_is_shown_with_what_its_text_demands(cfr: Run) -> None:
    ran = cfr("constraints", REMAINDER)
    assert ran.code == 0
    assert "[bold]n[/bold]" in ran.out
    assert "The answer is a remainder: an integer from 0 to 6." in ran.out
    assert "states no constraint" in cfr("constraints", "Compute 2 + 2.").out


def test_an_answer_is_checked(cfr: Run) -> None:
    for answer, truth in (("8", "violated"), ("6", "holds"), ("no idea", "undecided")):
        ran = cfr("constraints", REMAINDER, "--answer", answer)
        assert ran.code == 0
        assert truth in ran.out


def test_a_problem_as_json(cfr: Run) -> None:
    (row,) = json.loads(cfr("constraints", "How many primes are there?", "--json").out)
    assert row == {
        "kind": "domain",
        "predicate": {"op": "all", "of": [{"op": "integer"}, {"op": "between", "low": 0}]},
        "span": [0, 15],
        "phrase": "How many primes",
        "sentence": "The answer is a count: an integer, not negative.",
    }
    ran = cfr("constraints", "-", "--json", "--answer", "2.5", stdin=b"How many primes are there?")
    assert [row["truth"] for row in json.loads(ran.out)] == ["violated"]
    assert json.loads(cfr("constraints", "Compute 2 + 2.", "--json").out) == []


def test_the_demands_of_any_request_are_shown(cfr: Run) -> None:
    request = "Write about tea in at most 50 words, without commas."
    shown = cfr("constraints", request)
    assert "The reply has at most 50 words." in shown.out
    assert "“without commas”" in shown.out
    ran = cfr("constraints", "-", "--json", "--answer", "Tea, and tea.", stdin=request.encode())
    assert [(row["predicate"], row["truth"]) for row in json.loads(ran.out)] == [
        ({"op": "words", "high": 50}, "holds"),
        ({"op": "without", "marks": [","]}, "violated"),
    ]


def test_a_file_is_audited(cfr: Run, tmp_path: Path) -> None:
    rows = [
        {"id": "good", "problem": "How many primes are there?", "answer": "3"},
        {"id": "bad", "problem": "How many primes are there?", "answer": "3.5"},
        {"id": "open", "problem": "How many primes are there?"},
        {"id": "none", "problem": "Compute 2 + 2.", "answer": "4"},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    audit = json.loads(cfr("constraints", "p.jsonl", "--json").out)
    assert (audit["total"], audit["covered"], audit["with_answer"]) == (4, 3, 3)
    assert audit["unsound"] == ["bad"]
    assert audit["constraints"] == {"holds": 1, "violated": 1, "undecided": 1}
    assert audit["kinds"]["domain"] == 3
    assert audit["demanding"] == 0
    shown = cfr("constraints", "p.jsonl")
    assert "3 / 4 problems state a constraint" in shown.out
    assert "unsound: bad: “How many primes”" in shown.out
    refused = cfr("constraints", "p.jsonl", "--answer", "3")
    assert refused.code == 2
    assert "--answer goes with one problem" in refused.err


def test_a_real_benchmark_is_sound(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    audit = json.loads(cfr("constraints", str(benchmark_file("aime26")), "--json").out)
    assert audit["total"] == 30
    assert audit["unsound"] == []


def test_bad_files_are_named(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"problem": "x"}\n{oops\n')
    ran = cfr("constraints", "bad.jsonl")
    assert ran.code == 2
    assert "bad.jsonl, line 2: not JSON" in ran.err


def test_demands_that_contradict_each_other_are_named(cfr: Run) -> None:
    text = "Write at least 300 words about tea. Use at most 100 words."
    said = "No reply can meet both: The reply has at least 300 words; the reply has at most 100 "
    assert said in " ".join(cfr("constraints", text).out.split())
    first, second = json.loads(cfr("constraints", text, "--json").out)
    assert (first["conflicts"], second["conflicts"]) == ([1], [0])


def test_a_file_of_requests_is_counted_by_what_they_demand(cfr: Run, tmp_path: Path) -> None:
    write_requests(tmp_path / "own.jsonl", 2)
    with (tmp_path / "own.jsonl").open("a") as file:
        file.write('{"problem": "Write of fog, in at most 9 words and without commas."}\n')
    audit = json.loads(cfr("constraints", "own.jsonl", "--json").out)
    assert (audit["total"], audit["with_answer"], audit["demanding"]) == (3, 0, 1)
    assert audit["demands"] == {"without": 1, "words": 1}
    assert "without" in cfr("constraints", "own.jsonl").out


def test_a_text_that_is_too_long_to_be_read_is_said_to_be(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("Write without commas. " * 1_000)
    assert (
        "demands on the reply are read from 20,000 characters at most"
        in cfr("constraints", "long.txt").err
    )
