"""Run a method's generator in a worker process that can be killed, so that no text blocks the loop.

A method searches its problem and every reply with many regular expressions, some of which may be
slow on a hostile text. Because a method can be replayed, a worker needs only the problem and the
answers so far; it returns the next round. Texts of up to ``SHORT`` characters are read on the loop.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, cast

from constraint_first.file.storable import storable_json
from constraint_first.method import Method, make
from constraint_first.method.calibrated import Calibrated
from constraint_first.method.confidence import assess
from constraint_first.method.plain import Plain, whole_reply
from constraint_first.problem import Json, Problem, Solution
from constraint_first.process import Pool, Undecided, serve
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Entry,
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
from constraint_first.serve.budget import within
from constraint_first.serve.certainty import announcing, is_held
from constraint_first.serve.error_reply import RequestError

__all__ = ["SHORT", "ReadRun", "Readers", "Reading", "main"]

SHORT: Final = 400
"""Longest text, in characters, that is read on the event loop; none of them takes long."""
_PROGRAM: Final = ("-m", "constraint_first.serve.reading")
_CPU_SECONDS: Final = 1.0
_PATIENCE: Final = 10.0
_WAIT: Final = 5.0
"""Seconds to wait for a free worker; after that the text goes to the model unread."""
_NICE: Final = 10
_UNREAD: Final = "took too long to read, so nothing was read, checked or changed"


@dataclass(frozen=True, slots=True)
class Reading:
    """The arguments that a worker needs to run the method of an attempt."""

    method: str
    problem: str
    max_tokens: int | None
    announced: bool
    alone: bool = True

    def steps(self, method: Method, tell: Callable[[Call], None]) -> Steps[Solution]:
        """Start the method, within the request's token limit."""
        problem = Problem(self.problem)
        steps = method.solve(problem)
        if self.max_tokens:
            steps = within(steps, self.max_tokens)
        return announcing(steps, method, problem, tell) if self.announced else steps


class Readers:
    """The workers of a server; they start when the first long text comes."""

    def __init__(self, count: int | None = None) -> None:
        self._pool = Pool(_PROGRAM, count or max(2, os.cpu_count() or 1))
        self._threads = ThreadPoolExecutor(self._pool.count, "cfr-reading")
        self._turns = asyncio.Semaphore(self._pool.count)

    async def decide(self, task: str, method: str, text: str, *, alone: bool) -> bool:
        """Ask a worker a yes-or-no question about a text; yes where it takes too long."""
        try:
            return bool(await self.ask(task, method, text, alone))
        except Undecided:
            return True

    async def ask(self, task: str, *arguments: Json) -> Json:
        """Run a task in a worker; raise Undecided where it takes too long."""
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

    def close(self) -> None:
        """End all workers."""
        self._pool.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


class ReadRun:
    """A method under way, like a ``Run``, that reads long texts in a worker."""

    def __init__(
        self,
        readers: Readers,
        reading: Reading,
        method: Method,
        tell: Callable[[Call], None],
        change: Callable[[Call], Call],
    ) -> None:
        self._readers = readers
        self._reading = reading
        self._method = method
        self._tell = tell
        self._change = change
        self._here: Run[Solution] | None = None
        self._solving: list[Call] = []
        self._answers: list[tuple[Answer, ...]] = []
        self._sent: list[Json] = []
        """The answers as JSON for the workers; each is converted once."""
        self._size = len(reading.problem)
        self._result: Solution | None = None
        self.round: tuple[Step, ...] = ()
        self.transcript: list[Entry] = []

    @property
    def done(self) -> bool:
        """Whether the method has returned."""
        return self._result is not None

    @property
    def result(self) -> Solution:
        """What it returned."""
        if self._result is None:
            raise RuntimeError("the run is not done")
        return self._result

    async def start(self) -> None:
        """Find the first round."""
        if self._size <= SHORT:
            self._here = Run(self._reading.steps(self._method, self._solving.append))
            self._take_here()
        else:
            await self._ask()

    async def advance(self, answers: tuple[Answer, ...]) -> None:
        """Hand over the answers of a round, and find the next one."""
        asked, self.round = self.round, ()
        self.transcript += [
            Execution(step, cast("Output", answer))
            if isinstance(step, Program)
            else Exchange(step, cast("Completion", answer))
            for step, answer in zip(asked, answers, strict=True)
        ]
        self._answers.append(answers)
        self._size += sum(len(answer.text) for answer in answers)
        if self._here and (self._size <= SHORT or isinstance(self._method, Plain)):
            self._here.advance(answers)
            self._take_here()
        else:
            self._here = None
            await self._ask()

    def _take_here(self) -> None:
        run = cast("Run[Solution]", self._here)
        if not run.done:
            self.round = tuple(map(self._changed, run.round))
            if self._solving and run.round == (self._solving.pop(),):
                self._tell(cast("Call", self.round[0]))
        elif isinstance(self._method, Plain) and self._size > SHORT:
            self._result = run.result
        else:
            self._result = assess(Problem(self._reading.problem), run.result)

    def _changed(self, step: Step) -> Step:
        return self._change(step) if isinstance(step, Call) else step

    async def _ask(self) -> None:
        new = self._answers[len(self._sent) :]
        self._sent += [[_plain(one) for one in given] for given in new]
        order = cast("Json", asdict(self._reading))
        try:
            reply = cast("dict[str, Any]", await self._readers.ask("advance", order, self._sent))
        except Undecided:
            self._go_unread()
            return
        if "fault" in reply:
            raise RuntimeError(reply["fault"])
        if "solution" in reply:
            self._result = Solution(**reply["solution"])
            return
        self.round = tuple(self._changed(_step(one)) for one in reply["round"])
        if reply["solving"]:
            self._tell(cast("Call", self.round[0]))

    def _go_unread(self) -> None:
        """Pass the text, or the reply, on unread where reading takes too long."""
        if not self.transcript:
            self._method = Plain()
            self._here = Run(_noted(self._method.solve(Problem(self._reading.problem))))
            self._take_here()
            return
        last = self.transcript[-1]
        if len(self._answers[-1]) > 1 or not isinstance(last, Exchange):
            raise RequestError(
                f"the model's replies {_UNREAD}; ask again, or name a plain model",
                502,
                code="unreadable_reply",
            )
        self._result = _note(whole_reply(last.completion))


def _noted(steps: Steps[Solution]) -> Steps[Solution]:
    return _note((yield from steps))


def _note(solution: Solution) -> Solution:
    return replace(solution, details={**solution.details, "unread": _UNREAD})


def _plain(answer: Answer) -> Json:
    kind = "completion" if isinstance(answer, Completion) else "output"
    return {"kind": kind, **cast("dict[str, Json]", asdict(answer))}


def _answer(value: Mapping[str, Any]) -> Answer:
    fields: dict[str, Any] = {name: one for name, one in value.items() if name != "kind"}
    if value["kind"] == "output":
        return Output(**fields)
    fields["usage"] = Usage(**fields["usage"])
    return Completion(**fields)


def _step(value: Mapping[str, Any]) -> Step:
    fields: dict[str, Any] = {name: one for name, one in value.items() if name != "kind"}
    if value["kind"] == "program":
        return Program(**fields)
    fields["messages"] = tuple(Message(**one) for one in fields["messages"])
    return Call(**fields)


# What a worker does.


def _made(name: str, *, alone: bool) -> Method:
    method = make(name)
    return method if alone or not isinstance(method, Calibrated) else replace(method, alone=False)


def _leaves_alone(name: str, text: str, alone: bool) -> Json:
    method = _made(name, alone=alone)
    return isinstance(method, Calibrated) and method.leaves_alone(Problem(text))


def _holds(name: str, text: str, alone: bool) -> Json:
    return is_held(_made(name, alone=alone), Problem(text))


def _advance(order: dict[str, Any], rounds: Sequence[Sequence[Mapping[str, Any]]]) -> Json:
    """Run a method on the answers so far, and say what it asks next or what it returned."""
    try:
        run, solving = _run(Reading(**order), rounds)
        if run.done:
            solution = assess(Problem(order["problem"]), run.result)
            details = storable_json(solution.details)
            return {"solution": asdict(solution) | {"details": json.loads(details)}}
    except Exception as error:
        return {"fault": f"{type(error).__name__} in the method"}
    steps: list[Json] = [
        {"kind": "program" if isinstance(one, Program) else "call", **asdict(one)}
        for one in run.round
    ]
    return {"round": steps, "solving": bool(solving) and run.round == (solving[-1],)}


def _run(
    reading: Reading, rounds: Sequence[Sequence[Mapping[str, Any]]]
) -> tuple[Run[Solution], list[Call]]:
    solving: list[Call] = []
    run = Run(reading.steps(_made(reading.method, alone=reading.alone), solving.append))
    for given in rounds:
        run.advance(tuple(map(_answer, given)))
    return run, solving


def main() -> None:
    """Serve as a worker, behind the server itself."""
    os.nice(_NICE)
    serve({"leaves_alone": _leaves_alone, "holds": _holds, "advance": _advance}, _CPU_SECONDS)


if __name__ == "__main__":
    main()
