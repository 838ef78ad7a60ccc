"""Any OpenAI-compatible endpoint: DeepSeek, Qwen, vLLM, llama.cpp, LM Studio and the rest."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Final, cast

import aiohttp
import orjson

from constraint_first.file.safe import storable_text
from constraint_first.model.connection import Tell
from constraint_first.model.error import (
    BadReply,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
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
    Decode,
    Decoding,
    SampledCall,
    StreamedReply,
    Watcher,
    completion_from,
    request_for,
    sampled_from,
)
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion

_MOST_SAMPLES: Final = 128  # OpenAI takes no more in one request
_MOST_FAULTS: Final = 2
"""Faults of a request for several samples after which only one of them is asked for."""


class Asked(ABC):
    """A model that performs one try of a call by ``ask``; a ``Client`` decides on the next one."""

    retry: Retry
    bounds: Bounds

    @property
    @abstractmethod
    def model(self) -> str:
        """The name of the model that is asked."""

    @abstractmethod
    async def ask(
        self,
        call: Call,
        watcher: Watcher = SILENT,
        decoding: Decoding | Decode | None = None,
    ) -> Completion:
        """Perform a call without asking again after a fault.

        A decoding that is given is never adapted to what the model refuses; a function says what is
        sent in the place of the model's own, which is.
        """

    @abstractmethod
    def most_samples(self, group: SampledCall) -> int:
        """Say how many of a group's samples one request may ask for now."""

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call by itself, without a client: after a fault it is asked again."""
        if call.model is not None:
            raise ModelNotFound(
                f"model {call.model!r}: a {call.stage} call is for it, and this engine asks "
                f"{self.model!r} alone; put the engines of both into a Client"
            )
        return await self.retry.run(
            lambda: self.ask(call, watcher, decoding),
            lambda fault, pause: watcher.retrying(call, fault, pause),
        )


class OpenAI(Asked):
    """An engine for one model behind one endpoint: ``async with OpenAI(endpoint) as engine``.

    Over a transport that is open already it is open too, and closing is left to its owner.
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
        self.context = endpoint.context
        """Tokens that a prompt and its reply have together, where that is known."""
        self._transport = (
            transport.lend(endpoint) if transport else Transport(endpoint, self.bounds, connections)
        )
        self._refused: set[str] = set()
        self._faults: Counter[Call] = Counter()

    async def __aenter__(self) -> OpenAI:
        self._transport.open()
        try:
            if not self.endpoint.model:
                # Another Retry: a list of models does not show that a model answers.
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
        """Choose where a line goes when the endpoint's connections are no longer kept alive."""
        self._transport.host.tell = tell

    def most_samples(self, group: SampledCall) -> int:  # noqa: ARG002
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

    async def ask(
        self,
        call: Call,
        watcher: Watcher = SILENT,
        decoding: Decoding | Decode | None = None,
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
                        async with transport.send("POST", COMPLETIONS, written(body)) as response:
                            response.compares = True
                            incoming = await transport.accept(response)
                            if watcher.streams and not await incoming.is_document():
                                return await self._follow(incoming, call, watcher)
                            whole = self._read(await incoming.read(), call, body)
                        break
                    except (aiohttp.ClientError, TimeoutError) as error:
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
            if isinstance(call, SampledCall):  # it may write them one after the other
                self._refused.add("n")
            raise TookTooLong(
                f"{self.endpoint.shown}: the call was not done after {self.bounds.seconds:g} s; "
                "allow more with --call-timeout"
            ) from None

    def _known(self, body: dict[str, Json], call: Call) -> Completion | None:  # noqa: ARG002
        """The reply to a request that need not be sent: a batch has brought it."""
        return None

    def _adapt(
        self,
        refusal: Rejected,
        call: Call,
        body: dict[str, Json],
        before: tuple[int | None, Decoding],
        change: Callable[[Decoding], Decoding],
    ) -> str:
        """Do from now on without what was refused, where that is dispensable; say what it is.

        ``before`` are the context and the decoding that the request was made from, which ``change``
        makes what is sent. Other calls may have been refused the same meanwhile.
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
                if self.decoding == own:  # else another call was refused it first
                    self.decoding = adapted
                    return refusal.change
            case _ if type(refusal) is Rejected and "n" in body:
                # No known reason; where several samples were asked for it may be that.
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
        """Read a whole reply; fewer samples than were asked for show that ``n`` is not taken."""
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
    """Lower a call's budget to what the model's context, where it is known, leaves beside it."""
    if context is None:
        return wanted
    # A token of mathematics is longer than two bytes and a chat template shorter than 64 tokens, so
    # this overestimates the prompt; where it would leave nothing the endpoint, which has the
    # tokenizer, decides whether it fits.
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
