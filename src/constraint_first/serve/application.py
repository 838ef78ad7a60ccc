"""The application: tables of routes behind one guard, one admission and one log.

Whatever route a table adds, a request to it is checked for its Host, its Origin and its token,
waits for its place, ends when its time is over, is answered with our headers, counted and logged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from aiohttp import web

from constraint_first.error import CfrError
from constraint_first.evaluation.attempt import raised_at
from constraint_first.serve.access_log import access_line
from constraint_first.serve.admission import Admission
from constraint_first.serve.api import API
from constraint_first.serve.body import Bodies
from constraint_first.serve.connection import Connection
from constraint_first.serve.error_reply import ErrorReply, describe_error
from constraint_first.serve.guard import Guard, add_headers
from constraint_first.serve.service import SERVED, SERVICES, Served, Services

__all__ = ["ADMISSION", "ERROR_PAGE", "make_application"]

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
