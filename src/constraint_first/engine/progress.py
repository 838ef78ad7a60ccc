"""The progress of a solution, as a function is told it: the stage, and what was used so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from constraint_first.engine.engine import Relay, Watcher
from constraint_first.engine.error import Transient
from constraint_first.protocol import Call, Completion, Output, Program, Usage

__all__ = ["ProgressWatcher", "SolveProgress", "TellProgress"]


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """A moment of a solution: what begins or ends, and what all of it has used so far."""

    stage: str
    """What a call is for (``direct``, ``stage1``, …), ``program``, or ``model`` for its file."""
    state: Literal["fetching", "started", "retrying", "finished"]
    detail: str = ""
    """How much of a file is there, or why a call is asked again."""
    calls: int = 0
    """Calls that have ended."""
    usage: Usage = field(default_factory=Usage)
    """The tokens of those calls."""
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.usage.total

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.stage} {self.state}{detail}: {self.tokens:,} tokens, {self.seconds:.1f} s"


TellProgress: TypeAlias = Callable[[SolveProgress], object]
"""A function that is told how a solution gets on; what it raises ends the solution."""


class ProgressWatcher(Relay):
    """A watcher that tells a function where a solution is, and another watcher everything."""

    def __init__(self, tell: TellProgress, watcher: Watcher) -> None:
        super().__init__(watcher)
        self._tell_progress = tell
        self._started = time.monotonic()
        self._calls, self._usage = 0, Usage()
        self._fetched = ("", -1)

    def fetching(self, done: int, total: int, doing: str) -> None:
        """Tell of every tenth of a model file."""
        tenth = (doing, 10 * done // max(total, 1))
        if tenth != self._fetched:
            self._fetched = tenth
            amount = f"{doing}, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            self._tell("model", "fetching", amount)

    def started(self, call: Call) -> None:
        """Tell that a call begins."""
        self._watcher.started(call)
        self._tell(call.stage, "started")

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Tell why a call is asked again."""
        super().retrying(call, fault, seconds)
        self._tell(call.stage, "retrying", f"{fault}; again in {seconds:.1f} s")

    def finished(self, call: Call, completion: Completion) -> None:
        """Tell that a call has ended, and count it."""
        self._calls += 1
        self._usage += completion.usage
        self._watcher.finished(call, completion)
        self._tell(call.stage, "finished")

    def executing(self, program: Program) -> None:
        """Tell that a program begins."""
        self._watcher.executing(program)
        self._tell(program.stage, "started")

    def executed(self, program: Program, output: Output) -> None:
        """Tell that a program has ended."""
        self._watcher.executed(program, output)
        self._tell(program.stage, "finished", output.error)

    def _tell(
        self,
        stage: str,
        state: Literal["fetching", "started", "retrying", "finished"],
        detail: str = "",
    ) -> None:
        seconds = time.monotonic() - self._started
        self._tell_progress(SolveProgress(stage, state, detail, self._calls, self._usage, seconds))
