"""One problem solved by one method: the library call behind ``cfr solve``."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from constraint_first.attempt.attempt import Attempt, make_attempt
from constraint_first.attempt.drive import AttemptLimit
from constraint_first.attempt.events import Event, ProgressMeter, Tell, TellProgress
from constraint_first.error import InputError
from constraint_first.method.method import Method, models_of, prompts_of
from constraint_first.method.registry import make
from constraint_first.method.rewording import Wording, check_system, read_wording, with_wording
from constraint_first.model.pull import NO_PROGRESS
from constraint_first.model.resolve import (
    AUTO,
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
from constraint_first.model.wire import Decoding, Engine
from constraint_first.problem import Problem
from constraint_first.protocol import Message

T = TypeVar("T")


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
    tell: Tell | None = None,
    stream: bool = True,
    progress: TellProgress | None = None,
) -> Attempt:
    """Solve one problem with an engine, or with the model that is named.

    An engine that is not open yet is opened, and closed again. Without an engine, a model or an
    address the embedded model does it, on this machine. Other models that the method names are
    found by their names, unless the engine is a ``Dispatch`` that has them. The method ``auto`` is
    chosen by the model's name, once that is known.

    ``key`` goes to the endpoint and nowhere else; without it the model's environment variable holds
    it. ``context`` is in tokens, ``decoding`` says how replies are sampled, ``bounds`` how long one
    may take. ``prompts`` is a folder of own prompts, ``system`` a message ahead of every call.
    ``limit`` bounds the calls and tokens of all stages together.
    ``progress`` is called at the beginning and the end of every stage, ``tell`` with all that
    happens (``constraint_first.attempt.events``); ``stream`` says whether the words of replies are
    part of that.
    """
    posed = problem if isinstance(problem, Problem) else Problem(problem)
    named = make(method) if isinstance(method, str) and method != AUTO else method
    own = read_wording(prompts, prompts_of(named)) if isinstance(prompts, str | Path) else prompts
    system, meter = check_system(system), ProgressMeter(progress) if progress else None

    def tell_both(event: Event) -> None:
        if tell:
            tell(event)
        if meter:
            meter(event)

    async def work(client: Engine) -> Attempt:
        async with opened_all(accompanied(client, _others(named))) as opened:
            chosen = make(choose_for(opened.main).method) if isinstance(named, str) else named
            return await make_attempt(
                with_wording(chosen, own),
                posed,
                opened,
                tell=tell_both if tell or meter else None,
                stream=stream and tell is not None,
                limit=limit,
                ahead=(Message("system", system),) if system else (),
                prices=price_list(getattr(opened.main, "model", None), opened.others),
            )

    given = {"base_url": base_url, "key": key, "context": context}
    settings = {name: value for name, value in given.items() if value is not None}
    if engine is not None:
        _refuse_beside_engine(settings | {"model": model, "decoding": decoding, "bounds": bounds})
        return await work(engine)
    ref = replace(model if isinstance(model, ModelRef) else ModelRef(model), **settings)
    fetching = meter.fetching if meter else NO_PROGRESS

    def find(one: ModelRef) -> Resolved:
        return resolve(one, decoding, bounds=bounds, progress=fetching)

    async with opened_all(serve(ref, _others(named), find)) as served:
        return await work(served)


def _others(method: str | Method) -> tuple[str, ...]:
    return () if isinstance(method, str) else models_of(method)


def _refuse_beside_engine(settings: Mapping[str, object]) -> None:
    if named := [f"{name}=" for name, value in settings.items() if value is not None]:
        raise InputError(
            f"{', '.join(named)}: engine= has its own model and settings; give them to the engine, "
            "or leave out engine="
        )


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
    tell: Tell | None = None,
    stream: bool = True,
    progress: TellProgress | None = None,
) -> Attempt:
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
            tell=tell,
            stream=stream,
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
