"""Commands that read texts and replies: extract, grade, route, constraints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instructed import NO_COMMA
from snapshot import Golden

from constraint_first.benchmark.registry import write_instructions
from constraint_first.cli.text import good_rows, with_progress, writing
from constraint_first.constraint.reply.language import can_tell_language
from constraint_first.error import OutputError
from constraint_first.problem import Json

from .conftest import Run, open_terminal, played

REPLIES: list[dict[str, Any]] = [
    {"id": 1, "text": r"Thus \boxed{7}."},
    {"id": "two", "text": "I give up."},
    {"id": 3, "text": '{"final_answer": "\\frac{1}{2}", "confidence": 1'},
    {"id": 4, "text": "\ud800 so the answer is 5"},
    {"id": None, "text": None},
    {"id": [6], "text": 8},
]
GOLD = write_instructions([NO_COMMA])
ROWS: list[dict[str, Any]] = [
    {"id": "a", "pred": r"so \boxed{\frac12}", "gold": "0.5"},
    {"id": "b", "pred": "x+1", "gold": "1+x"},
    {"id": 3, "pred": None, "gold": "7"},
    {"id": "d", "pred": 8, "gold": "9"},
    {"id": "e", "pred": "10%", "gold": "10", "problem": "What percent is red?"},
    {"id": "f", "pred": "One, two.", "gold": GOLD},
    {"id": "g", "pred": "Three.", "gold": GOLD},
    {"id": "h", "pred": None, "gold": GOLD},
]
PRIMES = "How many primes are there?"
FOG = "Write of fog, in at most 9 words and without commas."
FILES: dict[str, list[Any]] = {
    "replies.jsonl": REPLIES,
    "odd.jsonl": [REPLIES[0], "{oops", [1], {"id": 5}, {"id": 6, "text": [1]}, REPLIES[1]],
    "rows.jsonl": ROWS,
    "aime_like.jsonl": [
        {"problem": "How many?"},
        {"problem": "Compute 2 + 2."},
        {"problem": "How many are at least 3, modulo 5, in degrees?"},
    ],
    "gold.jsonl": [
        {"id": "good", "problem": PRIMES, "answer": "3"},
        {"id": "bad", "problem": PRIMES, "answer": "3.5"},
        {"id": "open", "problem": PRIMES},
        {"id": "none", "problem": "Compute 2 + 2.", "answer": "4"},
    ],
    "own.jsonl": [{"problem": "Write of fog.", "answer": GOLD}, {"problem": FOG}],
    "requests.jsonl": [
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
    ],
    "answers.jsonl": [
        {"id": "given", "run": 1, "text": 'Here:\n"a b"'},
        {"id": "read", "text": "one two, three four"},
        {"id": "read", "text": None},
        {"id": "who", "text": "x"},
        "{oops",
        {"id": "read"},
        {"id": "read", "text": "fine"},
    ],
    "wrong.jsonl": [{"id": "a", "problem": "x", "instructions": [{"kwargs": {}}]}],
    "latin.jsonl": [],
}
COMMANDS = r"""
extract replies.jsonl
extract odd.jsonl -o out.jsonl
cat out.jsonl
extract absent.jsonl
extract latin.jsonl
grade rows.jsonl --workers 1 -o out.jsonl
cat out.jsonl
grade absent.jsonl -o out.jsonl
cat out.jsonl
grade rows.jsonl -o no/such/folder/out.jsonl
grade rows.jsonl -o .
grade "\frac{1}{2}" 0.5
grade -3 3
grade 2x x+x
route "Find the remainder when [bold]n[/bold] is divided by 7."
route "How many?" --json
route hello
route "What is 2 + 2?"
route aime_like.jsonl
route aime_like.jsonl --json
route aime_like.jsonl --convention aime --json
constraints "Find the remainder when [bold]n[/bold] is divided by 7." --answer 8
constraints "Find the remainder when [bold]n[/bold] is divided by 7." --answer "no idea"
constraints "How many primes are there?" --json --answer 2.5
constraints "Compute 2 + 2."
constraints "Compute 2 + 2." --json
constraints "Write about tea in at most 50 words, without commas." --answer "Tea, and tea."
constraints "Write at least 300 words about tea. Use at most 100 words."
constraints "Write at least 300 words about tea. Use at most 100 words." --json
constraints gold.jsonl
constraints gold.jsonl --json
constraints gold.jsonl --answer 3
constraints own.jsonl --json
constraints requests.jsonl --replies answers.jsonl -o out.jsonl
cat out.jsonl
constraints requests.jsonl --replies answers.jsonl --loose
constraints wrong.jsonl --replies answers.jsonl
constraints "Write." -o x
constraints "Write." --replies x
""".strip()


@pytest.mark.slow  # dozens of commands
def test_what_is_typed_and_what_is_said(golden: Golden, cfr: Run, tmp_path: Path) -> None:
    for name, rows in FILES.items():
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "latin.jsonl").write_bytes('{"id": 1, "text": "é"}'.encode("latin-1"))
    assert played(cfr, COMMANDS, tmp_path) == golden("text-tools.txt")


def test_the_counts_of_a_real_benchmark(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    path = str(benchmark_file("aime26"))
    assert json.loads(cfr("route", path, "--json").out)["routed"] == 27
    printed = cfr("route", path, "--profile", "printed", "--json")
    assert json.loads(printed.out)["families"]["adversarial_or_game"] == 0


def test_a_real_benchmark_is_sound(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    audit = json.loads(cfr("constraints", str(benchmark_file("aime26")), "--json").out)
    assert audit["total"] == 30
    assert audit["unsound"] == []


def test_a_text_that_is_too_long_to_be_read_is_said_to_be(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("Write without commas. " * 1_000)
    assert (
        "demands on the reply are read from 20,000 characters at most"
        in cfr("constraints", "long.txt").err
    )


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
