"""Replies on a terminal of their own: what it shows while they are written."""

import json
import re
import sys
from pathlib import Path

import pytest
from loopback import Endpoint, stream

from constraint_first.attempt.events import Executed, Executing, Finished, Started
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.solve import ReplyPrinter
from constraint_first.protocol import Call, Completion, Output, Program, Usage

from .conftest import CODES, Terminal, on_terminal

SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}
)
CUED = "Find the remainder when $3^5$ is divided by 7."
WORDS = "The incomprehensibilities of multiplicative remainders notwithstanding, it is \\boxed{5}."


def test_stage_1_says_how_far_it_is(endpoint: Endpoint, tmp_path: Path) -> None:
    pieces = [WORDS[at : at + 3] for at in range(0, len(WORDS), 3)]
    endpoint.script(stream(SPEC[:9], SPEC[9:20], SPEC[20:]), stream(*pieces))
    shown = on_terminal(endpoint, tmp_path, "solve", CUED, "--method", "cfr", columns=80)
    assert re.search(r"Stage 1: what must the answer satisfy\?  about 3 tokens, \d+ s", shown)
    endpoint.script(stream(SPEC), stream(*pieces))
    shown = on_terminal(endpoint, tmp_path, "solve", CUED, "--method", "cfr")
    assert WORDS in shown.replace("\n", ""), "the terminal itself folds it"


def test_code_keeps_its_lines(endpoint: Endpoint, tmp_path: Path) -> None:
    code = "```python\nprint(sum(n for n in range(1_000) if n % 7 == 5))  # a long line\n```"
    endpoint.script(stream(*code.replace(" ", "| ").split("|"), "\nIt is \\boxed{5}."))
    shown = on_terminal(endpoint, tmp_path, "solve", "Compute 2 + 3.", "--method", "direct")
    assert code.splitlines()[1] in shown.splitlines()


async def test_what_nobody_follows_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    printer = ReplyPrinter(SafeConsole())
    first, second = (Call.user("Q", stage="direct", max_tokens=9) for _ in range(2))
    printer.tell(Started(first))
    printer.tell(Started(second))
    assert "written" not in screen.getvalue(), "the first is followed"
    printer.tell(Finished(first, Completion("1", usage=Usage(5, 1_234))))
    printer.tell(Finished(second, Completion("2", usage=Usage(5, 1_234))))
    program = Program("print(5)")
    printer.tell(Executing(program))
    printer.tell(Executed(program, Output("5")))
    shown = CODES.sub("", screen.getvalue())
    parts = (
        "1 more reply is written  about 1,234 tokens, ",
        "A program runs  about 2,468 tokens, ",
        "Output  5",
    )
    assert sorted(parts, key=shown.index) == [*parts]
