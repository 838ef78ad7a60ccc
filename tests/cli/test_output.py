"""What commands write, and that they write it in no other way."""

import ast
import io
import json
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Endpoint as Server
from loopback import completion, failure
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import constraint_first.cli
from constraint_first.cli import console as show
from constraint_first.cli import print_json, print_note, print_text
from constraint_first.cli.console import SafeConsole
from constraint_first.constraint.router import Cue, route
from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated, Recovered
from constraint_first.file.safe import printable
from constraint_first.protocol import Call, Completion, Exchange, Output, Program, Stage, Usage
from constraint_first.report.table import Cell, Column, row
from constraint_first.report.table import Table as ShowTable

from .conftest import Ran, Run, open_terminal

HOSTILE = "\x1b[2J\x9b2J\u202e\x00\ud800[red]x[/red]"
SHOWN = "�[2J�2J���[red]x[/red]"
MODULES = sorted(Path(constraint_first.cli.__file__).parent.glob("*.py"))


def test_text_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    print_text(f"a\n{HOSTILE}")
    print_text(Path("x"))
    print_text()
    print_note(f"a\n{HOSTILE}\tb")
    said = capsys.readouterr()
    assert said.out == f"a\n{SHOWN}\nx\n\n"
    assert said.err == f"a {SHOWN} b\n"


def test_json_is_exact_and_safe_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"é": [HOSTILE, "a\nb"]})
    said = capsys.readouterr().out
    assert json.loads(said) == {"é": [HOSTILE, "a\nb"]}
    assert said.isascii() is False
    assert said.removesuffix("\n").isprintable()
    print_json([1], indent=2)
    assert capsys.readouterr().out == "[\n  1\n]\n"


@given(st.text(st.characters()))
def test_any_text_survives_an_output_that_holds_few_signs(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for encoding in ("utf-8", "latin-1", "ascii"):
            raw = io.BytesIO()
            stream = io.TextIOWrapper(raw, encoding, errors="replace", write_through=True)
            patch.setattr(sys, "stdout", stream)
            print_json([text], indent=2)
            assert json.loads(raw.getvalue().decode(encoding)) == [text]


# What writes to a terminal without our looking at it, by the name under which it is called.
BYPASSES = {"echo", "secho", "print_exc", "from_markup", "from_ansi", "confirm", "prompt", "pager"}
NEEDS_CONSOLE = {"Live", "Progress", "track"}


def bypasses(source: str) -> list[str]:
    """Find the ways to a terminal that go around this package and ``console``."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="rich.console" | "rich", names=names):
                banned = {"Console", "print", "print_json", "get_console", "console"}
                found += [one.name for one in names if one.name in banned]
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
                found += [name] * called_wrongly(node, name)
            case ast.Attribute(ast.Attribute(ast.Name("sys"), "stdout" | "stderr"), "write"):
                found.append("sys.write")
            case _:
                pass
    return found


def called_wrongly(call: ast.Call, name: str) -> bool:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and name == "print":
        return True
    if "markup" in given:
        return not isinstance(markup := given["markup"], ast.Constant) or markup.value is not False
    return name in BYPASSES or (name in NEEDS_CONSOLE and "console" not in given)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_command_writes_in_another_way(path: Path) -> None:
    found = bypasses(path.read_text())
    allowed = {"__init__.py": ["echo"] * 4, "console.py": ["console"]}
    assert found == allowed.get(path.name, [])


@pytest.mark.parametrize(
    "line",
    [
        "click.echo(x)",
        "print(x)",
        "sys.stderr.write(x)",
        "from rich.console import Console",
        "from rich import print",
        "Text.from_markup(x)",
        "console.print(x, markup=True)",
        "track(x)",
        "Progress(a, b)",
    ],
)
def test_a_way_around_is_found(line: str) -> None:
    assert bypasses(line)
    assert not bypasses("console.print(x, markup=False)\ntrack(x, console=c)\nprint_text(x)")


CONSOLE_HOSTILE = "\x1b[2J\x9b2J\u202e[red]x[/red] org/name[/x] :smile:"
CONSOLE_SHOWN = "�[2J�2J�[red]x[/red] org/name[/x] :smile:"


def test_every_kind_of_thing_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(CONSOLE_HOSTILE, title=CONSOLE_HOSTILE, caption=Text(CONSOLE_HOSTILE), box=None)
    table.add_column(Text(CONSOLE_HOSTILE))
    table.add_row(CONSOLE_HOSTILE, Text(CONSOLE_HOSTILE))
    console = SafeConsole()
    console.print(CONSOLE_HOSTILE, Text(CONSOLE_HOSTILE), style="bold")
    console.print(Group(table, Rule(CONSOLE_HOSTILE), Rule(Text(CONSOLE_HOSTILE))))
    with console.status(CONSOLE_HOSTILE):
        pass
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x9b", "\u202e"}
    assert shown.count("[red]x[/red]") == 10
    assert CONSOLE_SHOWN in shown


@given(st.text(st.characters()))
def test_no_text_moves_the_cursor(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        screen = io.StringIO()
        patch.setattr(sys, "stdout", screen)
        SafeConsole(width=40).print(Text(text), text)
    kept = {character for character in screen.getvalue() if not character.isprintable()}
    assert not kept & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160))}
    assert "\u202e" not in kept
    assert not any("\ud800" <= character <= "\udfff" for character in kept)


def test_a_cell_is_as_wide_as_what_is_shown_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("a", "b", box=None, padding=0)
    table.add_row("\x1b\x1b\x1bx", "y")
    SafeConsole().print(table)
    assert capsys.readouterr().out.splitlines()[1] == "���xy"


def test_the_cursor_of_a_progress_bar_still_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = open_terminal(monkeypatch)
    console = SafeConsole(stderr=True)
    with Live("one", console=console, auto_refresh=False) as live:
        live.update("two", refresh=True)
    assert "\x1b[" in screen.getvalue()
    assert "two" in screen.getvalue()


def test_quiet_is_quiet_and_standard_error_is_another_stream(
    capsys: pytest.CaptureFixture[str],
) -> None:
    SafeConsole(stderr=True, quiet=True).print("a")
    SafeConsole(stderr=True).print("b")
    SafeConsole().print("1 + 1 = 'two'")
    assert capsys.readouterr() == ("1 + 1 = 'two'\n", "b\n")


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


@given(st.text(st.characters()))
def test_no_problem_drives_the_terminal(text: str) -> None:
    cue = Cue("modular_remainder", ((0, len(text)),))
    for shown in (show.highlighted(text, (cue,)), show.cues(text, (cue,))):
        assert not set(printed(shown)) & {"\x1b", "\x07", "\r", "\u202e", "\ud800"}
    assert len(show.highlighted(text, (cue,)).plain) == len(text)


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


def test_tokens_that_were_not_counted_are_not_zero() -> None:
    unknown = exchange("direct", Usage(reported=False))
    shown = printed(show.tokens([unknown, exchange("direct", Usage(5, 6))]))
    assert shown.count("not reported") == 5


TABLE = ShowTable(
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
    show.print_table(ShowTable("wide", "Wide", columns, (row(*cells),)))
    shown = capsys.readouterr().out
    assert {*cells[:2]} <= {*shown.split()}
    assert "Not shown at this width: column 2, column 3," in " ".join(shown.split())
    monkeypatch.delenv("COLUMNS")
    show.print_table(ShowTable("wide", "Wide", columns, (row(*cells),)))
    assert capsys.readouterr().out.splitlines()[-1].split() == cells, "whole in a pipe"


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


CONTROL = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f"
NAME = f"org/name[/x][red]{CONTROL}\u202egnp"
"""A name as an argument or a file may have it; no path on this disk may hold a slash or a NUL."""
LONG = f"{NAME}\n{'x' * 3_000}"
TEXT = f"{NAME}\n\x00\ud800\r\u2066end"
ANSWER = "[red]x[/x]\x1b[2J\x9b\u202e"
CUED = f"Find the remainder of 5 divided by 3. {TEXT}"


def assert_harmless(*runs: Ran) -> None:
    for ran in runs:
        said = ran.out + ran.err
        assert "Traceback" not in said
        assert {one for one in said if unicodedata.category(one) in ("Cc", "Cs")} <= {"\n"}
        assert not set(said) & {"\u202e", "\u2066"}


def write_rows(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def hostile(endpoint: Server) -> Server:
    """An endpoint whose model has a hostile name and writes hostile replies."""
    spec = {
        "raw_constraints": [{"id": TEXT, "type": TEXT, "description": TEXT}],
        "answer_format": TEXT,
        "danger_note": TEXT,
    }

    def respond(body: dict[str, Any]) -> Any:
        stage1 = "Do not solve the problem" in str(body)
        return completion(json.dumps(spec) if stage1 else f"{TEXT} \\boxed{{{ANSWER}}}")

    endpoint.served = [{"id": LONG}]
    endpoint.respond = respond
    return endpoint


def test_a_hostile_model_cannot_drive_the_terminal(cfr: Run, hostile: Server) -> None:
    ask = ("solve", "Find the remainder of 5 divided by 3. " + NAME, "--base-url", hostile.url)
    shown, quiet = cfr(*ask), cfr(*ask, "--quiet")
    assert_harmless(shown, quiet, cfr("demo", *ask[2:]))
    assert (shown.code, quiet.code) == (0, 0), shown.err
    assert "[red]" in shown.out
    assert quiet.out == "[red]x[/x]�[2J��\n"
    ran = cfr(*ask, "--json")
    assert_harmless(ran)
    assert json.loads(ran.out)["answer"] == ANSWER


@pytest.mark.parametrize("fault", [failure(400, TEXT), failure(503, TEXT, Retry_After="0")])
def test_an_endpoint_s_message_is_one_harmless_line(cfr: Run, endpoint: Server, fault: Any) -> None:
    endpoint.script(fault)
    ask = ("solve", "2 + 2?", "--model", LONG, "--base-url", endpoint.url)
    ran = cfr(*ask, "--quiet")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "[/x][red]" in ran.err
    assert_harmless(ran, cfr(*ask))


@pytest.fixture
def filled(cfr: Run, hostile: Server, tmp_path: Path) -> str:
    """A store in which all that can come from outside is hostile, and half of it failed."""
    name = NAME.replace("/", "_") + "\n.jsonl"
    rows = (
        {"id": f"{n} {LONG[:200]}", "problem": f"{n} {CUED[:60]}", "answer": NAME} for n in "12"
    )
    write_rows(tmp_path / name, *rows)
    answer = hostile.respond
    assert answer
    hostile.respond = lambda body: failure(400, TEXT) if "1 Find" in str(body) else answer(body)
    ran = cfr(
        "eval",
        name,
        "--runs",
        "1",
        "--method",
        "direct",
        "--method",
        "cfr",
        "--base-url",
        hostile.url,
    )
    assert_harmless(ran)
    assert ran.code == 7, ran.err
    assert "[/x]" in ran.out
    return "runs.db"


def test_a_store_of_hostile_names_and_texts(cfr: Run, filled: str, tmp_path: Path) -> None:
    listed = cfr("runs", "--json")
    assert json.loads(listed.out)[0]["model"] == LONG
    label = {"annotator": "ada", "benchmark": NAME, "problem": TEXT, "method": "cfr", "model": LONG}
    constraints = [{"id": TEXT, "stage": "raw", "mark": "entailed"}]
    label |= {"decoding": {}, "run": 0, "constraints": constraints, "missing": [TEXT], "note": TEXT}
    write_rows(tmp_path / "labels.jsonl", label)
    assert_harmless(listed)
    for command in READERS:
        ran = cfr(*command.split())
        assert_harmless(ran)
        assert ran.code == 0, ran.err
    wrong = cfr("compare", "--model", LONG, "--baseline", NAME)
    assert wrong.code == 2
    assert_harmless(wrong)


READERS = (
    "runs",
    "runs --regrade",
    "compare --method cfr",
    "compare --method cfr --json",
    "audit router --method cfr",
    "audit stage1 --method cfr",
    "audit errors --method cfr",
    "audit errors --method cfr --json",
    "audit report labels.jsonl",
    "report --method cfr --no-figures",
    "export out.csv",
    "export out.jsonl",
)


def test_a_terminal_gets_our_colours_and_nothing_else(cfr: Run, filled: str) -> None:
    for command in ("runs", "compare --method cfr", "audit stage1 --method cfr"):
        ran = cfr(*command.split(), FORCE_COLOR="1", TERM="xterm-256color")
        assert "\x1b[" in ran.out
        ran.out = re.sub(r"\x1b\[[\d;]*m", "", ran.out)
        assert_harmless(ran)


@pytest.mark.parametrize(
    "command", ["solve", "route", "constraints", "eval", "grade", "extract", "bench check"]
)
def test_hostile_arguments_come_back_harmless(command: str, cfr: Run) -> None:
    def ask(*words: str) -> Ran:
        return cfr(*command.split(), *words, OPENAI_BASE_URL="http://127.0.0.1:1/v1")

    assert_harmless(
        ask(f"{NAME}.jsonl"),
        ask(LONG + ".jsonl"),
        ask("x", f"--{NAME}"),
        ask("x", "-o", NAME, "--method", NAME, "--base-url", NAME),
        cfr(f"{NAME}{LONG}"),
    )


def test_files_of_hostile_rows(cfr: Run, tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "p.jsonl", {"id": TEXT, "problem": CUED, "answer": TEXT})
    rows = write_rows(
        tmp_path / "rows.jsonl",
        {"id": TEXT, "pred": TEXT, "gold": TEXT, "text": f"\\boxed{{{ANSWER}}}"},
        {"id": TEXT, "problem": TEXT},
    )
    judged = write_rows(
        tmp_path / "o.jsonl",
        *(
            {"problem": TEXT, "method": method, "label": TEXT, "model": LONG, "correct": True}
            for method in (TEXT, LONG)
        ),
    )
    graded, read = cfr("grade", rows), cfr("extract", rows)
    assert json.loads(graded.out)["id"] == TEXT
    assert json.loads(read.out)["answer"] == ANSWER
    assert_harmless(
        graded,
        read,
        cfr("grade", NAME, NAME),
        cfr("route", problems),
        cfr("route", CUED.replace("\x00", "").replace("\ud800", "")),
        cfr("constraints", problems),
        cfr("constraints", CUED.replace("\x00", "").replace("\ud800", ""), "--answer", "x\x1b[2J"),
        cfr("bench", "check", problems),
        cfr("compare", judged, "--baseline", LONG),
        cfr("audit", "router", judged),
        cfr("report", judged, "--no-figures"),
    )
