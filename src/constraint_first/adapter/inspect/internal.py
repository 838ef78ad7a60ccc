"""The two things of Inspect that it has no public names for, and our errors as its own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from inspect_ai._util.error import PrerequisiteError  # pyright: ignore[reportPrivateUsage]
from inspect_ai.model import GenerateConfig, Model
from inspect_ai.model._generate_config import (  # pyright: ignore[reportPrivateUsage]
    active_generate_config,
)
from rich.markup import escape

from constraint_first.error import CfrError

__all__ = ["PrerequisiteError", "as_prerequisite", "as_sample_error", "qualify", "settings_of"]


def qualify(factory: Callable[..., Any], name: str) -> str:
    """Return the name ``cfr/NAME`` for a solver, scorer or task, and make Inspect keep it as it is.

    Inspect prefixes the top-level package of the module in which it finds the factory, which would
    give ``constraint_first/NAME``. It finds no module by the name set here.
    """
    factory.__module__ = "cfr (inspect)"
    return f"cfr/{name}"


def settings_of(model: Model) -> GenerateConfig:
    """Find how replies are sampled: what the task and the command line say of this model."""
    return model.config.merge(active_generate_config())


@contextmanager
def as_prerequisite() -> Generator[None]:
    """Turn what a person can put right into what Inspect prints in one line, and then ends."""
    try:
        yield
    except CfrError as error:
        # Inspect has rich print it, for which square brackets are markup.
        raise PrerequisiteError(escape(str(error))) from None


@contextmanager
def as_sample_error() -> Generator[None]:
    """Turn what a person can put right into the error of a sample, which is told as it stands."""
    try:
        yield
    except CfrError as error:
        raise PrerequisiteError(str(error)) from None
