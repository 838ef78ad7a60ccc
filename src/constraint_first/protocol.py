"""The contract between a method, which decides what to ask, and an engine, which asks it.

A method is a generator. It yields a round of steps, calls to a model and programs to be run,
receives their answers in the same order, and returns a result. Everything that a method may know
about the outside world passes through this file, so a method is a pure function of its problem and
those answers: running it again on the same answers gives the same steps and the same result. To
resume a run is to replay it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")
A = TypeVar("A", bound="Completion | Output")

Stage: TypeAlias = Literal["direct", "stage1", "stage2"] | str
"""The purpose of a call. Tokens are counted by stage; methods may add stages of their own."""

Finish: TypeAlias = Literal["stop", "length", "other"]
"""Why the model stopped: it was done, its budget ran out, or anything else the endpoint names."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation that a call sends."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model: its messages, its stage, and how long the reply may be.

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
    """Which of several equal calls this is; it is added to the seed."""
    model: str | None = field(default=None, repr=False)
    """Another model that is to answer it; None for the one that the method is run with."""
    # Not in ``repr``, whose hash names stored calls.
    final: bool = field(default=False, repr=False, compare=False)
    """Whether the method returns the reply as its solution in any case, so that the reply may be
    shown as the solution while it is written."""

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
        final: bool = False,
    ) -> Call:
        messages = (Message("user", content),)
        return cls(messages, stage, max_tokens, json, schema, model=model, final=final)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one or more completions, as the endpoint reported them."""

    input: int = 0
    output: int = 0
    """All generated tokens, the reasoning ones among them."""
    reasoning: int = 0
    """The part of the output that the endpoint counts as reasoning."""
    cached: int = 0
    """The part of the input that the endpoint read from its prompt cache."""
    reported: bool = True
    """False where a completion had no counts, so that a sum is only a lower bound."""
    shared: int = 0
    """Input that an earlier call of the attempt had sent to the same model."""

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            self.reported and other.reported,
            self.shared + other.shared,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to one call.

    A truncated or malformed reply is a completion like any other; a call that got no reply is not,
    and never reaches a method.
    """

    text: str
    finish: Finish = "stop"
    reasoning: str = ""
    """The thinking text, returned by the endpoint separately or at the start of the reply."""
    usage: Usage = field(default_factory=Usage)

    @property
    def truncated(self) -> bool:
        """Whether the budget ran out before the model was done."""
        return self.finish == "length"


@dataclass(frozen=True, slots=True)
class Program:
    """A small program in Python, to be run in the engine's sandbox; it costs no tokens."""

    source: str
    stage: Stage = "program"


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a program. A crash or a time-out is a result like any other."""

    text: str
    """What it printed, truncated to a limit."""
    error: str = ""
    """Why it stopped early, in one line; empty where it ran to its end."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and its completion: one line of a transcript."""

    call: Call
    completion: Completion


@dataclass(frozen=True, slots=True)
class Execution:
    """A program and its output: the other kind of line in a transcript."""

    program: Program
    output: Output


Step: TypeAlias = Call | Program
"""A request of a method: a call to a model, or a program to run."""

Answer: TypeAlias = Completion | Output
"""The answer to a step: a completion for a call, an output for a program."""

Entry: TypeAlias = Exchange | Execution
"""A step with its answer."""

Steps: TypeAlias = Generator[tuple[Step, ...], tuple[Answer, ...], T]
"""A generator that yields rounds of steps, receives their answers, and returns a T."""


def ask(call: Call) -> Steps[Completion]:
    """Make a single call: ``completion = yield from ask(call)``."""
    (answer,) = yield (call,)
    return _require(answer, Completion)


def execute(program: Program) -> Steps[Output]:
    """Run a single program: ``output = yield from execute(program)``."""
    (answer,) = yield (program,)
    return _require(answer, Output)


def altered(steps: Steps[T], change: Callable[[Call], Call]) -> Steps[T]:
    """Run a generator with each of its calls changed on the way out; programs pass unchanged."""
    run = Run(steps)
    while run.round:
        changed = (change(step) if isinstance(step, Call) else step for step in run.round)
        run.advance((yield tuple(changed)))
    return run.result


def preceded(steps: Steps[T], ahead: tuple[Message, ...]) -> Steps[T]:
    """Put messages ahead of each call: a system message, or a conversation so far."""
    if not ahead:
        return steps
    return altered(steps, lambda call: replace(call, messages=ahead + call.messages))


def undecided(steps: Steps[T]) -> Steps[T]:
    """Run a generator whose replies may still be changed or dropped: no call of it is final."""
    return altered(steps, lambda call: replace(call, final=False) if call.final else call)


def together(branches: Iterable[Steps[T]]) -> Steps[tuple[T, ...]]:
    """Run branches in lock-step: each round has the steps of all of them."""
    runs = [Run(steps) for steps in branches]
    while steps := tuple(step for run in runs for step in run.round):
        answers = iter((yield steps))
        for run in runs:
            if run.round:
                run.advance(tuple(next(answers) for _ in run.round))
    return tuple(run.result for run in runs)


class Run(Generic[T]):
    """A running method as data: the round that it waits for, its transcript, its result."""

    __slots__ = ("_result", "_steps", "round", "transcript")

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self._result: list[T] = []
        self.transcript: list[Entry] = []
        self.round: tuple[Step, ...] = ()
        """The steps to perform next; empty once the run is done."""
        try:
            self.round = self._expect(next(steps))
        except StopIteration as stop:
            self._result.append(stop.value)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(step for step in self.round if isinstance(step, Call))

    @property
    def exchanges(self) -> list[Exchange]:
        return [entry for entry in self.transcript if isinstance(entry, Exchange)]

    @property
    def done(self) -> bool:
        return bool(self._result)

    @property
    def result(self) -> T:
        """The method's result; an error while it still waits for answers."""
        if not self._result:
            raise RuntimeError(f"the run still waits for {len(self.round)} answer(s)")
        return self._result[0]

    def advance(self, answers: tuple[Answer, ...]) -> None:
        """Send the answers of this round to the method, in the order of its steps."""
        if self.done:
            raise RuntimeError("the run is done and takes no more answers")
        if len(answers) != len(self.round):
            raise ValueError(
                f"this round has {len(self.round)} step(s) but got {len(answers)} answer(s)"
            )
        self.transcript.extend(map(_entry, self.round, answers))
        try:
            self.round = self._expect(self._steps.send(answers))
        except StopIteration as stop:
            self.round = ()
            self._result.append(stop.value)

    @staticmethod
    def _expect(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        # An empty round means that the run is done, so a method must not yield one.
        if not steps:
            raise ValueError("a method yielded an empty round")
        return steps


def _entry(step: Step, answer: Answer) -> Entry:
    if isinstance(step, Program):
        return Execution(step, _require(answer, Output))
    return Exchange(step, _require(answer, Completion))


def _require(answer: Answer, kind: type[A]) -> A:
    if isinstance(answer, kind):
        return answer
    raise TypeError(f"expected a {kind.__name__} and got a {type(answer).__name__}")
