"""The choices of one reply: several samples of a prompt that were asked for in one request.

Each choice is read by itself, so that one that nobody can read costs no other. The endpoint counts
tokens for the request as a whole: every sample has the whole prompt, and what was written is
divided by how much text each has, so that the parts add up to what was counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, chain, pairwise
from types import TracebackType
from typing import Final, cast

import orjson

from constraint_first.file.safe import storable_text
from constraint_first.model.connection import Tell
from constraint_first.model.error import (
    NOTHING_SECRET,
    BadReply,
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Redaction,
    Rejected,
    StreamCut,
    TookTooLong,
    Transient,
    Unreachable,
)
from constraint_first.model.limit import Retry
from constraint_first.model.transport import (
    COMPLETIONS,
    Bounds,
    DecodingRefused,
    Endpoint,
    Incoming,
    ParameterRefused,
    Transport,
)
from constraint_first.model.wire import (
    SILENT,
    Decoding,
    Engine,
    SampledCall,
    SampledCompletion,
    StreamedReply,
    Watcher,
    completion_from,
    most_samples,
    request_for,
)
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Usage


def sampled_from(
    body: bytes, group: SampledCall, redaction: Redaction = NOTHING_SECRET
) -> tuple[SampledCompletion, int]:
    """Read a reply to a request for several samples, and count the choices that came.

    At least one of them must be readable. Where the endpoint counted the tokens of the first alone,
    the others are as good as not there: nobody could say what they cost.
    """
    whole = StreamedReply(redaction)
    event = whole.event(body)
    choices = cast("list[Json]", event["choices"])
    if len(choices) > 1 and _counts_one(event, whole.usage):
        choices = choices[:1]
    read: list[Completion | None] = [None] * group.samples
    faults: list[BadReply] = []
    for place, choice in zip(_places(choices, group.samples), choices, strict=False):
        try:
            read[place] = _completion(choice, body, redaction)
        except BadReply as fault:
            faults.append(fault)
    good = [one for one in read if one]
    if not good:
        raise faults[0]
    counted = iter(divide(whole.usage, [len(one.text) + len(one.reasoning) for one in good]))
    replies = tuple(replace(one, usage=next(counted)) if one else None for one in read)
    first = good[0]
    sampled = SampledCompletion(first.text, first.finish, first.reasoning, whole.usage, replies)
    return sampled, len(choices)


def divide(usage: Usage, lengths: Sequence[int]) -> list[Usage]:
    """Divide the tokens of a request among its replies by their lengths, without any remainder.

    The input is that of every reply. What came from the cache did so once, for the first.
    """
    output = _parts(usage.output, lengths)
    reasoning = _parts(usage.reasoning, output)
    return [
        Usage(usage.input, written, thought, 0 if n else usage.cached, usage.reported)
        for n, (written, thought) in enumerate(zip(output, reasoning, strict=True))
    ]


def _parts(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide a number in proportion to weights; no part is more than a rounding away from it."""
    shares = weights if any(weights) else [1] * len(weights)
    total = sum(shares)
    ends = [0, *(amount * reached // total for reached in accumulate(shares))]
    return [end - start for start, end in pairwise(ends)]


def _counts_one(event: dict[str, Json], usage: Usage) -> bool:
    """Say whether the count is that of one reply alone, as servers of llama.cpp give it.

    They say beside it how many tokens they predicted for that reply.
    """
    timings = event.get("timings")
    predicted = timings.get("predicted_n") if isinstance(timings, dict) else None
    return usage.reported and predicted == usage.output


def _places(choices: Sequence[Json], samples: int) -> list[int]:
    """Say which sample each choice is: by its index, or in order where indices make no sense."""
    indices = [choice.get("index") if isinstance(choice, dict) else None for choice in choices]
    named = [index for index in indices if type(index) is int and 0 <= index < samples]
    if len(set(named)) == len(choices):
        return named
    return list(range(min(len(choices), samples)))


def _completion(choice: Json, body: bytes, redaction: Redaction) -> Completion:
    reply = StreamedReply(redaction)
    reply.take(choice, body)
    return reply.completion()


# Any OpenAI-compatible endpoint: DeepSeek, Qwen, vLLM, llama.cpp, LM Studio and the rest.

_MOST_SAMPLES: Final = 128  # OpenAI takes no more in one request
_MOST_FAULTS: Final = 2
"""Faults of a request for several samples after which only one of them is asked for."""


class OpenAI:
    """An engine for one model behind one endpoint: ``async with OpenAI(endpoint) as engine``.

    Over a transport that is open already it is open too, and whoever opened that closes it.
    """

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
        """How replies are sampled; what the model refuses is left out of it."""
        self.bounds = bounds or Bounds()
        self.retry = retry or Retry(seconds=self.bounds.seconds)
        self._transport = (
            transport.lend(endpoint) if transport else Transport(endpoint, self.bounds, connections)
        )
        self._context = endpoint.context
        self._refused: set[str] = set()
        self._faults: Counter[Call] = Counter()

    async def __aenter__(self) -> OpenAI:
        self._transport.open()
        try:
            if not self.endpoint.model:
                # Another Retry: a list of models does not show that a model answers.
                name = await replace(self.retry).run(self._only_model, lambda _fault, _pause: None)
                self.endpoint = replace(self.endpoint, model=name)
                self._transport.endpoint = self.endpoint
        except BaseException:
            await self._transport.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._transport.close()

    @property
    def is_open(self) -> bool:
        """Whether calls can be performed now."""
        return self._transport.is_open

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        return self.endpoint.model

    @property
    def context(self) -> int | None:
        """Tokens that a prompt and its reply have together, where that is known."""
        return self._context

    def report_to(self, tell: Tell) -> None:
        """Say to whom it is told that the endpoint's connections are no longer kept alive."""
        self._transport.host.tell = tell

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call, with another decoding than the engine's own if one is given."""
        return await self.retry.run(
            lambda: self.ask(call, watcher, decoding),
            lambda fault, pause: watcher.retrying(call, fault, pause),
        )

    async def ask(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call without asking again after a fault."""
        if call.model is not None:
            raise ModelNotFound(
                f"model {call.model!r}: a {call.stage} call is for it, and this engine asks "
                f"{self.model!r} alone; put the engines of both into a Dispatch"
            )
        try:
            async with asyncio.timeout(self.bounds.seconds):
                return await self._adapt(call, watcher, decoding)
        except Transient as fault:
            if isinstance(call, SampledCall) and not isinstance(fault, RateLimited | Unreachable):
                self._faults[call] += 1
            raise
        except TimeoutError:
            if isinstance(call, SampledCall):  # it may write them one after the other
                self._refused.add("n")
            raise TookTooLong(
                f"{self.endpoint.shown}: the call was not done after {self.bounds.seconds:g} s; "
                "allow more with --call-timeout"
            ) from None

    def most_samples(self, group: SampledCall) -> int:  # noqa: ARG002
        """As many as the endpoint takes; one from when it refused more, or gave fewer."""
        return 1 if "n" in self._refused else _MOST_SAMPLES

    async def models(self) -> list[dict[str, Json]]:
        """List what the endpoint serves; the entries are as it describes them."""
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
        """Find the model's name, which need not be given where the endpoint serves just one."""
        found = (entry.get("id") for entry in await self.models())
        names = [name for name in found if isinstance(name, str) and name == storable_text(name)]
        if len(names) != 1:
            listed = self._transport.redaction.quote(", ".join(names[:8]))
            choice = f"it serves {listed}" if names else "it lists none"
            raise ModelNotFound(f"{self.endpoint.shown}: name a model with --model; {choice}")
        return names[0]

    async def _adapt(self, call: Call, watcher: Watcher, given: Decoding | None) -> Completion:
        """Ask; where the endpoint refuses something we can do without, ask without it."""
        while True:
            context, decoding = self._context, given or self.decoding
            body = self._body(call, decoding, stream=watcher.streams)
            try:
                return await self._post(body, call, watcher)
            except ParameterRefused as refusal:
                if refusal.parameter not in body:
                    raise
                self._refused.add(refusal.parameter)
            except PromptTooLong as refusal:
                self._context = refusal.limit or context
                if self._context == context:
                    raise
            except DecodingRefused as refusal:
                adapted = refusal.adapt(decoding)
                if adapted == decoding:
                    raise Rejected(str(refusal)) from None
                if given is not None:  # whoever compares decides how it is decoded
                    raise
                if self.decoding == decoding:  # and no other call has heard of it first
                    self.decoding = adapted
                    watcher.adapted(call, refusal.change)
            except Rejected as refusal:
                # No reason that we know of; where several samples were asked for it may be that.
                if type(refusal) is not Rejected or "n" not in body:
                    raise
                self._faults[call] = _MOST_FAULTS

    def _body(self, call: Call, decoding: Decoding, *, stream: bool) -> dict[str, Json]:
        body = request_for(call, self.endpoint.model, decoding, self.endpoint.json_mode)
        body["max_tokens"] = fitting_budget(call, cast("int", body["max_tokens"]), self._context)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        elif isinstance(call, SampledCall) and self._faults[call] < _MOST_FAULTS:
            body["n"] = call.samples
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = body["max_tokens"]
        return {name: value for name, value in body.items() if name not in self._refused}

    async def _post(self, body: dict[str, Json], call: Call, watcher: Watcher) -> Completion:
        try:
            data = orjson.dumps(body)
        except TypeError as error:  # a lone surrogate
            raise Rejected(f"the problem cannot be sent: {error}; save it as UTF-8") from None
        async with self._transport.exchange("POST", COMPLETIONS, data) as response:
            incoming = await self._transport.accept(response)
            if watcher.streams and not await incoming.is_document():
                return await self._follow(incoming, call, watcher)
            whole = self._read(await incoming.read(), call, body)
        _tell(watcher, call, whole.text, whole.reasoning)
        return whole

    def _read(self, data: bytes, call: Call, body: dict[str, Json]) -> Completion:
        """Read a whole reply; one with fewer samples than were asked for shows that they cannot."""
        if not isinstance(call, SampledCall) or "n" not in body:
            return completion_from(data, self._transport.redaction)
        found, came = sampled_from(data, call, self._transport.redaction)
        if came < call.samples:
            self._refused.add("n")
        return found

    async def _follow(self, incoming: Incoming, call: Call, watcher: Watcher) -> Completion:
        """Take a stream and tell the watcher what it brings."""
        reply, size = StreamedReply(self._transport.redaction), 0
        async with aclosing(incoming.lines()) as lines:
            async for line in lines:
                if _ends_stream(line):
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


def fitting_budget(call: Call, wanted: int, context: int | None) -> int:
    """Lower a call's budget to what the model's context, where it is known, leaves beside it."""
    if context is None:
        return wanted
    # A token of mathematics is longer than two bytes and a chat template shorter than 64 tokens, so
    # this overestimates the prompt; where it would leave nothing the endpoint, which has the
    # tokenizer, decides whether it fits.
    prompt = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) // 2 + 64
    return min(wanted, max(context - prompt, context // 4, 1))


def _tell(watcher: Watcher, call: Call, text: str, reasoning: str) -> None:
    if reasoning:
        watcher.wrote(call, reasoning, reasoning=True)
    if text:
        watcher.wrote(call, text, reasoning=False)


def _ends_stream(line: bytes) -> bool:
    return line.startswith(b"data:") and line[5:].strip() == b"[DONE]"


# A collector of samples: equal calls of one round become one request, where the engine can do it.
#
# Samples of one prompt differ in nothing but their number. An endpoint that is asked for several
# replies at once (``n``) reads the prompt once. Each sample stays a call of its own for everybody
# else: it has its own completion, its own place in the journal, its own fate.

_Result = Completion | BaseException


@dataclass(slots=True)
class _Group:
    """Calls that are equal but for their samples, and what becomes of them, in the same order."""

    calls: list[Call] = field(default_factory=list[Call])
    results: asyncio.Task[dict[int, _Result]] | None = None


class Sampler:
    """An engine for the calls of one round, all of which must be made before any is awaited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._groups: dict[Call, _Group] = {}

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call, together with its equals."""
        if watcher.streams:  # several replies at once, piece by piece, are nothing to follow
            return await self._engine.complete(call, watcher)
        alike = replace(call, sample=0)
        group = self._groups.setdefault(alike, _Group())
        place = len(group.calls)
        group.calls.append(call)
        if group.results is None:
            # It begins when all calls of the round have come: they were made before it.
            group.results = asyncio.create_task(self._perform(alike, watcher))
        result = (await group.results)[place]
        if isinstance(result, BaseException):
            raise result
        return result

    async def _perform(self, alike: Call, watcher: Watcher) -> dict[int, _Result]:
        calls = self._groups.pop(alike).calls
        order = sorted(range(len(calls)), key=lambda place: calls[place].sample)
        runs = list(_consecutive([calls[place] for place in order]))
        results = await asyncio.gather(*(self._ask_run(run, watcher) for run in runs))
        return dict(zip(order, chain.from_iterable(results), strict=True))

    async def _ask_run(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result]:
        """Ask for samples that follow on each other, as many together as the engine takes."""
        most = max(1, most_samples(self._engine, _sampled(calls)))
        parts = [calls[start : start + most] for start in range(0, len(calls), most)]
        results = await asyncio.gather(*(self._ask_part(part, watcher) for part in parts))
        return list(chain.from_iterable(results))

    async def _ask_part(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result]:
        """Ask for samples in one request, and one by one for those that it did not bring."""
        found: list[_Result | None] = [None] * len(calls)
        if len(calls) > 1:
            found = await self._ask_together(calls, watcher)
        missing = [place for place, one in enumerate(found) if one is None]
        asked = (self._engine.complete(calls[place], watcher) for place in missing)
        rest = iter(await asyncio.gather(*asked, return_exceptions=True))
        return [next(rest) if one is None else one for one in found]

    async def _ask_together(self, calls: Sequence[Call], watcher: Watcher) -> list[_Result | None]:
        group = _sampled(calls)
        try:
            received = await self._engine.complete(group, watcher)
        except EngineError as fault:
            # Where the engine takes no more groups that was the reason, and single calls may do.
            lost = None if most_samples(self._engine, group) == 1 else fault
            return [lost] * len(calls)
        except Exception as error:  # it fails these calls and no others of the round
            return [error] * len(calls)
        if isinstance(received, SampledCompletion):
            return list(received.replies)
        return [received, *[None] * (len(calls) - 1)]


def _consecutive(calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
    """Part calls where their samples do not follow on each other.

    An endpoint with a seed gives the replies to a request the seeds that follow it, so that samples
    in a row are the same whether they are asked for together or one by one.
    """
    start = 0
    for place in range(1, len(calls) + 1):
        if place == len(calls) or calls[place].sample != calls[place - 1].sample + 1:
            yield calls[start:place]
            start = place


def _sampled(calls: Sequence[Call]) -> SampledCall:
    values = {one.name: getattr(calls[0], one.name) for one in fields(Call)}
    return SampledCall(**values, samples=len(calls))
