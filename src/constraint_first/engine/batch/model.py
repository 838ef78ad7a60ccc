"""A model that is asked in batches: a call has its reply already, or it waits for the next wave.

It writes requests and reads replies exactly as the engine for single calls does, refusals and what
it does without afterwards included; only the way between is another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import orjson

from constraint_first.engine.batch.line import NOT_PERFORMED, Result
from constraint_first.engine.batch.place import PlacedCall, RequestId, short_digest
from constraint_first.engine.chat import error_message
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.engine import SILENT, Decoding, Watcher
from constraint_first.engine.error import EngineError, Rejected, ServerFault, Transient
from constraint_first.engine.openai import OpenAI
from constraint_first.engine.price import Price
from constraint_first.engine.refusal import refusal
from constraint_first.engine.transport import Bounds
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Usage

__all__ = ["BatchModel", "Deferred", "Request", "Wave"]


class Deferred(BaseException):
    """A call that has no reply yet: its attempt ends here and is replayed after the next wave.

    Not an error, and so no Exception: whatever handles those must let it pass.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """A request for the next wave."""

    model: BatchModel
    name: RequestId
    body: bytes
    """The JSON text that is sent."""
    most: Usage
    """What it can take at the most."""


class Wave(Protocol):
    """What came back of the last wave, and what is asked in the next."""

    def find(self, name: RequestId) -> Result | None:
        """Return what became of a request; None where it was not made yet."""
        ...

    def failed(self, name: RequestId) -> bool:
        """Count a request that got no reply; whether it may be made again."""
        ...

    def spent(self, name: RequestId, used: Usage | None, price: Price | None) -> None:
        """Note what a request took; None for all that it can have taken."""
        ...

    def ask(self, request: Request) -> None:
        """Put a request into the next wave."""
        ...


class BatchModel:
    """A model behind an endpoint or in a folder, asked in waves."""

    def __init__(
        self, endpoint: Endpoint, where: str, bounds: Bounds, price: Price | None = None
    ) -> None:
        self.endpoint = endpoint
        self.where = where
        """The address or the folder that its batches go to, as a person may see it."""
        self.price = price
        self.wave: Wave | None = None
        self._writer = _BatchWriter(self, endpoint, bounds)

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.endpoint.model

    @property
    def context(self) -> int | None:
        """Tokens that a prompt and its reply have together, where that is known."""
        return self.endpoint.context

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Return the reply of the last wave, or defer the call to the next."""
        return await self._writer.ask(call, watcher, decoding)


class _BatchWriter(OpenAI):
    """The engine for single calls, whose requests go to a wave in the place of an endpoint."""

    def __init__(self, model: BatchModel, endpoint: Endpoint, bounds: Bounds) -> None:
        super().__init__(endpoint, bounds=bounds)
        self._model = model

    async def _post(
        self,
        body: dict[str, Json],
        call: Call,
        watcher: Watcher,  # noqa: ARG002
    ) -> Completion:
        wave = self._model.wave
        if wave is None or not isinstance(call, PlacedCall):
            raise RuntimeError("a batch takes calls of an evaluation, between two waves")
        try:
            data = orjson.dumps(body)
        except TypeError as error:  # a lone surrogate
            raise Rejected(f"the problem cannot be sent: {error}; save it as UTF-8") from None
        name = RequestId(call.place, short_digest(call.asked.encode()), short_digest(data))
        if (result := wave.find(name)) is not None:
            try:
                return self._taken(wave, name, result, call, body)
            except Transient:
                if not wave.failed(name):
                    raise
        wave.ask(Request(self._model, name, data, _most(call, body)))
        raise Deferred

    def _taken(
        self, wave: Wave, name: RequestId, result: Result, call: Call, body: dict[str, Json]
    ) -> Completion:
        """Read a result, and note what it cost."""
        if not result.succeeded:
            wave.spent(name, Usage(), self._model.price)
            raise self._fault(result)
        try:
            completion = self._read(result.body, call, body)
        except Transient:
            wave.spent(name, None, self._model.price)
            raise
        used = completion.usage if completion.usage.reported else None
        wave.spent(name, used, self._model.price)
        return completion

    def _fault(self, result: Result) -> EngineError:
        if result.status != NOT_PERFORMED:
            return refusal(self.endpoint, result.status, {}, result.body)
        said = self.endpoint.redaction.quote(error_message(result.body))
        kind = Rejected if result.cancelled else ServerFault
        return kind(f"{self._model.where}: the request was not performed ({said})")


def _most(call: Call, body: dict[str, Json]) -> Usage:
    """Say what a request can take at the most: no tokenizer makes more tokens than bytes."""
    prompt = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) + 64
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    return Usage(prompt, limit if isinstance(limit, int) else call.max_tokens)
