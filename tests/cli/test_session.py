"""What is shown while replies are written."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from loopback import Endpoint, Reply, completion, failure, stream
from loopback import Endpoint as Server
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.events import Executed, Executing, Finished, Started
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.progress import TerminalWatcher, write_duration
from constraint_first.cli.solve import ReplyPrinter, open_session
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import Method
from constraint_first.method.registry import make
from constraint_first.model.error import TookTooLong, Unreachable
from constraint_first.model.limit import Limiter
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Bounds
from constraint_first.model.transport import Endpoint as LiveEndpoint
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import (
    Call,
    Completion,
    Output,
    Program,
    Steps,
    Usage,
    ask,
    execute,
    together,
)
from constraint_first.run.job import Job, prepare
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import CODES, Terminal, on_terminal, open_terminal

CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
PLAIN = Problem("Compute $3^5$.")
SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}
)


async def solve(server: Server, method: Method, problem: Problem) -> str | None:
    async with open_session(ModelRef(base_url=server.url), Decoding(), quiet=True) as session:
        return (await session.solve(method, problem)).answer


@pytest.mark.parametrize("method", ["plain", "sound", "sound(then=off)"])
@pytest.mark.parametrize("text", ["Write about rain.", "Write about rain. Do not use any commas."])
async def test_a_reply_is_shown_once_and_a_draft_not_at_all(
    endpoint: Server, capsys: pytest.CaptureFixture[str], method: str, text: str
) -> None:
    endpoint.script(stream("Heavy rain, cold ", "rain, all day."))
    reply = await solve(endpoint, make(method), Problem(text))
    assert reply
    shown = capsys.readouterr().out
    assert (reply == "Heavy rain cold rain all day.") is ("commas" in text and method != "plain")
    shown = shown.partition("repair:")[0]  # the note of the change quotes both
    assert shown.count(reply) == 1
    assert shown.count("Heavy rain") == 1


async def test_thinking_inside_replies_is_no_solution(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    thought = stream("<th", "ink>243 = ", "238 + 5</thi", "nk>", r"It is \boxed{5}.")
    endpoint.script(completion(f"<think>modulo, then</think>{SPEC}"), thought)
    assert await solve(endpoint, Routed(), CUED) == "5"
    shown = capsys.readouterr().out
    assert "Stage 1: constraints (parsed)" in shown
    assert "243 = 238 + 5\nIt is" in shown
    assert "think>" not in shown
    assert "modulo, then" not in shown


async def test_samples_at_the_same_time_do_not_mix(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first is followed word by word; whatever ends before it waits."""
    order: list[int] = []

    def respond(body: dict[str, Any]) -> Reply:
        order.append(body["seed"])
        number = body["seed"]
        reply = stream(*f"Reply {number} says \\boxed{{{number % 2}}}.".split(" "))
        # The first request is the slowest, so that the others are there before it.
        reply.delay = 0.3 if len(order) == 1 else 0.0
        return reply

    endpoint.respond = respond
    ref, method = ModelRef(base_url=endpoint.url), make("self-consistency(samples=3)")
    async with open_session(ref, Decoding(seed=4), quiet=True) as session:
        await session.solve(method, PLAIN)
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("Reply")]
    assert sorted(order) == [4, 5, 6]
    assert sorted(shown) == [f"Reply{n}says\\boxed{{{n % 2}}}." for n in (4, 5, 6)]
    assert lines.count("Solution") == 3


async def test_a_call_that_is_made_again_says_why(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = failure(503, "busy \x1b[2J [red]now[/red]", Retry_After="0")
    endpoint.script(busy, completion(r"\boxed{243}"))
    assert await solve(endpoint, Direct(), PLAIN) == "243"
    shown = capsys.readouterr().out
    assert "HTTP 503" in shown
    assert "[red]now[/red]" in shown
    assert "asking again in 0.0 s" in shown
    assert "\x1b" not in shown, "what an endpoint says is no more to be obeyed than a model"


async def test_an_error_begins_a_line_of_its_own(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    half = 'data: {"choices": [{"delta": {"content": "It is"}}]}\n\n'
    endpoint.script(Reply(chunks=[half], endless=b": wait\n\n"))
    ref, bounds = ModelRef("m", base_url=endpoint.url), Bounds(seconds=0.5)
    async with open_session(ref, Decoding(), bounds, quiet=True) as session:
        with pytest.raises(TookTooLong):
            await session.solve(Direct(), PLAIN)
    assert capsys.readouterr().out.endswith("It is\n")


@dataclass(frozen=True)
class Computes:
    """A method that has the reply run as a program, beside another question."""

    label: ClassVar[str] = "Computes"

    def solve(self, problem: Problem) -> Steps[Solution]:
        said = yield from ask(Call.user(problem.text, stage="direct", max_tokens=99))

        def program() -> Steps[str]:
            return (yield from execute(Program(said.text))).text

        def aside() -> Steps[str]:
            return (yield from ask(Call.user("And?", stage="direct", max_tokens=99))).text

        printed, _ = yield from together([program(), aside()])
        return Solution(printed.strip(), said.text)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("print(6 * 7)", ["print(6 * 7)", "Output", "42", "Answer  42"]),
        ("print('\x1b[2J[red]')", ["print('�[2J[red]')", "Output"]),
        ("1 / 0", ["1 / 0", "Output", "ZeroDivisionError: division by zero"]),
        ("x = 1", ["x = 1", "Output", "nothing"]),
    ],
)
async def test_a_program_and_its_output_are_shown(
    endpoint: Server, capsys: pytest.CaptureFixture[str], source: str, parts: list[str]
) -> None:
    endpoint.script(completion(source), completion("aside"))
    await solve(endpoint, Computes(), PLAIN)
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown
    assert "aside" in shown
    behind = shown[shown.index("Program\n") :]
    places = [behind.index(part) for part in parts]
    assert places == sorted(places)


FENCED = "I compute it.\n```python\nprint({})\n```"


async def test_the_output_of_each_of_several_programs_is_named(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = ("1 // 0", "3 ** 5", "243")
    endpoint.script(*(completion(FENCED.format(source)) for source in sources))
    assert await solve(endpoint, make("until-agreed(base=program,most=3)"), PLAIN) == "243"
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert shown.count("print(") == 3
    assert [lines.count(title) for title in ("Program", "Program 2", "Program 3")] == [1, 1, 1]
    # The first two are asked at the same time, and either reply may be the first to come.
    outputs = sorted(line.partition("  ")[2] for line in lines if line.startswith("Output of "))
    assert outputs == ["243", "243", "ZeroDivisionError: division by zero"]
    assert lines[lines.index("Output of program 3  243") - 1] == ""


REPLY_CUED = "Find the remainder when $3^5$ is divided by 7."
WORDS = "The incomprehensibilities of multiplicative remainders notwithstanding, it is \\boxed{5}."


def test_stage_1_says_how_far_it_is(endpoint: Endpoint, tmp_path: Path) -> None:
    pieces = [WORDS[at : at + 3] for at in range(0, len(WORDS), 3)]
    endpoint.script(stream(SPEC[:9], SPEC[9:20], SPEC[20:]), stream(*pieces))
    shown = on_terminal(endpoint, tmp_path, "solve", REPLY_CUED, "--method", "cfr", columns=80)
    assert re.search(r"Stage 1: what must the answer satisfy\?  about 3 tokens, \d+ s", shown)
    endpoint.script(stream(SPEC), stream(*pieces))
    shown = on_terminal(endpoint, tmp_path, "solve", REPLY_CUED, "--method", "cfr")
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


def series(model: str = "m") -> Series:
    return Series("aime24", "routed-cfr(reply=json)", model)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """Twenty attempts, of which four were there before."""
    with Store(str(tmp_path / "runs.db")) as store:
        prepared = prepare(store, series(), sums(10), 2, Scripted([]))
        prepared.tally.ok = prepared.tally.resumed = 4
        yield prepared


class Clock:
    """Stands in for the time that the display reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(
            "constraint_first.cli.progress.time", SimpleNamespace(monotonic=lambda: self.now)
        )
        monkeypatch.setattr("constraint_first.cli.progress._PLAIN_EVERY", 0.0)


async def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Wait for the next line that a watcher writes."""
    capsys.readouterr()
    async with asyncio.timeout(60):
        while not (shown := capsys.readouterr().err):
            await asyncio.sleep(0)
    return shown.splitlines()[0]


def test_a_time_has_no_parts_that_are_zero_ahead_of_others() -> None:
    times = [write_duration(seconds) for seconds in (0.2, 52, 60, 3_599, 7_260)]
    assert times == ["0 s", "52 s", "1 min 00 s", "59 min 59 s", "2 h 01 min"]


async def test_elsewhere_than_on_a_terminal_it_is_a_line_now_and_then(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, limiter = Clock(monkeypatch), Limiter(8)
    assert limiter.take(2)
    async with TerminalWatcher().running([job], [limiter]):
        waiting = "4 of 20 attempts, 2 calls in flight, 0 failed, waiting for replies"
        assert await one_line(capsys) == waiting
        # Two of the sixteen that are to be made took 10 seconds: fourteen more take 70.
        clock.now += 10
        job.tally.ok, job.tally.failed = 5, 1
        left = "6 of 20 attempts, 2 calls in flight, 1 failed, about 1 min 10 s left"
        assert await one_line(capsys) == left
        clock.now += 3_600
        assert (await one_line(capsys)).endswith("about 7 h 01 min left")
    capsys.readouterr()
    await asyncio.sleep(0)
    assert capsys.readouterr() == ("", ""), "it stops with the run"


async def test_calls_that_are_made_elsewhere_are_not_counted(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Clock(monkeypatch)
    watcher = TerminalWatcher()
    async with watcher.running([job], []):
        assert await one_line(capsys) == "4 of 20 attempts, 0 failed, waiting for replies"
        watcher.interrupted()
    assert "4 of 20 attempts are stored in x.db" in (said := watcher.stopped("x.db"))
    assert "those in flight are lost" in said


async def test_the_endpoints_of_a_model_are_in_the_line(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Clock(monkeypatch)
    watcher = TerminalWatcher()
    both = Balanced([LiveEndpoint(f"http://me:hush@h/{n}", "m") for n in "ab"])
    both.notes = ("http://h/b: 9 tokens of context",)
    watcher.opened([both, Scripted([])])
    assert capsys.readouterr().err == "http://h/b: 9 tokens of context\n"
    async with watcher.running([job], []):
        assert (await one_line(capsys)).endswith("waiting for replies; 2 of 2 endpoints in use")
        both.balancer.rest(both.balancer.replicas[1], Unreachable("gone"))
        assert (await one_line(capsys)).endswith("; 1 of 2 endpoints in use, http://h/b rests")
    await both.balancer.close()


async def test_on_a_terminal_it_is_a_table(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    async with TerminalWatcher().running([job], [Limiter(8)]):
        async with asyncio.timeout(60):
            while "waiting for replies" not in terminal.getvalue():
                await asyncio.sleep(0)
    shown = terminal.getvalue()
    assert "accuracy so far" in shown
    assert "95 %" not in shown, "an interval is for a run that has ended"
    assert "4/20" in shown
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1, "the cursor comes back"


async def test_a_run_that_fails_ends_its_display(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)

    async def fail() -> None:
        async with TerminalWatcher().running([job], []):
            await asyncio.sleep(0)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await fail()
    assert len(asyncio.all_tasks()) == 1
    assert terminal.getvalue().count("\x1b[?25h") == 1


@pytest.mark.parametrize("on_terminal", [True, False])
async def test_quiet_shows_nothing(
    job: Job, monkeypatch: pytest.MonkeyPatch, on_terminal: bool
) -> None:
    screen = open_terminal(monkeypatch)
    if not on_terminal:
        monkeypatch.setattr(screen, "isatty", lambda: False)
    Clock(monkeypatch)
    watcher = TerminalWatcher(quiet=True)
    async with watcher.running([job], []):
        await asyncio.sleep(0.01)
    with watcher.fetching("qwen") as report:
        report(1, 2, "checking")
    assert screen.getvalue() == ""
