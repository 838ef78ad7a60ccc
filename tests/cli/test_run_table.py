import io
from collections import Counter
from dataclasses import replace

from rich.console import Console

from constraint_first.cli.console import Table
from constraint_first.cli.progress import ratios, results, summary_table
from constraint_first.protocol import Usage
from constraint_first.store.query import SeriesResult, Tally
from constraint_first.store.series import Series

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
    heading, row = cells(results([SeriesResult(series(), tally, COUNTED)]))
    assert heading == COLUMNS
    assert row == [
        *("aime24", "routed-cfr(reply=json)", "m"),
        *("10/1,200", "50.0%", "10.0% – 90.0%", "2 cut, 1 unread", "1,234"),
    ]


def test_a_name_is_never_cut_short() -> None:
    console = Console(file=io.StringIO(), width=80, highlight=False)
    console.print(results([SeriesResult(series("a-model-of-a-long-name"), Tally(1), COUNTED)]))
    assert isinstance(console.file, io.StringIO)
    assert "…" not in console.file.getvalue()


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


def test_tokens_are_compared_where_there_is_something_to_compare_with() -> None:
    vote = result("vote", Usage(9, 9))
    assert ratios([vote]) is None
    assert ratios([result("direct", Usage(9, 9))]) is None
    unknown = ratios([result("direct", Usage(reported=False)), vote])
    assert unknown is not None
    assert cells(unknown)[2][3:] == ["–", "–", "–"]


def test_a_run_without_replies_has_no_accuracy() -> None:
    tally = Tally(30, failed=3, usage=Usage(5, reported=False))
    _, row = cells(results([SeriesResult(series(), tally)]))
    assert row[3:] == ["0/30 (3 failed)", "–", "–", "0", "5+"]


SUMMARY = SeriesResult(
    Series("aime24", "direct", "m", number=1, label="Direct CoT"),
    Tally(14, ok=7, truncated=2, unparsed=1, failed=4, usage=Usage(1_000, 234)),
    COUNTED,
)


def test_the_series_of_a_store() -> None:
    heading, row = cells(summary_table([SUMMARY]))
    assert heading == ["#", *COLUMNS]
    assert row == [
        *(str(SUMMARY.series.number), "aime24", "direct", "m"),
        *("10 (4 failed)", "50.0%", "10.0% – 90.0%", "2 cut, 1 unread", "1,234"),
    ]


def test_names_are_shown_as_they_are() -> None:
    """A model is named by whoever serves it, a benchmark by its file."""
    named = Series("[bold]set[/bold]", "direct", "\x1b[2Jm[red]")
    stored = replace(SUMMARY, series=replace(named, number=1))
    tables = (results([SeriesResult(named, Tally(1))]), summary_table([stored]))
    for at, table in enumerate(tables):  # the second has numbers before them
        _, row = cells(table)
        shown = ["[bold]set[/bold]", "direct", "\N{REPLACEMENT CHARACTER}[2Jm[red]"]
        assert row[at : at + 3] == shown
