"""A model as one request wants it asked: its decoding, its own fields, its stop texts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import orjson

from constraint_first.engine.balanced import Balanced
from constraint_first.engine.engine import SILENT, Decoding, SampledCall, Watcher
from constraint_first.engine.openai import OpenAI
from constraint_first.engine.refusal import DecodingRefused
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion
from constraint_first.serve.chat_request import ChatRequest

__all__ = ["CallDone", "RequestDecoding", "RequestEngine", "request_decoding"]

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
