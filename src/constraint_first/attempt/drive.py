"""Runs a method: calls go to a client, programs to a sandbox, all answers into a journal."""

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
    """A record of the answers of one attempt, by the ordinals of their steps."""

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return the stored answer to the attempt's nth step; None where there is none."""
        ...

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        """Store an answer; the attempt continues once it is durable."""
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
    """Hash all of a step's content: equal steps have equal digests, in every process.

    The name of another model is appended to the hash, so that a store shows which model answered,
    and calls without one keep the digests of earlier versions.
    """
    asked = hashlib.sha256(repr(step).encode("utf-8", "surrogatepass")).hexdigest()
    model = step.model if isinstance(step, Call) else None
    return asked if model is None else f"{asked}@{model}"


def storable_call(call: Call) -> Call:
    """Return a call that can be sent and stored.

    A method may quote text that a model wrote as a JSON escape, such as a lone surrogate, which
    UTF-8 and so a request cannot represent. The digest is still that of the original call.
    """
    for message in call.messages:
        if storable_text(message.content) is not message.content:
            messages = (Message(one.role, storable_text(one.content)) for one in call.messages)
            return replace(call, messages=tuple(messages))
    return call


def storable_completion(completion: Completion) -> Completion:
    """Return a completion that is unchanged by storing; most are unchanged here, too.

    A method sees only this form, so that it decides on the first run as on a replay. A reply
    truncated for its length counts as one whose budget ran out.
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
    """Return an output that is unchanged by storing."""
    seconds = output.seconds if isfinite(output.seconds) else 0.0
    return Output(storable_text(output.text), storable_text(output.error), seconds)


def storable_usage(usage: Usage) -> Usage:
    """Return token counts that fit into a database; impossible counts become unreported."""
    counts = (usage.input, usage.output, usage.reasoning, usage.cached)
    for count in counts:
        if type(count) is not int or not 0 <= count <= MOST:
            return Usage(*map(storable_count, counts), reported=False)
    return usage


# The scripted engine: replies written beforehand, for tests and documentation.


class Scripted:
    """An engine that replies from a list, in order, or by a function, and records its calls.

    It needs no opening, and ignores the decoding.
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


# The garbage collector, tuned for many concurrent calls.

_OBJECTS_A_COLLECTION: Final = 20_000


@contextmanager
def collecting_rarely(objects: int = _OBJECTS_A_COLLECTION) -> Generator[None]:
    """Run the garbage collector less often.

    A call makes hundreds of objects that live until its reply comes. With Python's default
    threshold the collector scans them again and again and frees nothing, which takes a tenth of
    the time. A higher threshold makes each collection, which stops all calls, take longer.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], objects) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


# A limit on the calls and tokens of one attempt.
#
# A method's options multiply (samples of samples, rounds of revisions), so no check of single
# options bounds an attempt. Its driver counts every call and refuses the first beyond the limit.

MOST_CALLS: Final = 1_024
MOST_TOKENS: Final = 20_000_000
_CHARACTERS_A_TOKEN: Final = 4
"""Underestimates the tokens of a prompt, so that no call is refused without need."""


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """The most calls and tokens of one attempt; in a server, of one request."""

    calls: int = MOST_CALLS
    tokens: int = MOST_TOKENS
    """Input and output together. One call may exceed it, never two."""


_USUAL: Final = AttemptLimit()
_NOTHING: Final = Usage()


class Allowance:
    """The rest of a limit, shared by the attempts that the limit is for, such as one request's."""

    def __init__(self, limit: AttemptLimit | None = None) -> None:
        self.limit = limit or _USUAL
        self.calls = 0
        self.tokens = 0
        self.usage = _NOTHING
        """Tokens as the endpoint reports them; the report may be wrong."""
        self._reserved = 0
        self._freed: asyncio.Event | None = None

    def admit(self, calls: Sequence[Call]) -> None:
        """Count the calls of a round before any is made; refuse too large a round as a whole."""
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
        """Wait until the call fits beside those in flight, at the longest replies of all.

        Returns the tokens to ``release`` after the call.
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
        """Count the tokens of a call, but no more than its texts can have: endpoints miscount."""
        total = completion.usage.total
        written = call.max_tokens + len(completion.text) + len(completion.reasoning)
        if total > written:  # rare; only then compute the prompt's length
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


# The driver of a method: sends its calls to an engine, its programs to a sandbox.

T = TypeVar("T")

RunProgram: TypeAlias = Callable[[Program], Awaitable[Output]]
"""Runs a program in a sandbox."""


AsSent: TypeAlias = Callable[[int, Call], Call]
"""Maps a call, given its ordinal in the attempt, to the call that is sent to the model."""


class RemoteRun(Run[T]):
    """A run whose method runs in another process, so that its rounds are awaited.

    Not an ABC: ``isinstance`` checks are several times slower on one, and every round needs one.
    """

    def __init__(self) -> None:
        self.round = ()
        self.transcript = []
        self._result = []

    async def start(self) -> None:
        """Receive the first round."""
        raise NotImplementedError

    async def move(self, answers: tuple[Answer, ...]) -> None:
        """Send the answers of a round, and receive the next round."""
        raise NotImplementedError


def put_ahead(messages: tuple[Message, ...], first_sample: int = 0) -> AsSent | None:
    """Put messages ahead of each call and shift its seed; None where that changes nothing.

    The system message and the seeds of a run belong to the series, not to the method's calls, so
    neither the journal nor the transcript contains them.
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

    With a journal, stored answers are reused, and each new one is stored before the method sees
    it. Replies and outputs are first made storable, so that the method sees the same on a replay,
    and thinking inside a reply is split off. An attempt that exceeds its allowance fails with
    ``TooExpensive``. ``conceal`` drops the message of an unexpected error: it may contain an API
    key or an address.
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
        if len(steps_now) == 1:  # the usual case: no task needed
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

        All steps are completed even if one fails, so that every paid reply is journalled.
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

    It depends on the transcript alone, so it is the same with every engine and on a replay.
    """
    if len(steps) == 1 and not transcript:  # the usual case: nothing was sent before
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
    """Move thinking from the text of a reply to ``reasoning``, where other endpoints put it."""
    thinking, said = split_thinking(completion.text)
    if said is completion.text:
        return completion
    apart = "\n\n".join(filter(None, (completion.reasoning, thinking)))
    return replace(completion, text=said, reasoning=apart)
