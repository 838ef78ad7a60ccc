"""The terminal dialogue of ``cfr audit mark``: what is shown, and what each key does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Final, cast

import click
from rich.rule import Rule
from rich.text import Text

from constraint_first.analysis.audit.manual.label import Mark, append_label
from constraint_first.analysis.audit.manual.task import MarkingTask
from constraint_first.cli import show
from constraint_first.cli.console import SafeConsole
from constraint_first.constraint.router import route

__all__ = ["Keys", "Marking"]

_MARKS: Final[dict[str, Mark]] = {"e": "entailed", "n": "not_entailed", "v": "vague"}
_HELP: Final = """\
e  entailed: the problem's text says it, or it follows from the text
n  not entailed: it does not follow, or it is wrong
v  vague: it says too little to be true or false
b  back to the constraint before
s  skip this attempt for now
m  add a constraint that the problem entails and the list lacks
t  write a note on this attempt
g  show the gold answer
q  save and quit
Enter keeps a mark, and saves an attempt when all is marked."""


class Keys:
    """Keys as they are pressed on a terminal; from anything else, a line for each."""

    def __init__(self) -> None:
        self._ahead: list[str] = []
        if sys.stdin:
            cast("TextIOWrapper", sys.stdin).reconfigure(errors="replace")

    def press(self) -> str:
        """Wait for a key, in lower case; an empty text is Enter."""
        if not _from_terminal():
            return self.line("").lower()
        if not self._ahead:
            got = click.getchar()
            # Keys that are typed faster than they are read come together; an arrow is one key.
            self._ahead = [got] if got.startswith("\x1b") else list(got)
        if not self._ahead or self._ahead[0] == "\x04":
            raise EOFError
        if self._ahead[0] == "\x03":
            raise KeyboardInterrupt
        return self._ahead.pop(0).strip().lower()

    def line(self, prompt: str) -> str:
        """Wait for a line of text."""
        self._ahead.clear()
        if not sys.stdin:
            raise EOFError
        return input(prompt).strip()


def _from_terminal() -> bool:
    return bool(sys.stdin) and sys.stdin.isatty()


class _Quit(Exception):
    """The annotator quits."""


class Marking:
    """The dialogue with an annotator, attempt by attempt."""

    def __init__(self, tasks: Sequence[MarkingTask], size: int, path: Path) -> None:
        self.console = SafeConsole()
        self._tasks = tasks
        self._size = size
        self._path = path
        self._keys = Keys()

    def run(self) -> None:
        """Judge until all is judged, or the annotator quits; either way nothing is lost."""
        at, interrupted = 0, False
        try:
            while at < len(self._tasks):
                at += self._judge(self._tasks[at], first=at == 0)
        except (_Quit, EOFError):
            self.console.print()
        except KeyboardInterrupt:
            self.console.print()
            interrupted = True
        finally:
            for task in self._tasks:
                self._save(task)
        self._conclude()
        if interrupted:
            raise click.Abort

    def _judge(self, task: MarkingTask, *, first: bool) -> int:
        """Judge an attempt; return where to go from it: one on, or one back."""
        self._show_problem(task)
        while True:
            self._show_turn(task)
            key = self._keys.press()
            if key == "q":
                raise _Quit
            if key == "s":
                self._save(task)
                self._say("skipped for now")
                return 1
            if key == "" and task.finished:
                self._save(task)
                self._say("saved")
                return 1
            if key == "b" and task.at == 0 and not first:
                self._save(task)
                self._say("back to the attempt before")
                return -1
            self._do(task, key)

    def _do(self, task: MarkingTask, key: str) -> None:
        if key in _MARKS and not task.finished:
            task.mark(_MARKS[key])
            self._say(_words(_MARKS[key]))
        elif key == "" and task.current:
            self._say(f"still {_words(task.current)}")
            task.at += 1
        elif key == "b" and task.at:
            self._say("back")
            task.at -= 1
        elif key in _ASIDE:
            self._aside(task, key)
        elif key == "b":
            self._say("this is the first one")
        else:
            named = repr(show.printable(key)[:20]) if key else "Enter"
            self._say(f"{named} does nothing here; ? shows the keys")

    def _aside(self, task: MarkingTask, key: str) -> None:
        if key == "m":
            self._say("missing")
            self._add_missing(task, self._keys.line("  what is missing (- takes the last back): "))
        elif key == "t":
            self._say("note")
            task.label = replace(task.label, note=self._keys.line("  note: "))
        elif key == "g":
            gold = task.asked.gold_shown
            said = f"{task.asked.gold_name} {gold}"
            self._say("no gold answer is known" if gold is None else said)
        else:
            self._say("help")
            self.console.print(Text(_HELP, style="dim"))

    def _add_missing(self, task: MarkingTask, text: str) -> None:
        missing = task.label.missing
        if text:
            missing = missing[:-1] if text == "-" else (*missing, text)
        task.label = replace(task.label, missing=missing)
        for one in missing:
            self.console.print(Text(f"  missing: {show.printable(one)}", style="dim"))

    def _save(self, task: MarkingTask) -> None:
        if task.label != task.saved:
            append_label(self._path, task.label)
            task.saved = task.label

    def _show_problem(self, task: MarkingTask) -> None:
        benchmark, *_, problem, _ = task.label.key
        name = show.printable(f"{benchmark} {problem}".strip())
        title = Text.assemble((f"{task.number} of {self._size}", "bold"), f"  {name}")
        self.console.print()
        self.console.print(Rule(title, align="left", style="dim"))
        text = task.asked.text
        self.console.print(show.highlighted(text, route(text)))
        self.console.print()

    def _show_turn(self, task: MarkingTask) -> None:
        for line in _turn(task):
            self.console.print(line)
        self.console.print("> ", end="")

    def _say(self, what: str) -> None:
        self.console.print(Text(show.printable(what), style="dim"))

    def _conclude(self) -> None:
        left = sum(not task.saved.complete for task in self._tasks)
        drafts = sum(task.saved.begun and not task.saved.complete for task in self._tasks)
        begun = f", {drafts} begun" if drafts else ""
        said = f"{self._size - left} of {self._size} judged{begun}; kept in {self._path}."
        report = f"'cfr audit report {self._path}' adds up what was found."
        way = "The same command goes on here." if left else report
        self.console.print(Text(f"{said} {way}"), soft_wrap=True)


_ASIDE: Final = ("m", "t", "g", "?")


def _turn(task: MarkingTask) -> Iterator[Text]:
    if task.finished:
        yield Text("All marked. m: something is missing; b: back; Enter: save and go on.")
        return
    name, kind, description = map(show.printable, task.constraint())
    count = f"{task.at + 1}/{len(task.label.constraints)}"
    yield Text.assemble((f"{count}  ", "dim"), (name, "bold"), (f" {kind}  ", "dim"), description)
    now = f", Enter: still {_words(task.current)}" if task.current else ""
    yield Text(f"e entailed, n not entailed, v vague, ? more keys{now}", style="dim")


def _words(mark: Mark) -> str:
    return mark.replace("_", " ")
