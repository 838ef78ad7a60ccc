"""Resolution of a model's name: its price, its endpoints or file, and its method ``auto``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import platformdirs

from constraint_first.error import InputError
from constraint_first.file.rows import (
    NUMBER,
    OBJECT,
    TEXT,
    TRUTH,
    WHOLE,
    FieldError,
    FieldType,
    check_fields,
    parse_toml,
    read_field,
    read_text,
    within,
)
from constraint_first.file.safe import expand_user
from constraint_first.method.policy import (
    PAPER,
    UNMEASURED,
    plain_model,
    runs_programs,
    shipped_for,
)
from constraint_first.method.registry import make
from constraint_first.model.client import Client, OpenAI
from constraint_first.model.error import EngineError, Unauthorized
from constraint_first.model.limit import Price, PriceList
from constraint_first.model.local import (
    CONTEXT,
    DEFAULT_MODEL,
    NO_PROGRESS,
    Local,
    Progress,
    catalogue,
    find_model,
    pull,
)
from constraint_first.model.replicas import Balanced
from constraint_first.model.transport import Bounds, Endpoint, without_secrets
from constraint_first.model.wire import Decoding, Engine

# Presets of models: the addresses, API key and price of each.
#
# The presets of the package are in ``models.toml`` beside this file, which explains the keys. A
# user's own ``models.toml`` adds to them and overrides them key by key.


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    label: str = ""
    """As the paper prints it."""
    base_url: str | tuple[str, ...] = ""
    """Empty for a model that runs on this machine; several where several endpoints serve it."""
    model: str = ""
    """Its name at the endpoint, where that differs."""
    key_env: str | tuple[str, ...] = ""
    """Environment variables with the API key: one for all addresses or one for each."""
    context: int | None = None
    reasons: bool = False
    price: Price | None = None

    @property
    def endpoints(self) -> list[tuple[str, str]]:
        keys = (self.key_env,) if isinstance(self.key_env, str) else self.key_env
        addresses = _listed(self.base_url)
        return list(zip(addresses, keys * (len(addresses) if len(keys) == 1 else 1), strict=True))

    @property
    def key_names(self) -> list[str]:
        return list(dict.fromkeys(name for name in _listed(self.key_env) if name))

    @property
    def shown(self) -> str:
        return ", ".join(map(without_secrets, _listed(self.base_url)))

    @property
    def served_as(self) -> str:
        return self.model or self.name

    @property
    def has_key(self) -> bool | None:
        names = self.key_names
        return all(map(os.environ.get, names)) if names else None


def presets() -> dict[str, Preset]:
    text = files("constraint_first.model").joinpath("models.toml").read_text(encoding="utf-8")
    tables = _tables("the package's models.toml", text)
    if path := user_file():
        for name, table in _tables(path, read_text(path)).items():
            tables[name] = tables.get(name, {}) | table
    return {name: _check_keys(Preset(name, **table)) for name, table in tables.items()}


def find_preset(name: str | None) -> Preset | None:
    return presets().get(name) if name else None


def find_price(name: str | None) -> Price | None:
    """Look up a model's price, by the name of its preset or the name at its endpoint."""
    known = presets() if name else {}
    if name in known:
        return known[name].price
    served = (preset.price for preset in known.values() if preset.served_as == name)
    return next((price for price in served if price), None)


def price_list(model: str | None, others: Iterable[str] = ()) -> PriceList:
    return PriceList(find_price(model), {name: find_price(name) for name in others})


def user_file() -> Path | None:
    """Return the user's ``models.toml``; the one that CFR_MODELS names must exist."""
    if chosen := os.environ.get("CFR_MODELS"):
        path = expand_user(chosen)
        if not path.is_file():
            raise InputError(f"CFR_MODELS: there is no file {path}; name another, or unset it")
        return path
    path = platformdirs.user_config_path("constraint-first") / "models.toml"
    return path if path.is_file() else None


_Table = dict[str, Any]
_SCHEMES: Final = ("http://", "https://")
_DOLLARS: Final[FieldType[float]] = FieldType(
    "dollars for a million tokens, zero or more", lambda value: NUMBER.fits(value) and value >= 0
)
_TEXTS: Final[FieldType[Any]] = FieldType(
    "a text or a list of texts",
    lambda value: TEXT.fits(value) or (type(value) is list and value != []),
)
_PRICES: Final = {"input": _DOLLARS, "output": _DOLLARS, "cached": _DOLLARS}
_SETTINGS: Final[dict[str, FieldType[Any]]] = {
    "label": TEXT,
    "base_url": _TEXTS,
    "model": TEXT,
    "key_env": _TEXTS,
    "context": FieldType("a whole number of tokens", lambda value: WHOLE.fits(value) and value > 0),
    "reasons": TRUTH,
    "price": FieldType("{ input = …, cached = …, output = … }", OBJECT.fits),
}
_LISTS: Final = ("base_url", "key_env")
_TABLE: Final[FieldType[_Table]] = FieldType('a table, headed ["NAME"]', OBJECT.fits)


def _tables(where: Path | str, text: str) -> dict[str, _Table]:
    tables = parse_toml(where, text)
    with within(where):
        return {name: _settings(name, read_field(tables, name, _TABLE)) for name in tables}


def _settings(name: str, table: _Table) -> _Table:
    with within(f'["{name}"]'):
        check_fields(table, _SETTINGS)
        lists: _Table = {n: tuple(table[n]) for n in _LISTS if type(table.get(n)) is list}
        # Without quoting the address: it may contain a password.
        if odd := [name for name, value in lists.items() if not all(map(TEXT.fits, value))]:
            raise FieldError(f"'{odd[0]}' must be a text or a list of texts")
        if not all(one.startswith(_SCHEMES) for one in _listed(table.get("base_url", ""))):
            raise FieldError("'base_url' must be an address that begins with http:// or https://")
        price = {"price": _price(table["price"])} if "price" in table else {}
        return table | lists | price


def _check_keys(preset: Preset) -> Preset:
    keys, addresses = preset.key_env, _listed(preset.base_url)
    if isinstance(keys, tuple) and len(keys) != len(addresses):
        with within(f'["{preset.name}"]'):
            raise FieldError(
                f"'key_env' lists {len(keys)}, and 'base_url' {len(addresses)}; name one variable "
                "for all addresses, or one for each"
            )
    return preset


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    """Read a text as a list of one item, an empty text as an empty list."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(value)


def _price(table: _Table) -> Price:
    with within("price"):
        check_fields(table, _PRICES)
        spent, made = (read_field(table, name, _DOLLARS) for name in ("input", "output"))
        return Price(spent, made, table.get("cached"))


# The choice of an engine by the name of a model, a file or an address.

Resolved: TypeAlias = OpenAI | Balanced | Local
"""The engine for a model: of one endpoint, of several, or of a model on this machine."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """The name of a model, and where it is served."""

    model: str | None = None
    """A preset, a name in the catalogue, a GGUF file, or the model's name at the endpoint."""
    base_url: str | Sequence[str] | None = None
    """The address of an endpoint, or those of several that serve the model; by default
    OPENAI_BASE_URL, else that of the model's preset."""
    key_name: str | None = None
    """The environment variable with the API key; by default OPENAI_API_KEY, or the preset's."""
    context: int | None = None
    """The context in tokens: set for a local model, assumed for an endpoint."""
    key: str = field(default="", repr=False)
    """The API key itself, where it does not come from the environment."""

    def __post_init__(self) -> None:
        if self.base_url is not None and not isinstance(self.base_url, str):
            once = tuple(dict.fromkeys(self.base_url))
            object.__setattr__(self, "base_url", once if len(once) > 1 else "".join(once) or None)

    def beside(self, name: str) -> ModelRef:
        """Resolve a second model's name: by itself if known, else at this model's endpoint."""
        if name == self.model or (name == DEFAULT_MODEL and not self.model and runs_here(self)):
            return self
        return ModelRef(name) if stands_alone(name) else replace(self, model=name)


def resolve(
    wanted: ModelRef,
    decoding: Decoding | None = None,
    *,
    bounds: Bounds | None = None,
    concurrency: int | None = None,
    progress: Progress = NO_PROGRESS,
) -> Resolved:
    """Choose the engine; a model of the catalogue is downloaded first if it is missing."""
    slots, context = concurrency or 1, wanted.context
    if path := _gguf(wanted):
        return Local(path, decoding, context=context, slots=slots, bounds=bounds)
    if endpoints := _endpoints(wanted):
        connections = concurrency or 256
        if len(endpoints) > 1:
            return Balanced(endpoints, decoding, bounds=bounds, connections=connections)
        return OpenAI(endpoints[0], decoding, bounds=bounds, connections=connections)
    require_known(wanted)
    name = wanted.model or DEFAULT_MODEL
    model = find_model(name)
    path = pull(model, progress)
    return Local(path, decoding, name=name, context=context, slots=slots, bounds=bounds)


def require_known(wanted: ModelRef) -> None:
    """Refuse an unknown model, or one whose API key is missing; nothing is downloaded."""
    name, here = wanted.model or DEFAULT_MODEL, runs_here(wanted)
    if here and wanted.key:
        raise EngineError(
            f"model {name!r}: it runs on this machine and takes no key; leave the key out, or name "
            "the endpoint that it is for by its address"
        )
    if here and not _gguf(wanted) and name not in catalogue():
        raise EngineError(
            f"model {name!r}: no .gguf file and not in the catalogue or the presets "
            f"({', '.join({**catalogue(), **presets()})}); "
            "name the endpoint that serves it with --base-url or OPENAI_BASE_URL"
        )


def refs_beside(ref: ModelRef, names: Iterable[str]) -> dict[str, ModelRef]:
    """Resolve the other models that a method names; refuse unknown names."""
    found = {name: ref.beside(name) for name in names}
    for one in (ref, *found.values()):
        require_known(one)
    return found


def served_name(wanted: ModelRef) -> str:
    """Return the model's name without a request; empty where only the endpoint has it."""
    if path := _gguf(wanted):
        return path.stem
    if endpoint_addresses(wanted):
        return wanted.model or ""
    preset = find_preset(wanted.model)
    if preset and preset.base_url:
        return preset.served_as
    require_known(wanted)
    return wanted.model or DEFAULT_MODEL


def known_context(wanted: ModelRef) -> int | None:
    if wanted.context or _gguf(wanted):
        return wanted.context or CONTEXT
    if endpoint_addresses(wanted):
        return None
    preset = find_preset(wanted.model)
    return preset.context if preset and preset.base_url else CONTEXT


def endpoint_addresses(wanted: ModelRef) -> tuple[str, ...]:
    """Return the addresses given for a model; none where its name determines the place."""
    found = wanted.base_url
    if not found and wanted.model not in catalogue() and not _gguf(wanted):
        found = os.environ.get("OPENAI_BASE_URL")
    return _listed(found or "")


def stands_alone(name: str) -> bool:
    """Whether a name determines where its model is: a file, the catalogue or a preset."""
    preset = find_preset(name)
    is_file = name.lower().endswith(".gguf") and expand_user(name).is_file()
    return is_file or name in catalogue() or bool(preset and preset.base_url)


def runs_here(wanted: ModelRef) -> bool:
    return _gguf(wanted) is not None or not _endpoints(wanted)


def _gguf(wanted: ModelRef) -> Path | None:
    if wanted.model and wanted.model.lower().endswith(".gguf") and not wanted.base_url:
        return expand_user(wanted.model)
    return None


def _endpoints(wanted: ModelRef) -> list[Endpoint]:
    if addresses := endpoint_addresses(wanted):
        # An address from the user never gets a preset's API key, which belongs to another host.
        key, key_name = _key(wanted, "OPENAI_API_KEY")
        model = wanted.model or ""
        return [Endpoint(one, model, key, key_name, wanted.context) for one in addresses]
    found: list[Endpoint] = []
    preset = find_preset(wanted.model) or Preset("")
    for base_url, key_env in dict.fromkeys(preset.endpoints):
        key, key_name = _key(wanted, key_env)
        if key_name and not key:
            raise Unauthorized(
                f"model {preset.name!r}: {without_secrets(base_url)} takes a key, and {key_name} "
                f"is not set; export {key_name}=…, or name another variable with --key-env"
            )
        context = wanted.context or preset.context
        found.append(Endpoint(base_url, preset.served_as, key, key_name, context))
    return found


def _key(wanted: ModelRef, usual: str) -> tuple[str, str]:
    if wanted.key:
        return wanted.key, "the argument key"
    name = wanted.key_name or usual
    return os.environ.get(name, "") if name else "", name


# The method ``auto``: every model has a policy; the policies differ in their evidence.
#
# The package has policies for models that were measured here. The paper's four models get
# Routed-CFR on problems, by the paper's evidence, and any other model Direct CoT. Under every
# policy a text that is not a problem goes to the model untouched.

AUTO: Final = "auto"

# Names of the paper's four models at endpoints (its Table 1; see also models.toml).
_PAPER_MODELS: Final = frozenset(
    "deepseek-chat deepseek-v4-pro qwen3.5-9b qwen3.5-9b-instruct qwen3.5-35b-a3b "
    "qwen3.5-35b-a3b-instruct justrl-1.5b justrl-deepseek-1.5b".split()
)


class AutoChoice(NamedTuple):
    method: str
    why: str

    def __str__(self) -> str:
        return f"{AUTO} is {self.method}: {self.why}"


def choose_for(engine: object) -> AutoChoice:
    return choose_method(str(getattr(engine, "model", "")))


def choose_method(model: str) -> AutoChoice:
    if name := shipped_for(model):
        chosen = f"calibrated(policy={name})"
        if not runs_programs(make(chosen)) or _can_run_programs():
            return AutoChoice(chosen, "the policy that comes with the package for this model")
        return _unmeasured(
            f"the policy for {name} runs programs, which need an interpreter: pip install "
            "'constraint-first[programs]'"
        )
    if plain_model(model) in _PAPER_MODELS:
        why = "Routed-CFR on problems, as the paper measured it with this model"
        return AutoChoice(f"calibrated(policy={PAPER})", why)
    return _unmeasured(
        f"no policy comes with the package for {model or 'this model'}, so problems go to Direct "
        "CoT; 'cfr calibrate' learns one from your runs"
    )


def _can_run_programs() -> bool:
    return bool(find_spec("eryx") or find_spec("pydantic_monty"))


def _unmeasured(why: str) -> AutoChoice:
    return AutoChoice(f"calibrated(policy={UNMEASURED})", why)


# The models of a client: the main one, and those that a method names.


def serve(ref: ModelRef, names: Iterable[str], make: Callable[[ModelRef], Engine]) -> Client:
    refs = refs_beside(ref, names)
    engines = {one: make(one) for one in dict.fromkeys((ref, *refs.values()))}
    return Client(engines[ref], {name: engines[one] for name, one in refs.items()})


def accompanied(engine: Engine, names: Iterable[str]) -> Client:
    """Add the models that methods name to an engine that was given as an object."""
    given = engine if isinstance(engine, Client) else Client(engine)
    missing = [name for name in names if name not in given.others]
    return given.beside({n: engine_beside(given.main, n) or given.main for n in missing})


def engine_beside(main: Engine, name: str) -> Resolved | None:
    """Make the engine of a second model; None where the name is the main model's."""
    if name == getattr(main, "model", None):
        return None
    if isinstance(main, Balanced) and not stands_alone(name):
        return main.beside(name)
    if isinstance(main, OpenAI) and not isinstance(main, Local) and not stands_alone(name):
        endpoint = replace(main.endpoint, model=name, context=None)
        return OpenAI(endpoint, main.decoding, bounds=main.bounds)
    decoding = main.decoding if isinstance(main, OpenAI | Balanced) else None
    return resolve(ModelRef(name), decoding)
