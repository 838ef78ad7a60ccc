"""A sitting: whose marks, on which sample of which runs, and whose turn it is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from constraint_first.analysis.audit.manual.label import check_annotator
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.page.query import read_number, write_query

__all__ = ["Sitting", "Turn"]

_LARGEST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Sitting:
    """What an annotator judges; the names of methods and models may be empty for all."""

    annotator: str
    runs: int = 1
    size: int = 50
    seed: int = 1
    benchmark: str = ""
    model: str = ""
    method: str = ""
    baseline: str = ""
    """What a method is compared with, where errors are classed."""

    @classmethod
    def read(cls, sent: Mapping[str, object]) -> Sitting:
        """Read what an address or a form says."""
        names = ("benchmark", "model", "method", "baseline")
        return cls(
            check_annotator(str(sent.get("annotator", "")).strip()),
            read_number(sent, "runs", 1, least=0),
            read_number(sent, "size", 50, most=_LARGEST),
            read_number(sent, "seed", 1, least=0),
            *(str(sent.get(name, "")) for name in names),
        )

    def fields(self) -> dict[str, str]:
        """Give what is not empty, for a form."""
        return {name: str(value) for name, value in asdict(self).items() if value != ""}

    def to_query(self, **more: object) -> str:
        """Write it as the query of an address."""
        return write_query(self.fields() | more)


@dataclass(frozen=True, slots=True)
class Turn:
    """Which of some numbered tasks is open before an annotator, and which comes after it."""

    number: int
    next: int | None
    """The next one that is not done yet; None where all others are."""

    @classmethod
    def read(cls, sent: Mapping[str, object], left: Sequence[int], total: int, name: str) -> Turn:
        """Take the task that is named, or the first of those that are left."""
        number = read_number(sent, "n", left[0] if left else 1)
        if number > total:
            raise RequestError(f"n: there are {total} {name}", param="n")
        others = [other for other in left if other != number]
        later = (other for other in others if other > number)
        return cls(number, next(later, others[0] if others else None))
