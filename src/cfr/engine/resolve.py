"""From what a person names (a model, a file, an address) to the engine that serves it."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from cfr.engine.catalogue import DEFAULT_MODEL, catalogue, find_model
from cfr.engine.engine import Decoding, Engine
from cfr.engine.error import EngineError
from cfr.engine.local import CONTEXT, Local
from cfr.engine.openai import Endpoint, OpenAI
from cfr.engine.pull import Progress, pull
from cfr.engine.retry import Retry

__all__ = ["Wanted", "resolve"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The model that somebody asked for, in their words."""

    model: str | None = None
    """A name in the catalogue, a GGUF file, or a name that the endpoint knows."""
    base_url: str | None = None
    """An endpoint's address; OPENAI_BASE_URL stands in for it."""
    key_name: str = "OPENAI_API_KEY"
    """The environment variable that holds the endpoint's key."""
    context: int | None = None
    """Tokens of context to serve a local model with, or to assume of an endpoint."""


def resolve(
    wanted: Wanted,
    decoding: Decoding | None = None,
    *,
    retry: Retry | None = None,
    progress: Progress = lambda _done, _total, _doing: None,
) -> AbstractAsyncContextManager[Engine]:
    """Choose the engine; a model of the catalogue is fetched first if it is not here yet."""
    if path := _gguf(wanted):
        return Local(path, decoding, context=wanted.context or CONTEXT)
    base_url = wanted.base_url or _base_url_from_environment(wanted)
    if base_url:
        endpoint = Endpoint(
            base_url=base_url,
            model=wanted.model or "",
            key=os.environ.get(wanted.key_name, ""),
            key_name=wanted.key_name,
            context=wanted.context,
        )
        return OpenAI(endpoint, decoding, retry)
    name = wanted.model or DEFAULT_MODEL
    if name not in catalogue():
        raise EngineError(
            f"model {name!r}: no .gguf file and not in the catalogue ({', '.join(catalogue())}); "
            "name the endpoint that serves it with --base-url or OPENAI_BASE_URL"
        )
    model = find_model(name)
    return Local(pull(model, progress), decoding, context=wanted.context or CONTEXT)


def _gguf(wanted: Wanted) -> Path | None:
    if wanted.model and wanted.model.lower().endswith(".gguf") and not wanted.base_url:
        return Path(wanted.model).expanduser()
    return None


def _base_url_from_environment(wanted: Wanted) -> str | None:
    """Take OPENAI_BASE_URL, unless the model is one that runs here."""
    return None if wanted.model in catalogue() else os.environ.get("OPENAI_BASE_URL") or None
