"""One attempt for a request: run, counted, stored, and written as a response or into a stream."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from io import StringIO
from typing import Any, Final, TypeAlias

import orjson
from aiohttp import web

from constraint_first.answer.extract import extract
from constraint_first.attempt import events
from constraint_first.attempt.attempt import Attempt, failed
from constraint_first.attempt.drive import Allowance, AttemptLimit, drive
from constraint_first.constraint.stage1 import read_spec
from constraint_first.constraint.stated.read import read_stated
from constraint_first.error import CfrError
from constraint_first.file.safe import one_line, storable_json, storable_text
from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import Method, marks_final
from constraint_first.method.policy import Calibrated
from constraint_first.method.sound import read_summary
from constraint_first.model.limit import PriceList
from constraint_first.model.wire import Engine
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import (
    Call,
    Completion,
    Entry,
    Exchange,
    Output,
    Program,
    Stage,
    Usage,
)
from constraint_first.sandbox.sandbox import run_program
from constraint_first.serve.guard import Served, ServeSettings
from constraint_first.serve.reading import SHORT, Readers, ReadRun
from constraint_first.serve.request import (
    ChatRequest,
    ChosenMethod,
    MethodChoice,
    RequestError,
    check_length,
)
from constraint_first.serve.upstream import RequestDecoding, Upstream
from constraint_first.store.series import SERVED, Series
from constraint_first.store.store import Traffic, TrafficAttempt
from constraint_first.thinking import without_thinking

Log: TypeAlias = Callable[[dict[str, Json]], None]
"""Logs each request when it has ended."""


@dataclass(slots=True)
class Services:
    settings: ServeSettings
    upstream: Upstream
    methods: MethodChoice
    metrics: Metrics
    log: Log | None = None
    traffic: Traffic | None = None
    readers: Readers = field(default_factory=Readers)
    stopping: bool = False
    """Whether the server refuses new requests."""


SERVICES: Final = web.AppKey("services", Services)


# Counts and durations for Prometheus.
#
# Labels have few values: names invented by a client must not create new time series.

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600)
_MOST_STAGES: Final = 100
_COUNTS: Final = (
    ("requests", "Requests that were answered.", "method", "status"),
    ("request_seconds", "Seconds of a request.", "method"),
    ("first_token_seconds", "Seconds to a stream's first word.", "method"),
    ("stage_calls", "Calls that the upstream answered.", "stage"),
    ("stage_seconds", "Seconds of a call.", "stage"),
    ("tokens", "Tokens, as the upstream counts them.", "stage", "direction"),
    ("programs", "Programs that were run.", "outcome"),
)


class Metrics:
    """The server's metrics; empty if prometheus-client is not installed."""

    def __init__(self) -> None:
        self._stages: set[str] = set()
        self._counts: dict[str, Any] = {}
        found = find_spec("prometheus_client")
        self._library: Any = importlib.import_module("prometheus_client") if found else None
        if self._library is None:
            return
        self.registry = self._library.CollectorRegistry()
        self._library.ProcessCollector(registry=self.registry)
        for name, about, *labels in _COUNTS:
            own: dict[str, Any] = {"registry": self.registry}
            if name.endswith("seconds"):
                made = self._library.Histogram(
                    f"cfr_{name}", about, labels, buckets=_SECONDS, **own
                )
            else:
                made = self._library.Counter(f"cfr_{name}", about, labels, **own)
            self._counts[name] = made

    def exposed(self) -> bytes | None:
        return self._library.generate_latest(self.registry) if self._library else None

    def watch(self, under_way: Callable[[], int], waiting: Callable[[], int]) -> None:
        """Register gauges that read the numbers of requests when the metrics are scraped."""
        if self._library is None:
            return
        for name, about, count in (
            ("cfr_requests_under_way", "Requests under way.", under_way),
            ("cfr_requests_waiting", "Requests waiting for a turn.", waiting),
        ):
            self._library.Gauge(name, about, registry=self.registry).set_function(count)

    def _add(self, name: str, amount: float, *labels: str) -> None:
        if (one := self._counts.get(name)) is not None:
            one = one.labels(*labels)
            (one.observe if name.endswith("seconds") else one.inc)(amount)

    def answered(self, method: str, status: int, seconds: float, first: float | None) -> None:
        self._add("requests", 1, method, str(status))
        self._add("request_seconds", seconds, method)
        if first is not None:
            self._add("first_token_seconds", first, method)

    def called(self, call: Call, completion: Completion, seconds: float) -> None:
        # A method may invent any number of stages, but a label must have few values.
        fits = call.stage in self._stages or len(self._stages) < _MOST_STAGES
        stage, usage = (call.stage if fits else "other"), completion.usage
        self._stages.add(stage)
        self._add("stage_calls", 1, stage)
        self._add("stage_seconds", seconds, stage)
        counts = (("input", usage.input), ("output", usage.output), ("reasoning", usage.reasoning))
        for direction, tokens in counts:
            if tokens:
                self._add("tokens", tokens, stage, direction)

    def executed(self, output: Output) -> None:
        self._add("programs", 1, "error" if output.error else "ok")


# An attempt.

_SAMPLES_AN_ATTEMPT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Question:
    asked: ChatRequest
    problem: Problem
    """Its id is a hash of its text and of all previous messages."""
    chosen: ChosenMethod
    upstream: str
    engine: Engine
    prices: PriceList
    services: Services
    served: Served
    allowance: Allowance
    """The budget of all attempts of the request together."""


def pose(
    services: Services, served: Served, asked: ChatRequest, chosen: ChosenMethod, upstream: str
) -> Question:
    check_length(asked)
    seen = hashlib.sha256()
    for text in (*(f"{m.role}\0{m.content}" for m in asked.context), asked.problem):
        seen.update(text.encode("utf-8", "surrogatepass") + b"\0")
    decoding = RequestDecoding.of(asked)
    limit = AttemptLimit(services.settings.most_calls, services.settings.most_tokens)
    return Question(
        asked,
        Problem(asked.problem, id=seen.hexdigest()[:16], benchmark=SERVED),
        chosen,
        upstream,
        services.upstream.client(upstream, chosen.others, decoding, services.metrics.called),
        services.upstream.prices(upstream, chosen.others),
        services,
        served,
        Allowance(limit),
    )


async def answer(question: Question, number: int = 0, tell: events.Tell | None = None) -> Attempt:
    """Make one attempt; with a store, store each call before the next, and the attempt at the end.

    An attempt that fails or is cancelled is stored as failed.
    """
    begun, began = await _begin(question), time.monotonic()
    asked, chosen = question.asked, question.chosen
    nothing = Attempt(question.problem, chosen.method)

    def change(call: Call) -> Call:
        # Attempts of one request have different sample numbers, and so different seeds.
        sample = call.sample + number * _SAMPLES_AN_ATTEMPT
        return replace(call, messages=asked.context + call.messages, sample=sample)

    async def run_counted(program: Program) -> Output:
        output = await run_program(program)
        question.services.metrics.executed(output)
        return output

    try:
        run = await drive(
            ReadRun(question.services.readers, chosen, question.problem, asked.max_tokens, change),
            question.engine,
            tell=tell,
            journal=begun.journal if begun else None,
            sandbox=run_counted,
            allowance=question.allowance,
        )
        made = replace(
            nothing,
            solution=run.result,
            transcript=tuple(run.transcript),
            seconds=time.monotonic() - began,
            cost=question.prices.total(run.exchanges),
            name=chosen.name,
            model=question.upstream,
            run=begun.run if begun else None,
        )
    except asyncio.CancelledError:
        if begun:
            begun.abandon(failed(nothing, question.served.why_cancelled, begun.journal.usage))
        raise
    except BaseException as error:
        question.served.usage = question.allowance.usage
        if begun:
            why = str(error) if isinstance(error, CfrError) else type(error).__name__
            await begun.finish(failed(nothing, why, begun.journal.usage))
        raise
    if begun:
        await begun.finish(replace(made, solution=_noted(question, made.solution)))
    return made


async def _begin(question: Question) -> TrafficAttempt | None:
    traffic = question.services.traffic
    if traffic is None:
        return None
    usual = question.services.upstream.decoding
    # The seed is left out of the decoding: each seed would become a separate series.
    chosen = {n: question.asked.chosen.get(n, getattr(usual, n)) for n in ("temperature", "top_p")}
    decoding = replace(usual, **chosen)
    series = Series(SERVED, question.chosen.name, question.upstream, decoding)
    return await traffic.begin(series, question.problem, question.prices)


def _noted(question: Question, solution: Solution) -> Solution:
    """Add the settings to a stored solution that are not part of its series."""
    asked = question.asked
    said: dict[str, Json] = {
        "id": question.served.id or None,
        "seed": asked.chosen.get("seed"),
        "max_tokens": asked.max_tokens,
        "stop": [*asked.stop] or None,
        "n": asked.n if asked.n > 1 else None,
    }
    told = {name: value for name, value in said.items() if value is not None}
    noted: dict[str, Json] = {**asked.extra, **told}
    return replace(solution, details={**solution.details, "request": noted})


# The queue of text for a client: pieces of several choices, merged while the client is slow.

CONTENT: Final = "content"
REASONING: Final = "reasoning_content"


@dataclass(slots=True)
class Words:
    """The next piece of a choice's text, or its end."""

    index: int
    name: str
    """``content`` or ``reasoning_content``; empty for an end."""
    text: StringIO = field(default_factory=StringIO)
    ended: Attempt | None = None


class Outbox(events.Feed[Words]):
    """A feed that joins pieces of text: a slow client costs only the memory of the text."""

    def write(self, index: int, name: str, text: str) -> None:
        """Add text; it is appended to the last piece if both have the same choice and name."""
        last = self.waiting[-1] if self.waiting else None
        if last is None or (last.index, last.name) != (index, name):
            last = Words(index, name)
            self.tell(last)
        last.text.write(text)


class StreamWriter:
    """Writes one choice of a stream: the work as reasoning, the solution as content.

    The reply of a final call is streamed as content; content that was sent cannot be withdrawn.
    All other replies are reasoning; Stage 1 and other replies in JSON appear when complete.
    """

    def __init__(self, outbox: Outbox, index: int, method: Method, start: str) -> None:
        self._outbox = outbox
        self._index = index
        self._trusted = marks_final(method)
        self._held = start
        """Sent with the first reply: until then the request can still fail with an HTTP status."""
        self._content: list[str] = []
        self._programs: list[str] = []
        self._in_order = events.InOrder(self._take)

    def tell(self, event: events.Event) -> None:
        if isinstance(event, events.Retrying) and self._is_final(event.call) and self._content:
            raise event.fault  # the client already has a part of the failed reply
        self._in_order(event)

    def _take(self, event: events.Event) -> None:
        match event:
            case events.Started(call) if not self._is_final(call):
                self._held += heading(call.stage)
            case events.Wrote(call, text, thought):
                if thought:
                    self._reason(text)
                elif self._is_final(call):
                    self._say(text)
                elif not call.json:
                    self._reason(text)
            case events.Finished(call, completion, written):
                self._programs.append(completion.text)
                if not self._is_final(call):
                    self._finish(call, completion, written=written)
            case events.Executed(program, output):
                source = program.source.strip()
                listed = any(source in reply for reply in self._programs)
                self._reason(describe_output(program, output, listed=listed))
            case events.Retrying(_, fault):
                self._held += f"\n\n({one_line(str(fault))}: asked again)\n\n"
            case _:
                pass

    def _is_final(self, call: Call) -> bool:
        return call.final and self._trusted

    def _finish(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Write a reply that was not streamed, or a list of constraints."""
        if not written:
            self._held += heading(call.stage)
        if call.stage == "stage1":
            self._reason(describe_constraints(completion))
        elif call.json or not written:
            self._reason(completion.text)

    def conclude(self, made: Attempt) -> None:
        """Write the rest of the solution, and end the choice.

        If the solution does not begin with the content sent so far, the stream ends with an error:
        a client would read two consecutive replies as one.
        """
        solution = made.solution
        final, said = final_text(solution), "".join(self._content).strip()
        if not said:
            self._reason(describe_checks(solution))
            self._say(final)
        elif final.startswith(said):
            self._say(final[len(said) :])
        else:
            raise RequestError(
                f"{one_line(made.name)} changed its reply after it was sent; ask without 'stream'",
                500,
                code="reply_changed",
            )
        self._outbox.tell(Words(self._index, "", ended=made))

    def _say(self, text: str) -> None:
        text = text if self._content else text.lstrip()
        if text:
            self._write_held()
            self._content.append(text)
            self._outbox.write(self._index, CONTENT, text)

    def _reason(self, text: str) -> None:
        if text:
            self._write_held()
            self._outbox.write(self._index, REASONING, text)

    def _write_held(self) -> None:
        if self._held:
            self._outbox.write(self._index, REASONING, self._held)
            self._held = ""


# Replies in OpenAI's format: whole, or chunk by chunk.

EVENT_HEADERS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # else nginx buffers events
}
COMMENT: Final = b": still at work\n\n"
DONE: Final = b"data: [DONE]\n\n"
_LONG: Final = 10_000
"""Characters that are searched for an answer on the event loop."""
_DETAILS: Final = ("confidence", "cues", "constraints", "checks", "programs")


def _finish_reason(made: Attempt) -> str:
    return "length" if made.solution.truncated else "stop"


def message(made: Attempt) -> dict[str, Json]:
    """The work becomes ``reasoning_content``, the solution ``content``."""
    solution, exchanges = made.solution, made.exchanges
    last = exchanges[-1] if exchanges else None
    solving = last if last and last.completion.text == solution.text else None
    before = [entry for entry in made.transcript if entry is not solving]
    reasoning = describe_work(made.method, made.problem, solution, before)
    if solving and solving.completion.reasoning:
        reasoning += f"\n\n{solving.completion.reasoning}"
    reasoning = (reasoning + describe_checks(solution)).strip()
    told: dict[str, Json] = {"role": "assistant", "content": storable_text(final_text(solution))}
    return told | ({"reasoning_content": storable_text(reasoning)} if reasoning else {})


def own_part(made: Attempt) -> dict[str, Json]:
    """Write the object ``cfr``, our extension of OpenAI's format."""
    details = dict(made.solution.details)
    named: dict[str, Json] = {name: details.pop(name) for name in _DETAILS if name in details}
    told: dict[str, Json] = {
        "method": made.name,
        "label": made.method.label,
        "upstream": made.model,
        "answer": made.answer,
    }
    summary = read_summary(made.solution.details, "")
    changes = summary.interventions
    # In a vote the changes belong to samples, so there is no single original answer.
    if changes and not summary.samples and changes[0].before != made.answer:
        told["original_answer"] = changes[0].before
    calls: dict[str, Json] = {}
    for stage in dict.fromkeys(one.call.stage for one in made.exchanges):
        used = [one.completion.usage for one in made.exchanges if one.call.stage == stage]
        total = sum(used, Usage())
        counted = {"calls": len(used), "input_tokens": total.input, "output_tokens": total.output}
        calls[stage] = {**counted}
    told |= {"truncated": made.solution.truncated, **named, "calls": calls}
    told |= {"seconds": round(made.seconds, 3), **(made.cost.to_json() if made.cost else {})}
    told["details"] = details
    if made.run is not None:
        told["stored"] = {"problem": made.problem.id, "run": made.run}
    return told


def final_text(solution: Solution) -> str:
    """Write a solution for a reader: its text, and its answer unless the text states it."""
    text = without_thinking(solution.text).strip()
    if solution.answer is None or solution.is_whole or _says(text, solution.answer):
        return text
    boxed = f"**Answer:** $\\boxed{{{solution.answer}}}$"
    return f"{text}\n\n{boxed}" if text else boxed


def _says(text: str, answer: str) -> bool:
    last = text.rfind("\\boxed{")  # the usual form, and a cheap check
    boxed = last >= 0 and text.startswith(f"\\boxed{{{answer}}}", last)
    if boxed or len(text) > _LONG:
        return boxed or answer in text[-_LONG:]
    return extract(text).answer == answer


def usage_json(usage: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


class ReplyHead:
    """The fields that all chunks of one reply share: id, time, model."""

    def __init__(self, model: str, *, include_usage: bool = False) -> None:
        self.id = f"chatcmpl-{secrets.token_hex(12)}"
        self._model = storable_text(model)
        self._created = int(time.time())
        self._end = b',"usage":null}\n\n' if include_usage else b"}\n\n"

    @cached_property
    def _begin(self) -> bytes:
        return b"data: " + orjson.dumps(self._head("chat.completion.chunk"))[:-1]

    def _head(self, kind: str) -> dict[str, Json]:
        return {"id": self.id, "object": kind, "created": self._created, "model": self._model}

    def whole(self, answers: Sequence[Attempt]) -> bytes:
        usage = sum((one.usage for one in answers), Usage())
        first, *_ = answers
        several = len(answers) > 1
        choices: list[Json] = [
            {
                "index": number,
                "message": message(one),
                "logprobs": None,
                "finish_reason": _finish_reason(one),
                **({"cfr": own_part(one)} if several else {}),
            }
            for number, one in enumerate(answers)
        ]
        return _dumped(
            self._head("chat.completion")
            | {"choices": choices, "usage": usage_json(usage), "cfr": own_part(first)}
        )

    def role(self, index: int) -> bytes:
        return self._chunk(index, b'{"role":"assistant","content":""}')

    def event(self, words: Words) -> bytes:
        if made := words.ended:
            more = b',"cfr":' + _dumped(own_part(made))
            return self._chunk(words.index, b"{}", orjson.dumps(_finish_reason(made)), more)
        text = orjson.dumps(storable_text(words.text.getvalue()))
        return self._chunk(words.index, b'{"%b":%b}' % (words.name.encode(), text))

    def usage(self, usage: Usage) -> bytes:
        last: dict[str, Json] = {"choices": [], "usage": usage_json(usage)}
        return self._begin + b"," + orjson.dumps(last)[1:] + b"\n\n"

    def _chunk(self, index: int, delta: bytes, finish: bytes = b"null", more: bytes = b"") -> bytes:
        choice = b',"choices":[{"index":%d,"delta":%b,"logprobs":null,"finish_reason":%b}]'
        return b"".join((self._begin, choice % (index, delta, finish), more, self._end))


def _dumped(value: Mapping[str, Json]) -> bytes:
    """Write JSON; notes of a method may need conversion."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return storable_json(value).encode()


# The work before an answer, in words: cues, demands, constraints, drafts, programs and checks.

_MARKS: Final = {"holds": "✓", "violated": "✗", "undecided": "?"}


def heading(stage: Stage) -> str:
    return f"\n\n**{events.stage_title(stage)}**\n\n"


def describe_start(method: Method, problem: Problem) -> str:
    """Describe the reading of the problem: the policy's choice, cues, stated demands."""
    if len(problem.text) > SHORT:  # only worker processes read long texts
        return ""
    demands = [one.sentence for one in read_stated(problem.text)]
    return "\n\n".join((*_choice(method, problem), *_demands(demands)))


def _choice(method: Method, problem: Problem) -> Iterator[str]:
    if len(problem.text) > SHORT:
        return
    if isinstance(method, Calibrated):
        yield f"Policy: {method.explain(problem)}"
        method = method.choose(problem).method
    if isinstance(method, Routed):
        routing = method.route(problem)
        quoted = [
            f"- {cue.family}: {', '.join(f'“{one}”' for one in cue.phrases(problem.text))}"
            for cue in routing.cues
        ]
        yield "\n".join(("Cues:", *quoted)) if quoted else "No restrictive cue."


def _demands(sentences: Iterable[str]) -> Iterator[str]:
    if listed := dict.fromkeys(f"- {sentence}" for sentence in sentences):
        yield "\n".join(("The text demands:", *listed))


def describe_constraints(completion: Completion) -> str:
    recovered = read_spec(completion.text)
    spec = recovered.spec
    listed = [f"- {one.id} ({one.type}): {one.description}" for one in spec.raw_constraints]
    listed += [f"- {one.description}" for one in spec.propagated_constraints]
    if spec.answer_format:
        listed.append(f"- format of the answer: {spec.answer_format}")
    return "\n".join(listed) or f"none ({recovered.rung})"


def describe_output(program: Program, output: Output, *, listed: bool) -> str:
    """Show a program's output, and the program itself unless a reply contains it."""
    source = "" if listed else f"```python\n{program.source.rstrip()}\n```\n\n"
    told = output.text.rstrip() + (f"\n{output.error}" if output.error else "")
    return f"\n\n{source}**Output**\n\n```\n{told.strip()}\n```"


def describe_checks(solution: Solution) -> str:
    summary = read_summary(solution.details, "")
    lines = [f"- {_MARKS[one.truth]} {one.sentence}" for one in summary.checks]
    lines += [f"- {one}" for one in summary.conflicts]
    if not solution.is_whole:  # the drafts of a whole reply are described before
        lines += [
            f"- {one.what}: {one.before} → {one.after}"
            + (f", because of {one.because}" if one.words else "")
            for one in summary.interventions
        ]
    if not lines:
        return ""
    checked = "reply" if solution.is_whole else f"answer {solution.answer or '(none)'}"
    return "\n".join((f"\n\n**Checks of the {checked}**\n", *lines))


def describe_work(
    method: Method, problem: Problem, solution: Solution, entries: Iterable[Entry]
) -> str:
    """Describe all of the work, including the demands noted in the solution."""
    demands = (one.sentence for one in read_summary(solution.details, problem.text).checks)
    start = "\n\n".join((*_choice(method, problem), *_demands(demands)))
    told, programs = [start], list[str]()
    for entry in entries:
        if isinstance(entry, Exchange):
            reply = entry.completion
            is_list = entry.call.stage == "stage1"
            said = describe_constraints(reply) if is_list else reply.text.strip()
            told.append(
                heading(entry.call.stage) + "\n\n".join(filter(None, (reply.reasoning, said)))
            )
            programs.append(reply.text)
        else:
            source = entry.program.source.strip()
            listed = any(source in one for one in programs)
            told.append(describe_output(entry.program, entry.output, listed=listed))
    return "".join(told).strip()
