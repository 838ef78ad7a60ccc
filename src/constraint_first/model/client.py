"""The client: performs the calls of methods, within a budget and within each model's limits.

Every call goes through the same steps: choose its model, reserve its budget, and for each try wait
for a turn and send one request. Between two tries a call gives its turn back, so that a pause of
minutes (a Retry-After header may demand it) blocks no other call. Its reservation is kept, because
a failed request may have been billed.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import aiohttp
import orjson

from constraint_first.file.safe import storable_text
from constraint_first.model.connection import Tell
from constraint_first.model.error import (
    BadReply,
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    StreamCut,
    TookTooLong,
    Transient,
    Unreachable,
)
from constraint_first.model.limit import (
    Budget,
    Limiter,
    Price,
    PriceList,
    Retry,
    Tries,
    charged,
    most_usage,
    replies_to,
    wasted,
)
from constraint_first.model.transport import (
    COMPLETIONS,
    Bounds,
    DecodingRefused,
    Endpoint,
    Incoming,
    ParameterRefused,
    Setting,
    Transport,
)
from constraint_first.model.wire import (
    SILENT,
    Decode,
    Decoding,
    Engine,
    Openable,
    SampledCall,
    SampledCompletion,
    Served,
    StreamedReply,
    Watcher,
    completion_from,
    most_samples,
    request_for,
    sampled_from,
)
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Usage

# OpenAI-compatible endpoints, such as DeepSeek, Qwen, vLLM, llama.cpp or LM Studio.

_MOST_SAMPLES: Final = 128  # OpenAI accepts no more in one request
_MOST_FAULTS: Final = 2
"""Faults of a request for several samples, after which each is requested by itself."""


class Asked(ABC):
    """A model whose ``ask`` makes one try of a call; a ``Client`` decides whether to retry."""

    retry: Retry
    bounds: Bounds

    @property
    @abstractmethod
    def model(self) -> str:
        """The name of the model."""

    @abstractmethod
    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | Decode | None = None
    ) -> Completion:
        """Perform a call once; an explicit decoding is never adapted when the model refuses it."""

    @abstractmethod
    def most_samples(self, group: SampledCall) -> int:
        """Return how many of a group's samples one request may ask for now."""

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call without a client, with retries after faults."""
        if call.model is not None:
            raise ModelNotFound(
                f"model {call.model!r}: a {call.stage} call is for it, and this engine asks "
                f"{self.model!r} alone; put the engines of both into a Client"
            )
        return await self.retry.run(
            lambda: self.ask(call, watcher, decoding),
            lambda fault, pause: watcher.retrying(call, fault, pause),
        )


Entry: TypeAlias = dict[str, Json]
"""A model as an endpoint describes it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The models that an endpoint lists."""

    endpoint: Endpoint
    entries: Sequence[Entry]

    @property
    def names(self) -> list[str]:
        found = (entry.get("id") for entry in self.entries)
        return [name for name in found if isinstance(name, str) and name == storable_text(name)]

    @property
    def shown_names(self) -> str:
        return self.endpoint.redaction.quote(", ".join(self.names[:8])) or "nothing"

    def only_name(self) -> str:
        """Return the model's name, which need not be given where the endpoint serves just one."""
        if len(self.names) != 1:
            choice = f"it serves {self.shown_names}" if self.names else "it lists none"
            raise ModelNotFound(f"{self.endpoint.shown}: name a model with --model; {choice}")
        return self.names[0]

    def entry(self, model: str) -> Entry:
        named = [one for one in self.entries if one.get("id") == model]
        found = named or (self.entries if len(self.entries) == 1 else [])
        return found[0] if found else {}


class OpenAI(Asked):
    """An engine for one model behind one endpoint: ``async with OpenAI(endpoint) as engine``."""

    def __init__(
        self,
        endpoint: Endpoint,
        decoding: Decoding | None = None,
        retry: Retry | None = None,
        *,
        bounds: Bounds | None = None,
        connections: int = 256,
        transport: Transport | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.decoding = decoding or Decoding()
        """How replies are sampled; settings that the model refuses are removed."""
        self.bounds = bounds or Bounds()
        self.retry = retry or Retry(seconds=self.bounds.seconds)
        self.context = endpoint.context
        """The context window: the most tokens of a prompt and its reply; None where unknown."""
        self._transport = (
            transport.lend(endpoint) if transport else Transport(endpoint, self.bounds, connections)
        )
        self._refused: set[str] = set()
        self._faults: Counter[Call] = Counter()

    async def __aenter__(self) -> OpenAI:
        self._transport.open()
        try:
            if not self.endpoint.model:
                # A separate Retry: a list of models is no evidence that a model answers calls.
                name = await replace(self.retry).run(self._only_model)
                self.endpoint = replace(self.endpoint, model=name)
                self._transport.endpoint = self.endpoint
        except BaseException:
            await self._transport.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.close()

    @property
    def is_open(self) -> bool:
        return self._transport.is_open

    @property
    def model(self) -> str:
        return self.endpoint.model

    def report_to(self, tell: Tell) -> None:
        self._transport.host.tell = tell

    def most_samples(self, group: SampledCall) -> int:  # noqa: ARG002
        return 1 if "n" in self._refused else _MOST_SAMPLES

    async def models(self) -> list[dict[str, Json]]:
        async with self._transport.exchange("GET", "models") as response:
            body = await (await self._transport.accept(response)).read()
        try:
            listed = orjson.loads(body)["data"]
            return [entry for entry in listed if isinstance(entry, dict)]
        except (orjson.JSONDecodeError, LookupError, TypeError):
            raise BadReply(
                f"{self.endpoint.shown}: its list of models cannot be read; name one with --model"
            ) from None

    async def _only_model(self) -> str:
        return Listing(self.endpoint, await self.models()).only_name()

    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | Decode | None = None
    ) -> Completion:
        transport, decode = self._transport, partial(_decoded, call=call, decoding=decoding)
        try:
            async with asyncio.timeout(self.bounds.seconds):
                while True:
                    context, own = self.context, self.decoding
                    body = self._body(call, decode(own), stream=watcher.streams)
                    try:
                        if (known := self._known(body, call)) is not None:
                            return known
                        data = written(body)
                        async with transport.send("POST", COMPLETIONS, data) as response:
                            response.compares = True
                            incoming = await transport.accept(response)
                            if watcher.streams and not await incoming.is_document():
                                return await self._follow(incoming, call, watcher)
                            whole = self._read(await incoming.read(), call, body)
                        break
                    except (aiohttp.ClientError, OSError) as error:
                        raise transport.named(error) from None
                    except Rejected as refusal:  # perhaps of something dispensable
                        if change := self._adapt(refusal, call, body, (context, own), decode):
                            watcher.adapted(call, change)
            if watcher is not SILENT:
                _tell(watcher, call, whole.text, whole.reasoning)
            return whole
        except Transient as fault:
            if isinstance(call, SampledCall) and not isinstance(fault, RateLimited | Unreachable):
                self._faults[call] += 1
            raise
        except TimeoutError:
            if isinstance(call, SampledCall):  # it may generate the samples one after the other
                self._refused.add("n")
            raise TookTooLong(
                f"{self.endpoint.shown}: the call was not done after {self.bounds.seconds:g} s; "
                "allow more with --call-timeout"
            ) from None

    def _known(self, body: dict[str, Json], call: Call) -> Completion | None:  # noqa: ARG002
        """The reply to a request that need not be sent; ``BatchModel`` has it from a batch."""
        return None

    def _adapt(
        self,
        refusal: Rejected,
        call: Call,
        body: dict[str, Json],
        before: tuple[int | None, Decoding],
        change: Callable[[Decoding], Decoding],
    ) -> str:
        """Remove or lower a refused parameter, where the call can do without it; return a note.

        ``before`` holds the context and the decoding that the request was built from; ``change``
        maps that decoding to the one sent. Concurrent calls may have adapted the same meanwhile.
        """
        context, own = before
        match refusal:
            case ParameterRefused(parameter=parameter) if parameter in body:
                self._refused.add(parameter)
            case PromptTooLong() if (refusal.limit or context) != context:
                self.context = refusal.limit
            case DecodingRefused():
                sent, adapted = change(own), refusal.adapt(own)
                if refusal.adapt(sent) == sent:
                    raise Rejected(str(refusal)) from None
                if change(adapted) == sent:  # the caller chose that setting
                    raise refusal
                if self.decoding == own:  # else a concurrent call has adapted it already
                    self.decoding = adapted
                    return refusal.change
            case _ if type(refusal) is Rejected and "n" in body:
                # The reason is unknown; it may be the request for several samples.
                self._faults[call] = _MOST_FAULTS
            case _:
                raise refusal
        return ""

    def _body(self, call: Call, decoding: Decoding, *, stream: bool) -> dict[str, Json]:
        body = request_for(call, self.endpoint.model, decoding, self.endpoint.json_mode)
        if self.context is not None:
            wanted = cast("int", body["max_tokens"])
            body["max_tokens"] = fitting_budget(call, wanted, self.context)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        elif isinstance(call, SampledCall) and self._faults[call] < _MOST_FAULTS:
            body["n"] = call.samples
        if not self._refused:
            return body
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = body["max_tokens"]
        return {name: value for name, value in body.items() if name not in self._refused}

    def _read(self, data: bytes, call: Call, body: dict[str, Json]) -> Completion:
        """Read a whole reply; fewer samples than requested show that ``n`` is not supported."""
        if not isinstance(call, SampledCall) or "n" not in body:
            return completion_from(data, self._transport.redaction)
        found, came = sampled_from(data, call, self._transport.redaction)
        if came < call.samples:
            self._refused.add("n")
        return found

    async def _follow(self, incoming: Incoming, call: Call, watcher: Watcher) -> Completion:
        reply, size = StreamedReply(self._transport.redaction), 0
        async with aclosing(incoming.lines()) as lines:
            async for line in lines:
                if line.startswith(b"data:") and line[5:].strip() == b"[DONE]":
                    break
                text, reasoning = reply.add_line(line)
                size += len(text) + len(reasoning)
                if size > self.bounds.reply_bytes:
                    raise incoming.too_large()
                _tell(watcher, call, text, reasoning)
        incoming.end()
        if reply.finish is None:
            raise StreamCut(f"{self.endpoint.shown}: the stream ended before the reply did")
        return reply.completion()


def written(body: dict[str, Json]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError as error:  # a lone surrogate
        raise Rejected(f"the problem cannot be sent: {error}; save it as UTF-8") from None


def fitting_budget(call: Call, wanted: int, context: int | None) -> int:
    """Lower a call's budget to what the prompt leaves of the model's context, if that is known."""
    if context is None:
        return wanted
    # A token of mathematics is longer than two bytes and a chat template shorter than 64 tokens, so
    # this overestimates the prompt. Where the estimate leaves nothing, the budget is sent as it
    # is: the endpoint has the tokenizer and decides whether the prompt fits.
    prompt = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) // 2 + 64
    return min(wanted, max(context - prompt, context // 4, 1))


def _decoded(own: Decoding, call: Call, decoding: Decoding | Decode | None) -> Decoding:
    if decoding is None:
        return own
    return decoding if isinstance(decoding, Decoding) else decoding(own, call)


def _tell(watcher: Watcher, call: Call, text: str, reasoning: str) -> None:
    if reasoning:
        watcher.wrote(call, reasoning, reasoning=True)
    if text:
        watcher.wrote(call, text, reasoning=False)


if TYPE_CHECKING:
    from constraint_first.model.resolve import ModelRef

C = TypeVar("C", bound=Call)

_FREE: Final = Price(0.0, 0.0)

CallDone: TypeAlias = Callable[[Call, Completion, float], None]
"""Called with each answered call and the seconds that it took, pauses included."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that is being served, its limits and its price."""

    served: Served
    limiter: Limiter | None = None
    """None where the engine limits itself, as ``Balanced`` does for several endpoints."""
    price: Price | None = None
    refused: dict[Setting, DecodingRefused] = field(
        default_factory=dict["Setting", DecodingRefused]
    )
    """Settings of the decoding that it refuses."""
    others: Mapping[str, ServedModel] = field(default_factory=dict[str, "ServedModel"])
    """Other models of the same client, by the names that methods use for them."""
    ref: ModelRef | None = None

    @property
    def prices(self) -> PriceList:
        return PriceList(self.price, {name: one.price for name, one in self.others.items()})

    def adapt(self, refused: DecodingRefused) -> bool:
        """Omit a refused setting from now on; return whether that changed one of the models."""
        for one in (self, *self.others.values()):
            if refused.model == one.served.model and refused.setting not in one.refused:
                one.refused[refused.setting] = refused
                return True
        return False

    def decoded(self, decoding: Decoding) -> Decoding:
        """Return a decoding without the settings that the model refuses."""
        for refused in self.refused.values():
            decoding = refused.adapt(decoding)
        return decoding


@dataclass(frozen=True, slots=True)
class _Route:
    model: ServedModel
    ask: Callable[[Call, Watcher], Awaitable[Completion]]
    longest: int | None


class Client:
    """An engine of one or several models: ``Client(main, {name: other})``.

    A call goes to the model that it names, else to the main one. Without ``decoding`` each model
    uses its own; an explicit one is never adapted to a model that refuses it, because that would
    change what is compared. A model in a ``ServedModel`` has limits and a price; ``done`` is
    called after each call.
    """

    def __init__(
        self,
        main: Engine | ServedModel,
        others: Mapping[str, Engine | ServedModel] | None = None,
        *,
        decoding: Decoding | Decode | None = None,
        budget: Budget | None = None,
        done: CallDone | None = None,
    ) -> None:
        model = _model(main)
        beside = model.others if others is None else {n: _model(one) for n, one in others.items()}
        self.others = {name: one.served for name, one in beside.items()}
        self._main = model
        self._decoding = decoding
        self._budget = budget
        self._done = done
        self._routes: dict[str | None, _Route] = {
            name: _route(one, decoding) for name, one in {None: model, **beside}.items()
        }
        self._opened: list[AsyncExitStack] = []

    async def __aenter__(self) -> Client:
        """Open the engines that are not open yet; only these are closed on exit."""
        async with AsyncExitStack() as stack:
            for engine in (self.main, *self.others.values()):
                if isinstance(engine, Openable) and not engine.is_open:
                    await stack.enter_async_context(engine)
            self._opened.append(stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.pop().aclose()

    @property
    def is_open(self) -> bool:
        engines = (self.main, *self.others.values())
        return all(one.is_open for one in engines if isinstance(one, Openable))

    @property
    def main(self) -> Served:
        return self._main.served

    @property
    def model(self) -> str:
        """The name of the main model; empty for an engine without one."""
        return getattr(self.main, "model", "")

    def beside(self, more: Mapping[str, Engine]) -> Client:
        """Return a client with more models than this one has."""
        if not more:
            return self
        known = {name: one.model for name, one in self._routes.items() if name is not None}
        return Client(
            self._main,
            {**known, **more},
            decoding=self._decoding,
            budget=self._budget,
            done=self._done,
        )

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        route = self._routes.get(call.model)
        if route is None:
            raise ModelNotFound(
                f"model {call.model!r}: a {call.stage} call is for it, and it is not being served; "
                "the method must list it in its other_models"
            )
        began = time.monotonic() if self._done else 0.0
        if self._budget is None:
            completion = await self._try(route, call, watcher, None)
        else:
            completion = await self._pay(self._budget, route, call, watcher)
        if self._done:
            self._done(call, completion, time.monotonic() - began)
        return completion

    def most_samples(self, group: SampledCall) -> int:
        """Return how many samples one request may ask for now; 1 where the budget is too small."""
        route = self._routes.get(group.model)
        if route is None:
            return 1
        if self._budget is not None:
            most = most_usage(_lowered(group, route.longest))
            if not self._budget.has_room(most, _cost(route, most)):
                return 1
        most = most_samples(route.model.served, group)
        limiter = route.model.limiter
        return min(most, int(limiter.size)) if limiter else most

    async def _pay(self, budget: Budget, route: _Route, call: Call, watcher: Watcher) -> Completion:
        call = _lowered(call, route.longest)
        most = most_usage(call)
        reserved = _cost(route, most)
        await budget.reserve(most, reserved)
        used = most  # an interrupted call may have used it all

        def charge(fault: Transient) -> None:
            lost = wasted(fault, most)
            if not budget.spend(lost, _cost(route, lost)):
                raise fault  # the budget is too small for another try

        try:
            completion = await self._try(route, call, watcher, charge)
            used = charged(completion, most)
        except EngineError as fault:
            used = wasted(fault, most)
            raise
        finally:
            budget.settle(most, reserved, used, _cost(route, used))
        return completion

    async def _try(
        self,
        route: _Route,
        call: Call,
        watcher: Watcher,
        charge: Callable[[Transient], None] | None,
    ) -> Completion:
        """Retry until a reply comes, one request a turn; ``charge`` bills each fault."""
        served, limiter, ask = route.model.served, route.model.limiter, route.ask
        sent, heard, places = call, watcher, replies_to(call)
        tries = Tries(served.retry) if isinstance(served, Asked) else None
        if tries is None:  # any retries are the engine's own
            sent = replace(call, model=None) if call.model is not None else call
            heard = _Heard(watcher, call, limiter, charge)
        elif charge:  # one try may go to several endpoints, one after the other
            heard = _Heard(watcher, call, None, charge)

        def again(fault: Transient, pause: float) -> None:
            if charge:
                charge(fault)
            watcher.retrying(call, fault, pause)

        while True:
            try:
                if limiter is None:
                    completion = await ask(sent, heard)
                    break
                await limiter.enter(places)
                try:
                    if limiter.paced:
                        await limiter.pace(call)
                    completion = await ask(sent, heard)
                except Transient as fault:
                    limiter.failed(fault, places)
                    raise
                finally:
                    limiter.release(places)
                limiter.succeeded(places)
                break
            except Transient as fault:
                if tries is None:
                    raise
                await tries.wait(fault, again)
        if tries:
            tries.succeeded()
        return completion


class _Heard(Watcher):
    """Watches an engine with retries of its own, to charge and count each of its tries."""

    def __init__(
        self,
        watcher: Watcher,
        call: Call,
        limiter: Limiter | None,
        charge: Callable[[Transient], None] | None,
    ) -> None:
        self.streams = watcher.streams
        self._watcher = watcher
        self._call = call
        self._limiter = limiter
        self._charge = charge

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:  # noqa: ARG002
        self._watcher.wrote(self._call, piece, reasoning=reasoning)

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        if self._limiter:
            self._limiter.failed(fault, replies_to(call))
        if self._charge:
            self._charge(fault)
        self._watcher.retrying(self._call, fault, seconds)

    def adapted(self, call: Call, change: str) -> None:  # noqa: ARG002
        self._watcher.adapted(self._call, change)


def _model(engine: Engine | ServedModel) -> ServedModel:
    # The cast is safe: the client reads name and decoding only of engines that have them.
    return engine if isinstance(engine, ServedModel) else ServedModel(cast("Served", engine))


def _route(model: ServedModel, decoding: Decoding | Decode | None) -> _Route:
    served, longest = model.served, None
    if isinstance(decoding, Decoding):
        decoding = model.decoded(decoding)
        known = (decoding.max_tokens, getattr(served, "context", None))
        longest = min((limit for limit in known if limit), default=None)
    if isinstance(served, Asked):
        ask = partial(served.ask, decoding=decoding)
    elif isinstance(decoding, Decoding):
        ask = partial(served.complete, decoding=decoding)
    else:
        ask = served.complete  # any engine can do that
    return _Route(model, ask, longest)


def _lowered(call: C, longest: int | None) -> C:
    if longest is None or call.max_tokens <= longest:
        return call
    return replace(call, max_tokens=longest)


def _cost(route: _Route, usage: Usage) -> float:
    return (route.model.price or _FREE).cost(usage)


# Samples: equal calls of one round become one request, where the endpoint supports ``n``.
#
# Samples of one prompt differ only in their number, and an endpoint that generates several replies
# to one request processes the prompt once. Everywhere else each sample stays a call of its own: it
# has its own completion, its own place in the journal, and fails by itself.

_Result: TypeAlias = Completion | BaseException


class Sampler:
    """An engine for the calls of one round, all of which must be made before any is awaited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._groups: dict[Call, tuple[list[Call], asyncio.Task[dict[int, _Result]]]] = {}

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        if watcher.streams:  # several concurrent replies cannot be streamed
            return await self._engine.complete(call, watcher)
        alike = replace(call, sample=0)
        if alike not in self._groups:
            calls = list[Call]()
            # asyncio runs the task after those of the round, which were created before it: by then
            # every call of the round is in its group.
            self._groups[alike] = calls, asyncio.create_task(self._perform(alike, calls, watcher))
        calls, results = self._groups[alike]
        place = len(calls)
        calls.append(call)
        result = (await results)[place]
        if isinstance(result, BaseException):
            raise result
        return result

    async def _perform(
        self, alike: Call, calls: Sequence[Call], watcher: Watcher
    ) -> dict[int, _Result]:
        del self._groups[alike]  # calls that arrive later form a new group
        order = sorted(range(len(calls)), key=lambda place: calls[place].sample)
        parts = list(self._parts([calls[place] for place in order]))
        results = await asyncio.gather(*(self._ask(part, watcher) for part in parts))
        return dict(zip(order, chain.from_iterable(results), strict=True))

    def _parts(self, calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
        """Divide calls into requests of consecutive samples: an endpoint increments the seed."""
        start = 0
        for place in range(1, len(calls) + 1):
            if place == len(calls) or calls[place].sample != calls[place - 1].sample + 1:
                run = calls[start:place]
                most = max(1, most_samples(self._engine, _sampled(run)))
                yield from (run[first : first + most] for first in range(0, len(run), most))
                start = place

    async def _ask(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result]:
        found: Sequence[_Result | None] = [None] * len(calls)
        if len(calls) > 1:
            found = await self._ask_together(calls, watcher)
        missing = [call for call, one in zip(calls, found, strict=True) if one is None]
        asked = (self._engine.complete(call, watcher) for call in missing)
        rest = iter(await asyncio.gather(*asked, return_exceptions=True))
        return [next(rest) if one is None else one for one in found]

    async def _ask_together(
        self, calls: Sequence[Call], watcher: Watcher
    ) -> Sequence[_Result | None]:
        group = _sampled(calls)
        try:
            received = await self._engine.complete(group, watcher)
        except EngineError as fault:
            # If the engine accepts no more groups, the group was the reason: retry single calls.
            lost = None if most_samples(self._engine, group) == 1 else fault
            return [lost] * len(calls)
        except Exception as error:  # fails these calls and no others of the round
            return [error] * len(calls)
        if isinstance(received, SampledCompletion):
            return received.replies
        return [received, *[None] * (len(calls) - 1)]


def _sampled(calls: Sequence[Call]) -> SampledCall:
    values = {one.name: getattr(calls[0], one.name) for one in fields(Call)}
    return SampledCall(**values, samples=len(calls))
