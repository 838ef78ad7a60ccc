"""One answer on its way to a page: each stage as it is written, and as HTML once it is whole."""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, TypeAlias, cast

import orjson
from aiohttp import web

from constraint_first.answer.grade import grade
from constraint_first.attempt.attempt import Attempt
from constraint_first.attempt.events import (
    Event,
    Executed,
    Finished,
    InOrder,
    Retrying,
    Started,
    Wrote,
    stage_title,
)
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
from constraint_first.serve.attempt import Outbox, Question, answer, pose
from constraint_first.serve.context import SERVED, SERVICES, Services
from constraint_first.serve.guard import parse_json
from constraint_first.serve.page.site import (
    SITE,
    check_same_origin,
    cue_marks,
    mark_text,
    read_form,
    render,
    stated_marks,
    write_query,
)
from constraint_first.serve.reply import own_part
from constraint_first.serve.request import ModelName, read_request
from constraint_first.serve.setting import RequestError, request_error
from constraint_first.thinking import without_thinking

Fill: TypeAlias = Callable[..., str]
"""Fills a template by its name, with values."""
Conclude: TypeAlias = Callable[[Attempt], str]
"""Writes what comes last: the answer and what it is worth."""

_COMMENT: Final = b": still at work\n\n"
_EVENTS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would keep events back
}


class PageWriter:
    """Writes an attempt step by step.

    A step is a reply or a program. It has a title, then words as they come, then HTML that takes
    the place of the words.
    """

    def __init__(self, outbox: Outbox, fill: Fill, *, held: bool = False) -> None:
        self.tell = InOrder(self._take)
        self._outbox = outbox
        self._fill = fill
        self._held = held
        """Whether replies are drafts, folded away when the checked one comes."""
        self._step = 0

    def _take(self, event: Event) -> None:
        match event:
            case Started(call):
                self._open(self._title(call))
            case Wrote(_, text, thought):
                self._outbox.write(self._step, "thought" if thought else "words", text)
            case Finished(call, completion, written):
                if not written:
                    self._open(self._title(call))
                spec = read_spec(completion.text) if call.stage == "stage1" else None
                fold = self._held or not written
                self._close(
                    "reply_part.html", reply=completion, call=call, recovered=spec, fold=fold
                )
            case Executed(program, output):
                self._open("Program run")
                self._close("program_part.html", source=program.source, output=output)
            case Retrying(_, fault):
                self._outbox.write(self._step, "again", one_line(str(fault)))
            case _:
                pass

    def _title(self, call: Call) -> str:
        return "Draft" if self._held else stage_title(call.stage)

    def _open(self, title: str) -> None:
        self._step += 1
        self._outbox.write(self._step, "step", title)

    def _close(self, template: str, **values: Any) -> None:
        html = self._fill(template, answer_of=without_thinking, **values)
        self._outbox.write(self._step, "html", html)


async def stream_answer(
    request: web.Request, question: Question, fill: Fill, conclude: Conclude
) -> web.StreamResponse:
    """Answer a question, and send what happens as it happens."""
    outbox = Outbox()
    held = await question.services.holds(question.chosen, question.problem)
    response = web.StreamResponse(headers=_EVENTS)

    async def work() -> None:
        """Answer, and end with an event that has the answer or the error."""
        try:
            made = await answer(question, tell=PageWriter(outbox, fill, held=held).tell)
            question.served.usage = made.usage
            outbox.write(0, "end", await asyncio.to_thread(conclude, made))
        except Exception as error:
            told = request_error(error)
            question.served.error = str(told)
            outbox.write(0, "error", str(told))

    try:
        await response.prepare(request)
        silence = question.services.settings.silence
        async with aclosing(outbox.follow(work(), silence)) as feed:
            async for words in feed:
                events = (_event(one.name, one.text.getvalue(), one.index) for one in words)
                await response.write(b"".join(events) or _COMMENT)
        await response.write_eof()
    except ConnectionError:
        question.served.error = question.served.why_cancelled
    return response


def _event(kind: str, text: str, step: int = 0) -> bytes:
    value = {"kind": kind, "step": step, "text": storable_text(text)}
    return b"data: " + orjson.dumps(value) + b"\n\n"


# The same question as lines for a shell and for Python.

Setting: TypeAlias = "float | int"


@dataclass(frozen=True, slots=True)
class CodeSample:
    """What one model's name stands for, in two languages."""

    model: str
    curl: str
    python: str


def write_samples(
    base_url: str, model: str, problem: str, settings: Mapping[str, Setting], *, token: bool
) -> CodeSample:
    body = {"model": model, "messages": [{"role": "user", "content": problem}], **settings}
    return CodeSample(model, _curl(base_url, body, token=token), _python(base_url, body, token))


def _curl(base_url: str, body: Mapping[str, object], *, token: bool) -> str:
    key = ' -H "Authorization: Bearer $CFR_TOKEN"' if token else ""
    data = shlex.quote(json.dumps(body))
    address = shlex.quote(f"{base_url}/chat/completions")
    return f"curl {address}{key} -H 'Content-Type: application/json' -d {data}"


def _python(base_url: str, body: Mapping[str, object], token: bool) -> str:
    key = 'os.environ["CFR_TOKEN"]' if token else '"none"'
    given = "".join(f"    {name}={_literal(value)},\n" for name, value in body.items())
    return (
        f"{'import os' + chr(10) * 2 if token else ''}"
        "from openai import OpenAI\n\n"
        f"client = OpenAI(base_url={_literal(base_url)}, api_key={key})\n"
        f"reply = client.chat.completions.create(\n{given})\n"
        "print(reply.choices[0].message.content)"
    )


def _literal(value: object) -> str:
    """Write a value that Python reads as JSON does: texts, numbers, lists and objects."""
    return json.dumps(value, ensure_ascii=False)


# The playground: one problem, two methods side by side, each answer as it comes about.

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
