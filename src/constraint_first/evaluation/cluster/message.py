"""The lines of JSON between an evaluation, the driver of a Ray cluster and its workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

__all__ = ["DriverEvent", "DriverOrder", "Refusal", "WorkerReport", "WorkerSettings"]


class WorkerSettings(TypedDict):
    """What a worker is told: its store with the password, its limits, its series."""

    store: str
    limits: dict[str, Any]
    """Fields of ``RunOptions`` that are a worker's own."""
    series: list[int]
    crew: NotRequired[str]
    """The name of the run that starts the workers."""
    base_url: list[str]
    """The endpoints that were given, as they were: the store has them without their secrets."""


class Refusal(TypedDict):
    """A setting of the decoding that a model refuses."""

    message: str
    model: str
    setting: Any
    most: int | None


class WorkerReport(TypedDict):
    """How a worker ended: what it left alone and why, what went wrong."""

    skipped: list[str]
    refused: Refusal | None
    error: str


class DriverOrder(TypedDict):
    """The first line that comes in; each further one is the number of a worker to start."""

    address: str
    resources: dict[str, float]
    settings: WorkerSettings
    seconds: float
    """Seconds between two looks at workers that have no place yet."""


Happening: TypeAlias = Literal["connected", "placed", "ended", "died", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class DriverEvent:
    """A line that goes out: something has happened, and to which worker."""

    event: Happening
    worker: int = -1
    node: str = ""
    why: str = ""
    report: WorkerReport = field(default_factory=lambda: _NOTHING)
    nodes: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """What each node has altogether, by Ray's names."""
    unplaced: int = 0


_NOTHING: Final[WorkerReport] = {"skipped": [], "refused": None, "error": ""}
