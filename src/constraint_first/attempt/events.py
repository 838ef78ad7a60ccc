"""The events of an attempt, and ways to follow them."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar

from constraint_first.model.error import Transient
from constraint_first.model.wire import Watcher
from constraint_first.protocol import Call, Completion, Output, Program, Stage, Usage
from constraint_first.thinking import ThinkingStream

if TYPE_CHECKING:
    from constraint_first.attempt.attempt import Attempt

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Started:
    """A call is about to be performed."""

    call: Call


@dataclass(frozen=True, slots=True)
class Wrote:
    """The next words of a reply, or of the thinking ahead of it."""

    call: Call
    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class Retrying:
    """A call failed and is retried after a pause; its words so far are void."""

    call: Call
    fault: Transient
    seconds: float


@dataclass(frozen=True, slots=True)
class Adapted:
    """The model refused a setting; ``change`` describes what is sent instead from now on."""

    call: Call
    change: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A call has its completion."""

    call: Call
    completion: Completion
    written: bool = False
    """Whether its words were reported before; see ``InOrder``."""


@dataclass(frozen=True, slots=True)
class Executing:
    """A program is about to be run."""

    program: Program


@dataclass(frozen=True, slots=True)
class Executed:
    """A program has ended."""

    program: Program
    output: Output


@dataclass(frozen=True, slots=True)
class Ended:
    """The attempt is complete: the last event."""

    attempt: Attempt


Event: TypeAlias = Started | Wrote | Retrying | Adapted | Finished | Executing | Executed | Ended
Tell: TypeAlias = Callable[[Event], object]
"""A callback for events as they happen. It must not block; an exception ends the attempt."""


class Telling(Watcher):
    """Turns a client's reports on one call into events."""

    def __init__(self, call: Call, tell: Tell, *, stream: bool) -> None:
        self._call = call
        self._tell = tell
        self.streams = stream

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:  # noqa: ARG002
        self._tell(Wrote(self._call, piece, reasoning))

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:  # noqa: ARG002
        self._tell(Retrying(self._call, fault, seconds))

    def adapted(self, call: Call, change: str) -> None:  # noqa: ARG002
        self._tell(Adapted(self._call, change))


class InOrder:
    """Puts events in an order that one reader can follow: ``tell=InOrder(tell)``.

    Of concurrent calls the first is reported word by word, its thinking marked. For the others
    ``Started`` and ``Wrote`` are dropped; their replies, and the outputs of programs, are reported
    when they are complete and no other reply is being written.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._waiting: list[Event] = []
        self._stream = ThinkingStream()
        self.followed: Call | None = None
        """The call whose reply is being written."""

    def __call__(self, event: Event) -> None:
        match event:
            case Started(call):
                if self.followed is None:
                    self.followed, self._stream = call, ThinkingStream()
                    self._tell(event)
            case Wrote(call, text, thought):
                if call is self.followed and thought:
                    self._tell(event)
                elif call is self.followed:
                    for part, thinks in self._stream.add(text):
                        self._tell(Wrote(call, part, thinks))
            case Finished(call):
                self._finish(call, event)
            case Executed() if self.followed:
                self._waiting.append(event)
            case Retrying(call):
                if call is self.followed:
                    self._stream = ThinkingStream()
                self._tell(event)
            case _:
                self._tell(event)

    def _finish(self, call: Call, event: Finished) -> None:
        if self.followed is not None and call is not self.followed:
            self._waiting.append(event)
            return
        if self.followed is not None:
            self.followed, event = None, replace(event, written=True)
            for part, thinks in self._stream.end():
                self._tell(Wrote(call, part, thinks))
        self._tell(event)
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self._tell(one)


class Feed(Generic[E]):
    """An unbounded queue of events, for a reader that may be slower: ``tell`` never blocks."""

    def __init__(self) -> None:
        self.waiting: list[E] = []
        self._changed = asyncio.Event()

    def tell(self, event: E) -> None:
        self.waiting.append(event)
        self._changed.set()

    def take(self) -> list[E]:
        taken, self.waiting = self.waiting, []
        return taken

    async def follow(
        self, work: Coroutine[Any, Any, object], silence: float | None = None
    ) -> AsyncGenerator[list[E]]:
        """Run the work, yield its events, then raise its exception, if any.

        An empty list means that no event came for ``silence`` seconds. Closing the generator early
        cancels the work (use ``contextlib.aclosing``).
        """
        task = asyncio.ensure_future(work)
        task.add_done_callback(lambda _: self._changed.set())
        try:
            while not task.done() or self.waiting:
                try:
                    async with asyncio.timeout(silence):
                        await self._changed.wait()
                except TimeoutError:
                    yield []
                    continue
                self._changed.clear()
                if taken := self.take():
                    yield taken
            await task
        finally:
            task.cancel()
            with suppress(BaseException):
                await task


PROGRAM: Final = "Program"
_TITLES: Final = {
    "stage1": "Stage 1: constraints",
    "stage2": "Stage 2: solution",
    "draft": "Draft",
    "continue": "Continued",
    "translate": PROGRAM,
} | {stage: stage.capitalize() for stage in ("router", "format", "feedback", "program")}


def stage_title(stage: Stage) -> str:
    """Return a readable name of a stage."""
    return _TITLES.get(stage, "Solution")


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """The progress of a solution: the step that begins or ends, and the usage so far."""

    stage: str
    """The stage of a call (``direct``, ``stage1``, …), ``program``, or ``model``: a download."""
    state: Literal["fetching", "started", "retrying", "finished"]
    detail: str = ""
    """How much of a file was downloaded, or why a call is retried."""
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
"""A callback for the progress of a solution; an exception ends the solution."""


class ProgressMeter:
    """Turns events into the progress of a solution."""

    def __init__(self, tell: TellProgress) -> None:
        self._tell_progress = tell
        self._started = time.monotonic()
        self._calls, self._usage = 0, Usage()
        self._fetched = ("", -1)

    def fetching(self, done: int, total: int, doing: str) -> None:
        """Report every tenth of a model file."""
        tenth = (doing, 10 * done // max(total, 1))
        if tenth != self._fetched:
            self._fetched = tenth
            amount = f"{doing}, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            self._tell("model", "fetching", amount)

    def __call__(self, event: Event) -> None:
        match event:
            case Started(call):
                self._tell(call.stage, "started")
            case Retrying(call, fault, seconds):
                self._tell(call.stage, "retrying", f"{fault}; again in {seconds:.1f} s")
            case Finished(call, completion):
                self._calls += 1
                self._usage += completion.usage
                self._tell(call.stage, "finished")
            case Executing(program):
                self._tell(program.stage, "started")
            case Executed(program, output):
                self._tell(program.stage, "finished", output.error)
            case _:
                pass

    def _tell(
        self,
        stage: str,
        state: Literal["fetching", "started", "retrying", "finished"],
        detail: str = "",
    ) -> None:
        seconds = time.monotonic() - self._started
        self._tell_progress(SolveProgress(stage, state, detail, self._calls, self._usage, seconds))


def raised_at(error: Exception) -> str:
    """Return the place in the code where an exception was raised."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"in {frame.f_globals.get('__name__', '?')}, line {line}"
