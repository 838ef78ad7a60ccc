"""One problem solved by one method: the library call behind ``cfr solve``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import wraps
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from constraint_first.attempt.attempt import Attempt, make_attempt
from constraint_first.attempt.drive import AttemptLimit
from constraint_first.attempt.events import Event, ProgressMeter, Tell, TellProgress
from constraint_first.error import InputError
from constraint_first.method.method import Method, models_of, prompts_of
from constraint_first.method.registry import Wording, check_system, make, read_wording, with_wording
from constraint_first.model.local import NO_PROGRESS
from constraint_first.model.resolve import (
    AUTO,
    ModelRef,
    Resolved,
    accompanied,
    choose_for,
    price_list,
    resolve,
    serve,
)
from constraint_first.model.transport import Bounds
from constraint_first.model.wire import Decoding, Engine
from constraint_first.problem import Problem
from constraint_first.protocol import Message

P = ParamSpec("P")
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

    ``solve`` is its blocking form, which also works in a notebook.

    An engine that is not open yet is opened, and closed afterwards. Without an engine, a model or
    an address, the embedded model on this machine is used. Other models that the method names are
    resolved by their names, unless the engine is a ``Client`` that has them. The method ``auto``
    is chosen by the model's name, once that is known.

    ``key`` is sent to the endpoint only; by default it comes from an environment variable.
    ``context`` is in tokens, ``decoding`` sets how replies are sampled, ``bounds`` how long one
    may take. ``prompts`` is a folder of own prompts, ``system`` a message ahead of every call.
    ``limit`` bounds the calls and tokens of all stages together.
    ``progress`` is called at the beginning and the end of every stage, ``tell`` with every event
    (``constraint_first.attempt.events``), with ``stream`` also for the words of replies.
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
        async with accompanied(client, _others(named)) as opened:
            chosen = make(choose_for(opened).method) if isinstance(named, str) else named
            return await make_attempt(
                with_wording(chosen, own),
                posed,
                opened,
                tell=tell_both if tell or meter else None,
                stream=stream and tell is not None,
                limit=limit,
                ahead=(Message("system", system),) if system else (),
                prices=price_list(opened.model, opened.others),
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

    async with serve(ref, _others(named), find) as served:
        return await work(served)


def _others(method: str | Method) -> tuple[str, ...]:
    return () if isinstance(method, str) else models_of(method)


def _refuse_beside_engine(settings: Mapping[str, object]) -> None:
    if named := [f"{name}=" for name, value in settings.items() if value is not None]:
        raise InputError(
            f"{', '.join(named)}: engine= has its own model and settings; give them to the engine, "
            "or leave out engine="
        )


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, even if an event loop is already running (as in a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)

    async def only() -> AsyncGenerator[T]:
        yield await coroutine

    (result,) = iterate(only())
    return result


def synchronous(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Make a blocking function from an asynchronous one, with the same arguments."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> T:
        return run_sync(function(*args, **options))

    return run


def iterate(source: AsyncGenerator[T]) -> Generator[T]:
    """Iterate over an asynchronous generator in blocking code, even inside a running event loop.

    It runs in a thread of its own, and is cancelled when the iteration ends early.
    """
    waiting: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    begun: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = SimpleQueue()

    async def read() -> None:
        async for one in source:
            waiting.put((one,))

    async def main() -> None:
        task = asyncio.create_task(read())
        begun.put((asyncio.get_running_loop(), task))
        await task

    def work() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # re-raised in the reader's thread
            waiting.put(error)
        else:
            waiting.put(None)

    # Copy the caller's context variables, as asyncio.run does in one thread.
    thread = Thread(target=copy_context().run, args=(work,), name="cfr-iterate", daemon=True)
    thread.start()
    loop, task = begun.get()
    try:
        while (one := waiting.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            yield one[0]
    finally:
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(task.cancel)
        thread.join()


solve = synchronous(asolve)
