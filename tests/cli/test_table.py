"""Tables and bars at several widths, with names that are as bad as they get."""

import io
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from constraint_first.benchmark.registry import read_problems
from constraint_first.cli import console as show
from constraint_first.cli import root
from constraint_first.cli import solve as demo
from constraint_first.cli.console import Column, Folded, SafeConsole, Table, bytes_bar, count_bar
from constraint_first.cli.progress import ratios, series_table
from constraint_first.constraint.stage1 import read_spec
from constraint_first.model.limit import Cost
from constraint_first.model.local import Progress
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Exchange, Usage
from constraint_first.store.query import SeriesResult, Tally
from constraint_first.store.series import Series

from .conftest import Run, open_terminal

MEASURED = Path(__file__).parents[2] / "docs" / "results" / "constraintbench-mini.jsonl"
MODELS = ("Org/Some.Very-Long_Model-Name-1.5B-Instruct-GPTQ-Int4", "数学モデル-7b-instruct-2507")
BENCHMARKS = ("constraintbench-1-seed-5101-with-a-long-name", "math500")
VARIANTS = (
    "cfr(reply=json,tokens1=12345,tokens2=23456)",
    "cfr(reply=json,tokens1=12345,tokens2=99999)",
    "until-agreed(base=program(tokens=200,check=off),most=3,agree=1,check=off)",
    "until-agreed(base=program(tokens=200),most=3,agree=1)",
    "calibrated(policy=qwen2.5-coder-1.5b-instruct)",
)
SCORES = Counter({(2, 2): 20, (1, 2): 13, (0, 2): 27})
WIDTHS = ("60", "80", "100", "120")
NUMBER = re.compile(r"\d[\d.,]*\d%?")


def assert_fits(narrow: str, wide: str, width: str) -> None:
    """See that no number of a narrow table is split, and that no line is longer than the screen."""
    numbers = {*NUMBER.findall(wide)}
    names = "".join(wide.split())  # a name may be split, with the digits in it
    for number in NUMBER.findall(narrow):
        assert number in numbers or number in names, number
    if int(width) >= 80:
        assert max(Text(line.rstrip()).cell_len for line in narrow.splitlines()) <= int(width)


def shown(
    capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, width: str | None, thing: Any
) -> str:
    """Print something, or run a command, at a width; without one as into a file."""
    capsys.readouterr()
    patch.delenv("COLUMNS", raising=False)
    if width:
        patch.setenv("COLUMNS", width)
    if isinstance(thing, list):
        root.main(cast("list[str]", thing), standalone_mode=False)
    else:
        SafeConsole().print(thing)
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Real attempts under other names: two models, and variants that differ in little."""
    renamed = {"list-first": VARIANTS[0], "cfr(reply=json)": VARIANTS[1]}
    path = tmp_path_factory.mktemp("runs") / "nasty.jsonl"
    rows = [json.loads(line) for line in MEASURED.read_text(encoding="utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for model in MODELS:
            for row in rows:
                method = renamed.get(row["method"], row["method"])
                label = "CFR (always-on)" if method in VARIANTS else row["label"]
                new = {"model": model, "benchmark": BENCHMARKS[0], "method": method, "label": label}
                file.write(json.dumps(row | new) + "\n")
    return str(path)


@pytest.mark.parametrize(
    "command",
    ["compare", "audit router", "audit stage1", "audit errors", "audit errors --method cfr-brief"],
)
def test_tables_of_an_analysis(
    command: str, nasty: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    head, *rest = command.split(" --", 1)
    typed = [
        *head.split(),
        nasty,
        *(f"--{one}" for part in rest for one in [part.replace(" ", "=")]),
    ]
    wide = shown(capsys, monkeypatch, None, typed)
    for width in WIDTHS:
        assert_fits(shown(capsys, monkeypatch, width, typed), wide, width)


def table_results() -> list[SeriesResult]:
    used = Usage(1_361_901, 240_965)
    tally = Tally(12_820, ok=2_795, truncated=14, unparsed=11, correct=1_046, usage=used)
    return [
        SeriesResult(Series(benchmark, method, model), replace(tally), SCORES)
        for model in MODELS
        for benchmark in BENCHMARKS
        for method in ("direct", *VARIANTS)
    ]


def summaries() -> list[SeriesResult]:
    return [
        SeriesResult(
            replace(one.series, number=n, label="l"),
            replace(one.tally, total=2_820, ok=2_792, failed=3),
            SCORES,
        )
        for n, one in enumerate(table_results(), 1)
    ]


def things() -> dict[str, Any]:
    words = "Find the remainder when the incomprehensibilities are divided by 1,000,007."
    spec = {
        "raw_constraints": [
            {"id": "C1", "type": "modular", "description": words},
            {"id": "C2", "type": "bound", "description": "it lies in [34.6, 39.7]"},
        ],
        "likely_answer_range": "[0, 1,000,006]",
    }
    (problem,) = read_problems(words).problems
    sentence = "It is an integer from 0 to 1,000,006."
    check: Json = {"sentence": sentence, "truth": "holds", "span": [0, 40]}
    call = Call.user("Q", stage="stage1", max_tokens=9, model=MODELS[0])
    used = Exchange(call, Completion("R", usage=Usage(1_361_901, 240_965, 12_345, 1_234_567)))
    label = SimpleNamespace(label="Until agreed (a label of some length)")
    solved = SimpleNamespace(
        method=label, answer="123456789", usage=Usage(5, 1_234_567), problem=problem
    )
    pairs = [(solved, solved)] * len(demo.EXAMPLES)
    side_by_side = demo._side_by_side  # pyright: ignore[reportPrivateUsage]
    costly = [
        replace(one, tally=replace(one.tally, cost=Cost(1_234.56))) for one in table_results()
    ]
    methods = [word for variant in VARIANTS[2:] for word in ("--method", variant)]
    return {
        "eval": series_table(table_results()),
        "eval with costs": series_table(costly),
        "runs with costs": series_table(
            [
                replace(one, tally=replace(one.tally, cost=Cost(0.000123, complete=False)))
                for one in summaries()
            ],
            numbered=True,
        ),
        "ratios": ratios(table_results()),
        "runs": series_table(summaries(), numbered=True),
        "constraints": show.constraints(read_spec(json.dumps(spec))),
        "checks": show.shown_checks({"checks": [check], "confidence": 0.5}, words),
        "tokens": show.tokens([used]),
        "demo": side_by_side(pairs),  # pyright: ignore[reportArgumentType]
        "bench": ["bench", "show", "--tier", "joint"],
        "models": ["models"],
        "prompts": ["prompts"],
        "dry run": ["eval", "--dry-run", "--limit", "2", *methods],
        "dry run of several": [
            *("eval", "--dry-run", "constraintbench", "constraintbench@1", "--limit", "2"),
            *("--model", "deepseek-chat", *methods, "--temperature", "0.3", "--temperature", "1"),
        ],
        "route": ["route", str(MEASURED)],
        "route one": ["route", words],
        "constraints one": ["constraints", words],
    }


@pytest.mark.parametrize("name", [*things()])
def test_the_other_tables(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    thing = things()[name]
    wide = shown(capsys, monkeypatch, None, thing)
    for width in WIDTHS[1:]:
        assert_fits(shown(capsys, monkeypatch, width, thing), wide, width)


def test_a_row_is_one_line_in_a_pipe(cfr: Run, nasty: str) -> None:
    piped = cfr("compare", nasty)
    assert piped.code == 0, piped.err
    row = next(line for line in piped.out.splitlines() if line.startswith("ConstraintBench-1"))
    assert len(row) > 120
    narrow = cfr("compare", nasty, COLUMNS="60")
    assert "Not shown at this width: " in narrow.out


def test_rows_under_headings_and_words_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("name", Column("n"), title="Title")
    assert table.row_count == 0
    table.add_section("One")
    table.add_row("a", "1", style="bold")
    table.add_section("Two")
    table.add_row(Text("b"), "2")
    table.caption = "So far."
    assert table.row_count == 2
    lines = [line.rstrip() for line in shown(capsys, monkeypatch, "80", table).splitlines()]
    assert lines == [
        "Title",
        "",
        "One",
        "name  n",
        "a     1",
        "",
        "Two",
        "name  n",
        "b     2",
        "So far.",
    ]


def test_a_table_without_rows_has_no_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(capsys, monkeypatch, "80", Table("a", "b", title="Empty")) == "Empty\n"


def test_a_text_folds_between_words_and_stays_whole_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Folded(Text("word " * 50))
    assert shown(capsys, monkeypatch, None, text).count("\n") == 1
    narrow = shown(capsys, monkeypatch, "40", text).splitlines()
    assert max(map(len, narrow)) <= 40
    assert {*" ".join(narrow).split()} == {"word"}


@given(st.lists(st.tuples(st.text("ab-数 ", max_size=30), st.integers(0, 10**9)), max_size=5))
def test_every_number_is_whole_at_any_width(rows: list[tuple[str, int]]) -> None:
    table = Table("name", Column("n"), Column("more", rank=1), Column("words", "prose", rank=2))
    for name, number in rows:
        table.add_row(name, f"{number:,}", "1.5 – 2.5", "some words")
    for width in range(1, 60):
        console = Console(file=io.StringIO(), width=width)
        console.print(table, crop=False)
        assert isinstance(console.file, io.StringIO)
        printed = console.file.getvalue()
        assert all(f"{number:,}" in printed for _, number in rows)


COUNTED = Counter({(2, 2): 2, (1, 2): 1, (0, 2): 2})
"""Five of ten attempts are right, at five problems."""
COLUMNS = ["benchmark", "method", "model", "done", "accuracy", "95 %", "no answer", "tokens"]


def cells(table: Table) -> list[list[str]]:
    """Render each cell, as a row of texts."""
    console = Console(file=io.StringIO(), width=500, highlight=False)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = [line for line in console.file.getvalue().splitlines() if line.strip()]
    return [[part.strip() for part in line.split("  ") if part.strip()] for line in lines]


def series(model: str = "m") -> Series:
    return Series("aime24", "routed-cfr(reply=json)", model)


def test_the_counts_of_a_run() -> None:
    tally = Tally(1_200, ok=7, truncated=2, unparsed=1, correct=5, usage=Usage(1_000, 234))
    heading, row = cells(series_table([SeriesResult(series(), tally, COUNTED)]))
    assert heading == COLUMNS
    assert row == [
        *("aime24", "routed-cfr(reply=json)", "m"),
        *("10/1,200", "50.0%", "10.0% – 90.0%", "2 cut, 1 unread", "1,234"),
    ]


def result(method: str, usage: Usage, ok: int = 10, **changes: str) -> SeriesResult:
    return SeriesResult(replace(Series("sums", method, "m"), **changes), Tally(ok, ok, usage=usage))


def test_the_tokens_of_a_run_relative_to_direct_cot() -> None:
    base = result("direct(budget=9)", Usage(1_000, 9_000))
    vote = result("vote", Usage(12_000, 16_200, shared=8_000), ok=20)
    table = ratios([base, vote, result("vote", Usage(9, 9), model="other")])
    assert table is not None
    title, heading, row = cells(table)
    assert title == ["tokens relative to direct"]
    assert heading[3:] == ["output", "prompt once", "every time"]
    assert row == ["sums", "vote", "m", "0.90×", "1.01×", "1.41×"]


def test_a_run_without_replies_has_no_accuracy() -> None:
    tally = Tally(30, failed=3, usage=Usage(5, reported=False))
    _, row = cells(series_table([SeriesResult(series(), tally)]))
    assert row[3:] == ["0/30 (3 failed)", "–", "–", "0", "5+"]


SUMMARY = SeriesResult(
    Series("aime24", "direct", "m", number=1, label="Direct CoT"),
    Tally(14, ok=7, truncated=2, unparsed=1, failed=4, usage=Usage(1_000, 234)),
    COUNTED,
)


def test_the_series_of_a_store() -> None:
    heading, row = cells(series_table([SUMMARY], numbered=True))
    assert heading == ["#", *COLUMNS]
    assert row == [
        *(str(SUMMARY.series.number), "aime24", "direct", "m"),
        *("10 (4 failed)", "50.0%", "10.0% – 90.0%", "2 cut, 1 unread", "1,234"),
    ]


MEGABYTE = 1_000_000


def test_elsewhere_it_is_a_line_for_each_quarter_of_each_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with bytes_bar("[bold]m[/bold] \x1b[2J") as report:
        for done in range(0, 101, 5):
            report(done * MEGABYTE, 100 * MEGABYTE, "from Hugging Face")
        report(100 * MEGABYTE, 100 * MEGABYTE, "checking")
        report(0, 0, "empty")
    shown, name = capsys.readouterr(), "[bold]m[/bold] \N{REPLACEMENT CHARACTER}[2J"
    assert shown.out == ""
    assert shown.err.splitlines() == [
        *(f"{name}: from Hugging Face, {mb} of 100 MB" for mb in (0, 25, 50, 75, 100)),
        f"{name}: checking, 100 of 100 MB",
        f"{name}: empty, 0 of 0 MB",
    ]


def test_on_a_terminal_it_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with bytes_bar("qwen[x]") as report:
        report(25 * MEGABYTE, 100 * MEGABYTE, "from Hugging Face")
        report(100 * MEGABYTE, 100 * MEGABYTE, "checking")
    shown = terminal.getvalue()
    assert "qwen[x]: checking" in shown
    assert "100.0/100.0 MB" in shown


def test_where_nothing_is_fetched_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with bytes_bar("qwen"):
        pass
    assert terminal.getvalue() == ""


def test_the_bar_is_put_away_when_the_operation_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    hide, show = "\x1b[?25l", "\x1b[?25h"

    def fail(report: Progress) -> None:
        report(1, 2, "checking")
        raise OSError("full")

    with pytest.raises(OSError, match="full"), bytes_bar("qwen") as report:
        fail(report)
    assert terminal.getvalue().count(hide) == terminal.getvalue().count(show) == 1


def test_a_count_is_shown_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with count_bar("merging") as report:
        report(3, 7)
    assert capsys.readouterr().err == ""
    terminal = open_terminal(monkeypatch)
    with count_bar("merging") as report:
        report(3, 7)
    assert "merging" in terminal.getvalue()
    assert "3/7" in terminal.getvalue()
