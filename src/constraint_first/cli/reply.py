"""Replies as a person sees them while they are written, and what goes on meanwhile."""

from __future__ import annotations

import asyncio
from operator import itemgetter
from typing import Final

from rich.status import Status
from rich.text import Text

from constraint_first.cli import show
from constraint_first.cli.activity import Activity
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.stream import TextStream
from constraint_first.constraint.recovery import read_spec
from constraint_first.engine.engine import Watcher
from constraint_first.engine.error import Transient
from constraint_first.engine.ordered_watcher import PROGRAM, OrderedWatcher, stage_title
from constraint_first.file.printable import one_line
from constraint_first.method.program import read_program
from constraint_first.protocol import Call, Completion, Output, Program

__all__ = ["CountingWatcher", "ReplyWatcher", "ToldWatcher"]

_PAUSE: Final = 0.3
"""Seconds after which a word that has not ended is shown."""


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
        self.activity = Activity(title)

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:  # noqa: ARG002
        """Count a piece."""
        self.activity.wrote(call)

    def finished(self, call: Call, completion: Completion) -> None:
        """Count a reply as whoever wrote it does."""
        self.activity.finished(call, completion)


class ReplyWatcher(OrderedWatcher):
    """Writes replies as they come: Stage 1 as a table when it is whole, the rest word by word.

    A program that a reply has shown is not listed again. Whenever nothing is being written, a line
    says what goes on, with its tokens and seconds.
    """

    def __init__(self, console: SafeConsole, *, held: bool = False) -> None:
        super().__init__()
        self._console = console
        self._held = held
        """Whether replies are only drafts, which are not shown: the checked one is, at the end."""
        self._told = ToldWatcher(console)
        self._status: Status | None = None
        self._activity = Activity()
        self._text = TextStream(console)
        self._pause: asyncio.TimerHandle | None = None
        self._thinks = False
        self._programs = 0
        self._outputs: list[tuple[Program, Output]] = []
        self._sources: list[tuple[int, str]] = []
        """Programs that replies have shown and that have not run yet, with their numbers."""

    def started(self, call: Call) -> None:
        """Count a call, and follow it unless another is followed."""
        self._activity.started(call)
        super().started(call)

    def begin(self, call: Call) -> None:
        """Say which stage begins."""
        self._stop_status()
        self._thinks = False
        if call.stage == "stage1" or self._held:
            self._show_status()
        else:
            self._print_title(call)

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Count a piece, and write it."""
        self._activity.wrote(call)
        super().wrote(call, piece, reasoning=reasoning)

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        """Write the next words, thinking in grey."""
        if call.stage == "stage1" or self._held:
            return
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
        """Begin a reply anew, and say why."""
        self._activity.restarted(call)
        super().retrying(call, fault, seconds)
        self._text.flush()
        self._text.restart()
        self._told.retrying(call, fault, seconds)

    def adapted(self, call: Call, change: str) -> None:
        """Say which setting the model will not have."""
        self._told.adapted(call, change)

    def finished(self, call: Call, completion: Completion) -> None:
        """Close the stage; what ended in the meantime follows."""
        if self._followed is None or self._followed is call:
            self._stop_status()  # as it is: the reply does not count as ended on its line
        self._activity.finished(call, completion)
        super().finished(call, completion)
        if not self.follows:
            self._show_status()

    def executing(self, program: Program) -> None:  # noqa: ARG002
        """Say that a program runs."""
        self._activity.programs += 1
        if not self.follows:
            self._show_status()

    def executed(self, program: Program, output: Output) -> None:
        """Keep what a program printed until no reply is being written."""
        if not self.follows:
            self._stop_status()
        self._activity.programs -= 1
        self._outputs.append((program, output))
        super().executed(program, output)

    def show_output(self, program: Program, output: Output) -> None:  # noqa: ARG002
        """Show what programs printed, once none runs."""
        if not self._activity.programs:
            self._show_outputs()
        self._show_status()

    def break_off(self) -> None:
        """End the line of a reply that stays unfinished, so that an error begins one of its own."""
        self._stop_status()
        if self.follows:
            self._text.end()

    def _show_status(self) -> None:
        if self._activity and not self._status:
            self._status = self._console.status(self._activity)
            self._status.start()

    def _stop_status(self) -> None:
        if self._status:
            self._status.stop()
            self._status = None

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Close a stage."""
        if self._held:
            return
        if call.stage == "stage1":
            recovered = read_spec(completion.text)
            rung = (f" ({recovered.rung})", "dim")
            self._console.print(Text.assemble((stage_title(call.stage), "bold"), rung))
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
        title = stage_title(call.stage)
        if title == PROGRAM:
            self._programs += 1
            title += f" {self._programs}" if self._programs > 1 else ""
        self._console.print(title, style="bold")

    def _show_outputs(self) -> None:
        """Show what programs that ran at the same time printed, the first ones first."""
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
