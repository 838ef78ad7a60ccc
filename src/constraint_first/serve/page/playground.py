"""The playground: one problem, two methods side by side, each answer as it comes about."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final, cast

from aiohttp import web

from constraint_first.analysis.report.mathematics import to_html
from constraint_first.answer.judgement.grade import grade
from constraint_first.benchmark.constraintbench.item import Item
from constraint_first.benchmark.constraintbench.split import find_item, load
from constraint_first.constraint.router import route
from constraint_first.constraint.stated import read_stated
from constraint_first.engine.automatic import AUTO
from constraint_first.engine.error import EngineError
from constraint_first.method import names
from constraint_first.method.check_summary import read_summary
from constraint_first.method.registry import METHODS
from constraint_first.problem import Json
from constraint_first.serve.attempt import pose
from constraint_first.serve.body import parse_json
from constraint_first.serve.chat_request import read_request
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.model_name import ModelName
from constraint_first.serve.page.answer_stream import stream_answer
from constraint_first.serve.page.code_sample import write_samples
from constraint_first.serve.page.marked_text import cue_marks, mark_text, stated_marks
from constraint_first.serve.page.query import write_query
from constraint_first.serve.page.site import SITE, check_same_origin, read_form, render
from constraint_first.serve.reply import ServedAnswer
from constraint_first.serve.service import SERVED, SERVICES, Services

__all__ = ["ROUTES", "prepare"]

ROUTES: Final = web.RouteTableDef()
_FIELDS: Final = ("problem", "left", "right", "model", "temperature", "seed", "max_tokens")
_WHOLE: Final = ("seed", "max_tokens")
_SPLIT: Final = "public"
_LISTING: Final = 2.0
_LONGEST: Final = 4_000
"""Characters of a problem that are read for cues while somebody types."""


def prepare() -> None:
    """Load what the first visitor would stop all others for."""
    _items()
    to_html("$1$")


@ROUTES.get("/")
async def show_playground(request: web.Request) -> web.Response:
    """Show the form, filled with what the address says."""
    services, given = request.app[SERVICES], dict(request.query)
    if item := find_item(given.pop("item", "")):
        given["problem"] = item.text
    first = services.settings.methods[0]
    usual = {"left": first, "right": "direct" if first != "direct" else "cfr"}
    filled = dict.fromkeys(_FIELDS, "") | usual | {n: given[n] for n in _FIELDS if given.get(n)}
    return render(
        request,
        "playground.html",
        form=filled,
        methods=_methods(services),
        models=await _models(services),
        **_reading(request, filled),
    )


@ROUTES.get("/playground/example")
async def choose_example(request: web.Request) -> web.Response:
    """Put a problem of ConstraintBench into the form."""
    item = secrets.choice(load(_SPLIT))
    form = dict.fromkeys(_FIELDS, "") | dict(request.query) | {"problem": item.text}
    return render(request, "example_part.html", form=form, **_reading(request, form))


@ROUTES.post("/playground/problem")
async def read_problem(request: web.Request) -> web.Response:
    """Say what a text demands, before any model is asked."""
    check_same_origin(request)
    form = dict.fromkeys(_FIELDS, "") | await read_form(request)
    return render(request, "reading_part.html", form=form, **_reading(request, form))


@ROUTES.post("/playground/answer")
async def give_answer(request: web.Request) -> web.StreamResponse:
    """Answer by one method, as a stream of events."""
    check_same_origin(request)
    services, served = request.app[SERVICES], request[SERVED]
    form = _read_form(await parse_json(await request.read()))
    served.upstream = upstream = await services.upstream.find(form["model"].strip())
    asked = read_request(
        {"messages": [{"role": "user", "content": form["problem"]}], **_settings(form)}
    )
    method = form["method"].strip()
    chosen = services.methods.choose(method, upstream)
    served.method, served.stream = chosen.family, True
    served.model = str(ModelName(method, upstream))
    question = pose(services, served, asked, chosen, upstream)
    fill = request.app[SITE].fill
    return await stream_answer(request, question, fill, partial(_conclusion, fill))


def _read_form(value: Any) -> dict[str, str]:
    sent = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    wanted = ("problem", "method", "model", *_FIELDS[4:])
    return {name: str(sent.get(name, "")) for name in wanted}


def _settings(form: Mapping[str, str]) -> dict[str, float | int]:
    """Read the numbers of the form; an empty field leaves the server's own setting."""
    found: dict[str, float | int] = {}
    for name in _FIELDS[4:]:
        if written := form.get(name, "").strip():
            try:
                found[name] = int(written) if name in _WHOLE else float(written)
            except ValueError:
                kind = "whole number" if name in _WHOLE else "number"
                raise RequestError(f"{name}: {written!r} is no {kind}", param=name) from None
    return found


def _methods(services: Services) -> dict[str, str]:
    """List methods with what they do, the server's own first."""
    known = dict.fromkeys((*services.settings.methods, AUTO, *names()))
    return {name: _about(name) for name in known}


def _about(name: str) -> str:
    if name == AUTO:
        return "The policy for the model; what is no problem goes to the model untouched."
    made = METHODS.get(name)
    return ((made.__doc__ if made else "") or "").partition("\n")[0]


async def _models(services: Services) -> list[str]:
    """List the models of the endpoint, unless it takes too long to say."""
    try:
        async with asyncio.timeout(_LISTING):
            found = await services.upstream.models()
    except (EngineError, TimeoutError):
        return []
    return [name for one in found if isinstance(name := one.get("id"), str)]


def _reading(request: web.Request, form: Mapping[str, str]) -> dict[str, Any]:
    """Gather what is known of a problem without a model: cues, demands, how to ask it again."""
    text = form["problem"][:_LONGEST]
    cues, stated = route(text), read_stated(text)
    marked = mark_text(text, (*cue_marks(cues), *stated_marks(stated)))
    again = write_query(form)
    return {
        "marked": marked,
        "cues": [(cue, cue.phrases(text)) for cue in cues],
        "stated": list({one.sentence: one for one in stated}.values()),
        "text": text,
        "item": _items().get(text.strip()),
        "link": f"{request.scheme}://{request.host}/?{again}",
        "samples": _samples(request, form),
    }


def _samples(request: web.Request, form: Mapping[str, str]) -> list[Any]:
    try:
        settings = _settings(form)
    except RequestError:
        return []
    if not form["problem"].strip():
        return []
    return [
        write_samples(
            f"{request.scheme}://{request.host}/v1",
            str(ModelName(method, form["model"].strip())),
            form["problem"],
            settings,
            token=bool(request.app[SERVICES].settings.token),
        )
        for method in dict.fromkeys((form["left"].strip(), form["right"].strip()))
        if method
    ]


@cache
def _items() -> dict[str, Item]:
    """Find problems of ConstraintBench by their texts: their right answers are known."""
    return {item.text: item for item in (*load("public"), *load("hard"))}


def _conclusion(fill: Any, made: ServedAnswer) -> str:
    """Write the answer, its checks, and what it took."""
    solved, problem = made.solved, made.solved.problem.text
    item = _items().get(problem.strip())
    told: dict[str, Json] = made.to_json()
    return fill(
        "answer_part.html",
        made=made,
        solved=solved,
        summary=read_summary(solved.solution.details, problem),
        verdict=grade(solved.answer, item.answer, problem) if item else None,
        gold=item.answer if item else "",
        calls=told["calls"],
    )
