"""Answers to questions that name a method: whole, or as a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from typing import Any, Final, cast

from aiohttp import web

from constraint_first.attempt.attempt import Attempt
from constraint_first.model.connection import Response
from constraint_first.model.error import BadReply, StaleReply, StreamCut, Transient
from constraint_first.model.replicas import Balancer, Replica
from constraint_first.model.transport import COMPLETIONS, Transport, read_beginning, refusal
from constraint_first.problem import Json
from constraint_first.protocol import Usage
from constraint_first.serve.attempt import Outbox, Question, StreamWriter, Words, answer, pose
from constraint_first.serve.context import CONTENT_TYPE, SERVED, SERVICES, Served, Services
from constraint_first.serve.guard import parse_json
from constraint_first.serve.reply import DONE, ReplyHead, describe_start
from constraint_first.serve.request import (
    Fields,
    ModelName,
    is_foreign,
    read_request,
    rename_model,
    split_model,
)
from constraint_first.serve.setting import RequestError, request_error
from constraint_first.serve.upstream import Upstream

_COMMENT: Final = b": still at work\n\n"
_FAREWELL: Final = 1.0
"""Seconds that a client has to hear what went wrong."""
_EVENTS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would keep events back
}


async def answer_in_stream(request: web.Request, question: Question) -> web.StreamResponse:
    """Make all attempts, and write down what happens as it happens."""
    outbox, answers = Outbox(), list[Attempt]()
    stream = _EventStream(request, question)
    work = outbox.follow(_work(question, outbox, answers), question.services.settings.silence)
    try:
        async with aclosing(work) as feed:
            async for words in feed:
                await stream.send(words)
    except (Exception, asyncio.CancelledError) as error:
        told = question.served.overdue if isinstance(error, asyncio.CancelledError) else error
        if told is None or not stream.is_begun:  # nobody is there, or it can still be a status
            raise
        await stream.fail(request_error(told))
    else:
        question.served.usage = _used(answers)
        await stream.end(question.served.usage)
    return stream.response


async def _work(question: Question, outbox: Outbox, answers: list[Attempt]) -> None:
    method = question.chosen.method
    start = describe_start(method, question.problem)

    async def attempt(number: int) -> Attempt:
        writer = StreamWriter(outbox, number, method, start)
        made = await answer(question, number, writer.tell)
        writer.conclude(made)
        return made

    answers += await _attempts(question.asked.n, attempt)


async def _attempts(
    n: int, attempt: Callable[[int], Coroutine[Any, Any, Attempt]]
) -> list[Attempt]:
    """Make n attempts at the same time; one that fails ends the others."""
    if n == 1:
        return [await attempt(0)]
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


class _EventStream:
    """The events of one reply. Nothing is sent before there is something to say."""

    def __init__(self, request: web.Request, question: Question) -> None:
        self.response = web.StreamResponse(headers=_EVENTS)
        self._request = request
        self._asked = question.asked
        self._served = question.served
        self._head = _head(question)

    @property
    def is_begun(self) -> bool:
        return self.response.prepared

    async def send(self, waiting: Sequence[Words]) -> None:
        if waiting:
            self._served.spoke()
        await self._write(b"".join(map(self._event, waiting)) or _COMMENT)

    async def end(self, usage: Usage) -> None:
        last = self._head.usage(usage) if self._asked.include_usage else b""
        await self._write(last + DONE)
        await self.response.write_eof()

    async def fail(self, error: RequestError) -> None:
        """Send what went wrong, unless the client takes nothing any more."""
        self._served.error = str(error)
        try:
            async with asyncio.timeout(_FAREWELL):
                await self._write(b"data: " + error.body() + b"\n\n")
                await self.response.write_eof()
        except (TimeoutError, ConnectionError):
            if self._request.transport:
                self._request.transport.abort()

    def _event(self, words: Words) -> bytes:
        if words.ended:
            return self._head.finish(words.index, words.ended)
        return self._head.piece(words.index, words.name, words.text.getvalue())

    async def _write(self, data: bytes) -> None:
        if not self.response.prepared:
            await self.response.prepare(self._request)
            data = b"".join(map(self._head.role, range(self._asked.n))) + data
        await self.response.write(data)


# Requests that pass through: the endpoint's own reply, byte for byte and as it comes.

# A reply that is compressed would have to be unpacked here: nothing is sent on but what it says.
_HEADERS: Final = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_KEPT: Final = frozenset(
    "content-type retry-after cache-control x-request-id openai-processing-ms "
    "openai-version".split()
)
_KEPT_FAMILY: Final = "x-ratelimit-"
_SMALL: Final = 2**16
_TRIES: Final = 3
"""How often a request is sent whose reply may belong to another one."""


async def pass_through(
    request: web.Request, services: Services, served: Served, body: bytes
) -> web.StreamResponse:
    """Send a request on and its reply back.

    The client's own headers stay here, its token among them; the endpoint gets its key from us.
    """
    for _ in range(_TRIES - 1):
        with suppress(StaleReply):
            return await _pass_once(request, services, served, body)
    return await _pass_once(request, services, served, body)


async def _pass_once(
    request: web.Request, services: Services, served: Served, body: bytes
) -> web.StreamResponse:
    async with _exchange(services.upstream, body) as (transport, reply):
        headers = {n: v for n, v in reply.headers.items() if _is_kept(n.lower())}
        if not 200 <= reply.status < 300:
            return await _refusal(transport, reply, headers)
        most = transport.bounds.reply_bytes
        # Of a reply that is compressed nobody knows the length.
        length = None if "Content-Encoding" in reply.headers else reply.content_length
        if length is not None and length > most:
            raise _too_large(most)
        if length is not None and length <= _SMALL:
            whole = b"".join([piece async for piece in reply.pieces()])
            return web.Response(status=reply.status, body=whole, headers=headers)
        response = web.StreamResponse(status=reply.status, headers=headers)
        response.content_length = length
        served.stream = True
        await _copy(request, reply, response, most, served)
        return response


@asynccontextmanager
async def _exchange(upstream: Upstream, body: bytes) -> AsyncGenerator[tuple[Transport, Response]]:
    """Send a request to the endpoint, or to the least busy of several that answers."""
    async with AsyncExitStack() as stack:
        if upstream.balancer:
            yield await _ask_one_of(upstream.balancer, stack, body)
        else:
            await upstream.limiter.requests.wait()
            yield (
                upstream.transport,
                await stack.enter_async_context(
                    upstream.transport.exchange("POST", COMPLETIONS, body, _HEADERS)
                ),
            )


async def _ask_one_of(
    balancer: Balancer, stack: AsyncExitStack, body: bytes
) -> tuple[Transport, Response]:
    """Ask endpoints until one answers; of the last whatever it says is sent on."""
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


async def _copy(
    request: web.Request,
    reply: Response,
    response: web.StreamResponse,
    most: int,
    served: Served,
) -> None:
    """Send pieces on as they come, and take no more than the client does."""
    size = 0
    try:
        async for piece in reply.pieces():
            size += len(piece)
            if size > most:
                raise _too_large(most)
            if not response.prepared:
                served.spoke()
                await response.prepare(request)
            await response.write(piece)
    except StaleReply as fault:
        if response.prepared:  # too late to ask again
            raise StreamCut(str(fault)) from None
        raise
    if not response.prepared:
        await response.prepare(request)
    await response.write_eof()


async def _refusal(transport: Transport, reply: Response, headers: dict[str, str]) -> web.Response:
    """Send an error on, unless it repeats a key."""
    body = await read_beginning(reply)
    if transport.redaction.is_clean(body.decode("utf-8", "replace")):
        return web.Response(status=reply.status, body=body, headers=headers)
    said = transport.redaction.quote(body.decode("utf-8", "replace"))
    response = RequestError(said, reply.status).response()
    if retry_after := headers.get("Retry-After"):
        response.headers["Retry-After"] = retry_after
    return response


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_KEPT_FAMILY)


def _too_large(most: int) -> BadReply:
    return BadReply(
        f"the endpoint's reply is larger than {most / 10**6:g} MB and was not read further; "
        "allow more with --max-reply-bytes"
    )


# The routes of the API: chat completions, models, health and counts.

API: Final = web.RouteTableDef()
PASSED: Final = "pass-through"
"""What requests are counted under that no method answers."""

_LONGEST_NAME: Final = 500


@API.post("/v1/chat/completions")
async def complete_chat(request: web.Request) -> web.StreamResponse:
    """Answer a question by the method that its model names, or send it on."""
    services, served = request.app[SERVICES], request[SERVED]
    body = await request.read()
    fields = _object(await parse_json(body))
    name = fields.get("model", "")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise RequestError("model: must be a name", param="model")
    served.model, served.method = name, PASSED
    named = split_model(name) if name else ModelName(services.settings.methods[0], "")
    if named is None:
        return await pass_through(request, services, served, body)
    served.upstream = upstream = await services.upstream.find(named.upstream)
    if is_foreign(fields):
        return await pass_through(request, services, served, rename_model(body, upstream))
    asked = read_request(fields)
    chosen = services.methods.choose(named.method, upstream, asked.n).after(asked.context)
    if await services.leaves_alone(chosen, asked.problem):
        return await pass_through(request, services, served, rename_model(body, upstream))
    served.method, served.stream = chosen.family, asked.stream
    served.model = name or str(ModelName(named.method, upstream))
    question = pose(services, served, asked, chosen, upstream)
    if asked.stream:
        return await answer_in_stream(request, question)
    head = _head(question)
    if asked.n == 1:
        answers = [await answer(question)]
    else:
        answers = await _attempts(asked.n, lambda number: answer(question, number))
    served.usage = _used(answers)
    return web.Response(body=head.whole(answers), content_type="application/json")


def _object(value: Any) -> Fields:
    if not isinstance(value, dict):
        raise RequestError("the body must be a JSON object", code="invalid_json")
    return cast("Fields", value)


@API.get("/v1/models")
async def list_models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": await _models(request.app[SERVICES])})


@API.get("/v1/models/{name:.+}")
async def show_model(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    for model in await _models(request.app[SERVICES]):
        if model.get("id") == name:
            return web.json_response(model)
    raise RequestError(
        f"model {name!r}: not listed; GET /v1/models has what is",
        404,
        code="model_not_found",
        param="model",
    )


async def _models(services: Services) -> list[dict[str, Json]]:
    listed = await services.upstream.models()
    names = [name for one in listed if isinstance(name := one.get("id"), str)]
    ours: list[dict[str, Json]] = [
        {
            "id": str(ModelName(method, name)),
            "object": "model",
            "created": 0,
            "owned_by": "constraint-first",
        }
        for name in names
        for method in services.settings.methods
    ]
    return ours + [
        {"object": "model", "created": 0, "owned_by": "upstream"} | one for one in listed
    ]


@API.get("/health")
async def tell_health(request: web.Request) -> web.Response:
    if request.app[SERVICES].stopping:
        return web.json_response({"status": "stopping"}, status=503)
    return web.json_response({"status": "ok"})


@API.get("/metrics")
async def tell_metrics(request: web.Request) -> web.Response:
    metrics = request.app[SERVICES].metrics
    if not metrics.is_on:
        raise RequestError(
            "counts need prometheus-client: pip install 'constraint-first[serve]'", 501
        )
    return web.Response(body=metrics.exposed(), headers={"Content-Type": CONTENT_TYPE})
