"""The application, and a server from its start to its end.

On every route a request is checked for its Host, its Origin and its token, waits for its place,
ends at its time limit, is answered with our headers, counted and logged.
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
from constraint_first.serve.api import API
from constraint_first.serve.context import (
    SERVED,
    SERVICES,
    Log,
    Metrics,
    Served,
    Services,
    access_line,
)
from constraint_first.serve.guard import (
    Admission,
    Bodies,
    Connection,
    Connections,
    Guard,
    LimitedSite,
    allow_many_files,
)
from constraint_first.serve.request import MethodChoice
from constraint_first.serve.setting import RequestError, ServeSettings, request_error
from constraint_first.serve.upstream import (
    Fetching,
    Upstream,
    UpstreamOptions,
    fetch_silently,
    opened_upstream,
)
from constraint_first.store.database import StoreError, without_password
from constraint_first.store.journal import Traffic
from constraint_first.store.store import Store

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
ErrorPage: TypeAlias = Callable[[web.Request, RequestError], "web.Response | None"]
"""Shows an error to a person; None where a program asked."""

ADMISSION: Final = web.AppKey("admission", Admission)
ERROR_PAGE: Final = web.AppKey[ErrorPage]("error_page")
_AT_ONCE: Final = frozenset({"/health", "/metrics"})
"""Paths without admission: monitoring needs an answer from a busy server, too."""
_CLIENT_GONE: Final = 499
_COUNTED: Final = "/v1/"


def make_application(services: Services, *tables: web.RouteTableDef) -> web.Application:
    """Build the application of the API and of more tables of routes, such as those of a page."""
    settings, metrics = services.settings, services.metrics
    guard, bodies = Guard(settings), Bodies(settings.body_bytes)
    admission = Admission(settings.most_requests, settings.most_waiting, settings.request_seconds)
    metrics.watch(lambda: admission.under_way, lambda: admission.waiting)

    async def admitted(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check a request, read its body, wait for its place, and handle it."""
        guard.check_origin(request)
        if request.method == "OPTIONS":  # a browser's preflight: the headers are the answer
            return web.Response(status=204)
        guard.check_token(request)
        if request.path in _AT_ONCE:
            return await handler(request)
        async with bodies.read(request, form=not request.path.startswith(_COUNTED)):
            protocol = request.protocol
            connection = protocol if isinstance(protocol, Connection) else None
            if connection:
                connection.connections.hold(connection)
            try:
                async with admission.place(request[SERVED]):
                    return await handler(request)
            finally:
                if connection:
                    connection.connections.release(connection)

    @web.middleware
    async def front(request: web.Request, handler: Handler) -> web.StreamResponse:
        served = request[SERVED] = Served()
        status = _CLIENT_GONE
        try:
            response = await _answered(request, admitted(request, handler))
            status = response.status
            return response
        except asyncio.CancelledError:
            served.error = served.error or served.why_cancelled
            raise
        finally:
            if request.path.startswith(_COUNTED):
                seconds = time.monotonic() - served.began
                metrics.answered(served.method or "none", status, seconds, served.first)
            if services.log:
                services.log(access_line(request, served, status))

    async def prepare(request: web.BaseRequest, response: web.StreamResponse) -> None:
        guard.add_headers(request, response)

    application = web.Application(middlewares=[front], client_max_size=settings.body_bytes)
    application[SERVICES] = services
    application[ADMISSION] = admission
    application.on_response_prepare.append(prepare)  # pyright: ignore[reportArgumentType]
    for table in (API, *tables):
        application.add_routes(table)
    return application


async def _answered(
    request: web.Request, answering: Awaitable[web.StreamResponse]
) -> web.StreamResponse:
    """Turn an exception into an error reply. Half of a reply can only be cut off."""
    served = request[SERVED]
    try:
        return await answering
    except web.HTTPException as answer:
        if answer.status < 400:
            raise
        there = f"{request.path}: there is nothing here; the API is at /v1/chat/completions"
        said = there if answer.status == 404 else answer.text or answer.reason
        error = RequestError(said, answer.status)
    except Exception as raised:
        error = request_error(raised)
        if not isinstance(raised, CfrError):  # a bug; its message may hold a secret
            served.error = f"{type(raised).__name__} {raised_at(raised)}"
    served.error = served.error or str(error)
    if request.writer.output_size and request.transport:
        request.transport.abort()
    page = request.app.get(ERROR_PAGE)
    return (page(request, error) if page else None) or error.response()


# A server from its start to its end: it listens, answers, and stops in an orderly way.

_BACKLOG: Final = 1_024
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LISTING: Final = 5.0
_OBJECTS_A_COLLECTION: Final = 5_000
_LAST: Final = 2.0
"""Seconds for the last error replies, before connections are closed."""


@dataclass(frozen=True, slots=True)
class Serving:
    """The arguments of a server."""

    settings: ServeSettings
    ref: ModelRef
    options: UpstreamOptions
    log: Log | None
    note: Callable[[str], None]
    """Writes a line for the person who started it."""
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
                    gc.freeze()  # a collection of all loaded modules would stop every request
                    stack.callback(gc.unfreeze)
                with _stopping_by_signal(stop or asyncio.Event()) as (once, again):
                    tasks = [asyncio.create_task(_introduce(serving, upstream, listening))]
                    if traffic:
                        tasks.append(asyncio.create_task(_watch(serving, traffic)))
                    await once.wait()
                    for task in tasks:
                        task.cancel()
                    with suppress(asyncio.CancelledError):
                        await asyncio.gather(*tasks)
                    await _stop(serving, services, runner, again)


async def _watch(serving: Serving, traffic: Traffic) -> None:
    """Report a store that cannot be written any more; methods answer with an error from then on."""
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
            raise InputError(_cannot_listen(settings, error)) from None
        yield taken


def _cannot_listen(settings: ServeSettings, error: OSError) -> str:
    host, port = settings.host, settings.port
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"--port {port}: taken already on {host}; choose another, or 0 for any that is free"
            )
        case errno.EACCES:
            return f"--port {port}: needs more rights; choose one from 1024 on"
        case _:
            return f"--host {host}: cannot listen there ({error.strerror})"


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
        # aiohttp would log a traceback for whatever is not HTTP, and any client can send that.
        silent = logging.getLogger("constraint_first.serve.guard")
        silent.addHandler(logging.NullHandler())
        silent.propagate = False
        limited = Connections(most, max(1, most // 2))
        options: dict[str, Any] = {"access_log": None, "logger": silent}
        await LimitedSite(runner, listening, limited, serving.note, **options).start()
        yield runner
    finally:
        if runner.server:  # unless it was stopped already
            await runner.cleanup()


async def _introduce(serving: Serving, upstream: Upstream, listening: socket.socket) -> None:
    """Report where the server is, what it does, and whether the endpoint can be asked now."""
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
def _stopping_by_signal(
    stop: asyncio.Event,
) -> Generator[tuple[asyncio.Event, asyncio.Event]]:
    """Set an event at the first signal to stop, and another one at the second."""
    loop, again = asyncio.get_running_loop(), asyncio.Event()

    def on_signal() -> None:
        (again if stop.is_set() else stop).set()

    for one in _SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or another thread
            loop.add_signal_handler(one, on_signal)
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
