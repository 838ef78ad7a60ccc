"""The application, and a server from its start to its end.

On every route a request's Host, Origin and token are checked; it waits for admission, is cancelled
at its time limit, is answered with our headers, counted and logged.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import logging
import signal
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, cast

from aiohttp import web

from constraint_first.attempt.attempt import Attempt
from constraint_first.attempt.drive import collecting_rarely
from constraint_first.attempt.events import raised_at
from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import one_line
from constraint_first.method.policy import Calibrated, runs_programs
from constraint_first.method.registry import make
from constraint_first.model.connection import Response
from constraint_first.model.error import BadReply, EngineError, StaleReply, StreamCut, Transient
from constraint_first.model.replicas import Replica
from constraint_first.model.resolve import AUTO, ModelRef, choose_method
from constraint_first.model.transport import COMPLETIONS, Transport, read_beginning, refusal
from constraint_first.problem import Json
from constraint_first.protocol import Usage
from constraint_first.sandbox.interpreter import shortfall
from constraint_first.serve import guard
from constraint_first.serve.attempt import (
    COMMENT,
    CONTENT_TYPE,
    DONE,
    EVENT_HEADERS,
    SERVICES,
    Log,
    Metrics,
    Outbox,
    Question,
    ReplyHead,
    Services,
    StreamWriter,
    answer,
    describe_start,
    pose,
)
from constraint_first.serve.request import (
    Fields,
    MethodChoice,
    ModelName,
    RequestError,
    is_foreign,
    read_request,
    rename_model,
    request_error,
    split_model,
)
from constraint_first.serve.upstream import (
    Fetching,
    Upstream,
    UpstreamOptions,
    fetch_silently,
    opened_upstream,
)
from constraint_first.store.database import StoreError, without_password
from constraint_first.store.store import Store, Traffic

# The access log: one line a request, as JSON or as text.

_LONGEST: Final = 500
_GONE: Final = "\N{REPLACEMENT CHARACTER}"


def access_line(request: web.Request, served: guard.Served, status: int) -> dict[str, Json]:
    """List the fields of a request's log line; of its contents only the model's name."""
    usage = served.usage
    told: dict[str, Json] = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": served.id,
        "remote": request.remote,
        "verb": request.method,
        "path": request.rel_url.raw_path[:_LONGEST],
        "status": status,
        "seconds": round(time.monotonic() - served.began, 4),
        "model": served.model,
        "method": served.method,
        "upstream": served.upstream,
        "stream": served.stream,
        "first_word_seconds": None if served.first is None else round(served.first, 4),
        "input_tokens": usage.input if usage else None,
        "output_tokens": usage.output if usage else None,
        "error": served.error,
    }
    return {
        name: value
        for name, value in told.items()
        if value is not None and value is not False and value != ""
    }


def describe_access(line: dict[str, Json]) -> str:
    time_of_day = str(line["time"])[11:19]
    asked = f"{_word(line['verb'])} {_word(line['path'])}"
    said = f"{time_of_day} {line['status']} {line['seconds']} s {asked}"
    if model := line.get("model"):
        said += f" {_word(model)}"
    if "input_tokens" in line:
        said += f" {line['input_tokens']}+{line['output_tokens']} tokens"
    if "error" in line:  # without control and bidirectional characters
        error = one_line(str(line["error"]))
        said += ": " + "".join(sign if sign.isprintable() else _GONE for sign in error)
    return said


def _word(value: Json) -> str:
    """Quote a client's value that contains spaces or line breaks."""
    word = str(value)[:_LONGEST]
    return word if word.isprintable() and " " not in word and '"' not in word else json.dumps(word)


_FAREWELL: Final = 1.0
"""Seconds in which a client can receive the final error."""


async def _answer_in_stream(request: web.Request, question: Question) -> web.StreamResponse:
    """Make all attempts and stream their events; headers are sent with the first event."""
    served, asked, outbox = question.served, question.asked, Outbox()
    head, response = _head(question), web.StreamResponse(headers=EVENT_HEADERS)

    async def work() -> None:
        start = describe_start(question.chosen.method, question.problem)

        async def attempt(number: int) -> Attempt:
            writer = StreamWriter(outbox, number, question.chosen.method, start)
            made = await answer(question, number, writer.tell)
            writer.conclude(made)
            return made

        served.usage = _used(await _attempts(asked.n, attempt))

    async def write(data: bytes) -> None:
        if not response.prepared:
            await response.prepare(request)
            data = b"".join(map(head.role, range(asked.n))) + data
        await response.write(data)

    try:
        async with aclosing(outbox.follow(work(), question.services.settings.silence)) as feed:
            async for waiting in feed:
                if waiting:
                    served.spoke()
                await write(b"".join(map(head.event, waiting)) or COMMENT)
    except (Exception, asyncio.CancelledError) as raised:
        told = served.overdue if isinstance(raised, asyncio.CancelledError) else raised
        if told is None or not response.prepared:  # client gone, or status not sent yet
            raise
        error = request_error(told)
        served.error = str(error)
        try:
            async with asyncio.timeout(_FAREWELL):
                await write(b"data: " + error.body() + b"\n\n")
                await response.write_eof()
        except (TimeoutError, ConnectionError):  # the client no longer reads
            if request.transport:
                request.transport.abort()
    else:
        usage = served.usage or Usage()
        await write((head.usage(usage) if asked.include_usage else b"") + DONE)
        await response.write_eof()
    return response


async def _attempts(
    n: int, attempt: Callable[[int], Coroutine[Any, Any, Attempt]]
) -> list[Attempt]:
    """Make n attempts at the same time; a failure cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(attempt(number)) for number in range(n)]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def _used(answers: Sequence[Attempt]) -> Usage:
    return sum((one.usage for one in answers), Usage())


def _head(question: Question) -> ReplyHead:
    head = ReplyHead(question.served.model, include_usage=question.asked.include_usage)
    question.served.id = head.id
    return head


# Requests that pass through: the endpoint's own response, streamed byte for byte.

# Ask for an uncompressed response: we forward its body without its Content-Encoding.
_HEADERS: Final = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_KEPT: Final = frozenset(
    "content-type retry-after cache-control x-request-id openai-processing-ms "
    "openai-version".split()
)
_KEPT_FAMILY: Final = "x-ratelimit-"
_SMALL: Final = 2**16
_TRIES: Final = 3
"""How often a request is sent if its response may belong to another request."""


async def _pass_through(
    request: web.Request, services: Services, served: guard.Served, body: bytes
) -> web.StreamResponse:
    """Forward a request and its response.

    The client's headers, including its token, are not forwarded; we add the endpoint's key.
    """
    for _ in range(_TRIES - 1):
        with suppress(StaleReply):
            return await _pass_once(request, services.upstream, served, body)
    return await _pass_once(request, services.upstream, served, body)


async def _pass_once(
    request: web.Request, upstream: Upstream, served: guard.Served, body: bytes
) -> web.StreamResponse:
    async with AsyncExitStack() as stack:
        transport, reply = await _ask(upstream, stack, body)
        headers = {
            name: value
            for name, value in reply.headers.items()
            if name.lower() in _KEPT or name.lower().startswith(_KEPT_FAMILY)
        }
        if not 200 <= reply.status < 300:
            return await _refusal(transport, reply, headers)
        most = transport.bounds.reply_bytes
        # The Content-Length of a compressed response is not that of the decompressed body.
        length = None if "Content-Encoding" in reply.headers else reply.content_length
        if length is not None and length > most:
            raise _too_large(most)
        if length is not None and length <= _SMALL:
            whole = b"".join([piece async for piece in reply.pieces()])
            return web.Response(status=reply.status, body=whole, headers=headers)
        response = web.StreamResponse(status=reply.status, headers=headers)
        response.content_length = length
        served.stream, size = True, 0
        try:
            async for piece in reply.pieces():
                size += len(piece)
                if size > most:
                    raise _too_large(most)
                if not response.prepared:
                    served.spoke()
                    await response.prepare(request)
                await response.write(piece)  # waits while the client's buffer is full
        except StaleReply as fault:
            if response.prepared:  # too late for a retry
                raise StreamCut(str(fault)) from None
            raise
        if not response.prepared:
            await response.prepare(request)
        await response.write_eof()
        return response


async def _ask(
    upstream: Upstream, stack: AsyncExitStack, body: bytes
) -> tuple[Transport, Response]:
    """Send a request to the endpoint, or to replicas until one succeeds; return its response."""
    balancer = upstream.balancer
    if balancer is None:
        await upstream.limiter.requests.wait()
        sent = upstream.transport.exchange("POST", COMPLETIONS, body, _HEADERS)
        return upstream.transport, await stack.enter_async_context(sent)
    tried, faults = frozenset[Replica](), list[Transient]()
    while visit := await balancer.turn(1, tried):
        one, tried = visit.replica, tried | {visit.replica}
        async with AsyncExitStack() as asking:
            asking.callback(balancer.leave, visit)
            try:
                await one.limiter.requests.wait()
                sent = one.transport.exchange("POST", COMPLETIONS, body, _HEADERS)
                reply = await asking.enter_async_context(sent)
            except Transient as fault:
                balancer.failed(visit, fault)
                faults.append(fault)
                continue
            said = refusal(one.endpoint, reply.status, reply.headers, b"")
            if reply.ok or not isinstance(said, Transient):
                balancer.answered(visit)
            else:
                balancer.failed(visit, said)
                faults.append(said)
                if balancer.has_other(tried):
                    continue
            await stack.enter_async_context(asking.pop_all())
            return one.transport, reply
    raise faults[-1]


async def _refusal(transport: Transport, reply: Response, headers: dict[str, str]) -> web.Response:
    """Forward an error response, with keys in it redacted."""
    body = await read_beginning(reply)
    text = body.decode("utf-8", "replace")
    if transport.redaction.is_clean(text):
        return web.Response(status=reply.status, body=body, headers=headers)
    response = RequestError(transport.redaction.quote(text), reply.status).response()
    if retry_after := headers.get("Retry-After"):
        response.headers["Retry-After"] = retry_after
    return response


def _too_large(most: int) -> BadReply:
    return BadReply(
        f"the endpoint's reply is larger than {most / 10**6:g} MB and was not read further; "
        "allow more with --max-reply-bytes"
    )


# The routes of the API: chat completions, models, health and metrics.

API: Final = web.RouteTableDef()
PASSED: Final = "pass-through"
"""The method label of requests that no method answers."""

_LONGEST_NAME: Final = 500


@API.post("/v1/chat/completions")
async def complete_chat(request: web.Request) -> web.StreamResponse:
    services, served = request.app[SERVICES], request[guard.SERVED]
    body = await request.read()
    parsed = await guard.parse_json(body)
    if not isinstance(parsed, dict):
        raise RequestError("the body must be a JSON object", code="invalid_json")
    fields = cast("Fields", parsed)
    name = fields.get("model", "")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise RequestError("model: must be a name", param="model")
    served.model, served.method = name, PASSED
    named = split_model(name) if name else ModelName(services.settings.methods[0], "")
    if named is None:
        return await _pass_through(request, services, served, body)
    served.upstream = upstream = await services.upstream.find(named.upstream)
    if is_foreign(fields):
        return await _pass_through(request, services, served, rename_model(body, upstream))
    asked = read_request(fields)
    chosen = services.methods.choose(named.method, upstream, asked.n).after(asked.context)
    if isinstance(chosen.method, Calibrated) and await services.readers.decide(
        "leaves_alone", chosen, asked.problem
    ):
        return await _pass_through(request, services, served, rename_model(body, upstream))
    served.method, served.stream = chosen.family, asked.stream
    served.model = name or str(ModelName(named.method, upstream))
    question = pose(services, served, asked, chosen, upstream)
    if asked.stream:
        return await _answer_in_stream(request, question)
    head = _head(question)
    answers = (
        [await answer(question)]
        if asked.n == 1
        else await _attempts(asked.n, lambda number: answer(question, number))
    )
    served.usage = _used(answers)
    return web.Response(body=head.whole(answers), content_type="application/json")


@API.get("/v1/models")
async def list_models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": await _models(request.app[SERVICES])})


@API.get("/v1/models/{name:.+}")
async def show_model(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    for model in await _models(request.app[SERVICES]):
        if model.get("id") == name:
            return web.json_response(model)
    said = f"model {name!r}: not listed; GET /v1/models lists all"
    raise RequestError(said, 404, code="model_not_found", param="model")


async def _models(services: Services) -> list[dict[str, Json]]:
    listed = await services.upstream.models()
    names = [name for one in listed if isinstance(name := one.get("id"), str)]
    shared: dict[str, Json] = {"object": "model", "created": 0}
    ours: list[dict[str, Json]] = [
        {"id": str(ModelName(method, name)), **shared, "owned_by": "constraint-first"}
        for name in names
        for method in services.settings.methods
    ]
    return ours + [shared | {"owned_by": "upstream"} | one for one in listed]


@API.get("/health")
async def tell_health(request: web.Request) -> web.Response:
    if request.app[SERVICES].stopping:
        return web.json_response({"status": "stopping"}, status=503)
    return web.json_response({"status": "ok"})


@API.get("/metrics")
async def tell_metrics(request: web.Request) -> web.Response:
    counts = request.app[SERVICES].metrics.exposed()
    if counts is None:
        said = "counts need prometheus-client: pip install 'constraint-first[serve]'"
        raise RequestError(said, 501)
    return web.Response(body=counts, headers={"Content-Type": CONTENT_TYPE})


# The application and its middleware.

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
ErrorPage: TypeAlias = Callable[[web.Request, RequestError], "web.Response | None"]
"""Renders an error as a page; None if the client is a program."""

ADMISSION: Final = web.AppKey("admission", guard.Admission)
ERROR_PAGE: Final = web.AppKey[ErrorPage]("error_page")
_AT_ONCE: Final = frozenset({"/health", "/metrics"})
"""Paths without admission: monitoring needs responses from a busy server too."""
_CLIENT_GONE: Final = 499
_COUNTED: Final = "/v1/"


def _application(services: Services) -> web.Application:
    settings, metrics = services.settings, services.metrics
    door, bodies = guard.Guard(settings), guard.Bodies(settings.body_bytes)
    admission = guard.Admission(
        settings.most_requests, settings.most_waiting, settings.request_seconds
    )
    metrics.watch(lambda: admission.under_way, lambda: admission.waiting)

    async def admitted(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check a request, read its body, wait for its place, and handle it."""
        door.check_origin(request)
        if request.method == "OPTIONS":  # a browser's preflight: the headers are the answer
            return web.Response(status=204)
        door.check_token(request)
        if request.path in _AT_ONCE:
            return await handler(request)
        async with bodies.read(request, form=not request.path.startswith(_COUNTED)):
            protocol = request.protocol
            connection = protocol if isinstance(protocol, guard.Connection) else None
            if connection:
                connection.connections.hold(connection)
            try:
                async with admission.place(request[guard.SERVED]):
                    return await handler(request)
            finally:
                if connection:
                    connection.connections.release(connection)

    @web.middleware
    async def front(request: web.Request, handler: Handler) -> web.StreamResponse:
        served = request[guard.SERVED] = guard.Served()
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
        door.add_headers(request, response)

    application = web.Application(middlewares=[front], client_max_size=settings.body_bytes)
    application[SERVICES] = services
    application[ADMISSION] = admission
    application.on_response_prepare.append(prepare)  # pyright: ignore[reportArgumentType]
    application.add_routes(API)
    return application


async def _answered(
    request: web.Request, answering: Awaitable[web.StreamResponse]
) -> web.StreamResponse:
    """Turn an exception into an error response; abort if a part of a response has been sent."""
    served = request[guard.SERVED]
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


# The life of a server: it listens, answers, and shuts down gracefully.

_BACKLOG: Final = 1_024
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LISTING: Final = 5.0
_OBJECTS_A_COLLECTION: Final = 5_000
_ACCEPTED_AT_ONCE: Final = 64
"""Connections accepted in one iteration of the event loop."""
_LAST: Final = 2.0
"""Seconds for the last error replies, before connections are closed."""


@dataclass(frozen=True, slots=True)
class Serving:
    settings: guard.ServeSettings
    ref: ModelRef
    options: UpstreamOptions
    log: Log | None
    note: Callable[[str], None]
    """Writes a line to the terminal."""
    store: str | None = None
    install: Callable[[web.Application], None] | None = None
    """Adds pages to the application."""
    fetching: Fetching = fetch_silently


async def serve(serving: Serving, stop: asyncio.Event | None = None) -> None:
    """Serve until a signal arrives or ``stop`` is set."""
    settings = serving.settings
    settings.check()
    methods = MethodChoice(settings.methods, settings.most_calls)
    methods.check()

    async def watch(traffic: Traffic) -> None:
        try:
            await traffic.watch()
        except StoreError as error:  # from now on requests to methods fail
            serving.note(str(error))

    async with AsyncExitStack() as stack:
        stack.enter_context(collecting_rarely(_OBJECTS_A_COLLECTION))
        listening = stack.enter_context(_listening(settings))
        traffic = None
        if serving.store:
            store = stack.enter_context(Store(serving.store))
            stack.enter_context(store.exclusively())
            traffic = Traffic(store)
        upstream = await stack.enter_async_context(
            opened_upstream(serving.ref, serving.options, methods.other_models, serving.fetching)
        )
        services = Services(settings, upstream, methods, Metrics(), serving.log, traffic)
        stack.callback(services.readers.close)
        runner, accepting = await stack.enter_async_context(_running(serving, services, listening))
        if not gc.get_freeze_count():
            gc.freeze()  # a full collection, with all loaded modules, would pause every request
            stack.callback(gc.unfreeze)
        once = stop or asyncio.Event()
        again = stack.enter_context(_stopping_by_signal(once))
        tasks = [asyncio.create_task(_introduce(serving, upstream, listening))]
        if traffic:
            tasks.append(asyncio.create_task(watch(traffic)))
        await once.wait()
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks)
        accepting.close()
        await _stop(serving, services, runner, again)


@contextmanager
def _listening(settings: guard.ServeSettings) -> Generator[socket.socket]:
    """Bind the port before any slow step, so that a port in use is reported at once."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError):
        raise InputError(
            f"--host {settings.host}: no address of this machine; 127.0.0.1 is for this machine "
            "alone, 0.0.0.0 for all that can reach it"
        ) from None
    # localhost may resolve to an IPv4 and an IPv6 address; clients that try only one try IPv4.
    family, kind, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    with socket.socket(family, kind) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(address)
            taken.listen(_BACKLOG)
        except OSError as error:
            host, port = settings.host, settings.port
            why = {
                errno.EADDRINUSE: f"--port {port}: taken already on {host}; choose another, "
                "or 0 for any that is free",
                errno.EACCES: f"--port {port}: needs more rights; choose one from 1024 on",
            }
            other = f"--host {host}: cannot listen there ({error.strerror})"
            raise InputError(why.get(error.errno or 0, other)) from None
        yield taken


@asynccontextmanager
async def _running(
    serving: Serving, services: Services, listening: socket.socket
) -> AsyncGenerator[tuple[web.AppRunner, asyncio.Server]]:
    settings = serving.settings
    application = _application(services)
    if serving.install:
        serving.install(application)
    runner = web.AppRunner(
        application, handler_cancellation=True, shutdown_timeout=settings.grace + _LAST
    )
    await runner.setup()
    # aiohttp would log a traceback for malformed HTTP, which any client can send.
    silent = logging.getLogger("constraint_first.serve.guard")
    silent.addHandler(logging.NullHandler())
    silent.propagate = False
    most = min(settings.most_connections, guard.allow_many_files())
    connections = guard.Connections(most, max(1, most // 2))
    loop, server = asyncio.get_running_loop(), cast("web.Server", runner.server)
    loop.set_exception_handler(guard.note_rarely(serving.note))
    accepting = await loop.create_server(
        lambda: guard.Connection(connections, server, loop=loop, access_log=None, logger=silent),
        sock=listening,
        backlog=_ACCEPTED_AT_ONCE,
    )
    listening.listen(_BACKLOG)  # create_server has set it to _ACCEPTED_AT_ONCE
    try:
        yield runner, accepting
    finally:
        accepting.close()
        if runner.server:  # unless it was stopped already
            await runner.cleanup()


async def _introduce(serving: Serving, upstream: Upstream, listening: socket.socket) -> None:
    """Report the server's address, its methods, and whether the endpoint responds."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    name = upstream.endpoint.model
    own = serving.settings.methods
    chosen = [choose_method(name or "").method if one == AUTO else one for one in own]
    methods = [
        f"{AUTO} ({method})" if one == AUTO and name else one
        for one, method in zip(own, chosen, strict=True)
    ]
    serving.note(
        f"serving http://{shown}:{port}/v1 with {', '.join(methods)} in front of {upstream.shown}"
    )
    if any(runs_programs(make(one)) for one in chosen) and (lacks := shortfall()):
        serving.note(lacks)
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
def _stopping_by_signal(stop: asyncio.Event) -> Generator[asyncio.Event]:
    """Set ``stop`` at the first signal, and the yielded event at the second."""
    loop, again = asyncio.get_running_loop(), asyncio.Event()

    def on_signal() -> None:
        (again if stop.is_set() else stop).set()

    for one in _SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or another thread
            loop.add_signal_handler(one, on_signal)
    try:
        yield again
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
