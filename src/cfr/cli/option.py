"""Options that several commands share; a group of them reaches its command as one typed value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeAlias

import click

__all__ = [
    "SEED",
    "Command",
    "Decorator",
    "decoding_options",
    "grouped",
    "json_option",
    "model_options",
    "store_option",
]

Command: TypeAlias = Callable[..., None]
"""A command's function; click calls it with its options by name."""
Decorator: TypeAlias = Callable[[Command], Command]


SEED: Final = click.IntRange(-(2**62), 2**62)
"""A seed for an endpoint: runs and samples count up from it, and 64 bits must hold them."""


def grouped(name: str, load: Callable[[], Callable[..., object]], *options: Decorator) -> Decorator:
    """Add options to a command, which gets them together under ``name``.

    ``load`` returns the dataclass to make of them, whose fields are named like the options. It is
    called when the command runs, so that a help text imports nothing.
    """

    def decorate(command: Command) -> Command:
        names: set[str] = set()

        @wraps(command)
        def with_value(**given: Any) -> None:
            own = {one: given.pop(one) for one in names}
            command(**given, **{name: load()(**own)})

        before = _names(with_value)
        for option in reversed(options):
            option(with_value)
        names.update(_names(with_value) - before)
        return with_value

    return decorate


def _names(command: Command) -> set[str]:
    """List the options that a function has been given so far, where click keeps them."""
    parameters: list[click.Parameter] = getattr(command, "__click_params__", [])
    return {parameter.name for parameter in parameters if parameter.name}


def _model_ref() -> Callable[..., object]:
    from cfr.engine.resolve import ModelRef

    return ModelRef


def _decoding() -> Callable[..., object]:
    from cfr.engine.engine import Decoding

    return Decoding


model_options: Final = grouped(
    "ref",
    _model_ref,
    click.option("--model", help="A preset, a catalogue name, a .gguf file, or an endpoint's."),
    click.option("--base-url", help="An OpenAI-compatible endpoint.  [OPENAI_BASE_URL]"),
    click.option(
        "--key-env",
        "key_name",
        help="The variable that holds the key.  [OPENAI_API_KEY or the preset's]",
    ),
    click.option(
        "--context",
        type=click.IntRange(min=256),
        help="Tokens of context: to serve a local model with, or that an endpoint has.",
    ),
)
"""The options that choose a model, as a ``ModelRef``."""

decoding_options: Final = grouped(
    "decoding",
    _decoding,
    click.option("--temperature", type=click.FloatRange(0, 2), default=0.7, show_default=True),
    click.option("--top-p", type=click.FloatRange(0, 1), default=0.95, show_default=True),
    click.option("--seed", type=SEED, help="Sample repeatably, as far as the endpoint can."),
)
"""The options that say how replies are sampled, as a ``Decoding``."""

store_option: Final = click.option(
    "--store", default="runs.db", show_default=True, help="A file, or postgresql://…."
)
json_option: Final = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON for programs."
)
