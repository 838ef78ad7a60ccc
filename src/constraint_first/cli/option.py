"""Options that several commands share; a group of them reaches its command as one typed value."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeAlias

import click

from constraint_first.error import InputError

__all__ = [
    "Command",
    "Decorator",
    "bound_options",
    "call_timeout_option",
    "client_limit_options",
    "columns_option",
    "decoding_options",
    "grouped",
    "json_option",
    "limit_options",
    "max_attempt_tokens_option",
    "max_calls_option",
    "max_reply_bytes_option",
    "max_tokens_option",
    "model_options",
    "number_or_none",
    "prompts_option",
    "seed",
    "store_argument",
    "store_option",
    "system_option",
]

Command: TypeAlias = Callable[..., None]
"""A command's function; click calls it with its options by name."""
Decorator: TypeAlias = Callable[[Command], Command]


_SEEDS: Final = click.IntRange(-(2**62), 2**62)
"""A seed for an endpoint: runs and samples count up from it, and 64 bits must hold them."""


def seed(value: str) -> int:
    """Read a seed; its bounds are too long for a help text, and are said where it is wrong."""
    return int(_SEEDS(value))


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
    from constraint_first.engine.resolve import ModelRef

    return ModelRef  # which takes no address at all as none


def _decoding() -> Callable[..., object]:
    from constraint_first.engine.engine import Decoding

    def decode(**given: Any) -> Decoding:
        sent: dict[str, Any] = {n: None if one == "none" else one for n, one in given.items()}
        return Decoding(**sent)

    return decode


def _bounds() -> Callable[..., object]:
    from constraint_first.engine.transport import Bounds

    return Bounds


def number_or_none(least: float, most: float) -> Callable[[Any], float | str]:
    """Make the type of a setting: a number within a range, or ``none`` where it is not sent."""
    number = click.FloatRange(least, most)

    def read(value: Any) -> float | str:
        if value == "none":
            return "none"
        found = number.convert(value, None, None)
        if math.isnan(found):
            raise ValueError(value)
        return found

    read.__name__ = "number|none"  # what a help text shows
    return read


max_tokens_option: Final = click.option(
    "--max-tokens", type=click.IntRange(min=1), help="Most output tokens of any call."
)


model_options: Final = grouped(
    "ref",
    _model_ref,
    click.option("--model", help="A preset, a catalogue name, a .gguf file, or an endpoint's."),
    click.option(
        "--base-url",
        multiple=True,
        help="An OpenAI-compatible endpoint; repeat for more that serve the same model.  "
        "[OPENAI_BASE_URL]",
    ),
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
    click.option("--temperature", type=number_or_none(0, 2), default=0.7, show_default=True),
    click.option("--top-p", type=number_or_none(0, 1), default=0.95, show_default=True),
    click.option(
        "--seed",
        type=seed,
        metavar="INTEGER",
        help="Sample repeatably, as far as the endpoint can.",
    ),
    max_tokens_option,
)
"""The options that say how replies are sampled, as a ``Decoding``."""


def call_timeout_option(name: str) -> Decorator:
    """Make the option for the time of a call, under the name that its command has for it."""
    return click.option(
        "--call-timeout",
        name,
        type=click.FloatRange(min=0, min_open=True),
        default=3_600.0,
        show_default=True,
        help="Seconds for a reply; later than that nothing is asked again.",
    )


def max_reply_bytes_option(name: str) -> Decorator:
    """Make the option for the size of a reply, under the name that its command has for it."""
    return click.option(
        "--max-reply-bytes",
        name,
        type=click.IntRange(min=1),
        default=16_000_000,
        show_default=True,
        help="A larger reply is a fault, and not read further.",
    )


bound_options: Final = grouped(
    "bounds", _bounds, call_timeout_option("seconds"), max_reply_bytes_option("reply_bytes")
)
"""The options that bound a single call, as ``Bounds``."""


def _limit() -> Callable[..., object]:
    from constraint_first.engine.allowance import AttemptLimit

    return AttemptLimit


def max_calls_option(name: str, most: int = 1_024) -> Decorator:
    """Make the option that bounds the calls of an attempt."""
    return click.option(
        "--max-calls",
        name,
        type=click.IntRange(min=1),
        default=most,
        show_default=True,
        help="Calls of one attempt, all samples and rounds together; one that needs more fails.",
    )


def max_attempt_tokens_option(name: str, most: int = 20_000_000) -> Decorator:
    """Make the option that bounds the tokens of an attempt."""
    return click.option(
        "--max-attempt-tokens",
        name,
        type=click.IntRange(min=1),
        default=most,
        show_default=True,
        help="Tokens of one attempt, prompts and replies together; one that needs more fails.",
    )


limit_options: Final = grouped(
    "limit", _limit, max_calls_option("calls"), max_attempt_tokens_option("tokens")
)
"""The options that bound an attempt, as an ``AttemptLimit``."""
client_limit_options: Final = grouped(
    "limit",
    _limit,
    max_calls_option("calls", 256),
    max_attempt_tokens_option("tokens", 4_000_000),
)
"""The same with lower bounds, for attempts that clients ask for."""

prompts_option: Final = click.option(
    "--prompts",
    metavar="DIR",
    help="Own prompts: a folder whose NAME.txt replaces a prompt; 'cfr prompts' lists them.",
)


def _read_system(given: str) -> str:
    from constraint_first.engine.prompt_file import read_system

    return read_system(given)


system_option: Final = click.option(
    "--system",
    type=_read_system,
    metavar="TEXT|@FILE",
    help="A system message ahead of every call.",
)

store_option: Final = click.option(
    "--store",
    default="runs.db",
    metavar="RUNS",
    show_default=True,
    help="The store: a file, or postgresql://….",
)
"""The store of a command that adds to it, or that has no place for RUNS among its arguments."""


def _one_store() -> Callable[..., object]:
    def choose(named: str | None, store: str | None) -> str:
        if named and store and named != store:
            raise click.UsageError(f"Name one store: {named!r}, or --store {store!r}.")
        return named or store or "runs.db"

    return choose


store_argument: Final = grouped(
    "store",
    _one_store,
    click.argument("named", metavar="[RUNS]", required=False),
    click.option(
        "--store",
        metavar="RUNS",
        help="The same as RUNS: a file, or postgresql://….  [default: runs.db]",
    ),
)
"""The one store that a command reads, by its place or by ``--store``."""


def _read_columns(_: object, __: object, given: tuple[str, ...]) -> dict[str, str]:
    """Read ``problem=question,answer=solution`` as a mapping."""
    pairs = [pair.partition("=") for one in given for pair in one.split(",")]
    columns = {name.strip().lower(): column.strip() for name, _, column in pairs}
    if not all(columns) or not all(columns.values()) or len(columns) < len(pairs):
        raise InputError(
            f"--columns {','.join(given)!r}: write each field once and the column that holds it, "
            "as in problem=question,answer=solution"
        )
    return columns


def columns_option(example: str = "problem=question,answer=solution,id=…") -> Decorator:
    """Make the option that names the columns of a file of rows, as a mapping."""
    return click.option(
        "--columns",
        multiple=True,
        metavar="FIELD=COLUMN,…",
        callback=_read_columns,
        help=f"Which column of FILE holds what: {example}.",
    )


json_option: Final = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON for programs."
)
