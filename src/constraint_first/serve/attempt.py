"""One attempt of a request: a method driven to its end, watched, counted and journalled."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Final

from constraint_first.attempt.drive import Allowance, AttemptLimit, drive
from constraint_first.attempt.solve import OrderedWatcher, Solved
from constraint_first.error import CfrError
from constraint_first.file.safe import one_line
from constraint_first.model.error import Transient
from constraint_first.model.resolve import PriceList
from constraint_first.model.wire import SILENT, Engine, Watcher
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.run.attempt import TrafficAttempt, ending_of, failed
from constraint_first.sandbox.sandbox import run_program
from constraint_first.serve.reply import ServedAnswer, final_text
from constraint_first.serve.service import (
    ChatRequest,
    ChosenMethod,
    Reading,
    ReadRun,
    Served,
    Services,
    check_length,
    describe_checks,
    describe_constraints,
    describe_output,
    heading,
    request_decoding,
)
from constraint_first.serve.setting import RequestError
from constraint_first.store.store import SERVED, Series

_SAMPLES_AN_ATTEMPT: Final = 1_000
_ID: Final = 16


@dataclass(frozen=True, slots=True)
class Question:
    """A request that a method is to answer, with all that it takes."""

    asked: ChatRequest
    problem: Problem
    chosen: ChosenMethod
    upstream: str
    engine: Engine
    prices: PriceList
    services: Services
    served: Served
    allowance: Allowance
    """What all attempts of the request may pay together."""


def pose(
    services: Services, served: Served, asked: ChatRequest, chosen: ChosenMethod, upstream: str
) -> Question:
    """Put together what it takes to answer a request."""
    check_length(asked)
    engine = services.upstream.engine_for(
        upstream, chosen.others, request_decoding(asked), services.metrics.called
    )
    prices = services.upstream.prices(upstream, chosen.others)
    problem = Problem(asked.problem, id=_name(asked), benchmark=SERVED)
    settings = services.settings
    allowance = Allowance(AttemptLimit(settings.most_calls, settings.most_tokens))
    return Question(asked, problem, chosen, upstream, engine, prices, services, served, allowance)


def _name(asked: ChatRequest) -> str:
    """Name a problem by its text and by all that came before it."""
    seen = hashlib.sha256()
    for text in (*(f"{m.role}\0{m.content}" for m in asked.context), asked.problem):
        seen.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return seen.hexdigest()[:_ID]


async def answer(
    question: Question,
    number: int = 0,
    watcher: Watcher = SILENT,
    announce: Callable[[Call], None] | None = None,
) -> ServedAnswer:
    """Make one attempt; ``announce`` is called with the solving call before it is sent.

    With a store, every call is stored before the attempt goes on, and the attempt before its answer
    is returned. A cancelled attempt is stored as cancelled.
    """
    begun = await _begin(question)
    try:
        solved = await _solve(question, number, watcher, announce, begun)
    except asyncio.CancelledError:
        if begun:
            begun.abandon(question.served.why_cancelled)
        raise
    except BaseException as error:
        question.served.usage = question.allowance.usage
        if begun:
            why = str(error) if isinstance(error, CfrError) else type(error).__name__
            await begun.finish(failed(why, begun.usage))
        raise
    stored: dict[str, Json] = {}
    if begun:
        await begun.finish(ending_of(_noted(question, solved.solution), solved.exchanges))
        stored = {"stored": {"problem": question.problem.id, "run": begun.run}}
    return ServedAnswer(solved, question.chosen.name, question.upstream, stored)


async def _begin(question: Question) -> TrafficAttempt | None:
    traffic = question.services.traffic
    if traffic is None:
        return None
    usual = question.services.upstream.decoding
    # A seed of its own for each request would make a series of each.
    chosen = {n: question.asked.chosen.get(n, getattr(usual, n)) for n in ("temperature", "top_p")}
    decoding = replace(usual, **chosen)
    series = Series(SERVED, question.chosen.name, question.upstream, decoding)
    return await traffic.begin(series, question.problem, question.prices)


def _noted(question: Question, solution: Solution) -> Solution:
    """Note with a stored solution what its request asked for beyond the settings of its series."""
    asked = question.asked
    said: dict[str, Json] = {
        "id": question.served.id or None,
        "seed": asked.chosen.get("seed"),
        "max_tokens": asked.max_tokens,
        "stop": [*asked.stop] or None,
        "n": asked.n if asked.n > 1 else None,
    }
    told = {name: value for name, value in said.items() if value is not None}
    noted: dict[str, Json] = {**asked.extra, **told}
    return replace(solution, details={**solution.details, "request": noted})


async def _solve(
    question: Question,
    number: int,
    watcher: Watcher,
    announce: Callable[[Call], None] | None,
    begun: TrafficAttempt | None,
) -> Solved:
    began = time.monotonic()
    asked, chosen = question.asked, question.chosen
    reading = Reading(
        chosen.name,
        asked.problem,
        asked.max_tokens,
        announced=announce is not None,
        alone=chosen.alone,
    )
    outcome = await drive(
        ReadRun(
            question.services.readers,
            reading,
            chosen.method,
            announce or _ignore,
            lambda call: _changed(call, asked, number),
        ),
        question.engine,
        watcher=watcher,
        journal=begun.journal if begun else None,
        sandbox=lambda program: _run(question, program),
        allowance=question.allowance,
    )
    cost = question.prices.total(outcome.exchanges)
    seconds = time.monotonic() - began
    return Solved(
        question.problem, chosen.method, outcome.result, outcome.transcript, seconds, cost
    )


def _changed(call: Call, asked: ChatRequest, number: int) -> Call:
    """Put the conversation ahead of a call, and number those of one of several attempts.

    Numbers of their own give them seeds of their own.
    """
    sample = call.sample + number * _SAMPLES_AN_ATTEMPT
    return replace(call, messages=asked.context + call.messages, sample=sample)


def _ignore(call: Call) -> None:
    pass


async def _run(question: Question, program: Program) -> Output:
    output = await run_program(program)
    question.services.metrics.executed(output)
    return output


# What waits to be sent to a client: words of several choices, merged while it is slow.


@dataclass(slots=True)
class Words:
    """The next words of a choice, or its end."""

    index: int
    name: str
    """``content`` or ``reasoning_content``; empty for an end."""
    text: StringIO = field(default_factory=StringIO)
    ended: ServedAnswer | None = None


class Outbox:
    """A queue that never makes its writers wait.

    It holds the words alone and not the pieces that they came in, so that a client that does not
    read costs as much memory as what it was told, and no more.
    """

    def __init__(self) -> None:
        self._waiting: list[Words] = []
        self._changed = asyncio.Event()
        self._closed = False

    @property
    def is_drained(self) -> bool:
        """Whether nothing is there, and nothing will come."""
        return self._closed and not self._waiting

    def write(self, index: int, name: str, text: str) -> None:
        """Add words; those that follow on the last ones join them."""
        last = self._waiting[-1] if self._waiting else None
        if last is None or (last.index, last.name) != (index, name):
            last = Words(index, name)
            self._waiting.append(last)
            self._changed.set()
        last.text.write(text)

    def end(self, index: int, answer: ServedAnswer) -> None:
        """End a choice."""
        self._waiting.append(Words(index, "", ended=answer))
        self._changed.set()

    def close(self) -> None:
        """Say that nothing more will come."""
        self._closed = True
        self._changed.set()

    async def take(self, seconds: float) -> list[Words] | None:
        """Wait for words, and take all that there are; None where the time is over."""
        if not self._changed.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                return None
        self._changed.clear()
        taken, self._waiting = self._waiting, []
        return taken


# A watcher that writes an attempt into a stream: work as reasoning, the solution as content.

CONTENT: Final = "content"
REASONING: Final = "reasoning_content"


class StreamWatcher(OrderedWatcher):
    """Writes one choice. What has gone out as content is not taken back.

    The solving call's reply is content word by word. All other replies are reasoning; Stage 1 and
    other replies in JSON appear when they are whole.
    """

    def __init__(self, outbox: Outbox, index: int, start: str) -> None:
        super().__init__()
        self._outbox = outbox
        self._index = index
        self._held = start
        """What is said once a reply is there: until then the request may still fail as a whole."""
        self._solving: Call | None = None
        self._content: list[str] = []
        self._programs: list[str] = []

    def announce(self, call: Call) -> None:
        """Note the solving call."""
        self._solving = call

    def begin(self, call: Call) -> None:
        """Head a stage."""
        if call is not self._solving:
            self._held += heading(call.stage)

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        """Write the next words."""
        if thought:
            self._reason(text)
        elif call is self._solving:
            self._say(text)
        elif not call.json:
            self._reason(text)

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Write a reply that was not followed, or a list of constraints."""
        self._programs.append(completion.text)
        if call is self._solving:
            return
        if not written:
            self._held += heading(call.stage)
        if call.stage == "stage1":
            self._reason(describe_constraints(completion))
        elif call.json or not written:
            self._reason(completion.text)

    def show_output(self, program: Program, output: Output) -> None:
        """Write what a program printed."""
        source = program.source.strip()
        listed = any(source in reply for reply in self._programs)
        self._reason(describe_output(program, output, listed=listed))

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Begin a reply anew; one that the client has begun to read as content cannot be."""
        if call is self._solving and self._content:
            raise fault
        super().retrying(call, fault, seconds)
        self._held += f"\n\n({one_line(str(fault))}: asked again)\n\n"

    def conclude(self, answer: ServedAnswer) -> None:
        """Write what is still missing of the solution, and end the choice.

        Content that was sent and is not how the solution begins ends the stream with an error: two
        replies one behind the other would be taken for one.
        """
        solution = answer.solved.solution
        final, said = final_text(solution), "".join(self._content).strip()
        if not said:
            self._reason(describe_checks(solution))
            self._say(final)
        elif final.startswith(said):
            self._say(final[len(said) :])
        else:
            raise RequestError(
                f"{one_line(answer.method)} changed its reply after it was sent; "
                "ask without 'stream'",
                500,
                code="reply_changed",
            )
        self._outbox.end(self._index, answer)

    def _say(self, text: str) -> None:
        text = text if self._content else text.lstrip()
        if text:
            self._write_held()
            self._content.append(text)
            self._outbox.write(self._index, CONTENT, text)

    def _reason(self, text: str) -> None:
        if text:
            self._write_held()
            self._outbox.write(self._index, REASONING, text)

    def _write_held(self) -> None:
        if self._held:
            self._outbox.write(self._index, REASONING, self._held)
            self._held = ""
