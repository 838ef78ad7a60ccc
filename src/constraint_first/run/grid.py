"""A grid of benchmarks, methods, models and decodings, from the command line or a TOML file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from constraint_first.attempt.drive import MOST_CALLS, MOST_TOKENS, AttemptLimit
from constraint_first.benchmark.registry import Benchmark, load
from constraint_first.error import CfrError, InputError
from constraint_first.file.rows import (
    NUMBER,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    check_fields,
    check_text,
    line_of,
    list_of,
    parse_toml,
    read_text,
)
from constraint_first.file.safe import expand_user
from constraint_first.method.method import Method, models_of, prompts_of
from constraint_first.method.registry import (
    Wording,
    check_system,
    make,
    read_system,
    read_wording,
    require_used,
)
from constraint_first.model.batch import MOST_BYTES, MOST_REQUESTS, FileLimits
from constraint_first.model.client import Client, OpenAI, ServedModel
from constraint_first.model.connection import Tell
from constraint_first.model.limit import Limiter, Price
from constraint_first.model.local import Progress
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import (
    AUTO,
    ModelRef,
    accompanied,
    choose_method,
    find_preset,
    find_price,
    require_known,
    resolve,
    runs_here,
    served_name,
)
from constraint_first.model.transport import CALL_SECONDS, REPLY_BYTES, Bounds, Endpoint
from constraint_first.model.wire import Decoding, Served
from constraint_first.pattern import lazy_pattern
from constraint_first.store.series import Series
from constraint_first.store.writer import LEASE_SECONDS

Sampling: TypeAlias = float | Literal["none"]
"""A sampling parameter: a number, or "none" to leave it out of requests."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Settings that replace an experiment's own; None and an empty list change nothing."""

    benchmarks: tuple[str | Benchmark, ...] | None = None
    methods: tuple[str | Method, ...] | None = None
    models: tuple[str, ...] | None = None
    runs: int | None = None
    temperatures: tuple[Sampling, ...] | None = None
    top_p: Sampling | None = None
    seeds: tuple[int, ...] | None = None
    max_tokens: int | None = None
    prompts: str | Path | Wording | None = None
    system: str | None = None


_LARGEST_SEED: Final = 2**62
"""Runs and samples count up from a seed, and endpoints accept 64-bit integers."""
_MOST_RUNS: Final = 1_000_000
_LONGEST_NAME: Final = 500
_NO_CHANGES: Final = Changes()


@dataclass(frozen=True, slots=True)
class Experiment:
    """A grid to evaluate. The defaults are the paper's protocol: four runs, one decoding."""

    title: str = ""
    about: str = ""
    benchmarks: tuple[str | Benchmark, ...] = ("constraintbench",)
    methods: tuple[str | Method, ...] = ("direct", AUTO)
    """Names as on the command line, or method objects, which are named by their ``repr``."""
    models: tuple[str, ...] = ("",)
    """Empty for the embedded model, or the only one of an endpoint."""
    runs: int = 4
    temperatures: tuple[Sampling, ...] = (0.7,)
    top_p: Sampling = 0.95
    seeds: tuple[int | None, ...] = (None,)
    max_tokens: int | None = None
    """The upper limit on output tokens of any call, for models with a lower limit than methods
    use."""
    prompts: str | Path | Wording = ""
    """A folder of own prompts, or prompts read from one; empty for the originals."""
    system: str | None = None
    """A system message that replaces that of the benchmark; None keeps the benchmark's."""

    def decodings(self) -> Iterator[Decoding]:
        for temperature, seed in product(self.temperatures, self.seeds):
            sent, top_p = (None if one == "none" else one for one in (temperature, self.top_p))
            yield Decoding(sent, top_p, seed, self.max_tokens)

    def series(self, benchmark: Benchmark, model: str) -> Iterator[Series]:
        ahead = benchmark.system_prompt if self.system is None else self.system
        for decoding, method in product(self.decodings(), self.methods):
            if isinstance(method, str):
                name = choose_method(model).method if method == AUTO else method
                made = Series(benchmark.name, name, model, decoding, ahead)
            else:
                made = Series(benchmark.name, repr(method), model, decoding, ahead, method)
            yield made.reworded(self.prompts) if isinstance(self.prompts, Wording) else made

    def load_benchmarks(self, limit: int | None = None) -> list[Benchmark]:
        """Load its benchmarks, up to ``limit`` problems of each; their names must be unique."""
        loaded = [load(one) if isinstance(one, str) else one for one in self.benchmarks]
        names = [benchmark.name for benchmark in loaded]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"benchmark {twice}: two have this name; rename one, or name it once")
        return [replace(one, problems=one.problems[:limit]) for one in loaded]

    def other_models(self) -> tuple[str, ...]:
        """List the models that methods name in addition to the one that they are run with."""
        return models_of(self._made())

    def _made(self) -> tuple[Method, ...]:
        """Build the methods except ``auto``, which depends on the model and names no others."""
        named = (method for method in self.methods if method != AUTO)
        return tuple(make(method) if isinstance(method, str) else method for method in named)

    def changed(self, changes: Changes) -> Experiment:
        given = {field.name: getattr(changes, field.name) for field in fields(changes)}
        kept = {name: value for name, value in given.items() if value not in (None, ())}
        return replace(self, **kept).check()

    def check(self) -> Experiment:
        """Refuse a grid that cannot be run, before any download or call.

        Duplicate entries are run once: otherwise their calls would be paid for twice.
        """
        for name in _SEVERAL:
            if not getattr(self, name):
                raise FieldError(f"{name}: none; an experiment needs at least one", name)
        for name, fault in self._faults():
            raise FieldError(f"{name}: {fault}", name)
        for model in self.models:
            check_text(model, "models", _LONGEST_NAME)
        for model in self.other_models():
            check_text(model, "methods", _LONGEST_NAME)
        once: dict[str, Any] = {n: tuple(dict.fromkeys(getattr(self, n))) for n in _SEVERAL}
        system = None if self.system is None else check_system(self.system)
        return replace(self, **once, prompts=self._wording(), system=system)

    def _wording(self) -> str | Wording:
        if not self.prompts:
            return ""
        made, own = self._made(), self.prompts
        try:
            if not isinstance(own, Wording):
                own = read_wording(own, prompts_of(made))
            if AUTO not in self.methods:
                require_used(own, made)
        except InputError as error:
            raise FieldError(str(error), "prompts") from None
        return own

    def _faults(self) -> Iterator[tuple[str, str]]:
        if not 1 <= self.runs <= _MOST_RUNS:
            yield "runs", f"{self.runs} is not between 1 and {_MOST_RUNS:,}"
        if self.max_tokens is not None and self.max_tokens < 1:
            yield "max_tokens", f"{self.max_tokens}; a reply needs at least one"
        if self.top_p != "none" and not 0 < self.top_p <= 1:
            yield "top_p", f"{self.top_p} is not above 0 and at most 1"
        for temperature in self.temperatures:
            if temperature != "none" and not 0 <= temperature <= 2:
                yield "temperatures", f"{temperature} is not between 0 and 2"
        for seed in self.seeds:
            if seed is not None and abs(seed) > _LARGEST_SEED:
                yield "seeds", f"{seed} is not between -2^62 and 2^62"


_SAMPLING: Final[FieldType[Sampling]] = FieldType(
    'a number or "none"', lambda value: NUMBER.fits(value) or value == "none"
)
_SEVERAL: Final = {
    "benchmarks": list_of(TEXT, "texts"),
    "methods": list_of(TEXT, "texts"),
    "models": list_of(TEXT, "texts"),
    "temperatures": list_of(_SAMPLING, 'numbers or "none"'),
    "seeds": list_of(WHOLE, "whole numbers"),
}
_SETTINGS: Final = {
    "title": TEXT,
    "about": TEXT,
    "runs": WHOLE,
    "top_p": _SAMPLING,
    "max_tokens": WHOLE,
    "prompts": TEXT,
    "system": TEXT,
    **_SEVERAL,
}


def read_experiment(path: Path, changes: Changes = _NO_CHANGES) -> Experiment:
    """Read an experiment's file; options of the command line take precedence."""
    text = read_text(path)
    table = parse_toml(path, text)
    try:
        check_fields(table, _SETTINGS)
        lists = {name: tuple(table[name]) for name in table.keys() & _SEVERAL.keys()}
        if "system" in table:
            try:
                table["system"] = read_system(table["system"])
            except InputError as error:
                raise FieldError(str(error), "system") from None
        return replace(Experiment(), **(table | lists)).changed(changes)
    except CfrError as error:
        # An error without a field is about a method that cannot be built.
        field = error.field if isinstance(error, FieldError) else "methods"
        raise InputError(f"{path}{line_of(text, field)}: {error}") from None


_HALF: Final = 0.5
"""The price factor of providers for batches."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    batch: bool = False
    """Use the batch API of the endpoint."""
    batch_dir: str | None = None
    """Use files in a folder, for vLLM's ``run_batch``."""
    batch_poll: float | None = None
    """Seconds between two polls of a batch; by default five, growing to sixty."""
    batch_file_requests: int = MOST_REQUESTS
    batch_file_bytes: int = MOST_BYTES
    batch_price_factor: float | None = None
    """The cost of a call in a batch as a fraction of the model's price; by default 0.5 at a
    provider, 1 through a folder."""
    forget_batches: bool = False
    """Abandon batches of earlier runs that have not been collected."""

    @property
    def wanted(self) -> bool:
        return self.batch or self.batch_dir is not None

    @property
    def folder(self) -> Path | None:
        return expand_user(self.batch_dir).absolute() if self.batch_dir is not None else None

    @property
    def price_factor(self) -> float:
        if self.batch_price_factor is not None:
            return self.batch_price_factor
        return _HALF if self.batch else 1.0

    @property
    def limits(self) -> FileLimits:
        return FileLimits(self.batch_file_requests, self.batch_file_bytes)


_ADDRESS: Final = lazy_pattern(r"auto|[^\s:/]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}")
_RAYS_OWN: Final = ("cpu", "gpu", "memory", "object_store_memory", "node")
_NAMES: Final = {"cpus": "CPU", "gpus": "GPU"}


@dataclass(frozen=True, slots=True)
class RayOptions:
    address: str | None = None
    """HOST:PORT of the cluster's head, or auto for the cluster that this machine belongs to."""
    workers: int | None = None
    """How many workers; by default one for each node that has room for one."""
    resources: Mapping[str, float] = field(default_factory=lambda: {"cpus": 1.0})
    """The resources of each worker: cpus, gpus, and custom resources of the cluster. An embedded
    model uses one thread per cpu."""
    patience: float = 600.0
    """Seconds to wait for a node that is large enough for a worker; the wait until such a node is
    free is unlimited."""

    @property
    def wanted(self) -> bool:
        return self.address is not None

    @property
    def requested(self) -> dict[str, float]:
        return {_NAMES.get(name, name): amount for name, amount in self.resources.items()}

    def check(self) -> None:
        """Refuse values that Ray would refuse, or for which it would wait forever."""
        if self.address is not None and not _ADDRESS.fullmatch(self.address):
            raise InputError(
                f"--ray {self.address}: not an address of a cluster; give HOST:PORT of its head, "
                "as 'ray start --head' says it, or auto"
            )
        if self.workers is not None and self.workers < 1:
            raise InputError(f"--ray-workers {self.workers}: at least one is needed")
        for name, amount in self.resources.items():
            shown = f"--ray-resources {name}={amount:g}"
            if not name or name.lower().partition(":")[0] in _RAYS_OWN:
                raise InputError(f"{shown}: name cpus, gpus, or a resource that the cluster names")
            if not math.isfinite(amount) or amount < 0 or (amount > 1 and amount % 1):
                raise InputError(f"{shown}: give a whole number, or a part of one below 1")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a grid is run: its store, its rate limits, its budget."""

    store: str = "runs.db"
    """A SQLite file, or the address of a PostgreSQL database."""
    limit: int | None = None
    """Use only the first problems of each benchmark, this many."""
    concurrency: int | None = None
    """Most calls at the same time; by default the limiter adapts the number to the endpoint."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_tokens_total: int | None = None
    """A budget in tokens: no call is made that could bring the sum above it."""
    max_cost: float | None = None
    """A budget in US dollars; needs the model's price."""
    call_timeout: float = CALL_SECONDS
    """Time limit of a call in seconds, retries included."""
    lease: float = LEASE_SECONDS
    """In a shared store: seconds after which the leases of a dead worker expire."""
    max_reply_bytes: int = REPLY_BYTES
    """The size limit of a reply; a longer one is an error and not read to its end."""
    max_calls: int = MOST_CALLS
    """An attempt that needs more calls fails."""
    max_attempt_tokens: int = MOST_TOKENS
    """An attempt that needs more tokens (input and output) fails."""
    batch: BatchOptions = field(default_factory=BatchOptions)
    """Whether calls go into batches, and how."""
    ray: RayOptions = field(default_factory=RayOptions)
    """Whether workers on a Ray cluster make the attempts, and how many."""

    @property
    def bounds(self) -> Bounds:
        return Bounds(seconds=self.call_timeout, reply_bytes=self.max_reply_bytes)

    @property
    def attempt_limit(self) -> AttemptLimit:
        return AttemptLimit(self.max_calls, self.max_attempt_tokens)

    @property
    def is_bounded(self) -> bool:
        return self.max_tokens_total is not None or self.max_cost is not None


# The models of a grid: each opened once, with limits and a price of its own.

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


def series_of(model: ServedModel, experiment: Experiment, benchmark: Benchmark) -> list[Series]:
    """List the series of a benchmark, without decoding settings that the model refuses.

    A series is named after the decoding that is sent. Decodings of a sweep that become equal are
    run once.
    """
    named = experiment.series(benchmark, model.served.model)
    return list(dict.fromkeys(replace(one, decoding=model.decoded(one.decoding)) for one in named))


class ModelPool:
    """Opens the models of a grid and the other models that its methods name.

    ``stack`` closes them; ``fetching`` is a context manager around the download of a model file;
    ``tell`` is called with notes about an endpoint for the user.
    """

    def __init__(
        self,
        options: RunOptions,
        stack: AsyncExitStack,
        fetching: Callable[[str], AbstractContextManager[Progress]],
        tell: Tell = lambda _line: None,
    ) -> None:
        self._options = options
        self._stack = stack
        self._fetching = fetching
        self._tell = tell
        self.limiters: list[Limiter] = []

    async def open(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Open the models of a grid with the endpoints of ``ref``."""
        grid = _grid(experiment, ref)
        for one in _refs(grid):  # before any download
            require_known(one)
        return _join(grid, {one: await self._open(one) for one in _refs(grid)})

    async def open_one(self, ref: ModelRef, beside: Mapping[str, ModelRef]) -> ServedModel:
        grid = {ref: beside}
        return _join(grid, {one: await self._open(one) for one in _refs(grid)})[0]

    def name(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Name the models of a grid without opening them, which workers elsewhere do."""
        grid = _grid(experiment, ref)
        return _join(grid, {one: self._named(one) for one in _refs(grid)})

    async def open_engine(self, engine: Served | Client, names: Sequence[str]) -> ServedModel:
        """Open an engine that was given as an object, and other engines by name."""
        given = await self._stack.enter_async_context(accompanied(engine, names))
        main = self._given(given.main, given.model)
        others = {
            name: main if one is given.main else self._given(one, name)
            for name, one in given.others.items()
        }
        return replace(main, others=others)

    def _named(self, ref: ModelRef) -> ServedModel:
        name = served_name(ref)
        if not name:
            raise InputError(
                "the endpoint's model has no name here, and workers elsewhere must know what they "
                "ask; name it with --model"
            )
        never_open = OpenAI(Endpoint("", name))
        return ServedModel(never_open, None, self._price(ref.model or name), ref=ref)

    def _given(self, served: Served, name: str) -> ServedModel:
        limiter = self._limit(served, _MOST_CONCURRENCY, _FIRST_CONCURRENCY)
        return ServedModel(served, limiter, self._price(name))

    async def _open(self, ref: ModelRef) -> ServedModel:
        here = runs_here(ref)
        most = _LOCAL_CONCURRENCY if here else _MOST_CONCURRENCY
        concurrency = self._options.concurrency or most
        name = ref.model or served_name(ref)
        price = self._price(name) if name else None
        with self._fetching(ref.model or "model") as progress:
            bounds = self._options.bounds
            opening = resolve(ref, bounds=bounds, concurrency=concurrency, progress=progress)
        served = await self._stack.enter_async_context(opening)
        if not name:  # by now the endpoint has listed its model
            price = self._price(served.model)
        limiter = self._limit(served, most, None if here else _FIRST_CONCURRENCY)
        return ServedModel(served, limiter, price, ref=ref)

    def _limit(self, served: Served, most: int, start: int | None) -> Limiter | None:
        """Make the limiter of a model; None if each of its endpoints has its own limiter."""
        if isinstance(served, OpenAI | Balanced):
            served.report_to(self._tell)
        if not isinstance(served, Balanced):
            return self._limiter(most, start)
        served.balancer.limit(lambda: self._limiter(most, start))
        return None

    def _limiter(self, most: int, start: int | None) -> Limiter:
        # A chosen number is the limit from the start; otherwise the limiter starts low and grows
        # until the endpoint signals overload.
        chosen = self._options.concurrency
        limiter = Limiter(
            chosen or most,
            None if chosen else start,
            requests_per_minute=self._options.requests_per_minute,
            tokens_per_minute=self._options.tokens_per_minute,
        )
        self.limiters.append(limiter)
        return limiter

    def _price(self, model: str) -> Price | None:
        price = find_price(model)
        if price is None and self._options.max_cost is not None:
            raise no_price(model)
        return price


_Grid = Mapping[ModelRef, Mapping[str, ModelRef]]
"""The models of a grid, and for each the other models that methods name."""


def _grid(experiment: Experiment, ref: ModelRef) -> _Grid:
    if ref.key and not ref.base_url and len(experiment.models) > 1:
        raise InputError(
            f"models {', '.join(experiment.models)}: one key is given and no address; name the "
            "endpoint that the key is for, or put each model's key into its own variable"
        )
    names = experiment.other_models()
    mains = {model: replace(ref, model=model or None) for model in experiment.models}
    listed = {name: mains[name] for name in names if name in mains}
    return {main: {name: main.beside(name) for name in names} | listed for main in mains.values()}


def _refs(grid: _Grid) -> dict[ModelRef, None]:
    return dict.fromkeys((*grid, *(one for beside in grid.values() for one in beside.values())))


def _join(grid: _Grid, served: Mapping[ModelRef, ServedModel]) -> list[ServedModel]:
    return [
        replace(served[main], others={name: served[one] for name, one in beside.items()})
        for main, beside in grid.items()
    ]


def no_price(model: str) -> InputError:
    return InputError(
        f"model {model or 'without a name'}: --max-cost needs its price; write it into a "
        "models.toml of your own and name that in CFR_MODELS"
    )


def name_in_folder(name: str | None) -> str:
    """Return the model name for request files in a folder: that of its preset, or its own."""
    if not name:
        raise InputError(
            "--batch-dir: name the model that the files are for with --model, as vLLM knows it"
        )
    preset = find_preset(name)
    return preset.served_as if preset else name
