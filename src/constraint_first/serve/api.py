"""The routes of the API: chat completions, models, health and counts."""

from __future__ import annotations

from typing import Any, Final, cast

from aiohttp import web

from constraint_first.problem import Json
from constraint_first.serve.attempt import pose
from constraint_first.serve.body import parse_json
from constraint_first.serve.chat import answer_in_stream, answer_whole
from constraint_first.serve.chat_request import Fields, is_foreign, read_request
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.metric import CONTENT_TYPE
from constraint_first.serve.model_name import ModelName, rename_model, split_model
from constraint_first.serve.pass_through import pass_through
from constraint_first.serve.service import SERVED, SERVICES, Services

__all__ = ["API", "PASSED"]

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
    return await answer_whole(question)


def _object(value: Any) -> Fields:
    if not isinstance(value, dict):
        raise RequestError("the body must be a JSON object", code="invalid_json")
    return cast("Fields", value)


@API.get("/v1/models")
async def list_models(request: web.Request) -> web.Response:
    """List what can be named: each method with each model, then the models themselves."""
    return web.json_response({"object": "list", "data": await _models(request.app[SERVICES])})


@API.get("/v1/models/{name:.+}")
async def show_model(request: web.Request) -> web.Response:
    """Show one of them."""
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
    """Say whether requests are taken."""
    if request.app[SERVICES].stopping:
        return web.json_response({"status": "stopping"}, status=503)
    return web.json_response({"status": "ok"})


@API.get("/metrics")
async def tell_metrics(request: web.Request) -> web.Response:
    """Give all counts to Prometheus."""
    metrics = request.app[SERVICES].metrics
    if not metrics.is_on:
        raise RequestError(
            "counts need prometheus-client: pip install 'constraint-first[serve]'", 501
        )
    return web.Response(body=metrics.exposed(), headers={"Content-Type": CONTENT_TYPE})
