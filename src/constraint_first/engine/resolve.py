"""The choice of an engine for what a person names: a model, a file or an address."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from constraint_first.engine.address import without_secrets
from constraint_first.engine.balanced import Balanced
from constraint_first.engine.catalogue import DEFAULT_MODEL, catalogue, find_model
from constraint_first.engine.engine import Decoding
from constraint_first.engine.error import EngineError, Unauthorized
from constraint_first.engine.local import CONTEXT, Local
from constraint_first.engine.openai import Endpoint, OpenAI
from constraint_first.engine.presets import Preset, find_preset, presets
from constraint_first.engine.pull import NO_PROGRESS, Progress, pull
from constraint_first.engine.transport import Bounds
from constraint_first.file.path import expand_user

__all__ = [
    "ModelRef",
    "Resolved",
    "endpoint_addresses",
    "known_context",
    "require_known",
    "resolve",
    "runs_here",
    "served_name",
    "stands_alone",
]


Resolved: TypeAlias = OpenAI | Balanced | Local
"""An engine that was chosen: for an endpoint, for several, or for a model on this machine."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as somebody names it: what it is called, and where it is served."""

    model: str | None = None
    """A preset, a name in the catalogue, a GGUF file, or a name that the endpoint knows."""
    base_url: str | Sequence[str] | None = None
    """An endpoint's address, or those of several that all serve the model; OPENAI_BASE_URL stands
    in for it, else the model's preset."""
    key_name: str | None = None
    """The environment variable that holds the endpoint's key: OPENAI_API_KEY, or the preset's."""
    context: int | None = None
    """Tokens of context to serve a local model with, or to assume of an endpoint."""
    key: str = field(default="", repr=False)
    """The endpoint's key itself, where it comes from elsewhere than the environment."""

    def __post_init__(self) -> None:
        """Keep several addresses in a form that nobody changes, each once."""
        if self.base_url is not None and not isinstance(self.base_url, str):
            once = tuple(dict.fromkeys(self.base_url))
            object.__setattr__(self, "base_url", once if len(once) > 1 else "".join(once) or None)

    def beside(self, name: str) -> ModelRef:
        """Name another model that is asked beside this one.

        It is what its name would mean by itself; a name that says nothing by itself is one that
        this model's endpoint knows.
        """
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
    """Choose the engine; a model of the catalogue is fetched first if it is not here yet."""
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
    """Refuse a model that nothing is known about, or whose key is missing; nothing is fetched."""
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


def served_name(wanted: ModelRef) -> str:
    """Say under which name a model would be served, and ask nobody.

    Empty for an endpoint of which only the address is given: it says itself what it serves.
    """
    if path := _gguf(wanted):
        return path.stem
    if wanted.base_url or _base_url_from_environment(wanted):
        return wanted.model or ""
    preset = find_preset(wanted.model)
    if preset and preset.base_url:
        return preset.served_as
    require_known(wanted)
    return wanted.model or DEFAULT_MODEL


def known_context(wanted: ModelRef) -> int | None:
    """Say how many tokens a prompt and its reply would have together, where that is known."""
    if wanted.context or _gguf(wanted):
        return wanted.context or CONTEXT
    if wanted.base_url or _base_url_from_environment(wanted):
        return None
    preset = find_preset(wanted.model)
    return preset.context if preset and preset.base_url else CONTEXT


def endpoint_addresses(wanted: ModelRef) -> tuple[str, ...]:
    """Return the addresses that were given for a model; none where its name tells where it is."""
    found = None if _gguf(wanted) else wanted.base_url or _base_url_from_environment(wanted)
    return (found,) if isinstance(found, str) else tuple(found or ())


def stands_alone(name: str) -> bool:
    """Say whether a name tells by itself where its model is: a file, the catalogue, a preset."""
    preset = find_preset(name)
    is_file = name.lower().endswith(".gguf") and expand_user(name).is_file()
    return is_file or name in catalogue() or bool(preset and preset.base_url)


def runs_here(wanted: ModelRef) -> bool:
    """Say whether a model would run on this machine."""
    return _gguf(wanted) is not None or not _endpoints(wanted)


def _gguf(wanted: ModelRef) -> Path | None:
    if wanted.model and wanted.model.lower().endswith(".gguf") and not wanted.base_url:
        return expand_user(wanted.model)
    return None


def _endpoints(wanted: ModelRef) -> list[Endpoint]:
    """Name the endpoints to ask; none for a model that runs here."""
    if addresses := endpoint_addresses(wanted):
        # An address that somebody gives gets the key that goes with it, never that of a preset.
        key, key_name = _key(wanted, "OPENAI_API_KEY")
        model = wanted.model or ""
        return [Endpoint(one, model, key, key_name, wanted.context) for one in addresses]
    preset = find_preset(wanted.model)
    found = preset.endpoints if preset else []
    return [_preset_endpoint(preset, wanted, *one) for one in dict.fromkeys(found) if preset]


def _preset_endpoint(preset: Preset, wanted: ModelRef, base_url: str, key_env: str) -> Endpoint:
    key, key_name = _key(wanted, key_env)
    if key_name and not key:
        raise Unauthorized(
            f"model {preset.name!r}: {without_secrets(base_url)} takes a key, and {key_name} is "
            f"not set; export {key_name}=…, or name another variable with --key-env"
        )
    context = wanted.context or preset.context
    return Endpoint(base_url, preset.served_as, key, key_name, context)


def _key(wanted: ModelRef, usual: str) -> tuple[str, str]:
    """Find the key of an endpoint, and what messages call the place that it comes from."""
    if wanted.key:
        return wanted.key, "the argument key"
    name = wanted.key_name or usual
    return os.environ.get(name, "") if name else "", name


def _base_url_from_environment(wanted: ModelRef) -> str | None:
    """Take OPENAI_BASE_URL, unless the model is one that runs here."""
    return None if wanted.model in catalogue() else os.environ.get("OPENAI_BASE_URL") or None
