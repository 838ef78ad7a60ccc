"""Replies as a person sees them while they are written, and what goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from typing import Final

from rich.status import Status
from rich.text import Text

from cfr.cli import show
from cfr.cli.console import SafeConsole
from cfr.cli.stream import TextStream
from cfr.cli.work import Work
from cfr.constraint.recovery import read_spec
from cfr.engine.engine import Watcher
from cfr.engine.error import Transient
from cfr.file.printable import one_line
from cfr.method.program import read_program
from cfr.protocol import Call, Completion, Output, Program
from cfr.thinking import ThinkingStream

__all__ = ["CountingWatcher", "ReplyWatcher", "ToldWatcher"]

_PAUSE: Final = 0.3
"""Seconds after which a word that has not ended is shown."""
_PROGRAM: Final = "Program"
_TITLES: Final = {
    "stage2": "Stage 2: solution",
    "draft": "Draft",
    "continue": "Continued",
    "translate": _PROGRAM,
} | {stage: stage.capitalize() for stage in ("router", "format", "feedback", "program")}


class ToldWatcher(Watcher):
    """Says why a call takes longer or is made otherwise; its reply is not shown."""

    streams = False

    def __init__(self, console: SafeConsole) -> None:
        self._console = console

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:  # noqa: ARG002
        """Say why a reply begins anew."""
        said = f"\n{one_line(str(fault))}: asking again in {seconds:.1f} s"
        self._console.print(Text(said, style="yellow"))

    def adapted(self, call: Call, change: str) -> None:  # noqa: ARG002
        """Say which setting the model will not have."""
        self._console.print(Text(change, style="yellow"))


class CountingWatcher(ToldWatcher):
    """Counts what is written where there is a line to show it; the replies are not shown."""

    def __init__(self, console: SafeConsole, title: str) -> None:
        super().__init__(console)
        self.streams = console.is_terminal
        self.work = Work(title)

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:  # noqa: ARG002
        """Count a piece."""
        self.work.wrote(call)

    def finished(self, call: Call, completion: Completion) -> None:
        """Count a reply as whoever wrote it does."""
        self.work.finished(call, completion)


class ReplyWatcher(ToldWatcher):
    """Writes replies as they come: Stage 1 as a table when it is whole, the rest word by word.

    Of calls that run at the same time the first is followed; the others, and what programs print,
    appear when they are whole. A program that a reply has shown is not listed again. Whenever
    nothing is being written, a line says what goes on, with its tokens and seconds.
    """

    streams = True

    def __init__(self, console: SafeConsole) -> None:
        super().__init__(console)
        self._status: Status | None = None
        self._followed: Call | None = None
        self._waiting: list[Callable[[], None]] = []
        self._work = Work()
        self._stream = ThinkingStream()
        self._text = TextStream(console)
        self._pause: asyncio.TimerHandle | None = None
        self._thinks = False
        self._programs = 0
        self._outputs: list[tuple[Program, Output]] = []
        self._sources: list[tuple[int, str]] = []
        """Programs that replies have shown and that have not run yet, with their numbers."""

    def started(self, call: Call) -> None:
        """Say which stage begins."""
        self._work.started(call)
        if self._followed is not None:
            return
        self._stop_status()
        self._followed, self._stream, self._thinks = call, ThinkingStream(), False
        if call.stage == "stage1":
            self._show_status()
        else:
            self._print_title(call)

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Write the next words, thinking in grey."""
        self._work.wrote(call)
        if call is self._followed and call.stage != "stage1":
            self._write([(piece, True)] if reasoning else self._stream.add(piece))

    def _write(self, parts: Iterable[tuple[str, bool]]) -> None:
        for text, thought in parts:
            if self._thinks and not thought:
                self._text.end()
            self._thinks = thought
            self._text.write(text, "dim" if thought else "")
        if self._pause:
            self._pause.cancel()
        # What nothing follows for a while is shown, even if it is no whole word yet.
        later = asyncio.get_running_loop().call_later
        self._pause = later(_PAUSE, self._text.flush) if self._text.waits else None

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Begin a reply anew."""
        self._work.restarted(call)
        self._stream = ThinkingStream()
        self._text.flush()
        self._text.restart()
        super().retrying(call, fault, seconds)

    def finished(self, call: Call, completion: Completion) -> None:
        """Close the stage; what ended in the meantime follows."""
        if self._followed is not None and call is not self._followed:
            self._work.finished(call, completion)
            self._waiting.append(partial(self._close, call, completion, written=False))
            return
        self._stop_status()
        self._work.finished(call, completion)
        self._write(self._stream.end())
        self._close(call, completion, written=self._followed is not None)
        self._followed = None
        for show_now in self._waiting:
            show_now()
        self._waiting.clear()
        self._show_status()

    def executing(self, program: Program) -> None:  # noqa: ARG002
        """Say that a program runs."""
        self._work.programs += 1
        if self._followed is None:
            self._show_status()

    def executed(self, program: Program, output: Output) -> None:
        """Show what programs printed, once none runs and no reply is being written."""
        if self._followed is None:
            self._stop_status()
        self._work.programs -= 1
        self._outputs.append((program, output))
        if self._followed is not None:
            self._waiting.append(self._show_outputs)
            return
        self._show_outputs()
        self._show_status()

    def break_off(self) -> None:
        """End the line of a reply that stays unfinished, so that an error begins one of its own."""
        self._stop_status()
        if self._followed is not None:
            self._text.end()

    def _show_status(self) -> None:
        if self._work and not self._status:
            self._status = self._console.status(self._work)
            self._status.start()

    def _stop_status(self) -> None:
        if self._status:
            self._status.stop()
            self._status = None

    def _close(self, call: Call, completion: Completion, *, written: bool) -> None:
        if call.stage == "stage1":
            recovered = read_spec(completion.text)
            rung = (f" ({recovered.rung})", "dim")
            self._console.print(Text.assemble(("Stage 1: constraints", "bold"), rung))
            self._console.print(show.constraints(recovered))
        else:
            if not written:
                self._print_title(call)
                self._text.write(completion.text)
            self._text.end()
        if source := read_program(completion.text):
            self._sources.append((self._programs, source))
        self._console.print()

    def _print_title(self, call: Call) -> None:
        title = _TITLES.get(call.stage, "Solution")
        if title == _PROGRAM:
            self._programs += 1
            title += f" {self._programs}" if self._programs > 1 else ""
        self._console.print(title, style="bold")

    def _show_outputs(self) -> None:
        """Show what programs that ran at the same time printed, the first ones first."""
        if self._work.programs:
            return
        found = [(self._numbered(program), program, output) for program, output in self._outputs]
        self._outputs.clear()
        for number, program, output in sorted(found, key=itemgetter(0)):
            if not number:
                self._console.print(show.listing(program))
            title = f"Output of program {number}" if number and self._programs > 1 else "Output"
            self._console.print(show.output(output, title))

    def _numbered(self, program: Program) -> int:
        """Give the number of a program that a reply has shown, 0 where none has."""
        known = next((one for one in self._sources if one[1] == program.source), None)
        if known is None:
            return 0
        self._sources.remove(known)
        return known[0]
