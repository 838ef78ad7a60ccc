"""A sitting: whose marks, on which sample of which runs, as addresses and forms carry it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final
from urllib.parse import urlencode

from cfr.analysis.audit.manual.label import check_annotator
from cfr.serve.error_reply import RequestError

__all__ = ["Sitting", "read_number"]

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
            read_number(sent, "size", 50),
            read_number(sent, "seed", 1, least=0),
            *(str(sent.get(name, "")) for name in names),
        )

    def fields(self) -> dict[str, str]:
        """Give what is not empty, for a form."""
        return {name: str(value) for name, value in asdict(self).items() if value != ""}

    def to_query(self, **more: object) -> str:
        """Write it as the query of an address."""
        return urlencode(self.fields() | more)


def read_number(sent: Mapping[str, object], name: str, usual: int, least: int = 1) -> int:
    """Read a whole number from a form or an address."""
    written = str(sent.get(name, "") or usual)
    if written.isascii() and written.isdecimal() and len(written) < 10:
        number = int(written)
        if least <= number <= _LARGEST:
            return number
    raise RequestError(
        f"{name}: {written[:40]!r} is no whole number from {least} to {_LARGEST:,}", param=name
    )
