"""Requests that pass through: the endpoint's own reply, byte for byte and as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final

from aiohttp import web

from constraint_first.engine.balancer import Balancer
from constraint_first.engine.connection import Response
from constraint_first.engine.error import BadReply, StaleReply, StreamCut, Transient
from constraint_first.engine.refusal import refusal
from constraint_first.engine.replica import Replica
from constraint_first.engine.transport import COMPLETIONS, Transport, read_beginning
from constraint_first.serve.error_reply import ErrorReply
from constraint_first.serve.service import Served, Services
from constraint_first.serve.upstream import Upstream

__all__ = ["pass_through"]

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
    response = ErrorReply(reply.status, said).response()
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
