"""The protocol of engines: one call in, one completion out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, TypeVar, runtime_checkable

from constraint_first.engine.error import Transient
from constraint_first.protocol import Call, Completion, Output, Program

__all__ = [
    "SEEDS_A_RUN",
    "SILENT",
    "Decoded",
    "Decoding",
    "Engine",
    "Openable",
    "Relay",
    "SampledCall",
    "SampledCompletion",
    "Sampling",
    "Served",
    "Watcher",
    "most_samples",
    "opened",
]

E = TypeVar("E", bound="Engine")

SEEDS_A_RUN: Final = 1_000
"""How far the seeds of two runs of one problem are apart, so that samples within a run get seeds of
their own too, where a seed is fixed."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sampling settings: the paper's primary ones unless others are given.

    It belongs to the engine and not to a method, so that all methods in a comparison share it.
    """

    temperature: float | None = 0.7
    """None where it is not sent: some models refuse it. So with the next."""
    top_p: float | None = 0.95
    seed: int | None = None
    """Endpoints repeat a seeded reply only as far as they promise to; llama.cpp does so exactly
    only while calls run one at a time."""
    max_tokens: int | None = None
    """The most output tokens that any call asks for, whatever its method would."""
    extra: str = ""
    """Other fields of a request, such as ``stop`` or ``top_k``: a JSON object as text."""


@dataclass(frozen=True, slots=True)
class SampledCall(Call):
    """Several calls in one request: they differ in nothing but their sample, and those follow on.

    An engine that knows nothing of it performs the first of them.
    """

    samples: int = 1


@dataclass(frozen=True, slots=True)
class SampledCompletion(Completion):
    """The replies to a sampled call; in itself the first that is there, with the tokens of all."""

    replies: tuple[Completion | None, ...] = ()
    """By sample; None for one that did not come or that nobody can read."""


class Watcher:
    """An observer of calls while they are performed. Override what is of interest."""

    streams: bool = True
    """Whether pieces of replies are wanted; nothing is streamed for a watcher that ignores them."""

    def started(self, call: Call) -> None:
        """Note that a call is about to be performed."""

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Take the next piece of a reply as it is written."""

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Note that a call failed and starts anew after a pause; pieces seen so far are void."""

    def adapted(self, call: Call, change: str) -> None:
        """Note that the endpoint refused a setting, and what is done instead from now on."""

    def finished(self, call: Call, completion: Completion) -> None:
        """Note a completion."""

    def executing(self, program: Program) -> None:
        """Note that a program is about to be run."""

    def executed(self, program: Program, output: Output) -> None:
        """Note what became of a program."""


class Relay(Watcher):
    """A watcher between an engine and another watcher, which hears all that happens to a call."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.streams = watcher.streams

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Pass a piece on."""
        self._watcher.wrote(call, piece, reasoning=reasoning)

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Pass a fault on."""
        self._watcher.retrying(call, fault, seconds)

    def adapted(self, call: Call, change: str) -> None:
        """Pass a change on."""
        self._watcher.adapted(call, change)


class _Silent(Watcher):
    streams = False


SILENT = _Silent()


class Engine(Protocol):
    """A performer of calls. It decides only how; what is asked comes from the method."""

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform one call, or raise an EngineError."""
        ...


@runtime_checkable
class Sampling(Protocol):
    """An engine that may perform several calls in one request."""

    def most_samples(self, group: SampledCall) -> int:
        """Say how many of a group's samples it would ask for in one request now; 1 for none."""
        ...


def most_samples(engine: object, group: SampledCall) -> int:
    """Say how many samples of a group an engine would ask for in one request; 1 for most."""
    return engine.most_samples(group) if isinstance(engine, Sampling) else 1


class Served(Protocol):
    """A model that is being served, here or elsewhere; it can sample each call differently."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform one call, with another decoding than the engine's own if one is given."""
        ...


@runtime_checkable
class Openable(Protocol):
    """An engine that holds connections or a server while it is open: ``async with engine``."""

    @property
    def is_open(self) -> bool:
        """Whether calls can be performed now."""
        ...

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


@asynccontextmanager
async def opened(engine: E) -> AsyncGenerator[E]:
    """Open an engine that is not open yet and close it afterwards; leave an open one alone."""
    if isinstance(engine, Openable) and not engine.is_open:
        async with engine:
            yield engine
    else:
        yield engine


@dataclass(frozen=True, slots=True)
class Decoded:
    """A served model as seen by one comparison: always sampled in the same way.

    An engine may adapt its own decoding to what a model takes, but never one that it is handed.
    """

    served: Served
    decoding: Decoding

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call with this decoding."""
        return await self.served.complete(call, watcher, self.decoding)

    def most_samples(self, group: SampledCall) -> int:
        """As many as the served model takes."""
        return most_samples(self.served, group)
