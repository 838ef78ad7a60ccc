"""Driving a method: its calls by a client, its programs in a sandbox, all answers in a journal."""

from __future__ import annotations

import asyncio
import gc
import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from constraint_first.attempt.events import (
    Executed,
    Executing,
    Finished,
    Started,
    Tell,
    Telling,
    raised_at,
)
from constraint_first.error import CfrError
from constraint_first.file.safe import LONGEST, MOST, storable_count, storable_text
from constraint_first.model.client import Sampler
from constraint_first.model.error import EngineError, JournalMismatch, TooExpensive
from constraint_first.model.wire import SILENT, Decoding, Engine, Watcher
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Entry,
    Exchange,
    Message,
    Output,
    Program,
    Run,
    Step,
    Steps,
    Usage,
)
from constraint_first.sandbox.sandbox import run_program
from constraint_first.thinking import split_thinking


class Journal(Protocol):
    """A record of the answers of one attempt, by the place of their steps in it."""

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return the stored answer to the attempt's nth step, or None if it was not taken."""
        ...

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        """Store an answer; the attempt goes on when it is safe."""
        ...


def require_same(ordinal: int, step: Step, stored: str) -> None:
    """Refuse a step whose digest is not the stored one."""
    if digest(step) != stored:
        kind = "program" if isinstance(step, Program) else "call"
        raise JournalMismatch(
            f"{kind} {ordinal} ({step.stage}) differs from the stored one: a prompt, budget, model "
            "or method has changed since; start a new run for the changed method"
        )


def digest(step: Step) -> str:
    """Name a step by everything it asks: equal steps have equal digests, in every process.

    The name of another model that is to answer stands behind the hash, so that a store says who did
    and calls that name none have the digests that they always had.
    """
    asked = hashlib.sha256(repr(step).encode("utf-8", "surrogatepass")).hexdigest()
    model = step.model if isinstance(step, Call) else None
    return asked if model is None else f"{asked}@{model}"


def storable_call(call: Call) -> Call:
    """Return a call that can be sent and stored.

    A method may quote what a model wrote as an escape in JSON: half a surrogate pair, say, which
    no request can carry. The call keeps the digest of what was asked for.
    """
    for message in call.messages:
        if storable_text(message.content) is not message.content:
            messages = (Message(one.role, storable_text(one.content)) for one in call.messages)
            return replace(call, messages=tuple(messages))
    return call


def storable_completion(completion: Completion) -> Completion:
    """Return a completion that reads the same after it was stored; most are that already.

    A method sees it only so: it must decide on the first run as it will on a replay. A reply that
    is cut for its length counts as one whose budget ran out.
    """
    text, reasoning = storable_text(completion.text), storable_text(completion.reasoning)
    usage = storable_usage(completion.usage)
    if text is completion.text and reasoning is completion.reasoning and usage is completion.usage:
        return completion
    finish = "length" if len(completion.text) > LONGEST else completion.finish
    return Completion(text, finish, reasoning, usage)


def storable_program(program: Program) -> Program:
    return replace(program, source=storable_text(program.source))


def storable_output(output: Output) -> Output:
    """Return an output that reads the same after it was stored."""
    seconds = output.seconds if isfinite(output.seconds) else 0.0
    return Output(storable_text(output.text), storable_text(output.error), seconds)


def storable_usage(usage: Usage) -> Usage:
    """Return token counts that a database holds; those that cannot be were not really reported."""
    counts = (usage.input, usage.output, usage.reasoning, usage.cached)
    for count in counts:
        if type(count) is not int or not 0 <= count <= MOST:
            return Usage(*map(storable_count, counts), reported=False)
    return usage


# The scripted engine: replies written beforehand, for tests and documentation.


class Scripted:
    """An engine that replies from a list, in order, or by a function, and keeps what was asked.

    It needs no opening, and however it is to be decoded it replies the same.
    """

    def __init__(
        self,
        replies: Iterable[str | Completion] | Callable[[Call], str | Completion],
        *,
        name: str = "scripted",
    ) -> None:
        self._reply = replies if callable(replies) else _in_order(replies)
        self.model = name
        self.asked: list[Call] = []

    async def complete(
        self,
        call: Call,
        watcher: Watcher = SILENT,
        decoding: Decoding | None = None,  # noqa: ARG002
    ) -> Completion:
        self.asked.append(call)
        reply = self._reply(call)
        completion = reply if isinstance(reply, Completion) else Completion(reply)
        watcher.wrote(call, completion.text, reasoning=False)
        return completion


def _in_order(replies: Iterable[str | Completion]) -> Callable[[Call], str | Completion]:
    remaining = iter(replies)

    def reply(call: Call) -> str | Completion:
        for next_reply in remaining:
            return next_reply
        raise EngineError(f"the script has no reply left for a {call.stage} call")

    return reply


# The garbage collector, at the pace of many calls at a time.

_OBJECTS_A_COLLECTION: Final = 20_000


@contextmanager
def collecting_rarely(objects: int = _OBJECTS_A_COLLECTION) -> Generator[None]:
    """Let the garbage collector look less often.

    A call makes hundreds of objects that live until its reply comes. At Python's own pace the
    collector goes through them again and again and finds nothing: a tenth of all time. The more
    objects come between two looks, the longer each of them stops everything.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], objects) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


# A bound on the calls and tokens of one attempt.
#
# A method's options multiply (samples of samples, rounds of revisions), so no check of single
# options bounds an attempt. Its driver counts every call and refuses the one beyond the bound.

MOST_CALLS: Final = 1_024
MOST_TOKENS: Final = 20_000_000
_CHARACTERS_A_TOKEN: Final = 4
"""A low guess of a prompt's tokens: what is refused by it would surely have been too much."""


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """The most calls and tokens of one attempt; in a server, of one request."""

    calls: int = MOST_CALLS
    tokens: int = MOST_TOKENS
    """Input and output together. One call may go beyond, never two."""


_USUAL: Final = AttemptLimit()
_NOTHING: Final = Usage()


class Allowance:
    """What is left of a limit. Attempts that share one, such as those of one request, share it."""

    def __init__(self, limit: AttemptLimit | None = None) -> None:
        self.limit = limit or _USUAL
        self.calls = 0
        self.tokens = 0
        self.usage = _NOTHING
        """As the endpoint counts; it may count anything."""
        self._reserved = 0
        self._freed: asyncio.Event | None = None

    def admit(self, calls: Sequence[Call]) -> None:
        """Count the calls of a round before any is asked, and refuse the round as a whole."""
        if self.calls + len(calls) > self.limit.calls:
            raise TooExpensive(
                f"the attempt needs more than {self.limit.calls:,} calls and was ended after "
                f"{self._paid()}; use a smaller method, or allow more with --max-calls"
            )
        prompts = sum(map(_prompt_characters, calls)) // _CHARACTERS_A_TOKEN
        if self.tokens + prompts > self.limit.tokens:
            raise self._too_many_tokens()
        self.calls += len(calls)

    async def reserve(self, call: Call) -> int:
        """Wait until the call fits beside those under way, however long their replies become.

        Returns the tokens to ``release`` once the call is over.
        """
        most = _prompt_characters(call) // _CHARACTERS_A_TOKEN + call.max_tokens
        while self._reserved and self.tokens + self._reserved + most > self.limit.tokens:
            self._freed = self._freed or asyncio.Event()
            self._freed.clear()
            await self._freed.wait()
        if self.tokens >= self.limit.tokens:
            raise self._too_many_tokens()
        self._reserved += most
        return most

    def release(self, most: int) -> None:
        self._reserved -= most
        if self._freed:
            self._freed.set()

    def count(self, call: Call, completion: Completion) -> None:
        """Count the tokens of a call, at most as many as fit its texts: endpoints miscount."""
        total = completion.usage.total
        written = call.max_tokens + len(completion.text) + len(completion.reasoning)
        if total > written:  # seldom, and only then the prompt's length is of interest
            total = min(total, written + _prompt_characters(call))
        self.tokens += total
        used = completion.usage
        self.usage = used if self.usage is _NOTHING else self.usage + used

    def _too_many_tokens(self) -> TooExpensive:
        return TooExpensive(
            f"the attempt needs more than {self.limit.tokens:,} tokens and was ended after "
            f"{self._paid()}; use a smaller method, or allow more with --max-attempt-tokens"
        )

    def _paid(self) -> str:
        return f"{self.calls:,} calls and {self.tokens:,} tokens"


def _prompt_characters(call: Call) -> int:
    return sum([len(message.content) for message in call.messages])


# The driver of a method: performs its calls with an engine, its programs in a sandbox.

T = TypeVar("T")

RunProgram: TypeAlias = Callable[[Program], Awaitable[Output]]
"""Runs a program in a sandbox."""


AsSent: TypeAlias = Callable[[int, Call], Call]
"""Makes of a call, given its place in the attempt, the one that is sent to the model."""


class RemoteRun(Run[T]):
    """A run whose rounds are found in another process, and so have to be awaited.

    Not an ABC: ``isinstance`` is several times slower with one, and every round asks it.
    """

    def __init__(self) -> None:
        self.round = ()
        self.transcript = []
        self._result = []

    async def start(self) -> None:
        """Find the first round."""
        raise NotImplementedError

    async def move(self, answers: tuple[Answer, ...]) -> None:
        """Hand over the answers of a round, and find the next one."""
        raise NotImplementedError


def put_ahead(messages: tuple[Message, ...], first_sample: int = 0) -> AsSent | None:
    """Put messages ahead of each call and shift its seed; None where that changes nothing.

    A series has a system message, and each of its runs seeds of its own. They belong to the series
    and not to what the method asks: neither the journal nor the transcript has them.
    """
    if not messages and not first_sample:
        return None
    return lambda _ordinal, call: replace(
        call, messages=messages + call.messages, sample=call.sample + first_sample
    )


async def drive(
    steps: Steps[T] | RemoteRun[T],
    client: Engine,
    *,
    tell: Tell | None = None,
    stream: bool = True,
    journal: Journal | None = None,
    sandbox: RunProgram = run_program,
    allowance: Allowance | None = None,
    as_sent: AsSent | None = None,
    conceal: bool = False,
) -> Run[T]:
    """Run a method to its end. Calls and programs of one round are performed at the same time.

    With a journal, answers it already has are not asked for again, and each new one is stored
    before the method sees it. Replies and outputs are first made storable, so that the method sees
    the same on a replay, and thinking inside a reply is set apart. An attempt that goes beyond its
    allowance fails with ``TooExpensive``. ``conceal`` drops the words of an error that the client
    did not foresee: they may hold a key or an address.
    """
    performer = _Performer(
        client, tell, stream, journal, sandbox, allowance or Allowance(), as_sent, conceal
    )
    run = steps if isinstance(steps, RemoteRun) else Run(steps)
    if isinstance(run, RemoteRun):
        await run.start()
    while not run.done:
        steps_now, first = run.round, len(run.transcript)
        performer.allowed.admit([step for step in steps_now if isinstance(step, Call)])
        if len(steps_now) == 1:  # the usual round; it needs no task
            answers = (await performer.answer(steps_now[0], first, client),)
        else:
            answers = await performer.answer_all(steps_now, first)
        answers = _mark_shared(steps_now, answers, run.transcript)
        if isinstance(run, RemoteRun):
            await run.move(answers)
        else:
            run.advance(answers)
    return run


@dataclass(slots=True, eq=False)
class _Performer:
    """Performs the steps of one attempt."""

    client: Engine
    tell: Tell | None
    stream: bool
    journal: Journal | None
    sandbox: RunProgram
    allowed: Allowance
    as_sent: AsSent | None
    conceal: bool

    async def answer_all(self, steps: tuple[Step, ...], first: int) -> tuple[Answer, ...]:
        """Perform a round of several steps.

        All of them come to an end even if one fails: what is paid for is journalled.
        """
        client = Sampler(self.client)
        performed = (self.answer(step, first + n, client) for n, step in enumerate(steps))
        results = await asyncio.gather(*performed, return_exceptions=True)
        answers: list[Answer] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            answers.append(result)
        return tuple(answers)

    def answer(
        self, step: Step, ordinal: int, client: Engine
    ) -> Coroutine[Any, Any, Completion | Output]:
        if isinstance(step, Program):
            return self._execute(step, ordinal)
        return self._ask(step, ordinal, client)

    async def _ask(self, call: Call, ordinal: int, client: Engine) -> Completion:
        if self.tell:
            self.tell(Started(call))
        completion = self.journal.recall(ordinal, call) if self.journal else None
        if not isinstance(completion, Completion):
            sent = storable_call(self.as_sent(ordinal, call) if self.as_sent else call)
            watcher = Telling(call, self.tell, stream=self.stream) if self.tell else SILENT
            reserved = await self.allowed.reserve(call)
            try:
                received = await client.complete(sent, watcher)
                completion = storable_completion(_with_thinking_apart(received))
                self.allowed.count(call, completion)
            except CfrError:
                raise
            except Exception as error:
                if not self.conceal:
                    raise
                told = f"the call broke off: {type(error).__name__} {raised_at(error)}"
                raise EngineError(told) from error
            finally:
                self.allowed.release(reserved)
            if self.journal:
                await self.journal.record(ordinal, call, completion)
        else:
            self.allowed.count(call, completion)
        if self.tell:
            self.tell(Finished(call, completion))
        return completion

    async def _execute(self, program: Program, ordinal: int) -> Output:
        if self.tell:
            self.tell(Executing(program))
        output = self.journal.recall(ordinal, program) if self.journal else None
        if not isinstance(output, Output):
            output = storable_output(await self.sandbox(storable_program(program)))
            if self.journal:
                await self.journal.record(ordinal, program, output)
        if self.tell:
            self.tell(Executed(program, output))
        return output


def _mark_shared(
    steps: tuple[Step, ...], answers: tuple[Answer, ...], transcript: Sequence[Entry]
) -> tuple[Answer, ...]:
    """Count the input of a call that repeats an earlier one of the attempt as shared.

    It follows from the transcript alone, so that it is the same on every engine and on a replay.
    """
    if len(steps) == 1 and not transcript:  # the usual round: nothing was sent before it
        answer = answers[0]
        if isinstance(answer, Output) or not answer.usage.shared:
            return answers
    exchanges = (entry for entry in transcript if isinstance(entry, Exchange))
    sent = {(exchange.call.model, exchange.call.messages) for exchange in exchanges}
    marked: list[Answer] = []
    for step, answer in zip(steps, answers, strict=True):
        if isinstance(step, Call) and isinstance(answer, Completion):
            asked = step.model, step.messages
            shared = answer.usage.input if asked in sent else 0
            sent.add(asked)
            if shared != answer.usage.shared:
                answer = replace(answer, usage=replace(answer.usage, shared=shared))
        marked.append(answer)
    return tuple(marked)


def _with_thinking_apart(completion: Completion) -> Completion:
    """Move thinking that a model wrote into its reply to where other endpoints return it."""
    thinking, said = split_thinking(completion.text)
    if said is completion.text:
        return completion
    apart = "\n\n".join(filter(None, (completion.reasoning, thinking)))
    return replace(completion, text=said, reasoning=apart)
