"""A watcher for one reader: what happens at the same time is told one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from constraint_first.engine.engine import Watcher
from constraint_first.engine.error import Transient
from constraint_first.protocol import Call, Completion, Output, Program, Stage
from constraint_first.thinking import ThinkingStream

__all__ = ["PROGRAM", "OrderedWatcher", "stage_title"]

PROGRAM: Final = "Program"
_TITLES: Final = {
    "stage1": "Stage 1: constraints",
    "stage2": "Stage 2: solution",
    "draft": "Draft",
    "continue": "Continued",
    "translate": PROGRAM,
} | {stage: stage.capitalize() for stage in ("router", "format", "feedback", "program")}


def stage_title(stage: Stage) -> str:
    """Name a stage for a person."""
    return _TITLES.get(stage, "Solution")


class OrderedWatcher(Watcher):
    """Follows replies word by word, thinking and the rest apart. Override what is of interest.

    Of calls that run at the same time the first is followed; the others, and what programs print,
    are told when they are whole and no reply is being written.
    """

    def __init__(self) -> None:
        self._followed: Call | None = None
        self._waiting: list[Callable[[], None]] = []
        self._stream = ThinkingStream()

    @property
    def follows(self) -> bool:
        """Whether a reply is being written."""
        return self._followed is not None

    def begin(self, call: Call) -> None:
        """Begin to follow a call."""

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        """Take the next words of the reply that is followed."""

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Take a whole reply; ``written`` says whether it was followed."""

    def show_output(self, program: Program, output: Output) -> None:
        """Take what a program printed."""

    def started(self, call: Call) -> None:
        """Follow a call, unless another is followed."""
        if self._followed is None:
            self._followed, self._stream = call, ThinkingStream()
            self.begin(call)

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Pass the next words on."""
        if call is self._followed:
            self._write(call, [(piece, True)] if reasoning else self._stream.add(piece))

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:  # noqa: ARG002
        """Begin a reply anew."""
        if call is self._followed:
            self._stream = ThinkingStream()

    def finished(self, call: Call, completion: Completion) -> None:
        """Close a reply; what ended in the meantime follows."""
        if self._followed is not None and call is not self._followed:
            self._waiting.append(partial(self.end, call, completion, written=False))
            return
        followed, self._followed = self._followed is not None, None
        if followed:
            self._write(call, self._stream.end())
        self.end(call, completion, written=followed)
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()

    def executed(self, program: Program, output: Output) -> None:
        """Show what a program printed, once no reply is being written."""
        if self._followed is None:
            self.show_output(program, output)
        else:
            self._waiting.append(partial(self.show_output, program, output))

    def _write(self, call: Call, parts: Iterable[tuple[str, bool]]) -> None:
        for text, thought in parts:
            self.write(call, text, thought=thought)
