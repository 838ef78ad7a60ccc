import io
import sys

import pytest

from constraint_first.cli.console import bytes_bar, count_bar
from constraint_first.model.pull import Progress

from .conftest import Terminal, open_terminal

MEGABYTE = 1_000_000


def test_elsewhere_it_is_a_line_for_each_quarter_of_each_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with bytes_bar("qwen") as report:
        for done in range(0, 101, 5):
            report(done * MEGABYTE, 100 * MEGABYTE, "from Hugging Face")
        report(100 * MEGABYTE, 100 * MEGABYTE, "checking")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        *(f"qwen: from Hugging Face, {mb} of 100 MB" for mb in (0, 25, 50, 75, 100)),
        "qwen: checking, 100 of 100 MB",
    ]


def test_an_empty_file_is_done_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with bytes_bar("empty") as report:
        report(0, 0, "checking")
    assert capsys.readouterr().err == "empty: checking, 0 of 0 MB\n"


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with bytes_bar("[bold]m[/bold] \x1b[2J") as report:
        report(1, 1, "checking")
    shown = capsys.readouterr().err
    assert shown.startswith("[bold]m[/bold] ")
    assert "\x1b" not in shown


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


@pytest.mark.parametrize("screen", [io.StringIO, Terminal])
def test_quiet_shows_nothing(screen: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    written = screen()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setenv("TERM", "xterm")
    with bytes_bar("qwen", quiet=True) as report:
        report(1, 2, "checking")
    assert written.getvalue() == ""


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
