"""Options that several commands share; a group of them reaches its command as one typed value."""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from constraint_first.error import InputError

if TYPE_CHECKING:
    from constraint_first.attempt.drive import AttemptLimit
    from constraint_first.model.transport import Bounds
    from constraint_first.model.wire import Decoding
    from constraint_first.report.comparison import RightRule
    from constraint_first.report.exhibit.marks import ErrorRule
    from constraint_first.report.study import Study
    from constraint_first.run.grid import RayOptions

Command: TypeAlias = Callable[..., None]
"""A command's function; click calls it with its options by name."""
Decorator: TypeAlias = Callable[[Command], Command]


POSITIVE: Final = click.FloatRange(min=0, min_open=True)
COUNT: Final = click.IntRange(min=1)
A_PATH: Final = click.Path(path_type=Path)
_SEEDS: Final = click.IntRange(-(2**62), 2**62)
"""A seed for an endpoint: runs and samples count up from it, and 64 bits must hold them."""


def seed(value: str) -> int:
    """Read a seed; its bounds are too long for a help text, and are said where it is wrong."""
    return int(_SEEDS(value))


def grouped(name: str, make: str | Callable[..., object], *options: Decorator) -> Decorator:
    """Add options to a command, which gets them together under ``name``.

    ``make`` takes them by their names. ``module:attribute`` is imported when the command runs, so
    that a help text imports nothing.
    """

    def decorate(command: Command) -> Command:
        joined = command if command in _GROUPS else _with_groups(command)
        before = _names(joined)
        for option in reversed(options):
            option(joined)
        _GROUPS[joined].append((name, _names(joined) - before, make))
        return joined

    return decorate


_GROUPS: Final[dict[Command, list[tuple[str, set[str], str | Callable[..., object]]]]] = {}
"""For each command that has groups: the name of a value, its options, and its maker."""


def _with_groups(command: Command) -> Command:
    """Wrap a command once for all its groups, so that a call passes one frame."""

    @wraps(command)
    def with_values(**given: Any) -> None:
        for name, names, make in _GROUPS[with_values]:
            made = pkgutil.resolve_name(make) if isinstance(make, str) else make
            given[name] = made(**{one: given.pop(one) for one in names})
        command(**given)

    _GROUPS[with_values] = []
    return with_values


def _names(command: Command) -> set[str]:
    """List the options that a function has been given so far, where click keeps them."""
    parameters: list[click.Parameter] = getattr(command, "__click_params__", [])
    return {parameter.name for parameter in parameters if parameter.name}


def _decoding(**given: Any) -> Decoding:
    from constraint_first.model.wire import Decoding

    sent: dict[str, Any] = {n: None if one == "none" else one for n, one in given.items()}
    return Decoding(**sent)


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
    "--max-tokens", type=COUNT, help="Most output tokens of any call."
)


model_options: Final = grouped(
    "ref",
    "constraint_first.model.resolve:ModelRef",
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

decoding_options: Final = grouped(
    "decoding",
    _decoding,
    click.option("--temperature", type=number_or_none(0, 2), default=0.7),
    click.option("--top-p", type=number_or_none(0, 1), default=0.95),
    click.option(
        "--seed",
        type=seed,
        metavar="INTEGER",
        help="Sample repeatably, as far as the endpoint can.",
    ),
    max_tokens_option,
)


_call_bounds: Final = (
    click.option(
        "--call-timeout",
        type=POSITIVE,
        default=3_600.0,
        help="Time limit of one call in seconds, retries included.",
    ),
    click.option(
        "--max-reply-bytes",
        type=COUNT,
        default=16_000_000,
        help="Size limit of a reply; the call fails beyond it.",
    ),
)


def _bounds(call_timeout: float, max_reply_bytes: int) -> Bounds:
    from constraint_first.model.transport import Bounds

    return Bounds(call_timeout, max_reply_bytes)


bound_options: Final = grouped("bounds", _bounds, *_call_bounds)


def _attempt_bounds(most_calls: int, most_tokens: int) -> tuple[Decorator, Decorator]:
    return (
        click.option(
            "--max-calls",
            type=COUNT,
            default=most_calls,
            help="Calls of one attempt, all samples and rounds together; beyond them it fails.",
        ),
        click.option(
            "--max-attempt-tokens",
            type=COUNT,
            default=most_tokens,
            help="Tokens of one attempt, prompts and replies together; beyond them it fails.",
        ),
    )


def _limit(max_calls: int, max_attempt_tokens: int) -> AttemptLimit:
    from constraint_first.attempt.drive import AttemptLimit

    return AttemptLimit(max_calls, max_attempt_tokens)


_usual_bounds: Final = _attempt_bounds(1_024, 20_000_000)
limit_options: Final = grouped("limit", _limit, *_usual_bounds)
client_limit_options: Final = grouped("limit", _limit, *_attempt_bounds(256, 4_000_000))
"""The same with lower bounds, for attempts that clients ask for."""

prompts_option: Final = click.option(
    "--prompts",
    metavar="DIR",
    help="Own prompts: a folder whose NAME.txt replaces a prompt; 'cfr prompts' lists them.",
)


def _read_system(given: str) -> str:
    from constraint_first.method.registry import read_system

    return read_system(given)


system_option: Final = click.option(
    "--system",
    type=_read_system,
    metavar="TEXT|@FILE",
    help="A system message ahead of every call.",
)

store_option: Final = click.option(
    "--store", default="runs.db", metavar="RUNS", help="The store: a file, or postgresql://…."
)
"""The store of a command that adds to it, or that has no place for RUNS among its arguments."""


def _one_store(named: str | None, store: str | None) -> str:
    if named and store and named != store:
        raise click.UsageError(f"Name one store: {named!r}, or --store {store!r}.")
    return named or store or "runs.db"


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
    return click.option(
        "--columns",
        multiple=True,
        metavar="FIELD=COLUMN,…",
        callback=_read_columns,
        help=f"Which column of FILE holds what: {example}.",
    )


labels_option: Final = click.option(
    "--labels",
    type=A_PATH,
    multiple=True,
    help="A file of marks that people made on the page of 'cfr serve'; repeatable.",
)

json_option: Final = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON for programs."
)


batch_options: Final = grouped(
    "batch",
    "constraint_first.run.grid:BatchOptions",
    click.option(
        "--batch", is_flag=True, help="Ask through the endpoint's batch API, in waves of requests."
    ),
    click.option(
        "--batch-dir",
        metavar="DIR",
        help="Write the requests of each wave to DIR, for 'vllm run-batch', and read its results.",
    ),
    click.option(
        "--batch-poll",
        type=POSITIVE,
        metavar="SECONDS",
        help="Seconds between two polls of a batch.  [5, growing to 60]",
    ),
    click.option(
        "--batch-file-requests", type=COUNT, default=50_000, help="Most requests in one file."
    ),
    click.option(
        "--batch-file-bytes", type=COUNT, default=200_000_000, help="Most bytes in one file."
    ),
    click.option(
        "--batch-price-factor",
        type=click.FloatRange(min=0),
        help="The price of a call, as a factor of the model's price.  [0.5 with --batch]",
    ),
    click.option(
        "--forget-batches",
        is_flag=True,
        help="Abandon batches that were not collected; their requests are paid for again.",
    ),
)


speed_options: Final = (
    click.option(
        "--concurrency",
        type=COUNT,
        help="Most calls at the same time, at each endpoint.  [adapts, up to 256; 4 for a local "
        "model]",
    ),
    click.option(
        "--requests-per-minute", type=POSITIVE, help="Rate limit on requests to each endpoint."
    ),
    click.option(
        "--tokens-per-minute",
        type=POSITIVE,
        help="Rate limit on tokens of each endpoint, estimated before a call.",
    ),
)

call_options: Final = (
    *_call_bounds,
    *_usual_bounds,
    click.option(
        "--lease",
        type=click.FloatRange(min=0.1),
        default=60.0,
        help="On PostgreSQL: seconds until the attempts of a dead worker are taken over.",
    ),
)


# The options of commands over stored runs: which runs, which part of them, how to judge them.


def _all_runs(named: tuple[str, ...], stores: tuple[str, ...]) -> tuple[str, ...]:
    return named + stores


runs_argument: Final = grouped(
    "runs",
    _all_runs,
    click.argument("named", metavar="[RUNS]...", nargs=-1),
    click.option(
        "--store",
        "stores",
        metavar="RUNS",
        multiple=True,
        help="The same as RUNS: a file, or postgresql://…; repeatable.  [default: runs.db]",
    ),
)
"""The stores and files that a command reads, by their places or by ``--store``."""


StudyPart: TypeAlias = dict[str, tuple[str, ...]]
"""The part of a study to look at: its benchmarks and models; an empty tuple is no limit."""


def _error_rule(rule: RightRule, classes: Path | None) -> Callable[[Study], ErrorRule]:
    """Say how problems and errors are judged, once a study gives the file of classes a meaning."""

    def read(study: Study) -> ErrorRule:
        from constraint_first.report.exhibit.marks import ErrorClasses, ErrorRule, read_classes

        found = read_classes(classes, study) if classes else ErrorClasses()
        return ErrorRule(rule, found)

    return read


part_options: Final = grouped(
    "part",
    dict,
    click.option("--benchmark", multiple=True, help="Only this benchmark; repeatable."),
    click.option("--model", multiple=True, help="Only this model; repeatable."),
)

error_rule_options: Final = grouped(
    "error_rule",
    _error_rule,
    click.option(
        "--rule",
        type=click.Choice(["any", "first"]),
        default="any",
        help="A problem counts as right if any of its runs is, or if the first is.",
    ),
    click.option(
        "--classes",
        type=A_PATH,
        help='Error classes by a person: {"problem", "class"} lines; they take precedence.',
    ),
)
"""The options that say how problems and errors are judged, as a reader of the rule."""


def open_part(runs: Sequence[str], part: StudyPart) -> Study:
    """Read stores and files (``runs.db`` where none is named) as one study."""
    from constraint_first.report import reader
    from constraint_first.report.study import StudyError

    study = reader.open_study(runs or ("runs.db",))
    if not study.arms:
        raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
    return study.only(**part)


def _ray_options(
    address: str | None, workers: int | None, resources: dict[str, float] | None
) -> RayOptions:
    from constraint_first.run.grid import RayOptions

    if address is None and (workers is not None or resources is not None):
        name = "--ray-workers" if workers is not None else "--ray-resources"
        raise click.UsageError(f"{name} goes with --ray: name the cluster, or auto.")
    if resources is None:
        return RayOptions(address, workers)
    return RayOptions(address, workers, resources)


def _read_resources(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> dict[str, float] | None:
    if text is None:
        return None
    read: dict[str, float] = {}
    for part in text.split(","):
        name, equals, amount = (piece.strip() for piece in part.partition("="))
        try:
            if not name or not equals or name in read:
                raise ValueError(part)
            read[name] = float(amount)
        except ValueError:
            said = f"{text!r} is not a list of resources such as cpus=4,gpus=1."
            raise click.BadParameter(said) from None
    return read


ray_options: Final = grouped(
    "ray",
    _ray_options,
    click.option(
        "--ray",
        "address",
        metavar="auto|HOST:PORT",
        help="Have workers on a Ray cluster make the attempts; the store must be PostgreSQL.",
    ),
    click.option(
        "--ray-workers", "workers", type=COUNT, help="How many workers.  [one for each node]"
    ),
    click.option(
        "--ray-resources",
        "resources",
        callback=_read_resources,
        metavar="cpus=N,gpus=N",
        help="The resources of each worker.  [cpus=1]",
    ),
)
