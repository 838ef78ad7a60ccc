import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from constraint_first.cli.console import SafeConsole

from .conftest import open_terminal

HOSTILE = "\x1b[2J\x9b2J\u202e[red]x[/red] org/name[/x] :smile:"
SHOWN = "�[2J�2J�[red]x[/red] org/name[/x] :smile:"


def test_every_kind_of_thing_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(HOSTILE, title=HOSTILE, caption=Text(HOSTILE), box=None)
    table.add_column(Text(HOSTILE))
    table.add_row(HOSTILE, Text(HOSTILE))
    console = SafeConsole()
    console.print(HOSTILE, Text(HOSTILE), style="bold")
    console.print(Group(table, Rule(HOSTILE), Rule(Text(HOSTILE))))
    with console.status(HOSTILE):
        pass
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x9b", "\u202e"}
    assert shown.count("[red]x[/red]") == 10
    assert SHOWN in shown


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
