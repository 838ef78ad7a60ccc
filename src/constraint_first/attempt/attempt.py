"""One attempt: a problem answered by a method, from its first call to its verdict."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, TypeAlias, get_args

from constraint_first.answer.extract import extract
from constraint_first.answer.grade import GradingCase, Verdict, grade, grade_all
from constraint_first.attempt.drive import (
    Allowance,
    AsSent,
    AttemptLimit,
    Journal,
    RunProgram,
    drive,
)
from constraint_first.attempt.events import Ended, Event, Feed, Tell, raised_at
from constraint_first.benchmark.registry import GoldInstruction, follow, read_instructions
from constraint_first.error import CfrError
from constraint_first.file.safe import printable, storable_text
from constraint_first.method.method import Method
from constraint_first.method.sound import assessed
from constraint_first.model.limit import Cost, PriceList
from constraint_first.model.wire import Engine
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Entry, Exchange, Execution, Message, Usage, preceded
from constraint_first.sandbox.sandbox import run_program
from constraint_first.thinking import without_thinking

_LONGEST_REASON: Final = 400
_NOTHING: Final = Solution(None, "")
_NO_PRICES: Final = PriceList()
_NO_USAGE: Final = Usage()


Status: TypeAlias = Literal["ok", "truncated", "unparsed", "failed"]
"""How an attempt ended: with an answer; without one, because its budget ran out; without one for
another reason; or by a call that never succeeded. Only the last is made again on resuming."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
"""Every status, in the order in which they are counted and shown."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A problem answered by a method, and everything that led to the answer."""

    problem: Problem
    method: Method
    solution: Solution = _NOTHING
    transcript: tuple[Entry, ...] = ()
    seconds: float = 0.0
    cost: Cost | None = None
    """The cost of its calls; None where no model has a price."""
    verdict: Verdict | None = None
    """The grade of the answer; None where it was not judged."""
    error: str | None = None
    """Why it failed; None where its method came to an end."""
    ends: str = "attempt"
    """The scope that a failed attempt's error ends, as in ``CfrError.ends``."""
    used: Usage | None = None
    """The tokens of a failed attempt; other attempts have them in the transcript."""
    name: str = ""
    """The method as it was asked for, options included."""
    model: str = ""
    run: int | None = None
    """The number of its run in the store."""

    @property
    def status(self) -> Status:
        if self.error is not None:
            return "failed"
        if self.solution.answer is not None:
            return "ok"
        return "truncated" if self.solution.truncated else "unparsed"

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return tuple(entry for entry in self.transcript if isinstance(entry, Exchange))

    @property
    def executions(self) -> tuple[Execution, ...]:
        return tuple(entry for entry in self.transcript if isinstance(entry, Execution))

    @property
    def answer(self) -> str | None:
        """The final answer as the model wrote it; None where the reply contains none."""
        return self.solution.answer

    @property
    def usage(self) -> Usage:
        """Tokens of all stages together."""
        if self.used is not None:
            return self.used
        total: Usage | None = None
        for entry in self.transcript:
            if isinstance(entry, Exchange):
                used = entry.completion.usage
                total = used if total is None else total + used
        return total or _NO_USAGE

    @property
    def tokens(self) -> int:
        """Input and output tokens of all stages together."""
        return self.usage.total

    def to_json(self) -> dict[str, Json]:
        cost = self.cost.to_json() if self.cost else {}
        return {
            "id": self.problem.id or None,
            "method": self.method.label,
            "answer": self.answer,
            "truncated": self.solution.truncated,
            "details": dict(self.solution.details),
            "stages": [
                {
                    "stage": exchange.call.stage,
                    "model": exchange.call.model,
                    "text": exchange.completion.text,
                    "reasoning": exchange.completion.reasoning,
                    "finish": exchange.completion.finish,
                    "tokens": _counts(exchange.completion.usage),
                }
                for exchange in self.exchanges
            ],
            "programs": [
                {
                    "stage": execution.program.stage,
                    "source": execution.program.source,
                    "output": execution.output.text,
                    "error": execution.output.error,
                    "seconds": round(execution.output.seconds, 4),
                }
                for execution in self.executions
            ],
            "tokens": _counts(self.usage),
            "seconds": round(self.seconds, 3),
            **cost,
        }


def _counts(usage: Usage) -> dict[str, Json]:
    names = ("input", "output", "reasoning", "cached", "shared", "total", "reported")
    return {name: getattr(usage, name) for name in names}


async def make_attempt(
    method: Method,
    problem: Problem,
    client: Engine,
    *,
    tell: Tell | None = None,
    stream: bool = True,
    sandbox: RunProgram = run_program,
    limit: AttemptLimit | None = None,
    ahead: tuple[Message, ...] = (),
    prices: PriceList = _NO_PRICES,
) -> Attempt:
    """Solve a problem; every failure is raised.

    ``ahead`` are messages before those of each call: a system message, or a conversation so far.
    Replies are streamed if ``tell`` and ``stream`` are set.
    """
    began = time.monotonic()
    run = await drive(
        preceded(assessed(method, problem), ahead),
        client,
        tell=tell,
        stream=stream,
        sandbox=sandbox,
        allowance=Allowance(limit),
    )
    cost, seconds = prices.total(run.exchanges), time.monotonic() - began
    return Attempt(problem, method, run.result, tuple(run.transcript), seconds, cost)


async def attempt(
    method: Method,
    problem: Problem,
    client: Engine,
    *,
    stream: bool = True,
    sandbox: RunProgram = run_program,
    limit: AttemptLimit | None = None,
    ahead: tuple[Message, ...] = (),
    prices: PriceList = _NO_PRICES,
) -> AsyncGenerator[Event]:
    """Solve a problem and yield events; the last one is ``Ended`` with the attempt."""
    feed = Feed[Event]()

    async def work() -> None:
        made = await make_attempt(
            method,
            problem,
            client,
            tell=feed.tell,
            stream=stream,
            sandbox=sandbox,
            limit=limit,
            ahead=ahead,
            prices=prices,
        )
        feed.tell(Ended(made))

    async with aclosing(feed.follow(work())) as taken:
        async for events in taken:
            for event in events:
                yield event


class Resumable(Journal, Protocol):
    """A journal that may contain stored answers from before an interruption."""

    @property
    def replays(self) -> bool:
        """Whether it contains stored answers."""
        ...

    async def forget(self) -> None:
        """Delete the stored answers; their cost stays counted."""
        ...


async def judged_attempt(
    method: Method,
    problem: Problem,
    client: Engine,
    journal: Resumable,
    limit: AttemptLimit | None = None,
    as_sent: AsSent | None = None,
) -> Attempt:
    """Run one attempt and judge it; an exception becomes its failed status.

    Only errors that end the whole run are raised. A method that crashes on stored replies would
    crash on every resume, so they are deleted and the calls are made again.
    """
    began, allowance = time.monotonic(), Allowance(limit)
    try:
        run = await drive(
            assessed(method, problem),
            client,
            journal=journal,
            allowance=allowance,
            as_sent=as_sent,
            conceal=True,
        )
        solution = run.result
        answer = None if solution.answer is None else storable_text(solution.answer)
        verdict = await judge_attempt(problem, answer, storable_text(solution.text))
        return Attempt(
            problem,
            method,
            solution,
            tuple(run.transcript),
            time.monotonic() - began,
            verdict=verdict,
        )
    except CfrError as error:
        if error.ends == "run":
            raise
        failure = Attempt(problem, method, ends=error.ends)
        return failed(failure, str(error), allowance.usage, time.monotonic() - began)
    except Exception as error:
        if not journal.replays:
            why = f"{type(error).__name__}: {_words_of(error)} ({raised_at(error)})"
            failure = Attempt(problem, method)
            return failed(failure, why, allowance.usage, time.monotonic() - began)
    await journal.forget()
    return await judged_attempt(method, problem, client, journal, limit, as_sent)


def failed(attempt: Attempt, why: str, used: Usage, seconds: float = 0.0) -> Attempt:
    """End an attempt without a result."""
    reason = printable(" ".join(why.split())[:_LONGEST_REASON])
    return replace(
        attempt, solution=_NOTHING, verdict=None, error=reason, used=used, seconds=seconds
    )


def _words_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # its __str__ raises as well
        return "…"


# Verdicts: an answer compared with the gold answer, or a whole reply with gold instructions.


async def judge_attempt(problem: Problem, answer: str | None, text: str) -> Verdict | None:
    """Judge an attempt without blocking the event loop; None where the problem has no gold."""
    if problem.answer is None:
        return None
    if instructions := read_instructions(problem.answer):
        return await asyncio.to_thread(judge_reply, instructions, text)
    found = _final(answer, text)
    (verdict,) = await grade_all([GradingCase(found, problem.answer, problem.text)])
    return verdict


def judge(problem: Problem, answer: str | None, text: str) -> Verdict | None:
    """Judge an attempt as ``judge_attempt`` does, but block while a worker decides."""
    if problem.answer is None:
        return None
    if instructions := read_instructions(problem.answer):
        return judge_reply(instructions, text)
    return grade(_final(answer, text), problem.answer, problem.text)


def _final(answer: str | None, text: str) -> str | None:
    """Extract the final answer where the answer is the whole reply, as ``plain`` returns it."""
    is_whole = answer is not None and answer == without_thinking(text).strip()
    return (extract(text).answer or answer) if is_whole else answer


def judge_reply(instructions: Sequence[GoldInstruction], text: str) -> Verdict:
    """Judge a whole reply, strictly: it is right where it follows every instruction.

    It is wrong where it breaks one, and undecided where none is broken and one cannot be decided.
    """
    started = time.perf_counter()
    truths = follow(instructions, text)
    word: Literal["correct", "incorrect", "undecided"] = "correct"
    said = [f"follows {truths.count('holds')} of {len(truths)} instructions"]
    for truth, verdict, words in _FAULTS:
        pairs = zip(instructions, truths, strict=True)
        if found := [one.sentence for one, own in pairs if own == truth]:
            said.append(f"{words}: {' '.join(found)}")
            word = verdict if word == "correct" else word
    seconds = time.perf_counter() - started
    return Verdict(word, "instructions", None, "; ".join(said), seconds)


_FAULTS: Final[tuple[tuple[str, Literal["incorrect", "undecided"], str], ...]] = (
    ("violated", "incorrect", "broken"),
    ("undecided", "undecided", "not decided"),
)
