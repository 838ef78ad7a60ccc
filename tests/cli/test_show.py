import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from constraint_first.cli import show
from constraint_first.constraint.router import FAMILIES, Cue, route
from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated, Recovered
from constraint_first.file.safe import printable
from constraint_first.protocol import Call, Completion, Exchange, Output, Program, Stage, Usage
from constraint_first.report.table import Cell, Column, Table, row

HOSTILE = "\x1b[2J[red]x[/red]\u202e\x07"


def printed(shown: RenderableType, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines(shown: RenderableType) -> list[list[str]]:
    return [line.split() for line in printed(shown).splitlines() if line.strip()]


def exchange(stage: Stage, usage: Usage) -> Exchange:
    call = Call.user("Q", stage=stage, max_tokens=9)
    return Exchange(call, Completion("R", usage=usage))


def test_cues_are_coloured_where_they_stand() -> None:
    text = "Find the remainder, at most 9."
    shown = show.highlighted(text, route(text))
    assert shown.plain == text
    coloured = {text[span.start : span.end]: str(span.style) for span in shown.spans}
    assert coloured.keys() == {"remainder", "at most"}
    assert coloured["remainder"] == f"bold {show.style_of('modular_remainder')}"
    assert len(set(coloured.values())) == 2


def test_each_family_has_a_colour_of_its_own() -> None:
    assert len({show.style_of(family) for family in FAMILIES}) == len(FAMILIES) == 7
    assert show.style_of("of another version") == "white"


@given(st.text(st.characters()))
def test_no_problem_drives_the_terminal(text: str) -> None:
    cue = Cue("modular_remainder", ((0, len(text)),))
    for shown in (show.highlighted(text, (cue,)), show.cues(text, (cue,))):
        assert not set(printed(shown)) & {"\x1b", "\x07", "\r", "\u202e", "\ud800"}
    assert len(show.highlighted(text, (cue,)).plain) == len(text)


def test_the_words_that_fired_are_quoted_once_each() -> None:
    text = "The remainder of the remainder modulo [bold]7, at least 1"
    shown = printed(show.cues(text, route(text)))
    assert [line.rstrip().split(maxsplit=1) for line in shown.splitlines()] == [
        ["modular_remainder", "“remainder”, “modulo”"],
        ["bounds_or_extremal", "“at least”"],
    ]


def test_constraints_and_what_stage_1_says_of_the_answer() -> None:
    spec = ConstraintSpec(
        raw_constraints=(Constraint("C1", "modular", "taken modulo 7"),),
        propagated_constraints=(
            Propagated("P1", ("C1", "C2"), "from 0 to 6"),
            Propagated("P2", (), "an integer"),
        ),
        likely_answer_range="0-6",
        answer_format="integer",
        critical_constraints=("C1", "P1"),
        danger_note="reduce at the end",
    )
    assert lines(show.constraints(Recovered("parsed", spec))) == [
        ["kind", "constraint"],
        ["C1", "modular", "taken", "modulo", "7"],
        ["P1", "from", "C1,", "C2", "from", "0", "to", "6"],
        ["P2", "derived", "an", "integer"],
        ["range", "0-6"],
        ["format", "integer"],
        ["critical", "C1,", "P1"],
        ["danger", "reduce", "at", "the", "end"],
    ]


def test_only_what_there_is_of_a_spec_is_shown() -> None:
    assert lines(show.constraints(Recovered("fallback", ConstraintSpec()))) == []
    noted = Recovered("fields", ConstraintSpec(answer_format="integer"))
    assert lines(show.constraints(noted)) == [["format", "integer"]]


def test_hostile_constraints_are_shown_and_not_obeyed() -> None:
    spec = ConstraintSpec(
        raw_constraints=(Constraint(HOSTILE, HOSTILE, HOSTILE),),
        propagated_constraints=(Propagated(HOSTILE, (HOSTILE,), HOSTILE),),
        answer_format=HOSTILE,
        critical_constraints=(HOSTILE,),
    )
    shown = printed(show.constraints(Recovered("parsed", spec)))
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    assert shown.count("[red]x[/red]") == 8


def test_tokens_by_stage_and_in_all() -> None:
    exchanges = [
        exchange("stage1", Usage(1_000, 20, 3, 4)),
        exchange("stage2", Usage(50, 60)),
        exchange("stage2", Usage(5, 6)),
    ]
    assert lines(show.tokens(exchanges)) == [
        ["stage", "input", "output", "reasoning", "cached", "total"],
        ["stage1", "1,000", "20", "3", "4", "1,020"],
        ["stage2", "55", "66", "0", "0", "121"],
        ["all", "1,055", "86", "3", "4", "1,141"],
    ]
    assert lines(show.tokens(exchanges[1:]))[1:] == [["stage2", "55", "66", "0", "0", "121"]]


def test_tokens_that_were_not_counted_are_not_zero() -> None:
    unknown = exchange("direct", Usage(reported=False))
    shown = printed(show.tokens([unknown, exchange("direct", Usage(5, 6))]))
    assert shown.count("not reported") == 5


TABLE = Table(
    "main",
    "Accuracy",
    (Column("Method", "left"), Column("AIME24", group="Pass@1"), Column("n")),
    (
        row("Qwen", kind="heading"),
        row("Direct CoT", "50.0", "30"),
        row("CFR", Cell("60.0", bold=True, tone="gain"), "30"),
        row("DeepSeek", kind="heading"),
        row("Direct CoT", "70.0", "30"),
    ),
    ("Means of 4 runs.",),
)


def test_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_table(TABLE)
    shown = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [" ".join(line.split()) for line in shown] == [
        "Accuracy",
        "Qwen",
        "Method Pass@1 AIME24 n",
        "Direct CoT 50.0 30",
        "CFR 60.0 30",
        "DeepSeek",
        "Method Pass@1 AIME24 n",
        "Direct CoT 70.0 30",
        "Means of 4 runs.",
    ]


def test_a_number_is_never_cut_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    columns = tuple(Column(f"column {n}") for n in range(12))
    cells = [f"{1234567890 + n}" for n in range(12)]
    show.print_table(Table("wide", "Wide", columns, (row(*cells),)))
    shown = capsys.readouterr().out
    assert {*cells[:2]} <= {*shown.split()}
    assert "Not shown at this width: column 2, column 3," in " ".join(shown.split())
    monkeypatch.delenv("COLUMNS")
    show.print_table(Table("wide", "Wide", columns, (row(*cells),)))
    assert capsys.readouterr().out.splitlines()[-1].split() == cells, "whole in a pipe"


def test_hostile_cells_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (Column(HOSTILE, group=HOSTILE),)
    rows = (row(HOSTILE, kind="heading"), row(HOSTILE))
    show.print_table(Table("t", HOSTILE, columns, rows, (HOSTILE,)))
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    assert shown.count("[red]x[/red]") == 6


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_no_program_or_output_reaches_a_terminal_unshown(source: str, printed: str) -> None:
    for shown in (show.listing(Program(source)), show.output(Output(printed, printed))):
        assert shown.plain == printable(shown.plain)
        shown.plain.encode()


def test_a_flood_is_cut_where_it_is_shown() -> None:
    assert len(show.output(Output("y" * 60_000)).plain) < 5_000


def test_a_short_output_stands_behind_its_title() -> None:
    assert show.output(Output("42\n")).plain == "Output  42\n"
    assert show.output(Output(""), "Output of program 2").plain == "Output of program 2  nothing\n"
    assert show.output(Output("1\n2\n", "ended: time")).plain == "Output\n1\n2\nended: time\n"
