"""The contract between a method, which decides what to ask, and an engine, which asks it.

A method is a generator. It yields a round of calls, receives their completions in the same order,
and returns a result. Everything that a method may know about the outside world passes through this
file, so a method is a pure function of its problem and its completions: running it again on the
same completions gives the same calls and the same result. To resume a run is to replay it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

__all__ = [
    "Call",
    "Completion",
    "Exchange",
    "Finish",
    "Message",
    "Run",
    "Stage",
    "Steps",
    "Usage",
    "altered",
    "ask",
    "together",
]

T = TypeVar("T")

Stage: TypeAlias = Literal["direct", "stage1", "stage2"] | str
"""What a call is for. Tokens are accounted by stage; methods may add stages of their own."""

Finish: TypeAlias = Literal["stop", "length", "other"]
"""Why the model stopped: it was done, its budget ran out, or anything else the endpoint names."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation that a call sends."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model: what is asked, for which stage, and how long the reply may be.

    Temperature, top-p and seed are absent on purpose. They belong to the engine, so that every
    method in a comparison is decoded alike by construction.
    """

    messages: tuple[Message, ...]
    stage: Stage
    max_tokens: int
    json: bool = False
    """The reply should be one JSON object; engines ask for JSON mode where the endpoint has it."""
    schema: str = ""
    """The JSON Schema of that object as text, for engines that can enforce one."""
    sample: int = 0
    """Which of several equal calls this is. An engine adds it to its seed, where it has one, so
    that the samples of a vote differ and still repeat."""
    model: str | None = field(default=None, repr=False)
    """Another model that is to answer it; None for the one that the method is run with."""

    @classmethod
    def user(
        cls,
        content: str,
        *,
        stage: Stage,
        max_tokens: int,
        json: bool = False,
        schema: str = "",
        model: str | None = None,
    ) -> Call:
        """Build the usual call: a single user message."""
        return cls((Message("user", content),), stage, max_tokens, json, schema, model=model)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one or more completions, as the endpoint reported them."""

    input: int = 0
    output: int = 0
    """All generated tokens, the reasoning ones among them."""
    reasoning: int = 0
    """Those of the output that the endpoint counts as reasoning."""
    cached: int = 0
    """Those of the input that the endpoint took from its prompt cache."""
    reported: bool = True
    """False when a completion came without counts, so that a sum over it is only a lower bound."""

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            self.reported and other.reported,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model replied to one call.

    A truncated or malformed reply is a completion like any other; a call that got no reply is not,
    and never reaches a method.
    """

    text: str
    finish: Finish = "stop"
    reasoning: str = ""
    """The thinking text, whether the endpoint returned it apart or the reply began with it."""
    usage: Usage = field(default_factory=Usage)

    @property
    def truncated(self) -> bool:
        """Whether the budget ran out before the model was done."""
        return self.finish == "length"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and its completion: one line of a transcript."""

    call: Call
    completion: Completion


Steps: TypeAlias = Generator[tuple[Call, ...], tuple[Completion, ...], T]
"""A generator that yields rounds of calls, receives their completions, and returns a T."""


def ask(call: Call) -> Steps[Completion]:
    """Ask one call by itself: ``completion = yield from ask(call)``."""
    (completion,) = yield (call,)
    return completion


def altered(steps: Steps[T], change: Callable[[Call], Call]) -> Steps[T]:
    """Run a generator with each of its calls changed on the way out."""
    run = Run(steps)
    while run.calls:
        run.advance((yield tuple(map(change, run.calls))))
    return run.result


def together(branches: Iterable[Steps[T]]) -> Steps[tuple[T, ...]]:
    """Run several branches in lock-step, so that each round asks for all of them at once.

    Branches may finish after different numbers of rounds; results come back in the given order.
    """
    runs = [Run(steps) for steps in branches]
    while calls := tuple(call for run in runs for call in run.calls):
        completions = iter((yield calls))
        for run in runs:
            if run.calls:
                run.advance(tuple(next(completions) for _ in run.calls))
    return tuple(run.result for run in runs)


class Run(Generic[T]):
    """A method under way, as data: the calls it waits for, the exchanges so far, then its result.

    Engines differ only in how they obtain the completions for ``calls``. All state of a run lives
    here, and nothing here waits, blocks or fails for outside reasons.
    """

    __slots__ = ("_result", "_steps", "calls", "exchanges")

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self._result: list[T] = []
        self.exchanges: list[Exchange] = []
        self.calls: tuple[Call, ...] = ()
        """The round to perform next; empty once the run is done."""
        try:
            self.calls = self._expect(next(steps))
        except StopIteration as stop:
            self._result.append(stop.value)

    @property
    def done(self) -> bool:
        """Whether the method has returned."""
        return bool(self._result)

    @property
    def result(self) -> T:
        """What the method returned; an error while it still waits for completions."""
        if not self._result:
            raise RuntimeError(f"the run still waits for {len(self.calls)} completion(s)")
        return self._result[0]

    def advance(self, completions: tuple[Completion, ...]) -> None:
        """Hand over the completions of this round, in the order of its calls."""
        if self.done:
            raise RuntimeError("the run is done and takes no more completions")
        if len(completions) != len(self.calls):
            raise ValueError(
                f"this round has {len(self.calls)} call(s) but got {len(completions)} completion(s)"
            )
        self.exchanges.extend(map(Exchange, self.calls, completions))
        try:
            self.calls = self._expect(self._steps.send(completions))
        except StopIteration as stop:
            self.calls = ()
            self._result.append(stop.value)

    @staticmethod
    def _expect(calls: tuple[Call, ...]) -> tuple[Call, ...]:
        # An empty round would make "no calls left" mean two things; a method has no use for one.
        if not calls:
            raise ValueError("a method yielded an empty round of calls")
        return calls
