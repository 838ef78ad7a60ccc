"""A watcher for one reader: what happens at the same time is told one after the other."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from constraint_first.attempt.drive import Allowance, AttemptLimit, drive
from constraint_first.error import InputError
from constraint_first.method.checked import assessed
from constraint_first.method.method import Method, models_of, prompts_of
from constraint_first.method.registry import make
from constraint_first.method.rewording import Wording, check_system, read_wording, with_wording
from constraint_first.model.error import Transient
from constraint_first.model.pull import NO_PROGRESS
from constraint_first.model.resolve import (
    AUTO,
    Cost,
    ModelRef,
    Resolved,
    accompanied,
    choose_for,
    opened_all,
    price_list,
    resolve,
    serve,
)
from constraint_first.model.transport import Bounds
from constraint_first.model.wire import SILENT, Decoding, Engine, Relay, Watcher
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import (
    Call,
    Completion,
    Entry,
    Exchange,
    Execution,
    Message,
    Output,
    Program,
    Stage,
    Steps,
    Usage,
    altered,
)
from constraint_first.thinking import ThinkingStream

PROGRAM: Final = "Program"
_TITLES: Final = {
    "stage1": "Stage 1: constraints",
    "stage2": "Stage 2: solution",
    "draft": "Draft",
    "continue": "Continued",
    "translate": PROGRAM,
} | {stage: stage.capitalize() for stage in ("router", "format", "feedback", "program")}


def stage_title(stage: Stage) -> str:
    """Name a stage for a person."""
    return _TITLES.get(stage, "Solution")


class OrderedWatcher(Watcher):
    """Follows replies word by word, thinking and the rest apart. Override what is of interest.

    Of calls that run at the same time the first is followed; the others, and what programs print,
    are told when they are whole and no reply is being written.
    """

    def __init__(self) -> None:
        self._followed: Call | None = None
        self._waiting: list[Callable[[], None]] = []
        self._stream = ThinkingStream()

    @property
    def follows(self) -> bool:
        """Whether a reply is being written."""
        return self._followed is not None

    def begin(self, call: Call) -> None:
        """Begin to follow a call."""

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        """Take the next words of the reply that is followed."""

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Take a whole reply; ``written`` says whether it was followed."""

    def show_output(self, program: Program, output: Output) -> None:
        """Take what a program printed."""

    def started(self, call: Call) -> None:
        """Follow a call, unless another is followed."""
        if self._followed is None:
            self._followed, self._stream = call, ThinkingStream()
            self.begin(call)

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Pass the next words on."""
        if call is self._followed:
            self._write(call, [(piece, True)] if reasoning else self._stream.add(piece))

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:  # noqa: ARG002
        """Begin a reply anew."""
        if call is self._followed:
            self._stream = ThinkingStream()

    def finished(self, call: Call, completion: Completion) -> None:
        """Close a reply; what ended in the meantime follows."""
        if self._followed is not None and call is not self._followed:
            self._waiting.append(partial(self.end, call, completion, written=False))
            return
        followed, self._followed = self._followed is not None, None
        if followed:
            self._write(call, self._stream.end())
        self.end(call, completion, written=followed)
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()

    def executed(self, program: Program, output: Output) -> None:
        """Show what a program printed, once no reply is being written."""
        if self._followed is None:
            self.show_output(program, output)
        else:
            self._waiting.append(partial(self.show_output, program, output))

    def _write(self, call: Call, parts: Iterable[tuple[str, bool]]) -> None:
        for text, thought in parts:
            self.write(call, text, thought=thought)


# The progress of a solution, as a function is told it: the stage, and what was used so far.


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """A moment of a solution: what begins or ends, and what all of it has used so far."""

    stage: str
    """What a call is for (``direct``, ``stage1``, …), ``program``, or ``model`` for its file."""
    state: Literal["fetching", "started", "retrying", "finished"]
    detail: str = ""
    """How much of a file is there, or why a call is asked again."""
    calls: int = 0
    """Calls that have ended."""
    usage: Usage = field(default_factory=Usage)
    """The tokens of those calls."""
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.usage.total

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.stage} {self.state}{detail}: {self.tokens:,} tokens, {self.seconds:.1f} s"


TellProgress: TypeAlias = Callable[[SolveProgress], object]
"""A function that is told how a solution gets on; what it raises ends the solution."""


class ProgressWatcher(Relay):
    """A watcher that tells a function where a solution is, and another watcher everything."""

    def __init__(self, tell: TellProgress, watcher: Watcher) -> None:
        super().__init__(watcher)
        self._tell_progress = tell
        self._started = time.monotonic()
        self._calls, self._usage = 0, Usage()
        self._fetched = ("", -1)

    def fetching(self, done: int, total: int, doing: str) -> None:
        """Tell of every tenth of a model file."""
        tenth = (doing, 10 * done // max(total, 1))
        if tenth != self._fetched:
            self._fetched = tenth
            amount = f"{doing}, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            self._tell("model", "fetching", amount)

    def started(self, call: Call) -> None:
        """Tell that a call begins."""
        self._watcher.started(call)
        self._tell(call.stage, "started")

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Tell why a call is asked again."""
        super().retrying(call, fault, seconds)
        self._tell(call.stage, "retrying", f"{fault}; again in {seconds:.1f} s")

    def finished(self, call: Call, completion: Completion) -> None:
        """Tell that a call has ended, and count it."""
        self._calls += 1
        self._usage += completion.usage
        self._watcher.finished(call, completion)
        self._tell(call.stage, "finished")

    def executing(self, program: Program) -> None:
        """Tell that a program begins."""
        self._watcher.executing(program)
        self._tell(program.stage, "started")

    def executed(self, program: Program, output: Output) -> None:
        """Tell that a program has ended."""
        self._watcher.executed(program, output)
        self._tell(program.stage, "finished", output.error)

    def _tell(
        self,
        stage: str,
        state: Literal["fetching", "started", "retrying", "finished"],
        detail: str = "",
    ) -> None:
        seconds = time.monotonic() - self._started
        self._tell_progress(SolveProgress(stage, state, detail, self._calls, self._usage, seconds))


# One problem solved by one method: the library call behind ``cfr solve``.

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Solved:
    """A solution with what led to it: the whole transcript, the tokens and the seconds it took."""

    problem: Problem
    method: Method
    solution: Solution
    transcript: tuple[Entry, ...]
    seconds: float
    cost: Cost | None = None
    """What its calls cost; None where no model has a price."""

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The calls and their completions."""
        return tuple(entry for entry in self.transcript if isinstance(entry, Exchange))

    @property
    def executions(self) -> tuple[Execution, ...]:
        """The programs and their outputs."""
        return tuple(entry for entry in self.transcript if isinstance(entry, Execution))

    @property
    def answer(self) -> str | None:
        """The final answer as the model wrote it; None where the reply contains none."""
        return self.solution.answer

    @property
    def usage(self) -> Usage:
        """Tokens of all stages together."""
        return sum((exchange.completion.usage for exchange in self.exchanges), Usage())

    @property
    def tokens(self) -> int:
        """Input and output tokens of all stages together."""
        return self.usage.total

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs."""
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
    return {
        "input": usage.input,
        "output": usage.output,
        "reasoning": usage.reasoning,
        "cached": usage.cached,
        "shared": usage.shared,
        "total": usage.total,
        "reported": usage.reported,
    }


async def asolve(
    problem: str | Problem,
    method: str | Method = AUTO,
    *,
    engine: Engine | None = None,
    model: ModelRef | str | None = None,
    base_url: str | Sequence[str] | None = None,
    key: str | None = None,
    context: int | None = None,
    decoding: Decoding | None = None,
    bounds: Bounds | None = None,
    prompts: str | Path | Wording | None = None,
    system: str = "",
    limit: AttemptLimit | None = None,
    watcher: Watcher = SILENT,
    progress: TellProgress | None = None,
) -> Solved:
    """Solve one problem with an engine, or with the model that is named.

    An engine that is not open yet is opened, and closed again. Without an engine, a model or an
    address the embedded model does it, on this machine. Other models that the method names are
    found by their names, unless the engine is a ``Dispatch`` that has them. The method ``auto`` is
    chosen by the model's name, once that is known.

    ``key`` goes to the endpoint and nowhere else; without it the model's environment variable holds
    it. ``context`` is in tokens, ``decoding`` says how replies are sampled, ``bounds`` how long one
    may take. ``prompts`` is a folder of own prompts, ``system`` a message ahead of every call.
    ``limit`` bounds the calls and tokens of all stages together.
    ``progress`` is called at the beginning and the end of every stage, ``watcher`` hears every
    word.
    """
    posed = problem if isinstance(problem, Problem) else Problem(problem)
    named = make(method) if isinstance(method, str) and method != AUTO else method
    own = read_wording(prompts, prompts_of(named)) if isinstance(prompts, str | Path) else prompts
    asked = _Asked(posed, named, own, check_system(system), limit)
    told = ProgressWatcher(progress, watcher) if progress else watcher
    given = {"base_url": base_url, "key": key, "context": context}
    settings = {name: value for name, value in given.items() if value is not None}
    if engine is not None:
        _refuse_beside_engine(settings | {"model": model, "decoding": decoding, "bounds": bounds})
        return await _solve(asked, engine, told)
    ref = replace(model if isinstance(model, ModelRef) else ModelRef(model), **settings)
    fetching = told.fetching if isinstance(told, ProgressWatcher) else NO_PROGRESS

    def find(one: ModelRef) -> Resolved:
        return resolve(one, decoding, bounds=bounds, progress=fetching)

    async with opened_all(serve(ref, _others(named), find)) as served:
        return await _solve(asked, served, told)


class _Asked(NamedTuple):
    """A problem, and how it is to be asked."""

    problem: Problem
    method: str | Method
    wording: Wording | None
    system: str
    limit: AttemptLimit | None


async def _solve(asked: _Asked, engine: Engine, watcher: Watcher) -> Solved:
    problem, method, wording, system, limit = asked
    started = time.monotonic()
    async with opened_all(accompanied(engine, _others(method))) as performing:
        chosen = make(choose_for(performing.main).method) if isinstance(method, str) else method
        chosen = with_wording(chosen, wording)
        ahead = (Message("system", system),) if system else ()
        steps = preceded(assessed(chosen, problem), ahead)
        outcome = await drive(steps, performing, watcher=watcher, allowance=Allowance(limit))
    seconds = time.monotonic() - started
    prices = price_list(getattr(performing.main, "model", None), performing.others)
    cost = prices.total(outcome.exchanges)
    return Solved(problem, chosen, outcome.result, outcome.transcript, seconds, cost)


def _others(method: str | Method) -> tuple[str, ...]:
    return () if isinstance(method, str) else models_of(method)


def _refuse_beside_engine(settings: Mapping[str, object]) -> None:
    if named := [f"{name}=" for name, value in settings.items() if value is not None]:
        raise InputError(
            f"{', '.join(named)}: engine= has its own model and settings; give them to the engine, "
            "or leave out engine="
        )


def preceded(steps: Steps[T], ahead: tuple[Message, ...]) -> Steps[T]:
    """Put messages ahead of each call: a system message, or a conversation so far."""
    if not ahead:
        return steps
    return altered(steps, lambda call: replace(call, messages=ahead + call.messages))


def solve(
    problem: str | Problem,
    method: str | Method = AUTO,
    *,
    engine: Engine | None = None,
    model: ModelRef | str | None = None,
    base_url: str | Sequence[str] | None = None,
    key: str | None = None,
    context: int | None = None,
    decoding: Decoding | None = None,
    bounds: Bounds | None = None,
    prompts: str | Path | Wording | None = None,
    system: str = "",
    limit: AttemptLimit | None = None,
    watcher: Watcher = SILENT,
    progress: TellProgress | None = None,
) -> Solved:
    """Solve one problem from ordinary code, a notebook included; see ``asolve``."""
    return run_sync(
        asolve(
            problem,
            method,
            engine=engine,
            model=model,
            base_url=base_url,
            key=key,
            context=context,
            decoding=decoding,
            bounds=bounds,
            prompts=prompts,
            system=system,
            limit=limit,
            watcher=watcher,
            progress=progress,
        )
    )


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _run_in_thread(coroutine)


def _run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own, and stop it where the caller is interrupted."""
    result: Future[T] = Future()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def main() -> T:
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("unreachable: this runs as a task")
        started.set_result((asyncio.get_running_loop(), task))
        return await coroutine

    def work() -> None:
        try:
            result.set_result(asyncio.run(main()))
        except BaseException as error:  # whatever it is, it belongs to the caller
            result.set_exception(error)

    # As asyncio.run does in this thread: what the caller has set in context variables holds there.
    thread = threading.Thread(
        target=copy_context().run, args=(work,), name="cfr-run-sync", daemon=True
    )
    thread.start()
    try:
        return result.result()
    except BaseException:
        if not result.done():
            loop, task = started.result()
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
