"""Methods by the names that clients give them, within what the server allows."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import orjson
from aiohttp import web

from constraint_first.attempt.drive import RemoteRun
from constraint_first.attempt.events import stage_title
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.stage1 import read_spec
from constraint_first.constraint.stated.read import read_stated
from constraint_first.file.safe import storable_json
from constraint_first.method.baselines import Plain, whole_reply
from constraint_first.method.checked import assess
from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import Method, may_revise, models_of, split_name
from constraint_first.method.policy import Calibrated, in_conversation
from constraint_first.method.registry import make
from constraint_first.method.soundness import read_summary
from constraint_first.model.client import OpenAI
from constraint_first.model.connection import Tell
from constraint_first.model.error import EngineError, ModelNotFound
from constraint_first.model.limit import Limited, Limiter, Retry
from constraint_first.model.local import Local
from constraint_first.model.pull import NO_PROGRESS, Progress
from constraint_first.model.replicas import Balanced, Balancer
from constraint_first.model.resolve import (
    AUTO,
    Dispatch,
    ModelRef,
    PriceList,
    Resolved,
    choose_method,
    price_list,
    refs_beside,
    resolve,
    runs_here,
)
from constraint_first.model.transport import Bounds, DecodingRefused, Endpoint, Transport
from constraint_first.model.wire import SILENT, Decoding, Engine, SampledCall, Watcher
from constraint_first.problem import Json, Problem, Solution
from constraint_first.process import Pool, Undecided, serve
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Entry,
    Exchange,
    Execution,
    Message,
    Output,
    Program,
    Run,
    Stage,
    Step,
    Steps,
    Usage,
)
from constraint_first.run.attempt import Traffic
from constraint_first.run.forecast import needs_more_calls
from constraint_first.serve.setting import Metrics, RequestError, ServeSettings, within

K = TypeVar("K")
T = TypeVar("T")

_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class ChosenMethod:
    """A method that was made, and what it is called."""

    name: str
    """As on the command line; what ``auto`` stands for under its own name."""
    method: Method
    family: str
    """Its name without options: one of a few, so that it can label a count."""
    others: tuple[str, ...]
    """Other models that it asks."""

    def after(self, ahead: Sequence[Message]) -> ChosenMethod:
        """Choose for a text that other messages come ahead of."""
        return replace(self, method=in_conversation(self.method, ahead))

    @property
    def alone(self) -> bool:
        """Whether the text is all that the model is told."""
        return not isinstance(self.method, Calibrated) or self.method.alone


class MethodChoice:
    """Makes methods, and keeps those that were made last."""

    def __init__(self, own: Sequence[str], most_calls: int) -> None:
        self.own = tuple(own)
        """Those of the person who started the server, who may do anything."""
        self._most_calls = most_calls
        self._made: OrderedDict[str, ChosenMethod] = OrderedDict()
        self._too_costly: OrderedDict[str, bool] = OrderedDict()
        self._automatic: OrderedDict[str, str] = OrderedDict()

    def check(self) -> None:
        """Make the server's own methods once, so that a mistake shows before anybody asks."""
        for name in self.own:
            if name != AUTO:
                self.choose(name, "")

    @property
    def other_models(self) -> tuple[str, ...]:
        """The other models that the server's own methods ask."""
        made = [_made(name) for name in self.own if name != AUTO]
        return tuple(dict.fromkeys(name for one in made for name in one.others))

    def choose(self, name: str, upstream: str, attempts: int = 1) -> ChosenMethod:
        """Make a method, or find it; refuse one that reaches further than a client may."""
        is_own = name in self.own
        if name == AUTO:
            name = _remember(self._automatic, upstream, lambda: choose_method(upstream).method)
        if not is_own and ".toml" in name.lower():
            raise _refused("policy files are named by whoever starts the server, with --method")
        chosen = _remember(self._made, name, lambda: _made(name))
        most = self._most_calls
        if _remember(self._too_costly, name, lambda: needs_more_calls(chosen.method, most)):
            raise self._too_many(f"method {name!r}")
        if not is_own and chosen.others:
            raise _refused("other models are named by whoever starts the server, with --method")
        if attempts > most:
            raise self._too_many(f"n={attempts}")
        return chosen

    def _too_many(self, what: str) -> RequestError:
        return _refused(
            f"{what} needs more than the {self._most_calls:,} calls that one request may cost; "
            "--max-calls of the server allows more"
        )


def _made(name: str) -> ChosenMethod:
    method = make(name)
    family, _ = split_name(name)
    return ChosenMethod(name, method, family, models_of(method))


def _remember(kept: OrderedDict[K, T], key: K, find: Callable[[], T]) -> T:
    if key not in kept:
        kept[key] = find()
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)
    return kept[key]


def _refused(why: str) -> RequestError:
    return RequestError(f"model: {why}", param="model", code="method_not_allowed")


# A chat request read for a method: the problem, what came before it, how it is to be decoded.

Fields: TypeAlias = Mapping[str, Any]
"""A request's JSON object."""

_Role: TypeAlias = Literal["system", "user", "assistant"]
_ROLES: Final[dict[str, _Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_KNOWN: Final = frozenset(
    "model messages stream stream_options n temperature top_p seed max_tokens "
    "max_completion_tokens stop response_format tools tool_choice parallel_tool_calls functions "
    "function_call logprobs top_logprobs modalities audio".split()
)
# What asks for more than a text, or for a text in a form of the client's own. A method's stages
# have forms of theirs.
_FOREIGN: Final = frozenset(
    "tools functions audio prediction web_search_options logprobs top_logprobs grammar json_schema "
    "structured_outputs continue_final_message".split()
)
_MOST_STOPS: Final = 16
_LONGEST: Final = 200_000
"""Characters of a problem: a method reads all of it for cues before anything is asked."""
_DEEPEST: Final = 64
_SEED: Final = 2**62


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question, and how it is to be answered."""

    problem: str
    """The last user message."""
    context: tuple[Message, ...] = ()
    """All that comes before it."""
    chosen: Mapping[str, float | int] = field(default_factory=dict[str, float])
    """Settings of the decoding that the client chose."""
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Fields that we do not know, for the endpoint."""
    max_tokens: int | None = None
    n: int = 1
    stream: bool = False
    include_usage: bool = False


def is_foreign(fields: Fields) -> bool:
    """Say whether a request wants something that no method gives, and so passes through."""
    if any(fields.get(name) for name in _FOREIGN):
        return True
    if any(name.startswith("guided_") and fields[name] for name in fields):
        return True
    form = fields.get("response_format")
    if isinstance(form, dict) and cast("Fields", form).get("type") != "text":
        return True
    modes = fields.get("modalities")
    if isinstance(modes, list) and any(mode != "text" for mode in cast("list[Any]", modes)):
        return True
    messages = fields.get("messages")
    return isinstance(messages, list) and _is_foreign_talk(cast("list[Any]", messages))


def _is_foreign_talk(messages: Sequence[Any]) -> bool:
    """Say whether a conversation has more than texts, or does not end with a question."""
    told = [cast("Fields", one) for one in messages if isinstance(one, dict)]
    if any(one.get("role") in ("tool", "function") or one.get("tool_calls") for one in told):
        return True
    parts = [part for one in told if isinstance(content := one.get("content"), list)
             for part in cast("list[Any]", content)]  # fmt: skip
    if any(isinstance(one, dict) and cast("Fields", one).get("type") != "text" for one in parts):
        return True
    return bool(told) and told[-1].get("role") in ("assistant", "system", "developer")


def read_request(fields: Fields) -> ChatRequest:
    """Read a request; whatever is wrong with it is refused by name."""
    messages = _messages(fields.get("messages"))
    problem = messages[-1].content
    if not problem.strip():
        raise _bad("messages", "the last message is empty; it must hold the problem")
    chosen = {
        name: value
        for name, value in (
            ("temperature", _number(fields, "temperature", 0, 2)),
            ("top_p", _number(fields, "top_p", 0, 1)),
            ("seed", _whole(fields, "seed", -_SEED, _SEED)),
        )
        if value is not None
    }
    if not isinstance(fields.get("modalities") or [], list):
        raise _bad("modalities", "must be a list")
    extra = {name: value for name, value in fields.items() if name not in _KNOWN}
    for name, value in extra.items():
        _check_depth(name, value)
    budgets = (_whole(fields, name, 1) for name in ("max_completion_tokens", "max_tokens"))
    stream = _truth(fields, "stream")
    options: Any = fields.get("stream_options")
    return ChatRequest(
        problem=problem,
        context=tuple(messages[:-1]),
        chosen=chosen,
        stop=_stops(fields.get("stop")),
        extra=extra,
        max_tokens=next((budget for budget in budgets if budget), None),
        n=_whole(fields, "n", 1, 128) or 1,
        stream=stream,
        include_usage=stream and _truth(_object(options), "include_usage"),
    )


def _check_depth(name: str, value: Any) -> None:
    """Refuse a field that nests deeper than what has to write it again."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [one for held in level for one in _held(held)]
        if not level:
            return
    raise _bad(name, f"nests deeper than {_DEEPEST} levels")


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("Fields", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def check_length(asked: ChatRequest) -> None:
    """Refuse a text that is longer than what methods read."""
    if len(asked.problem) > _LONGEST:
        raise RequestError(
            f"messages: the last message has {len(asked.problem):,} characters; methods take "
            f"{_LONGEST:,} at most, a plain model's name passes more on",
            code="context_length_exceeded",
            param="messages",
        )


def _object(value: Any) -> Fields:
    return cast("Fields", value) if isinstance(value, dict) else {}


def _messages(value: Any) -> list[Message]:
    if not isinstance(value, list) or not value:
        raise _bad("messages", "must be a list of messages, the problem last")
    return [_message(number, one) for number, one in enumerate(cast("list[Any]", value))]


def _message(number: int, value: Any) -> Message:
    where = f"messages[{number}]"
    if not isinstance(value, dict):
        raise _bad(where, "must be an object with a role and a content")
    fields = cast("Fields", value)
    named = fields.get("role")
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None:
        raise _bad(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
    return Message(role, _text(f"{where}.content", fields.get("content")))


def _text(where: str, content: Any) -> str:
    """Read a content: a text, or parts that are texts."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = cast("list[Any]", content) if isinstance(content, list) else [None]
    texts = [cast("Fields", part).get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise _bad(where, "must be a text, or a list of texts")
    return "\n".join(cast("list[str]", texts))


def _stops(value: Any) -> tuple[str, ...]:
    stops = cast("list[Any]", [value] if isinstance(value, str) else value or [])
    fits = isinstance(stops, list) and len(stops) <= _MOST_STOPS  # pyright: ignore[reportUnnecessaryIsInstance]
    if not fits or not all(isinstance(one, str) and one for one in stops):
        raise _bad("stop", f"must be a text, or a list of at most {_MOST_STOPS} texts")
    return tuple(stops)


def _number(fields: Fields, name: str, least: float, most: float) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise _bad(name, f"must be a number from {least:g} to {most:g}")
    return value


def _whole(fields: Fields, name: str, least: int, most: int = 2**31 - 1) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not int or not least <= value <= most:
        raise _bad(name, f"must be a whole number from {least} to {most}")
    return value


def _truth(fields: Fields, name: str) -> bool:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise _bad(name, "must be true or false")
    return bool(value)


def _bad(param: str, must: str) -> RequestError:
    return RequestError(f"{param}: {must}", param=param, code="invalid_value")


# A model as one request wants it asked: its decoding, its own fields, its stop texts.

CallDone: TypeAlias = Callable[[Call, Completion, float], None]
"""What hears of each call that was answered, and of the seconds that it took."""

_PREPARING: Final = frozenset(
    "stage1 router format feedback explore clarify program translate".split()
)
"""Stages that prepare a solution and do not write one; stop texts are not for them."""


@dataclass(frozen=True, slots=True)
class RequestDecoding:
    """How a request is decoded, where it says so; the model's own settings hold for the rest."""

    chosen: Mapping[str, float | int]
    extra: str = ""
    """Fields for every call."""
    extra_solving: str = ""
    """Fields for calls that write a solution: those for every call, and the stop texts."""

    def over(self, usual: Decoding, call: Call) -> Decoding:
        """Put what the request says over what is usual."""
        extra = self.extra if call.json or call.stage in _PREPARING else self.extra_solving
        if not self.chosen and not extra:
            return usual
        chosen: dict[str, float | int] = dict(self.chosen)
        return replace(usual, **chosen, extra=extra)  # pyright: ignore[reportArgumentType]


def request_decoding(asked: ChatRequest) -> RequestDecoding:
    """Read off a request how it is to be decoded."""
    stops: dict[str, Json] = {"stop": [*asked.stop]} if asked.stop else {}
    return RequestDecoding(asked.chosen, _written(asked.extra), _written({**asked.extra, **stops}))


def _written(fields: Mapping[str, Json]) -> str:
    try:
        return orjson.dumps(fields).decode() if fields else ""
    except TypeError:  # a number of more than 64 bits, or half a surrogate pair
        return json.dumps(fields)


@dataclass(frozen=True, slots=True)
class RequestEngine:
    """An engine for one request.

    A setting that the client chose and the model refuses is an error for the client. One that is
    only the server's own is left out from then on, for everybody.
    """

    served: OpenAI | Balanced
    decoding: RequestDecoding
    done: CallDone

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call."""
        began = time.monotonic()
        completion = await self._complete(call, watcher)
        self.done(call, completion, time.monotonic() - began)
        return completion

    async def _complete(self, call: Call, watcher: Watcher) -> Completion:
        while True:
            usual = self.served.decoding
            decoding = self.decoding.over(usual, call)
            if decoding is usual:  # the engine may adapt its own
                return await self.served.complete(call, watcher)
            try:
                return await self.served.complete(call, watcher, decoding)
            except DecodingRefused as refused:
                adapted = refused.adapt(usual)
                if refused.setting in self.decoding.chosen or adapted == usual:
                    raise
                if self.served.decoding is usual:  # and no other call has heard of it first
                    self.served.decoding = adapted

    def most_samples(self, group: SampledCall) -> int:
        """As many as the model takes."""
        return self.served.most_samples(group)


# The endpoint behind a server: its models, and the engines that ask them over one pool.

Fetching: TypeAlias = Callable[[], AbstractContextManager[Progress]]
"""Shows how the fetching of a model gets on, for as long as models are fetched."""

LOCAL: Final = "local"
"""Another name of the model that runs on this machine."""

_ATTEMPTS: Final = 3
_PATIENCE: Final = 2.0
"""Seconds that we wait for an endpoint ourselves; a longer wait is the client's to decide."""

_FRESH: Final = 10.0
"""Seconds for which a list of models is not asked for again."""
_LISTING: Final = 10.0


def fetch_silently() -> AbstractContextManager[Progress]:
    """Show nothing."""
    return nullcontext(NO_PROGRESS)


@dataclass(frozen=True, slots=True)
class UpstreamOptions:
    """How an endpoint is asked."""

    decoding: Decoding = field(default_factory=Decoding)
    bounds: Bounds = field(default_factory=Bounds)
    connections: int = 1_024
    slots: int = 2
    """Calls at the same time, where the model runs on this machine."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def limiter(self) -> Limiter:
        """Make the limits of one endpoint."""
        return Limiter(
            self.connections,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )


class Upstream:
    """An endpoint while it is being served from; its models go by the names that it has for them.

    One of them is the usual one, unless the endpoint has several and nobody chose.
    """

    def __init__(
        self,
        way: Transport | Balancer,
        options: UpstreamOptions,
        *,
        is_local: bool = False,
        others: Mapping[str, OpenAI | Balanced] | None = None,
    ) -> None:
        self.balancer = way if isinstance(way, Balancer) else None
        """Shares requests out, where several endpoints serve the same."""
        self.transport = way.replicas[0].transport if isinstance(way, Balancer) else way
        self.is_local = is_local
        self._options = options
        self._others = others or {}
        self._named = self.endpoint.model
        self._engines: OrderedDict[str, OpenAI | Balanced] = OrderedDict()
        self._prices: OrderedDict[tuple[str, ...], PriceList] = OrderedDict()
        self._listed: tuple[float, list[dict[str, Json]]] = (-_FRESH, [])
        self._turn = asyncio.Lock()
        self.limiter = options.limiter()

    @property
    def endpoint(self) -> Endpoint:
        """Where it is."""
        return self.transport.endpoint

    @property
    def decoding(self) -> Decoding:
        """How it is decoded where a request says nothing."""
        return self._options.decoding

    @property
    def shown(self) -> str:
        """What it is, for a person."""
        places = [one.shown for one in self._endpoints]
        where = "on this machine" if self.is_local else f"at {', '.join(places)}"
        return f"{self._named or 'its models'} {where}"

    @property
    def _endpoints(self) -> list[Endpoint]:
        known = self.balancer.replicas if self.balancer else ()
        return [one.endpoint for one in known] or [self.endpoint]

    async def survey(self, tell: Tell) -> None:
        """See whether it can be asked now, and tell what is odd, now and from now on."""
        engine = self.engine(self._named)
        for one in (engine, *self._others.values()):
            one.report_to(tell)
        if self.balancer and isinstance(engine, Balanced):
            self.balancer.tell = tell
            for line in await engine.survey():
                tell(line)
        else:
            await engine.models()

    async def models(self) -> list[dict[str, Json]]:
        """List its models: the one that was chosen, else all that the endpoint lists.

        While the endpoint cannot be asked, what it said last holds.
        """
        if self._named:
            return [{"id": self._named, "object": "model", "owned_by": "upstream"}]
        async with self._turn:
            asked, known = self._listed
            if time.monotonic() - asked < _FRESH:
                return known
            try:
                async with asyncio.timeout(_LISTING):
                    known = await self.engine("").models() or known
            except (EngineError, TimeoutError) as error:
                if not known:
                    raise _unlisted(self.endpoint, error) from None
            self._listed = (time.monotonic(), known)
            return known

    async def find(self, name: str) -> str:
        """Find the model that a name means: its own, nothing for the usual one, or ``local``."""
        if self.is_local:
            if name in ("", LOCAL, self._named):
                return self._named
            raise ModelNotFound(f"model {name!r}: only {self._named!r} runs on this machine")
        if name or self._named:
            return name or self._named
        names = [one.get("id") for one in await self.models()]
        if len(names) == 1 and isinstance(names[0], str):
            return names[0]
        raise ModelNotFound("model: name one, as METHOD@MODEL; GET /v1/models lists what there is")

    def engine(self, name: str) -> OpenAI | Balanced:
        """Make the engine of a model, or find it."""
        if name not in self._engines:
            context = self.endpoint.context if name == self._named else None
            endpoints = [replace(one, model=name, context=context) for one in self._endpoints]
            self._engines[name] = _lent(endpoints, self._options, self.balancer or self.transport)
        self._engines.move_to_end(name)
        while len(self._engines) > _KEPT:
            self._engines.popitem(last=False)
        return self._engines[name]

    def engine_for(
        self, name: str, others: Sequence[str], decoding: RequestDecoding, done: CallDone
    ) -> Engine:
        """Make the engine of one request: the model's, with others beside it that it may ask."""
        main: Engine = RequestEngine(self.engine(name), decoding, done)
        if not self.balancer:  # which keeps to the limits of each endpoint
            main = Limited(main, self.limiter)
        if not others:
            return main
        beside: dict[str, Engine] = {
            one: RequestEngine(self._others.get(one) or self.engine(one), decoding, done)
            for one in others
        }
        return Dispatch(main, beside)

    def prices(self, name: str, others: Sequence[str]) -> PriceList:
        """Look up what a model costs, and those beside it."""
        key = (name, *others)
        if key not in self._prices:
            self._prices[key] = price_list(name, others)
        while len(self._prices) > _KEPT:
            self._prices.popitem(last=False)
        return self._prices[key]


def _lent(
    endpoints: Sequence[Endpoint], options: UpstreamOptions, way: Transport | Balancer
) -> OpenAI | Balanced:
    decoding, bounds = options.decoding, options.bounds
    retry = Retry(attempts=_ATTEMPTS, patience=_PATIENCE, seconds=bounds.seconds)
    if isinstance(way, Balancer):
        return Balanced(endpoints, decoding, retry, bounds=bounds, balancer=way)
    return OpenAI(endpoints[0], decoding, retry, bounds=bounds, transport=way)


def _unlisted(endpoint: Endpoint, error: Exception) -> EngineError:
    if isinstance(error, EngineError):
        return error
    return ModelNotFound(f"{endpoint.shown}: did not list its models in time; try again later")


@asynccontextmanager
async def opened_upstream(
    ref: ModelRef,
    options: UpstreamOptions,
    others: Sequence[str] = (),
    fetching: Fetching = fetch_silently,
) -> AsyncGenerator[Upstream]:
    """Open the endpoint that a person named, or the model on this machine, for as long as needed.

    Nothing is asked of an endpoint yet: it may be away for now.
    """
    async with AsyncExitStack() as stack:
        beside = refs_beside(ref, others)
        wanted = tuple(dict.fromkeys((ref, *beside.values())))
        with fetching() as progress:
            found = {one: _resolve(one, options, progress) for one in wanted}
        opened = {one: await _open(stack, engine, options) for one, engine in found.items()}
        engines = {
            name: _lent(_endpoints(found[one]), options, opened[one])
            for name, one in beside.items()
        }
        yield Upstream(opened[ref], options, is_local=runs_here(ref), others=engines)


def _resolve(ref: ModelRef, options: UpstreamOptions, progress: Progress) -> Resolved:
    bounds, slots = options.bounds, options.slots
    return resolve(ref, options.decoding, bounds=bounds, concurrency=slots, progress=progress)


def _endpoints(found: Resolved) -> Sequence[Endpoint]:
    return found.endpoints if isinstance(found, Balanced) else [found.endpoint]


async def _open(
    stack: AsyncExitStack, found: Resolved, options: UpstreamOptions
) -> Transport | Balancer:
    """Open the connections to a model, and the model itself where it runs here."""
    if isinstance(found, Balanced):
        balancer = Balancer.over(found.endpoints, options.bounds, options.connections)
        balancer.limit(options.limiter)
        await balancer.open()
        stack.push_async_callback(balancer.close)
        return balancer
    if isinstance(found, Local):
        await stack.enter_async_context(found)
    transport = Transport(found.endpoint, options.bounds, options.connections)
    transport.open()
    stack.push_async_callback(transport.close)
    return transport


def is_held(method: Method, problem: Problem) -> bool:
    """Say whether replies to a text with demands are only drafts until the method has returned."""
    return may_revise(method, problem) and bool(read_demands(problem.text))


# Run a method's generator in a worker process that can be killed, so that no text blocks the
# loop.
#
# A method searches its problem and every reply with many regular expressions, some of which may
# be slow on a hostile text. Because a method can be replayed, a worker needs only the problem and
# the answers so far; it returns the next round. Texts of up to ``SHORT`` characters are read on
# the loop.

SHORT: Final = 400
"""Longest text, in characters, that is read on the event loop; none of them takes long."""
_PROGRAM: Final = ("-m", "constraint_first.serve.service")
_CPU_SECONDS: Final = 1.0
_READING_PATIENCE: Final = 10.0
_WAIT: Final = 5.0
"""Seconds to wait for a free worker; after that the text goes to the model unread."""
_NICE: Final = 10
_UNREAD: Final = "took too long to read, so nothing was read, checked or changed"


@dataclass(frozen=True, slots=True)
class Reading:
    """The arguments that a worker needs to run the method of an attempt."""

    method: str
    problem: str
    max_tokens: int | None
    alone: bool = True

    def steps(self, method: Method) -> Steps[Solution]:
        """Start the method, within the request's token limit."""
        steps = method.solve(Problem(self.problem))
        return within(steps, self.max_tokens) if self.max_tokens else steps


class Readers:
    """The workers of a server; they start when the first long text comes."""

    def __init__(self, count: int | None = None) -> None:
        self._pool = Pool(_PROGRAM, count or max(2, os.cpu_count() or 1))
        self._threads = ThreadPoolExecutor(self._pool.count, "cfr-reading")
        self._turns = asyncio.Semaphore(self._pool.count)

    async def decide(self, task: str, method: str, text: str, *, alone: bool) -> bool:
        """Ask a worker a yes-or-no question about a text; yes where it takes too long."""
        try:
            return bool(await self.ask(task, method, text, alone))
        except Undecided:
            return True

    async def ask(self, task: str, *arguments: Json) -> Json:
        """Run a task in a worker; raise Undecided where it takes too long."""
        try:
            async with asyncio.timeout(_WAIT):
                await self._turns.acquire()
        except TimeoutError:
            raise Undecided("no worker was free") from None
        try:
            ask = partial(self._pool.ask, task, *arguments, patience=_READING_PATIENCE)
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        finally:
            self._turns.release()

    def close(self) -> None:
        """End all workers."""
        self._pool.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


class ReadRun(RemoteRun[Solution]):
    """A method under way, like a ``Run``, that reads long texts in a worker."""

    def __init__(
        self,
        readers: Readers,
        reading: Reading,
        method: Method,
        change: Callable[[Call], Call],
    ) -> None:
        super().__init__()
        self._readers = readers
        self._reading = reading
        self._method = method
        self._change = change
        self._here: Run[Solution] | None = None
        self._answers: list[tuple[Answer, ...]] = []
        self._sent: list[Json] = []
        """The answers as JSON for the workers; each is converted once."""
        self._size = len(reading.problem)

    async def start(self) -> None:
        """Find the first round."""
        if self._size <= SHORT:
            self._here = Run(self._reading.steps(self._method))
            self._take_here()
        else:
            await self._ask()

    async def move(self, answers: tuple[Answer, ...]) -> None:
        """Hand over the answers of a round, and find the next one."""
        asked, self.round = self.round, ()
        self.transcript += [
            Execution(step, cast("Output", answer))
            if isinstance(step, Program)
            else Exchange(step, cast("Completion", answer))
            for step, answer in zip(asked, answers, strict=True)
        ]
        self._answers.append(answers)
        self._size += sum(len(answer.text) for answer in answers)
        if self._here and (self._size <= SHORT or isinstance(self._method, Plain)):
            self._here.advance(answers)
            self._take_here()
        else:
            self._here = None
            await self._ask()

    def _take_here(self) -> None:
        run = cast("Run[Solution]", self._here)
        if not run.done:
            self.round = tuple(map(self._changed, run.round))
        elif isinstance(self._method, Plain) and self._size > SHORT:
            self._result.append(run.result)
        else:
            self._result.append(assess(Problem(self._reading.problem), run.result))

    def _changed(self, step: Step) -> Step:
        return self._change(step) if isinstance(step, Call) else step

    async def _ask(self) -> None:
        new = self._answers[len(self._sent) :]
        self._sent += [[_plain(one) for one in given] for given in new]
        order = cast("Json", asdict(self._reading))
        try:
            reply = cast("dict[str, Any]", await self._readers.ask("advance", order, self._sent))
        except Undecided:
            self._go_unread()
            return
        if "fault" in reply:
            raise RuntimeError(reply["fault"])
        if "solution" in reply:
            self._result.append(Solution(**reply["solution"]))
            return
        self.round = tuple(self._changed(_step(one)) for one in reply["round"])

    def _go_unread(self) -> None:
        """Pass the text, or the reply, on unread where reading takes too long."""
        if not self.transcript:
            self._method = Plain()
            self._here = Run(_noted(self._method.solve(Problem(self._reading.problem))))
            self._take_here()
            return
        last = self.transcript[-1]
        if len(self._answers[-1]) > 1 or not isinstance(last, Exchange):
            raise RequestError(
                f"the model's replies {_UNREAD}; ask again, or name a plain model",
                502,
                code="unreadable_reply",
            )
        self._result.append(_note(whole_reply(last.completion)))


def _noted(steps: Steps[Solution]) -> Steps[Solution]:
    return _note((yield from steps))


def _note(solution: Solution) -> Solution:
    return replace(solution, details={**solution.details, "unread": _UNREAD})


def _plain(answer: Answer) -> Json:
    kind = "completion" if isinstance(answer, Completion) else "output"
    return {"kind": kind, **cast("dict[str, Json]", asdict(answer))}


def _answer(value: Mapping[str, Any]) -> Answer:
    fields: dict[str, Any] = {name: one for name, one in value.items() if name != "kind"}
    if value["kind"] == "output":
        return Output(**fields)
    fields["usage"] = Usage(**fields["usage"])
    return Completion(**fields)


def _step(value: Mapping[str, Any]) -> Step:
    fields: dict[str, Any] = {name: one for name, one in value.items() if name != "kind"}
    if value["kind"] == "program":
        return Program(**fields)
    fields["messages"] = tuple(Message(**one) for one in fields["messages"])
    return Call(**fields)


# What a worker does.


def _made_reading(name: str, *, alone: bool) -> Method:
    method = make(name)
    return method if alone or not isinstance(method, Calibrated) else replace(method, alone=False)


def _leaves_alone(name: str, text: str, alone: bool) -> Json:
    method = _made_reading(name, alone=alone)
    return isinstance(method, Calibrated) and method.leaves_alone(Problem(text))


def _holds(name: str, text: str, alone: bool) -> Json:
    return is_held(_made_reading(name, alone=alone), Problem(text))


def _advance(order: dict[str, Any], rounds: Sequence[Sequence[Mapping[str, Any]]]) -> Json:
    """Run a method on the answers so far, and say what it asks next or what it returned."""
    try:
        reading = Reading(**order)
        run = Run(reading.steps(_made_reading(reading.method, alone=reading.alone)))
        for given in rounds:
            run.advance(tuple(map(_answer, given)))
        if run.done:
            solution = assess(Problem(order["problem"]), run.result)
            details = storable_json(solution.details)
            return {"solution": asdict(solution) | {"details": json.loads(details)}}
    except Exception as error:
        return {"fault": f"{type(error).__name__} in the method"}
    steps: list[Json] = [
        {"kind": "program" if isinstance(one, Program) else "call", **asdict(one)}
        for one in run.round
    ]
    return {"round": steps}


def main() -> None:
    """Serve as a worker, behind the server itself."""
    os.nice(_NICE)
    serve({"leaves_alone": _leaves_alone, "holds": _holds, "advance": _advance}, _CPU_SECONDS)


if __name__ == "__main__":
    main()


# What all handlers of a server share, and what is known of the request that they answer.

Log: TypeAlias = Callable[[dict[str, Json]], None]
"""What is told of each request once it is over."""


@dataclass(slots=True)
class Services:
    """The parts of one server."""

    settings: ServeSettings
    upstream: Upstream
    methods: MethodChoice
    metrics: Metrics
    log: Log | None = None
    traffic: Traffic | None = None
    readers: Readers = field(default_factory=Readers)
    stopping: bool = False
    """Whether the server takes no more requests."""

    async def leaves_alone(self, chosen: ChosenMethod, text: str) -> bool:
        """Say whether a policy sends a text to the model as it is.

        A text that takes too long to read is left alone.
        """
        if not isinstance(chosen.method, Calibrated):
            return False
        if len(text) <= SHORT:
            return chosen.method.leaves_alone(Problem(text))
        return await self.readers.decide("leaves_alone", chosen.name, text, alone=chosen.alone)

    async def holds(self, chosen: ChosenMethod, problem: Problem) -> bool:
        """Say whether replies are only drafts until the method has returned."""
        if len(problem.text) <= SHORT:
            return is_held(chosen.method, problem)
        return await self.readers.decide("holds", chosen.name, problem.text, alone=chosen.alone)


@dataclass(slots=True, eq=False)
class Served:
    """One request, as the log and the counts tell of it."""

    began: float = field(default_factory=time.monotonic)
    id: str = ""
    model: str = ""
    method: str = ""
    """The family of the method; empty for what passes through or asks no model."""
    upstream: str = ""
    stream: bool = False
    first: float | None = None
    """Seconds until the first word."""
    usage: Usage | None = None
    error: str = ""
    deadline: asyncio.Timeout | None = None
    seconds: float = 0.0
    """How long it may take."""
    stopping: bool = False
    """Whether its time was cut short because the server is being stopped."""

    def spoke(self) -> None:
        """Note that the first word is there."""
        if self.first is None:
            self.first = time.monotonic() - self.began

    @property
    def overdue(self) -> RequestError | None:
        """What a client is told whose request takes too long; None while it has time."""
        if self.deadline is None or not self.deadline.expired():
            return None
        if self.stopping:
            return stopped()
        said = f"the request was not done after {self.seconds:g} s"
        return RequestError(said, 504, code="request_timeout")

    @property
    def why_cancelled(self) -> str:
        """Why its handler was cancelled."""
        return str(self.overdue or "the client went away")


def stopped() -> RequestError:
    """Make the error for a request to a server that is being stopped."""
    return RequestError("the server is being stopped", 503, code="stopping", retry_after=1)


SERVICES: Final = web.AppKey("services", Services)
SERVED: Final = web.RequestKey("served", Served)


# The work before an answer, in words: cues, demands, constraints, drafts, programs and checks.

_MARKS: Final = {"holds": "✓", "violated": "✗", "undecided": "?"}


def heading(stage: Stage) -> str:
    """Head a stage."""
    return f"\n\n**{stage_title(stage)}**\n\n"


def describe_start(method: Method, problem: Problem) -> str:
    """Say what is known before anything is asked: the policy's choice, cues, stated demands."""
    if len(problem.text) > SHORT:  # it is read elsewhere
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
    """List what Stage 1 found."""
    recovered = read_spec(completion.text)
    spec = recovered.spec
    listed = [f"- {one.id} ({one.type}): {one.description}" for one in spec.raw_constraints]
    listed += [f"- {one.description}" for one in spec.propagated_constraints]
    if spec.answer_format:
        listed.append(f"- format of the answer: {spec.answer_format}")
    return "\n".join(listed) or f"none ({recovered.rung})"


def describe_output(program: Program, output: Output, *, listed: bool) -> str:
    """Show what a program printed, and the program itself unless a reply has shown it."""
    source = "" if listed else f"```python\n{program.source.rstrip()}\n```\n\n"
    told = output.text.rstrip() + (f"\n{output.error}" if output.error else "")
    return f"\n\n{source}**Output**\n\n```\n{told.strip()}\n```"


def describe_checks(solution: Solution) -> str:
    """Say which demands of the text an answer meets."""
    summary = read_summary(solution.details, "")
    lines = [f"- {_MARKS[one.truth]} {one.sentence}" for one in summary.checks]
    lines += [f"- {one}" for one in summary.conflicts]
    if not solution.is_whole:  # the drafts of a whole reply are told before
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
    """Tell the whole of some work, from its start on; the solution has what the text demands."""
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
