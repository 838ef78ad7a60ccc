"""One attempt of a request: made, counted, stored, and written into a stream."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Final

from constraint_first.attempt.attempt import Attempt, failed
from constraint_first.attempt.drive import Allowance, AttemptLimit, drive
from constraint_first.attempt.events import (
    Event,
    Executed,
    Feed,
    Finished,
    InOrder,
    Retrying,
    Started,
    Tell,
    Wrote,
)
from constraint_first.error import CfrError
from constraint_first.file.safe import one_line
from constraint_first.method.method import Method, marks_final
from constraint_first.model.limit import PriceList
from constraint_first.model.wire import Engine
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.sandbox.sandbox import run_program
from constraint_first.serve.context import Served, Services
from constraint_first.serve.reading import Reading, ReadRun
from constraint_first.serve.reply import (
    describe_checks,
    describe_constraints,
    describe_output,
    final_text,
    heading,
)
from constraint_first.serve.request import ChatRequest, ChosenMethod, check_length
from constraint_first.serve.setting import RequestError
from constraint_first.serve.upstream import request_decoding
from constraint_first.store.journal import TrafficAttempt
from constraint_first.store.series import SERVED, Series

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
    engine = services.upstream.client(
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


async def answer(question: Question, number: int = 0, tell: Tell | None = None) -> Attempt:
    """Make one attempt.

    With a store, every call is stored before the attempt goes on, and the attempt before its answer
    is returned. A cancelled attempt is stored as cancelled.
    """
    begun, began = await _begin(question), time.monotonic()
    asked, chosen = question.asked, question.chosen
    nothing = Attempt(question.problem, chosen.method)

    def change(call: Call) -> Call:
        # The numbers of one of several attempts give its calls seeds of their own.
        sample = call.sample + number * _SAMPLES_AN_ATTEMPT
        return replace(call, messages=asked.context + call.messages, sample=sample)

    try:
        reading = Reading(chosen.name, asked.problem, asked.max_tokens, chosen.alone)
        run = await drive(
            ReadRun(question.services.readers, reading, chosen.method, change),
            question.engine,
            tell=tell,
            journal=begun.journal if begun else None,
            sandbox=lambda program: _run(question, program),
            allowance=question.allowance,
        )
        made = replace(
            nothing,
            solution=run.result,
            transcript=tuple(run.transcript),
            seconds=time.monotonic() - began,
            cost=question.prices.total(run.exchanges),
            name=chosen.name,
            model=question.upstream,
            run=begun.run if begun else None,
        )
    except asyncio.CancelledError:
        if begun:
            begun.abandon(failed(nothing, question.served.why_cancelled, begun.journal.usage))
        raise
    except BaseException as error:
        question.served.usage = question.allowance.usage
        if begun:
            why = str(error) if isinstance(error, CfrError) else type(error).__name__
            await begun.finish(failed(nothing, why, begun.journal.usage))
        raise
    if begun:
        await begun.finish(replace(made, solution=_noted(question, made.solution)))
    return made


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


async def _run(question: Question, program: Program) -> Output:
    output = await run_program(program)
    question.services.metrics.executed(output)
    return output


# What waits to be sent to a client: words of several choices, merged while it is slow.

CONTENT: Final = "content"
REASONING: Final = "reasoning_content"


@dataclass(slots=True)
class Words:
    """The next words of a choice, or its end."""

    index: int
    name: str
    """``content`` or ``reasoning_content``; empty for an end."""
    text: StringIO = field(default_factory=StringIO)
    ended: Attempt | None = None


class Outbox(Feed[Words]):
    """A feed that holds words and not the pieces that they came in.

    A client that does not read costs as much memory as the words that it was sent.
    """

    def write(self, index: int, name: str, text: str) -> None:
        """Add words; those that follow on the last ones join them."""
        last = self.waiting[-1] if self.waiting else None
        if last is None or (last.index, last.name) != (index, name):
            last = Words(index, name)
            self.tell(last)
        last.text.write(text)


class StreamWriter:
    """Writes one choice of a stream: the work as reasoning, the solution as content.

    The reply of a final call is content word by word; what has gone out as content is not taken
    back. All other replies are reasoning; Stage 1 and other replies in JSON appear when complete.
    """

    def __init__(self, outbox: Outbox, index: int, method: Method, start: str) -> None:
        self._outbox = outbox
        self._index = index
        self._trusted = marks_final(method)
        self._held = start
        """Sent once a reply is there: until then the request may still fail as a whole."""
        self._content: list[str] = []
        self._programs: list[str] = []
        self._in_order = InOrder(self._take)

    def tell(self, event: Event) -> None:
        """Write what has happened."""
        if isinstance(event, Retrying) and self._is_final(event.call) and self._content:
            raise event.fault  # the client has read a part of the reply that would begin anew
        self._in_order(event)

    def _take(self, event: Event) -> None:
        match event:
            case Started(call) if not self._is_final(call):
                self._held += heading(call.stage)
            case Wrote(call, text, thought):
                if thought:
                    self._reason(text)
                elif self._is_final(call):
                    self._say(text)
                elif not call.json:
                    self._reason(text)
            case Finished(call, completion, written):
                self._programs.append(completion.text)
                if not self._is_final(call):
                    self._finish(call, completion, written=written)
            case Executed(program, output):
                source = program.source.strip()
                listed = any(source in reply for reply in self._programs)
                self._reason(describe_output(program, output, listed=listed))
            case Retrying(_, fault):
                self._held += f"\n\n({one_line(str(fault))}: asked again)\n\n"
            case _:
                pass

    def _is_final(self, call: Call) -> bool:
        return call.final and self._trusted

    def _finish(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Write a reply that was not followed, or a list of constraints."""
        if not written:
            self._held += heading(call.stage)
        if call.stage == "stage1":
            self._reason(describe_constraints(completion))
        elif call.json or not written:
            self._reason(completion.text)

    def conclude(self, made: Attempt) -> None:
        """Write what is still missing of the solution, and end the choice.

        Content that was sent and is not how the solution begins ends the stream with an error: two
        replies one after the other would be read as one.
        """
        solution = made.solution
        final, said = final_text(solution), "".join(self._content).strip()
        if not said:
            self._reason(describe_checks(solution))
            self._say(final)
        elif final.startswith(said):
            self._say(final[len(said) :])
        else:
            raise RequestError(
                f"{one_line(made.name)} changed its reply after it was sent; ask without 'stream'",
                500,
                code="reply_changed",
            )
        self._outbox.tell(Words(self._index, "", ended=made))

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
