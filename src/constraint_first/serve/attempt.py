"""One attempt of a request: a method driven to its end, watched, counted and journalled."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from constraint_first.engine.allowance import Allowance, AttemptLimit
from constraint_first.engine.drive import drive
from constraint_first.engine.engine import SILENT, Engine, Watcher
from constraint_first.engine.price import PriceList
from constraint_first.engine.sandbox.sandbox import run_program
from constraint_first.engine.solve import Solved
from constraint_first.error import CfrError
from constraint_first.evaluation.attempt import ending_of, failed
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.traffic import SERVED, TrafficAttempt
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Output, Program
from constraint_first.serve.chat_request import ChatRequest, check_length
from constraint_first.serve.method_choice import ChosenMethod
from constraint_first.serve.reading import Reading, ReadRun
from constraint_first.serve.reply import ServedAnswer
from constraint_first.serve.request_engine import request_decoding
from constraint_first.serve.service import Served, Services

__all__ = ["Question", "answer", "pose"]

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
