"""A grid of benchmarks, methods, models and decodings, from the command line or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, cast

from cfr.benchmark import Benchmark
from cfr.engine.engine import Decoding
from cfr.error import CfrError, InputError
from cfr.evaluation.series import Series
from cfr.file.jsonl import read_text
from cfr.method import Method, make

__all__ = ["Changes", "Experiment", "read_experiment"]


@dataclass(frozen=True, slots=True)
class Changes:
    """Settings that replace an experiment's own; None and an empty list leave them as they are."""

    benchmarks: tuple[str | Benchmark, ...] | None = None
    methods: tuple[str | Method, ...] | None = None
    models: tuple[str, ...] | None = None
    runs: int | None = None
    temperatures: tuple[float, ...] | None = None
    top_p: float | None = None
    seeds: tuple[int, ...] | None = None


_NO_CHANGES: Final = Changes()


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is to be compared. The defaults are the paper's protocol: four runs, one decoding."""

    title: str = ""
    about: str = ""
    benchmarks: tuple[str | Benchmark, ...] = ("constraintbench",)
    methods: tuple[str | Method, ...] = ("direct", "routed-cfr")
    """Names as on the command line, or methods themselves, which go by their ``repr``."""
    models: tuple[str, ...] = ("",)
    """Empty for the embedded model, or the only one of an endpoint."""
    runs: int = 4
    temperatures: tuple[float, ...] = (0.7,)
    top_p: float = 0.95
    seeds: tuple[int | None, ...] = (None,)

    def decodings(self) -> Iterator[Decoding]:
        """List the ways in which replies are sampled."""
        for temperature, seed in product(self.temperatures, self.seeds):
            yield Decoding(temperature, self.top_p, seed)

    def series(self, benchmark: str, model: str, system: str = "") -> Iterator[Series]:
        """List the series of one benchmark on one model."""
        for decoding, method in product(self.decodings(), self.methods):
            if isinstance(method, str):
                yield Series(benchmark, method, model, decoding, system)
            else:
                yield Series(benchmark, repr(method), model, decoding, system, method)

    def changed(self, changes: Changes) -> Experiment:
        """Replace settings, and check the whole."""
        given = {field.name: getattr(changes, field.name) for field in fields(changes)}
        kept = {name: value for name, value in given.items() if value not in (None, ())}
        return replace(self, **kept).check()

    def check(self) -> Experiment:
        """Refuse a grid that cannot be run, before anything is fetched or asked.

        What is named twice is run once: it would otherwise be asked, and paid for, twice.
        """
        if self.runs < 1:
            raise InputError(f"runs: {self.runs}; an experiment needs at least one")
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p: {self.top_p} is not above 0 and at most 1")
        for temperature in self.temperatures:
            if not 0 <= temperature <= 2:
                raise InputError(f"temperatures: {temperature} is not between 0 and 2")
        for method in self.methods:
            if isinstance(method, str):
                make(method)
        return replace(self, **{name: _once(getattr(self, name)) for name in _SEVERAL})


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


_SINGLE: Final = {"title": str, "about": str, "runs": int, "top_p": (int, float)}
_SEVERAL: Final = {
    "benchmarks": str,
    "methods": str,
    "models": str,
    "temperatures": (int, float),
    "seeds": int,
}


def read_experiment(path: Path, changes: Changes = _NO_CHANGES) -> Experiment:
    """Read an experiment's file; what the command line says beside it wins."""
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML ({error})") from None
    settings = {name: _setting(path, name, value) for name, value in table.items()}
    try:
        return replace(Experiment(), **settings).changed(changes)
    except CfrError as error:
        raise InputError(f"{path}: {error}") from None


def _setting(path: Path, name: str, value: Any) -> Any:
    if name in _SINGLE and _is(value, _SINGLE[name]):
        return value
    if name in _SEVERAL and isinstance(value, list):
        values = tuple(cast("list[Any]", value))
        if values and all(_is(item, _SEVERAL[name]) for item in values):
            return values
    known = ", ".join([*_SINGLE, *_SEVERAL])
    if name not in _SINGLE and name not in _SEVERAL:
        raise InputError(f"{path}: there is no setting {name!r}; choose from {known}")
    shape = "a list of values" if name in _SEVERAL else "a single value"
    raise InputError(f"{path}: {name!r} must be {shape} of the right kind, not {value!r}")


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    # In Python true is a whole number; nobody who writes it means one.
    return isinstance(value, kind) and not isinstance(value, bool)
