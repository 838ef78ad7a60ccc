"""The playground: one problem, two methods side by side, with streamed replies."""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
from collections.abc import Callable, Mapping
from contextlib import aclosing
from functools import cache
from typing import Any, Final, TypeAlias, cast

import orjson
from aiohttp import web

from constraint_first.answer.grade import grade
from constraint_first.attempt import events
from constraint_first.attempt.attempt import Attempt
from constraint_first.benchmark.constraintbench.family import Item, find_item, load
from constraint_first.constraint.router import route
from constraint_first.constraint.stage1 import read_spec
from constraint_first.constraint.stated.read import read_stated
from constraint_first.file.safe import one_line, storable_text
from constraint_first.method.registry import METHODS, names
from constraint_first.method.sound import read_summary
from constraint_first.model.error import EngineError
from constraint_first.model.resolve import AUTO
from constraint_first.protocol import Call
from constraint_first.report.math import to_html
from constraint_first.serve.attempt import (
    COMMENT,
    EVENT_HEADERS,
    SERVICES,
    Outbox,
    Question,
    Services,
    Words,
    answer,
    own_part,
    pose,
)
from constraint_first.serve.guard import SERVED, parse_json
from constraint_first.serve.page import site
from constraint_first.serve.request import ModelName, RequestError, read_request, request_error
from constraint_first.thinking import without_thinking

Fill: TypeAlias = Callable[..., str]
"""Renders a template by its name, with values."""

_EVENTS: Final = EVENT_HEADERS | {"Cache-Control": "no-store"}


class PageWriter:
    """Writes an attempt in steps: the title of a reply or program, its text, then its HTML."""

    def __init__(self, outbox: Outbox, fill: Fill, *, held: bool = False) -> None:
        self.tell = events.InOrder(self._take)
        self._outbox = outbox
        self._fill = fill
        self._held = held
        """Whether replies are drafts, which are collapsed when the checked one arrives."""
        self._step = 0

    def _take(self, event: events.Event) -> None:
        match event:
            case events.Started(call):
                self._open(self._title(call))
            case events.Wrote(_, text, thought):
                self._outbox.write(self._step, "thought" if thought else "words", text)
            case events.Finished(call, completion, written):
                if not written:
                    self._open(self._title(call))
                spec = read_spec(completion.text) if call.stage == "stage1" else None
                fold = self._held or not written
                self._close(
                    "reply_part.html", reply=completion, call=call, recovered=spec, fold=fold
                )
            case events.Executed(program, output):
                self._open("Program run")
                self._close("program_part.html", source=program.source, output=output)
            case events.Retrying(_, fault):
                self._outbox.write(self._step, "again", one_line(str(fault)))
            case _:
                pass

    def _title(self, call: Call) -> str:
        return "Draft" if self._held else events.stage_title(call.stage)

    def _open(self, title: str) -> None:
        self._step += 1
        self._outbox.write(self._step, "step", title)

    def _close(self, template: str, **values: Any) -> None:
        html = self._fill(template, answer_of=without_thinking, **values)
        self._outbox.write(self._step, "html", html)


async def _stream_answer(request: web.Request, question: Question) -> web.StreamResponse:
    outbox, fill = Outbox(), request.app[site.SITE].fill
    held = await question.services.readers.decide("holds", question.chosen, question.problem.text)
    response = web.StreamResponse(headers=_EVENTS)

    async def work() -> None:
        try:
            made = await answer(question, tell=PageWriter(outbox, fill, held=held).tell)
            question.served.usage = made.usage
            outbox.write(0, "end", await asyncio.to_thread(_conclusion, fill, made))
        except Exception as error:
            told = request_error(error)
            question.served.error = str(told)
            outbox.write(0, "error", str(told))

    try:
        await response.prepare(request)
        silence = question.services.settings.silence
        async with aclosing(outbox.follow(work(), silence)) as feed:
            async for words in feed:
                await response.write(b"".join(map(_event, words)) or COMMENT)
        await response.write_eof()
    except ConnectionError:
        question.served.error = question.served.why_cancelled
    return response


def _event(words: Words) -> bytes:
    text = storable_text(words.text.getvalue())
    return b"data: %b\n\n" % orjson.dumps({"kind": words.name, "step": words.index, "text": text})


def write_samples(
    base_url: str, model: str, problem: str, settings: Mapping[str, float | int], *, token: bool
) -> dict[str, str]:
    body = {"model": model, "messages": [{"role": "user", "content": problem}], **settings}
    key = ' -H "Authorization: Bearer $CFR_TOKEN"' if token else ""
    data, address = shlex.quote(json.dumps(body)), shlex.quote(f"{base_url}/chat/completions")
    curl = f"curl {address}{key} -H 'Content-Type: application/json' -d {data}"
    key = 'os.environ["CFR_TOKEN"]' if token else '"none"'
    # JSON syntax of strings, numbers, lists and objects is also valid in Python.
    given = "".join(
        f"    {name}={json.dumps(value, ensure_ascii=False)},\n" for name, value in body.items()
    )
    python = (
        f"{'import os' + chr(10) * 2 if token else ''}"
        "from openai import OpenAI\n\n"
        f"client = OpenAI(base_url={json.dumps(base_url, ensure_ascii=False)}, api_key={key})\n"
        f"reply = client.chat.completions.create(\n{given})\n"
        "print(reply.choices[0].message.content)"
    )
    return {"model": model, "curl": curl, "python": python}


ROUTES: Final = web.RouteTableDef()
_FIELDS: Final = ("problem", "left", "right", "model", "temperature", "seed", "max_tokens")
_WHOLE: Final = ("seed", "max_tokens")
_LISTING: Final = 2.0
_LONGEST: Final = 4_000
"""Characters of a problem that are searched for cues while it is typed."""


def prepare() -> None:
    """Load libraries at the start: loading them at the first visit would block all requests."""
    _items()
    to_html("$1$")


@ROUTES.get("/")
async def show_playground(request: web.Request) -> web.Response:
    services, given = request.app[SERVICES], dict(request.query)
    if item := find_item(given.pop("item", "")):
        given["problem"] = item.text
    first = services.settings.methods[0]
    usual = {"left": first, "right": "direct" if first != "direct" else "cfr"}
    filled = dict.fromkeys(_FIELDS, "") | usual | {n: given[n] for n in _FIELDS if given.get(n)}
    return site.render(
        request,
        "playground.html",
        form=filled,
        methods=_methods(services),
        models=await _models(services),
        **_reading(request, filled),
    )


@ROUTES.get("/playground/example")
async def choose_example(request: web.Request) -> web.Response:
    item = secrets.choice(load("public"))
    form = dict.fromkeys(_FIELDS, "") | dict(request.query) | {"problem": item.text}
    return site.render(request, "example_part.html", form=form, **_reading(request, form))


@ROUTES.post("/playground/problem")
async def read_problem(request: web.Request) -> web.Response:
    """Show the demands of a text, without a call to a model."""
    site.check_same_origin(request)
    form = dict.fromkeys(_FIELDS, "") | await site.read_form(request)
    return site.render(request, "reading_part.html", form=form, **_reading(request, form))


@ROUTES.post("/playground/answer")
async def give_answer(request: web.Request) -> web.StreamResponse:
    site.check_same_origin(request)
    services, served = request.app[SERVICES], request[SERVED]
    sent = await parse_json(await request.read())
    sent = cast("dict[str, Any]", sent) if isinstance(sent, dict) else {}
    form = {name: str(sent.get(name, "")) for name in ("problem", "method", "model", *_FIELDS[4:])}
    served.upstream = upstream = await services.upstream.find(form["model"].strip())
    asked = read_request(
        {"messages": [{"role": "user", "content": form["problem"]}], **_settings(form)}
    )
    method = form["method"].strip()
    chosen = services.methods.choose(method, upstream)
    served.method, served.stream = chosen.family, True
    served.model = str(ModelName(method, upstream))
    question = pose(services, served, asked, chosen, upstream)
    return await _stream_answer(request, question)


def _settings(form: Mapping[str, str]) -> dict[str, float | int]:
    """Parse the numbers of the form; for an empty field the server's setting applies."""
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
    """List methods with their descriptions, the server's own first."""
    auto = "The policy for the model; what is no problem goes to the model untouched."
    about = {name: (made.__doc__ or "").partition("\n")[0] for name, made in METHODS.items()}
    known = dict.fromkeys((*services.settings.methods, AUTO, *names()))
    return {name: auto if name == AUTO else about.get(name, "") for name in known}


async def _models(services: Services) -> list[str]:
    """List the models of the endpoint; empty if it responds too slowly."""
    try:
        async with asyncio.timeout(_LISTING):
            found = await services.upstream.models()
    except (EngineError, TimeoutError):
        return []
    return [name for one in found if isinstance(name := one.get("id"), str)]


def _reading(request: web.Request, form: Mapping[str, str]) -> dict[str, Any]:
    """Read a problem without a model: its cues, its demands, commands to repeat it."""
    text, root = form["problem"][:_LONGEST], f"{request.scheme}://{request.host}"
    cues, stated = route(text), read_stated(text)
    try:
        settings = _settings(form)
        methods = (form["left"].strip(), form["right"].strip()) if form["problem"].strip() else ()
    except RequestError:
        settings, methods = {}, ()
    token = bool(request.app[SERVICES].settings.token)
    return {
        "marked": site.mark_text(text, (*site.cue_marks(cues), *site.stated_marks(stated))),
        "cues": [(cue, cue.phrases(text)) for cue in cues],
        "stated": list({one.sentence: one for one in stated}.values()),
        "text": text,
        "item": _items().get(text.strip()),
        "link": f"{root}/?{site.write_query(form)}",
        "samples": [
            write_samples(
                f"{root}/v1",
                str(ModelName(method, form["model"].strip())),
                form["problem"],
                settings,
                token=token,
            )
            for method in filter(None, dict.fromkeys(methods))
        ],
    }


@cache
def _items() -> dict[str, Item]:
    return {item.text: item for item in (*load("public"), *load("hard"))}


def _conclusion(fill: Any, made: Attempt) -> str:
    problem = made.problem.text
    item = _items().get(problem.strip())
    return fill(
        "answer_part.html",
        made=made,
        summary=read_summary(made.solution.details, problem),
        verdict=grade(made.answer, item.answer, problem) if item else None,
        gold=item.answer if item else "",
        calls=own_part(made)["calls"],
    )
