"""The application: tables of routes behind one guard, one admission and one log.

Whatever route a table adds, a request to it is checked for its Host, its Origin and its token,
waits for its place, ends when its time is over, is answered with our headers, counted and logged.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import signal
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from aiohttp import web

from constraint_first.attempt.drive import collecting_rarely
from constraint_first.attempt.events import raised_at
from constraint_first.error import CfrError, InputError
from constraint_first.model.error import EngineError
from constraint_first.model.resolve import AUTO, ModelRef, choose_method
from constraint_first.run.attempt import Traffic
from constraint_first.serve.api import API
from constraint_first.serve.guard import (
    Admission,
    Bodies,
    Connection,
    Connections,
    Guard,
    LimitedSite,
    access_line,
    add_headers,
    allow_many_files,
)
from constraint_first.serve.service import (
    SERVED,
    SERVICES,
    Fetching,
    Log,
    MethodChoice,
    Served,
    Services,
    Upstream,
    UpstreamOptions,
    fetch_silently,
    opened_upstream,
)
from constraint_first.serve.setting import ErrorReply, Metrics, ServeSettings, describe_error
from constraint_first.store.database import StoreError, without_password
from constraint_first.store.store import Store

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
ErrorPage: TypeAlias = Callable[[web.Request, ErrorReply], "web.Response | None"]
"""Tells a person what is wrong; None where a program asked."""

ADMISSION: Final = web.AppKey("admission", Admission)
ERROR_PAGE: Final = web.AppKey[ErrorPage]("error_page")
_AT_ONCE: Final = frozenset({"/health", "/metrics"})
"""Paths that wait for nobody: whoever watches a busy server must get an answer."""
_CLIENT_GONE: Final = 499
_COUNTED: Final = "/v1/"


def make_application(services: Services, *tables: web.RouteTableDef) -> web.Application:
    """Build the application of the API and of more tables of routes, such as those of a page."""
    settings = services.settings
    guard, bodies = Guard(settings), Bodies(settings.body_bytes)
    admission = Admission(
        settings.most_requests,
        settings.most_waiting,
        settings.request_seconds,
    )
    services.metrics.watch(lambda: admission.under_way, lambda: admission.waiting)

    @web.middleware
    async def front(request: web.Request, handler: Handler) -> web.StreamResponse:
        served = request[SERVED] = Served()
        status = _CLIENT_GONE
        try:
            response = await _answered(request, handler, served, guard, admission, bodies)
            status = response.status
            return response
        except asyncio.CancelledError:
            served.error = served.error or served.why_cancelled
            raise
        finally:
            _tell(services, request, served, status)

    async def prepare(request: web.BaseRequest, response: web.StreamResponse) -> None:
        add_headers(guard, request, response)

    application = web.Application(middlewares=[front], client_max_size=settings.body_bytes)
    application[SERVICES] = services
    application[ADMISSION] = admission
    application.on_response_prepare.append(prepare)  # pyright: ignore[reportArgumentType]
    for table in (API, *tables):
        application.add_routes(table)
    return application


async def _answered(
    request: web.Request,
    handler: Handler,
    served: Served,
    guard: Guard,
    admission: Admission,
    bodies: Bodies,
) -> web.StreamResponse:
    """Answer a request, whatever comes of it."""
    try:
        guard.check_origin(request)
        if request.method == "OPTIONS":  # a browser asks whether it may ask; the headers say so
            return web.Response(status=204)
        guard.check_token(request)
        if request.path in _AT_ONCE:
            return await handler(request)
        async with bodies.read(request, form=not request.path.startswith(_COUNTED)):
            protocol = request.protocol
            if isinstance(protocol, Connection):
                protocol.hold()
            try:
                async with admission.place(served):
                    return await handler(request)
            finally:
                if isinstance(protocol, Connection):
                    protocol.release()
    except web.HTTPException as answer:
        if answer.status < 400:
            raise
        return _failed(request, served, ErrorReply(answer.status, _said(request, answer)))
    except Exception as error:
        described = describe_error(error)
        if not isinstance(error, CfrError):  # a mistake of ours; its words may hold a secret
            served.error = f"{type(error).__name__} {raised_at(error)}"
        return _failed(request, served, described)


def _said(request: web.Request, answer: web.HTTPException) -> str:
    if answer.status == 404:
        return f"{request.path}: there is nothing here; the API is at /v1/chat/completions"
    return answer.text or answer.reason


def _failed(request: web.Request, served: Served, error: ErrorReply) -> web.StreamResponse:
    """Tell the client what is wrong; one that has half of a reply can only be cut off."""
    served.error = served.error or error.message
    if request.writer.output_size and request.transport:
        request.transport.abort()
    page = request.app.get(ERROR_PAGE)
    return (page(request, error) if page else None) or error.response()


def _tell(services: Services, request: web.Request, served: Served, status: int) -> None:
    if request.path.startswith(_COUNTED):
        seconds = time.monotonic() - served.began
        services.metrics.answered(served.method or "none", status, seconds, served.first)
    if services.log:
        services.log(access_line(request, served, status))


# A server from its start to its end: it listens, answers, and stops in an orderly way.

_BACKLOG: Final = 1_024
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LISTING: Final = 5.0
_OBJECTS_A_COLLECTION: Final = 5_000
_LAST: Final = 2.0
"""Seconds that a request has to say that its time is over, before its connection is closed."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What a server is started with."""

    settings: ServeSettings
    ref: ModelRef
    options: UpstreamOptions
    log: Log | None
    note: Callable[[str], None]
    """Says something to the person who started it."""
    store: str | None = None
    tables: Sequence[web.RouteTableDef] = ()
    install: Callable[[web.Application], None] | None = None
    """Adds pages to the application."""
    fetching: Fetching = fetch_silently


async def serve(serving: Serving, stop: asyncio.Event | None = None) -> None:
    """Serve until a signal comes, or ``stop`` is set."""
    settings = serving.settings
    settings.check()
    methods = MethodChoice(settings.methods, settings.most_calls)
    methods.check()
    most = min(settings.most_connections, allow_many_files())
    with ExitStack() as stack:
        stack.enter_context(collecting_rarely(_OBJECTS_A_COLLECTION))
        listening = stack.enter_context(_listening(settings))
        traffic = None
        if serving.store:
            store = stack.enter_context(Store(serving.store))
            stack.enter_context(store.exclusively())
            traffic = Traffic(store)
        async with opened_upstream(
            serving.ref, serving.options, methods.other_models, serving.fetching
        ) as upstream:
            services = Services(settings, upstream, methods, Metrics(), serving.log, traffic)
            stack.callback(services.readers.close)
            async with _running(serving, services, listening, most) as runner:
                if not gc.get_freeze_count():
                    gc.freeze()  # a collection of all that modules hold would stop every request
                    stack.callback(gc.unfreeze)
                with _heeding_signals(stop or asyncio.Event()) as (once, again):
                    tasks = [asyncio.create_task(_introduce(serving, upstream, listening))]
                    if traffic:
                        tasks.append(asyncio.create_task(_tell_of_failure(serving, traffic)))
                    await once.wait()
                    for task in tasks:
                        task.cancel()
                    with suppress(asyncio.CancelledError):
                        await asyncio.gather(*tasks)
                    await _stop(serving, services, runner, again)


async def _tell_of_failure(serving: Serving, traffic: Traffic) -> None:
    """Say at once that nothing can be stored any more; methods answer with an error from then."""
    try:
        await traffic.watch()
    except StoreError as error:
        serving.note(str(error))


@contextmanager
def _listening(settings: ServeSettings) -> Generator[socket.socket]:
    """Take the port before anything that takes time."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError):
        raise InputError(
            f"--host {settings.host}: no address of this machine; 127.0.0.1 is for this machine "
            "alone, 0.0.0.0 for all that can reach it"
        ) from None
    # localhost may be two addresses; clients that know one know the older one.
    family, kind, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    with socket.socket(family, kind) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(address)
            taken.listen(_BACKLOG)
        except OSError as error:
            raise _cannot_listen(settings, error) from None
        yield taken


def _cannot_listen(settings: ServeSettings, error: OSError) -> InputError:
    if error.errno == errno.EADDRINUSE:
        return InputError(
            f"--port {settings.port}: taken already on {settings.host}; choose another, or 0 for "
            "any that is free"
        )
    if error.errno == errno.EACCES:
        return InputError(f"--port {settings.port}: needs more rights; choose one from 1024 on")
    return InputError(f"--host {settings.host}: cannot listen there ({error.strerror})")


def _no_log() -> logging.Logger:
    """Say nothing of what is no HTTP: anybody can send it, and a traceback each helps nobody."""
    silent = logging.getLogger("constraint_first.serve.guard")
    silent.addHandler(logging.NullHandler())
    silent.propagate = False
    return silent


@asynccontextmanager
async def _running(
    serving: Serving, services: Services, listening: socket.socket, most: int
) -> AsyncGenerator[web.AppRunner]:
    application = make_application(services, *serving.tables)
    if serving.install:
        serving.install(application)
    runner = web.AppRunner(
        application,
        handler_cancellation=True,
        shutdown_timeout=serving.settings.grace + _LAST,
    )
    await runner.setup()
    try:
        limited = Connections(most, max(1, most // 2))
        silent: dict[str, Any] = {"access_log": None, "logger": _no_log()}
        await LimitedSite(runner, listening, limited, serving.note, **silent).start()
        yield runner
    finally:
        if runner.server:  # unless it was stopped already
            await runner.cleanup()


async def _introduce(serving: Serving, upstream: Upstream, listening: socket.socket) -> None:
    """Say where the server is, what it does, and whether the endpoint can be asked now."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    name = upstream.endpoint.model
    methods = [
        f"{AUTO} ({choose_method(name).method})" if method == AUTO and name else method
        for method in serving.settings.methods
    ]
    serving.note(
        f"serving http://{shown}:{port}/v1 with {', '.join(methods)} in front of {upstream.shown}"
    )
    if serving.store:
        serving.note(f"every answer of a method is kept in {without_password(serving.store)}")
    try:
        async with asyncio.timeout(_LISTING):
            await upstream.survey(serving.note)
    except TimeoutError:
        serving.note(f"{upstream.endpoint.shown}: silent so far; requests are tried all the same")
    except EngineError as error:
        serving.note(f"{error}; requests are tried all the same")


@contextmanager
def _heeding_signals(
    stop: asyncio.Event,
) -> Generator[tuple[asyncio.Event, asyncio.Event]]:
    """Set an event when a signal to stop comes, and another one when it comes again."""
    loop, again = asyncio.get_running_loop(), asyncio.Event()

    def heed() -> None:
        (again if stop.is_set() else stop).set()

    for one in _SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or another thread
            loop.add_signal_handler(one, heed)
    try:
        yield stop, again
    finally:
        for one in _SIGNALS:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(one)


async def _stop(
    serving: Serving, services: Services, runner: web.AppRunner, again: asyncio.Event
) -> None:
    admission, grace = runner.app[ADMISSION], serving.settings.grace
    services.stopping = True
    serving.note(f"stopping: {admission.under_way} request(s) have {grace:g} s to finish")
    admission.stop(grace)
    cleanup = asyncio.create_task(runner.cleanup())
    hurry = asyncio.create_task(again.wait())
    await asyncio.wait((cleanup, hurry), return_when=asyncio.FIRST_COMPLETED)
    if not cleanup.done():
        serving.note("stopping at once")
        admission.stop(0)
    hurry.cancel()
    await cleanup
