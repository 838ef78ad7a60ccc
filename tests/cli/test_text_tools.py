"""Commands that read texts and replies: extract, grade, route, constraints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instructed import NO_COMMA, write_requests

from constraint_first.benchmark.registry import write_instructions
from constraint_first.cli.text import good_rows, with_progress, writing
from constraint_first.constraint.reply.language import can_tell_language
from constraint_first.error import OutputError
from constraint_first.problem import Json

from .conftest import Run, open_terminal

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


ROWS = [
    {"id": "a", "pred": r"so \boxed{\frac12}", "gold": "0.5"},
    {"id": "b", "pred": "x+1", "gold": "1+x"},
    {"id": 3, "pred": None, "gold": "7"},
    {"id": "d", "pred": 8, "gold": "9"},
    {"id": "e", "pred": "10%", "gold": "10", "problem": "What percent is red?"},
]


def grade_write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.name


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_file_is_graded_in_order(tmp_path: Path, cfr: Run) -> None:
    name = grade_write(tmp_path / "in.jsonl", [json.dumps(row) for row in ROWS])
    done = cfr("grade", name, "-o", "out.jsonl", "--workers", "1")
    rows = read(tmp_path / "out.jsonl")
    assert done.code == 0
    assert [row["id"] for row in rows] == ["a", "b", 3, "d", "e"]
    assert [row["verdict"] for row in rows] == [
        "correct", "correct", "incorrect", "incorrect", "correct",
    ]  # fmt: skip
    assert [row["tier"] for row in rows] == ["exact", "symbolic", "exact", "exact", "exact"]
    assert set(rows[0]) == {"id", "verdict", "tier", "answer", "seconds"}
    assert rows[0]["answer"] == r"\frac12"
    taken = (
        "in.jsonl: 5 rows; pred from 'pred', gold from 'gold', problem from 'problem' (in 1 of 5)"
    )
    assert done.err == f"{taken}, id from 'id'\n3 correct, 2 incorrect, 0 undecided\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize(
    ("pred", "gold", "start"),
    [
        (r"\frac{1}{2}", "0.5", "correct (exact tier): "),
        ("-3", "3", "incorrect (exact tier): "),
        ("2x", "x+x", "correct (symbolic tier): "),
    ],
)
def test_one_pair_prints_its_verdict_and_why(pred: str, gold: str, start: str, cfr: Run) -> None:
    done = cfr("grade", pred, gold)
    assert done.code == 0
    assert done.out.startswith(start)
    assert len(done.out) > len(start) + 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("grade", "absent.jsonl"),
        ("extract", "absent.jsonl"),
        ("grade", "in.jsonl", "-o", "no/such/folder/out.jsonl"),
        ("grade", "in.jsonl", "-o", "."),
        ("extract", "latin.jsonl"),
    ],
)
def test_what_cannot_be_graded_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], cfr: Run
) -> None:
    grade_write(tmp_path / "in.jsonl", [json.dumps(ROWS[0])])
    (tmp_path / "latin.jsonl").write_bytes('{"id": 1, "text": "é"}'.encode("latin-1"))
    done = cfr(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("cfr: ")
    assert done.err.count("\n") == 1


def test_output_stays_as_it_was_when_grading_cannot_start(tmp_path: Path, cfr: Run) -> None:
    grade_write(tmp_path / "out.jsonl", ["earlier"])
    cfr("grade", "absent.jsonl", "-o", "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "earlier\n"


def test_gold_instructions_are_checked_on_the_whole_reply(tmp_path: Path, cfr: Run) -> None:
    gold = write_instructions([NO_COMMA])
    rows = [
        {"pred": r"\boxed{7}", "gold": "7"},
        {"pred": "One, two.", "gold": gold},
        {"pred": "Three.", "gold": gold},
        {"pred": None, "gold": gold},
        {"pred": "8", "gold": "7"},
    ]
    name = grade_write(tmp_path / "in.jsonl", [json.dumps(row) for row in rows])
    done = cfr("grade", name, "-o", "out.jsonl")
    assert done.code == 0, done.err
    assert [(row["verdict"], row["tier"]) for row in read(tmp_path / "out.jsonl")] == [
        ("correct", "exact"),
        ("incorrect", "instructions"),
        ("correct", "instructions"),
        ("incorrect", "instructions"),
        ("incorrect", "exact"),
    ]
    one = cfr("grade", "One, two.", gold)
    assert one.out.startswith("incorrect (instructions tier): follows 0 of 1 instructions;")


def test_a_problem_is_shown_with_its_cues(cfr: Run) -> None:
    ran = cfr("route", "Find the remainder when [bold]n[/bold] is divided by 7.")
    assert ran.code == 0
    assert "[bold]n[/bold]" in ran.out
    assert "modular_remainder" in ran.out
    assert "routed to CFR" in ran.out
    assert "Direct CoT" in cfr("route", "Compute 2 + 2.").out


def test_a_problem_as_json(cfr: Run) -> None:
    ran = cfr("route", "How many?", "--json")
    assert json.loads(ran.out) == {
        "kind": "other",
        "why": "asks (“How many”) but gives too little to compute from",
        "routed": True,
        "cues": [{"family": "final_integer_or_count", "spans": [[0, 8]], "phrases": ["How many"]}],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "auto passes it to the model untouched: it has no question or order for a value"),
        ("What is 2 + 2?", "auto solves it as a problem: it asks for a value (“What is 2”)"),
        ("Write of tea without commas.", "auto checks the reply: it demands something of its"),
    ],
)
def test_what_auto_does_with_a_text_is_said(cfr: Run, text: str, said: str) -> None:
    for command in ("route", "constraints"):
        assert said in " ".join(cfr(command, text).out.split())


def test_a_file_is_audited(cfr: Run, tmp_path: Path) -> None:
    path = tmp_path / "aime_like.jsonl"
    texts = ["How many?", "Compute 2 + 2.", "How many are at least 3, modulo 5, in degrees?"]
    path.write_text("".join(json.dumps({"problem": text}) + "\n" for text in texts))
    audit = json.loads(cfr("route", str(path), "--json").out)
    assert audit["total"] == 3
    assert audit["routed"] == 2
    assert audit["families"]["final_integer_or_count"] == 2
    assert audit["families"]["floor_or_rounding"] == 0
    assert audit["cofire"] == {"0": 1, "1": 1, "2": 0, "3": 0, "4+": 1}
    assert "2 / 3 routed" in cfr("route", str(path)).out
    ablation = cfr("route", str(path), "--convention", "aime", "--json")
    assert json.loads(ablation.out)["routed"] == 3


def test_the_counts_of_a_real_benchmark(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    path = str(benchmark_file("aime26"))
    assert json.loads(cfr("route", path, "--json").out)["routed"] == 27
    printed = cfr("route", path, "--profile", "printed", "--json")
    assert json.loads(printed.out)["families"]["adversarial_or_game"] == 0


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


def test_the_demands_of_a_request_as_json(cfr: Run) -> None:
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


def test_a_file_of_requests_is_audited(cfr: Run, tmp_path: Path) -> None:
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


def reply_file_write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_replies_are_judged_in_the_order_of_the_demands(cfr: Run, tmp_path: Path) -> None:
    reply_file_write(tmp_path / "requests.jsonl", REQUESTS)
    replies = [
        {"id": "given", "run": 1, "text": 'Here:\n"a b"'},
        {"id": "read", "text": "one two, three four"},
        {"id": "read", "text": None},
    ]
    reply_file_write(tmp_path / "replies.jsonl", replies)
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
    reply_file_write(tmp_path / "requests.jsonl", REQUESTS)
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
    reply_file_write(tmp_path / "requests.jsonl", bad)
    reply_file_write(tmp_path / "replies.jsonl", [{"id": "a", "text": "x"}])
    ran = cfr("constraints", "requests.jsonl", "--replies", "replies.jsonl")
    assert ran.code == 2
    assert "requests.jsonl, line 1: instructions 1: " in ran.err
    assert ran.err.count("\n") == 1


def test_options_that_do_not_go_together(cfr: Run) -> None:
    assert "go with --replies" in cfr("constraints", "Write.", "-o", "x").err
    assert "goes with a file of requests" in cfr("constraints", "Write.", "--replies", "x").err


def test_real_replies(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    requests = benchmark_file("ifeval")
    replies = requests.with_name("ifeval-replies.jsonl.gz")
    if not replies.is_file() or not can_tell_language():
        pytest.skip(f"{replies} is not here, or py3langid is not installed")
    ran = cfr("constraints", str(requests), "--replies", str(replies))
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 990
    assert "990 replies, 1,488 demands: " in ran.err


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
json_rows = st.dictionaries(st.text(st.characters(), max_size=5), json_values, max_size=3)


def row_file_read(tmp_path: Path, *lines: str) -> tuple[list[int], int]:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines))
    found = good_rows(path, ("id", "pred", "gold"), ("pred", "gold"), {})
    return [row.number for row in found.rows], found.bad


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{oops", "not JSON (Expecting property name enclosed in double quotes at column 2)"),
        ("7", "JSON, but a int and not an object"),
        ('{"id": 1, "gold": 1}', "no field 'pred'"),
        ('{"id": 1, "pred": 1}', "no field 'gold'"),
        ('{"id": 1, "pred": 1, "gold": " "}', "field 'gold' is empty"),
        ('{"id": 1, "pred": [1], "gold": 1}', "field 'pred' is a list, not text"),
        ('{"id": 1, "pred": {}, "gold": 1}', "field 'pred' is a dict, not text"),
        (
            '{"id": 1, "pred": 1, "gold": true}',
            "'gold' must be a text or a number, or a list of these, not True",
        ),
        ('{"id": 1, "pred": 1, "gold": null}', "field 'gold' is null"),
        ('{"id": 1, "pred": 1, "gold": []}', "field 'gold' is null"),
        (
            '{"id": 1, "pred": NaN, "gold": 1}',
            "not JSON (NaN is no value there); write null where there is none",
        ),
        (
            '{"id": 1, "pred": 1, "gold": 1, "pred": 2}',
            "the field 'pred' is there twice; leave one out",
        ),
    ],
)
def test_the_others_are_reported_and_counted(
    line: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = '{"id": 1, "pred": "x", "gold": "7"}'
    assert row_file_read(tmp_path, good, line, good) == ([1, 3], 1)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"cfr: {tmp_path / 'in.jsonl'}, line 2: {reason}; skipped\n"


@given(st.lists(json_rows, max_size=4))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Json]]
) -> None:
    """Lone surrogates, line separators and all: each row stays one line of UTF-8."""
    path = tmp_path_factory.mktemp("rows") / "out.jsonl"
    with writing(path) as write:
        for row in rows:
            write(row)
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert [json.loads(line) for line in lines if line] == rows
    assert len(lines) == len(rows) + 1


def test_texts_stay_readable_where_they_can(tmp_path: Path) -> None:
    with writing(tmp_path / "out") as write:
        write({"answer": "√2 é"})
        write({"answer": "√2 \ud800"})
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert written == '{"answer": "√2 é"}\n{"answer": "√2 \\ud800"}\n'


def test_standard_output_without_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    with writing(None) as write:
        write({"id": 1})
        assert capsys.readouterr().out == '{"id": 1}\n', "a reader sees each row at once"


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    rows: list[dict[str, Json]] = [{"id": 1}, {"id": cast("Json", object())}]
    with pytest.raises(TypeError, match="serializable"), writing(path) as write:
        list(map(write, rows))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="cannot be written"):
        writing(tmp_path / "none" / "out").__enter__()


def test_progress_shows_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = open_terminal(monkeypatch)
    assert list(with_progress(iter("abc"), 3, "Reading")) == ["a", "b", "c"]
    assert "Reading" in screen.getvalue()
