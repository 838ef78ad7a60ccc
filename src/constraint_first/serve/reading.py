"""Run methods on long texts in worker processes, so that no text blocks the event loop.

A method searches its problem and every reply with many regular expressions, one of which may be
slow on a hostile text. Because a method can be replayed, a worker needs only the problem and the
answers so far, and returns the next round; it can be killed at any time. Texts of up to ``SHORT``
characters are read on the loop.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar, cast

from constraint_first.attempt.drive import RemoteRun
from constraint_first.file.safe import storable_json
from constraint_first.method.baselines import Plain, whole_reply
from constraint_first.method.method import Method
from constraint_first.method.policy import Calibrated
from constraint_first.method.registry import make
from constraint_first.method.sound import assess, is_held
from constraint_first.problem import Json, Problem, Solution
from constraint_first.process import Pool, Undecided, serve
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Exchange,
    Execution,
    Message,
    Output,
    Program,
    Run,
    Step,
    Steps,
    Usage,
)
from constraint_first.serve.request import ChosenMethod, RequestError

T = TypeVar("T")

SHORT: Final = 400
"""Longest text, in characters, that is read on the event loop: short texts are always fast."""
_PROGRAM: Final = ("-m", "constraint_first.serve.reading")
_CPU_SECONDS: Final = 1.0
_PATIENCE: Final = 10.0
_WAIT: Final = 5.0
"""Seconds to wait for a free worker; after that the text is passed to the model unread."""
_NICE: Final = 10
_UNREAD: Final = "took too long to read, so nothing was read, checked or changed"


def _leaves_alone(method: Method, problem: Problem) -> bool:
    return isinstance(method, Calibrated) and method.leaves_alone(problem)


# Whether a method passes a text to the model unchanged; whether it withholds replies until its
# end.
_DECISIONS: Final = {"leaves_alone": _leaves_alone, "holds": is_held}


class Readers:
    """The workers of a server; they start when the first long text comes."""

    def __init__(self, count: int | None = None) -> None:
        self._pool = Pool(_PROGRAM, count or max(2, os.cpu_count() or 1))
        self._threads = ThreadPoolExecutor(self._pool.count, "cfr-reading")
        self._turns = asyncio.Semaphore(self._pool.count)

    async def ask(self, task: str, *arguments: Json) -> Json:
        try:
            async with asyncio.timeout(_WAIT):
                await self._turns.acquire()
        except TimeoutError:
            raise Undecided("no worker was free") from None
        try:
            ask = partial(self._pool.ask, task, *arguments, patience=_PATIENCE)
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        finally:
            self._turns.release()

    async def decide(self, task: str, chosen: ChosenMethod, text: str) -> bool:
        """Decide on a text; return True if reading it takes too long."""
        if len(text) <= SHORT:
            return _DECISIONS[task](chosen.method, Problem(text))
        with suppress(Undecided):
            return bool(await self.ask(task, chosen.name, chosen.alone, text))
        return True

    def close(self) -> None:
        self._pool.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


class ReadRun(RemoteRun[Solution]):
    """A running method, like a ``Run``: in this process for short texts, else in a worker."""

    def __init__(
        self,
        readers: Readers,
        chosen: ChosenMethod,
        problem: Problem,
        max_tokens: int | None,
        change: Callable[[Call], Call],
    ) -> None:
        super().__init__()
        self._readers = readers
        self._chosen = chosen
        self._method = chosen.method
        self._problem = problem
        self._max_tokens = max_tokens
        self._change = change
        self._here: Run[Solution] | None = None
        self._size = len(problem.text)

    async def start(self) -> None:
        if self._size <= SHORT:
            self._here = Run(_begin(self._method, self._problem, self._max_tokens))
            self._take_here(self._here)
        else:
            await self._ask()

    async def move(self, answers: tuple[Answer, ...]) -> None:
        asked, self.round = self.round, ()
        self.transcript += [
            Execution(step, cast("Output", answer))
            if isinstance(step, Program)
            else Exchange(step, cast("Completion", answer))
            for step, answer in zip(asked, answers, strict=True)
        ]
        self._size += sum(len(answer.text) for answer in answers)
        if self._here and (self._size <= SHORT or isinstance(self._method, Plain)):
            self._here.advance(answers)
            self._take_here(self._here)
        else:
            self._here = None
            await self._ask(asked)

    def _take_here(self, run: Run[Solution]) -> None:
        if not run.done:
            self._take(run.round)
        elif isinstance(self._method, Plain) and self._size > SHORT:
            self._result.append(run.result)
        else:
            self._result.append(assess(self._problem, run.result))

    def _take(self, steps: Sequence[Step]) -> None:
        self.round = tuple(self._change(one) if isinstance(one, Call) else one for one in steps)

    async def _ask(self, asked: Sequence[Step] = ()) -> None:
        answers: list[Json] = [
            asdict(one.completion if isinstance(one, Exchange) else one.output)
            for one in self.transcript
        ]
        try:
            name, alone = self._chosen.name, self._chosen.alone
            order = (name, alone, self._problem.text, self._max_tokens)
            reply: Any = await self._readers.ask("advance", *order, answers)
        except Undecided:
            self._go_unread(asked)
            return
        if "fault" in reply:
            raise RuntimeError(reply["fault"])
        if "solution" in reply:
            self._result.append(Solution(**reply["solution"]))
        else:
            self._take([_step(one) for one in reply["round"]])

    def _go_unread(self, asked: Sequence[Step]) -> None:
        """Pass the text or the reply on unread, because reading took too long."""
        if not asked:
            self._method = Plain()
            self._here = Run(_noted(self._method.solve(self._problem)))
            self._take_here(self._here)
            return
        last = self.transcript[-1]
        if len(asked) > 1 or not isinstance(last, Exchange):
            raise RequestError(
                f"the model's replies {_UNREAD}; ask again, or name a plain model",
                502,
                code="unreadable_reply",
            )
        self._result.append(_note(whole_reply(last.completion)))


def _noted(steps: Steps[Solution]) -> Steps[Solution]:
    return _note((yield from steps))


def _note(solution: Solution) -> Solution:
    return replace(solution, details={**solution.details, "unread": _UNREAD})


def _step(fields: dict[str, Any]) -> Step:
    if "source" in fields:
        return Program(**fields)
    messages = tuple(Message(**one) for one in fields.pop("messages"))
    return Call(messages, **fields)


def _answer(step: Step, fields: dict[str, Any]) -> Answer:
    if isinstance(step, Program):
        return Output(**fields)
    usage = Usage(**fields.pop("usage"))
    return Completion(**fields, usage=usage)


# One budget of output tokens for all stages of an attempt.

_SHORT_STAGES: Final = frozenset("stage1 router format explore clarify".split())
"""Stages whose replies are short compared to the solution that they prepare."""
_SHARE: Final = 4
_NOTHING_LEFT: Final = Completion("", "length", usage=Usage())


def within(steps: Steps[T], most: int) -> Steps[T]:
    """Keep a method within a budget of output tokens.

    A short stage may use a quarter of the remaining tokens, any other call all of them, even if a
    round has several calls. When none are left, calls are answered by an empty, truncated reply.
    """
    run, left = Run(steps), most
    while run.round:
        if left > 0:
            answers = yield tuple(
                _lowered(step, left) if isinstance(step, Call) else step for step in run.round
            )
        else:
            programs = tuple(step for step in run.round if isinstance(step, Program))
            ran = iter((yield programs) if programs else ())
            answers = tuple(
                next(ran) if isinstance(step, Program) else _NOTHING_LEFT for step in run.round
            )
        left -= max(one.usage.output if isinstance(one, Completion) else 0 for one in answers)
        run.advance(answers)
    return run.result


def _lowered(call: Call, left: int) -> Call:
    share = max(1, left // _SHARE) if call.stage in _SHORT_STAGES else left
    return replace(call, max_tokens=min(call.max_tokens, share))


# The code of a worker process.


def _begin(method: Method, problem: Problem, max_tokens: int | None) -> Steps[Solution]:
    steps = method.solve(problem)
    return within(steps, max_tokens) if max_tokens else steps


def _made(name: str, alone: bool) -> Method:
    method = make(name)
    return method if alone or not isinstance(method, Calibrated) else replace(method, alone=False)


def _decide(task: str, name: str, alone: bool, text: str) -> Json:
    return _DECISIONS[task](_made(name, alone), Problem(text))


def _advance(
    name: str, alone: bool, text: str, max_tokens: int | None, answers: Sequence[dict[str, Any]]
) -> Json:
    """Run a method on the answers so far; return its next round or its solution."""
    problem, known = Problem(text), iter(answers)
    try:
        run = Run(_begin(_made(name, alone), problem, max_tokens))
        for first in known:
            given = (first, *islice(known, len(run.round) - 1))
            run.advance(tuple(map(_answer, run.round, given)))
        if run.done:
            solution = assess(problem, run.result)
            details = json.loads(storable_json(solution.details))
            return {"solution": asdict(solution) | {"details": details}}
    except Exception as error:
        return {"fault": f"{type(error).__name__} in the method"}
    return {"round": [asdict(one) for one in run.round]}


def main() -> None:
    os.nice(_NICE)
    serve(
        {"advance": _advance, **{task: partial(_decide, task) for task in _DECISIONS}}, _CPU_SECONDS
    )


if __name__ == "__main__":
    main()
