"""Options that several commands share; a group is passed to its command as one value."""

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
"""A command's function; click passes its options as keyword arguments."""
Decorator: TypeAlias = Callable[[Command], Command]


POSITIVE: Final = click.FloatRange(min=0, min_open=True)
COUNT: Final = click.IntRange(min=1)
A_PATH: Final = click.Path(path_type=Path)
_NO_DEFAULT: Final = object()


def option(
    names: str, help_line: str = "", kind: Any = None, default: Any = _NO_DEFAULT, **more: Any
) -> Decorator:
    """Make an option from its names, help text, type and default."""
    if default is not _NO_DEFAULT:
        more["default"] = default
    return click.option(*names.split(), help=help_line or None, type=kind, **more)


_SEEDS: Final = click.IntRange(-(2**62), 2**62)
"""A seed for an endpoint: runs and samples count up from it, and must fit into 64 bits."""


def seed(value: str) -> int:
    """Parse a seed; its bounds are too long for a help text, but are part of the error."""
    return int(_SEEDS(value))


def grouped(name: str, make: str | Callable[..., object], *options: Decorator) -> Decorator:
    """Add options to a command, which receives them as one argument ``name``.

    ``make`` is called with them as keyword arguments. ``module:attribute`` is imported when the
    command runs, so that a help text imports nothing.
    """

    def decorate(command: Command) -> Command:
        joined = command if command in _GROUPS else _with_groups(command)
        before = _names(joined)
        for one in reversed(options):
            one(joined)
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
    parameters: list[click.Parameter] = getattr(command, "__click_params__", [])
    return {parameter.name for parameter in parameters if parameter.name}


def _decoding(**given: Any) -> Decoding:
    from constraint_first.model.wire import Decoding

    sent: dict[str, Any] = {n: None if one == "none" else one for n, one in given.items()}
    return Decoding(**sent)


def number_or_none(least: float, most: float) -> Callable[[Any], float | str]:
    """Make the type of a setting: a number within a range, or ``none`` to omit it."""
    number = click.FloatRange(least, most)

    def read(value: Any) -> float | str:
        if value == "none":
            return "none"
        found = number.convert(value, None, None)
        if math.isnan(found):
            raise ValueError(value)
        return found

    read.__name__ = "number|none"  # shown in the help text
    return read


max_tokens_option: Final = option("--max-tokens", "Limit on the output tokens of each call.", COUNT)


model_options: Final = grouped(
    "ref",
    "constraint_first.model.resolve:ModelRef",
    option("--model", "A preset, a catalogue name, a .gguf file, or an endpoint's."),
    option(
        "--base-url",
        "An OpenAI-compatible endpoint; repeat for more that serve the same model.  "
        "[OPENAI_BASE_URL]",
        multiple=True,
    ),
    option(
        "--key-env key_name", "The variable that holds the key.  [OPENAI_API_KEY or the preset's]"
    ),
    option(
        "--context",
        "Tokens of context: to serve a local model with, or that an endpoint has.",
        click.IntRange(min=256),
    ),
)

decoding_options: Final = grouped(
    "decoding",
    _decoding,
    option("--temperature", kind=number_or_none(0, 2), default=0.7),
    option("--top-p", kind=number_or_none(0, 1), default=0.95),
    option("--seed", "Sample repeatably, as far as the endpoint can.", seed, metavar="INTEGER"),
    max_tokens_option,
)


_call_bounds: Final = (
    option(
        "--call-timeout", "Time limit of one call in seconds, retries included.", POSITIVE, 3_600.0
    ),
    option(
        "--max-reply-bytes", "Size limit of a reply; the call fails beyond it.", COUNT, 16_000_000
    ),
)


def _bounds(call_timeout: float, max_reply_bytes: int) -> Bounds:
    from constraint_first.model.transport import Bounds

    return Bounds(seconds=call_timeout, reply_bytes=max_reply_bytes)


bound_options: Final = grouped("bounds", _bounds, *_call_bounds)


def _attempt_bounds(most_calls: int, most_tokens: int) -> tuple[Decorator, Decorator]:
    return (
        option(
            "--max-calls",
            "Calls of one attempt, all samples and rounds together; beyond them it fails.",
            COUNT,
            most_calls,
        ),
        option(
            "--max-attempt-tokens",
            "Tokens of one attempt, prompts and replies together; beyond them it fails.",
            COUNT,
            most_tokens,
        ),
    )


def _limit(max_calls: int, max_attempt_tokens: int) -> AttemptLimit:
    from constraint_first.attempt.drive import AttemptLimit

    return AttemptLimit(max_calls, max_attempt_tokens)


_usual_bounds: Final = _attempt_bounds(1_024, 20_000_000)
limit_options: Final = grouped("limit", _limit, *_usual_bounds)
client_limit_options: Final = grouped("limit", _limit, *_attempt_bounds(256, 4_000_000))
"""The same with lower defaults, for attempts that clients request."""

prompts_option: Final = option(
    "--prompts",
    "Own prompts: a folder whose NAME.txt replaces a prompt; 'cfr prompts' lists them.",
    metavar="DIR",
)


def _read_system(given: str) -> str:
    from constraint_first.method.registry import read_system

    return read_system(given)


system_option: Final = option(
    "--system", "A system message sent with every call.", _read_system, metavar="TEXT|@FILE"
)

store_option: Final = option(
    "--store", "The store: a file, or postgresql://….", default="runs.db", metavar="RUNS"
)
"""The store of a command that writes to it, or that has no argument RUNS."""


def _one_store(named: str | None, store: str | None) -> str:
    if named and store and named != store:
        raise click.UsageError(f"Name one store: {named!r}, or --store {store!r}.")
    return named or store or "runs.db"


store_argument: Final = grouped(
    "store",
    _one_store,
    click.argument("named", metavar="[RUNS]", required=False),
    option(
        "--store",
        "The same as RUNS: a file, or postgresql://….  [default: runs.db]",
        metavar="RUNS",
    ),
)
"""The one store that a command reads, as an argument or by ``--store``."""


def _read_columns(_: object, __: object, given: tuple[str, ...]) -> dict[str, str]:
    pairs = [pair.partition("=") for one in given for pair in one.split(",")]
    columns = {name.strip().lower(): column.strip() for name, _, column in pairs}
    if not all(columns) or not all(columns.values()) or len(columns) < len(pairs):
        raise InputError(
            f"--columns {','.join(given)!r}: write each field once and the column that holds it, "
            "as in problem=question,answer=solution"
        )
    return columns


def columns_option(example: str = "problem=question,answer=solution,id=…") -> Decorator:
    return option(
        "--columns",
        f"Which column of FILE holds what: {example}.",
        multiple=True,
        metavar="FIELD=COLUMN,…",
        callback=_read_columns,
    )


labels_option: Final = option(
    "--labels",
    "A file of marks that people made on the page of 'cfr serve'; repeatable.",
    A_PATH,
    multiple=True,
)

json_option: Final = option("--json as_json", "Write JSON for programs.", is_flag=True)


batch_options: Final = grouped(
    "batch",
    "constraint_first.run.grid:BatchOptions",
    option("--batch", "Ask through the endpoint's batch API, in waves of requests.", is_flag=True),
    option(
        "--batch-dir",
        "Write the requests of each wave to DIR, for 'vllm run-batch', and read its results.",
        metavar="DIR",
    ),
    option(
        "--batch-poll",
        "Seconds between two polls of a batch.  [5, growing to 60]",
        POSITIVE,
        metavar="SECONDS",
    ),
    option("--batch-file-requests", "Most requests in one file.", COUNT, 50_000),
    option("--batch-file-bytes", "Most bytes in one file.", COUNT, 200_000_000),
    option(
        "--batch-price-factor",
        "The price of a call, as a factor of the model's price.  [0.5 with --batch]",
        click.FloatRange(min=0),
    ),
    option(
        "--forget-batches",
        "Abandon batches that were not collected; their requests are paid for again.",
        is_flag=True,
    ),
)


speed_options: Final = (
    option(
        "--concurrency",
        "Most calls at the same time, at each endpoint.  [adapts, up to 256; 4 for a local model]",
        COUNT,
    ),
    option("--requests-per-minute", "Rate limit on requests to each endpoint.", POSITIVE),
    option(
        "--tokens-per-minute",
        "Rate limit on tokens of each endpoint, estimated before a call.",
        POSITIVE,
    ),
)

call_options: Final = (
    *_call_bounds,
    *_usual_bounds,
    option(
        "--lease",
        "On PostgreSQL: seconds until the attempts of a dead worker are taken over.",
        click.FloatRange(min=0.1),
        60.0,
    ),
)


# The options of commands on stored runs: the runs, the part of them, the rule of judging.


def _all_runs(named: tuple[str, ...], stores: tuple[str, ...]) -> tuple[str, ...]:
    return named + stores


runs_argument: Final = grouped(
    "runs",
    _all_runs,
    click.argument("named", metavar="[RUNS]...", nargs=-1),
    option(
        "--store stores",
        "The same as RUNS: a file, or postgresql://…; repeatable.  [default: runs.db]",
        metavar="RUNS",
        multiple=True,
    ),
)
"""The stores and files that a command reads, as arguments or by ``--store``."""


StudyPart: TypeAlias = dict[str, tuple[str, ...]]
"""The selected benchmarks and models of a study; an empty tuple selects all."""


def _error_rule(rule: RightRule, classes: Path | None) -> Callable[[Study], ErrorRule]:
    """Make the rule of judging from the options; a file of classes refers to a study."""

    def read(study: Study) -> ErrorRule:
        from constraint_first.report.exhibit.marks import ErrorClasses, ErrorRule, read_classes

        found = read_classes(classes, study) if classes else ErrorClasses()
        return ErrorRule(rule, found)

    return read


part_options: Final = grouped(
    "part",
    dict,
    option("--benchmark", "Only this benchmark; repeatable.", multiple=True),
    option("--model", "Only this model; repeatable.", multiple=True),
)

error_rule_options: Final = grouped(
    "error_rule",
    _error_rule,
    option(
        "--rule",
        "A problem counts as right if any of its runs is, or if the first is.",
        click.Choice(["any", "first"]),
        "any",
    ),
    option(
        "--classes",
        'Error classes by a person: {"problem", "class"} lines; they take precedence.',
        A_PATH,
    ),
)
"""The options of the rule of judging, as a function of a study."""


def open_part(runs: Sequence[str], part: StudyPart) -> Study:
    """Read stores and files (by default ``runs.db``) as one study."""
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
    option(
        "--ray address",
        "Have workers on a Ray cluster make the attempts; the store must be PostgreSQL.",
        metavar="auto|HOST:PORT",
    ),
    option("--ray-workers workers", "How many workers.  [one for each node]", COUNT),
    option(
        "--ray-resources resources",
        "The resources of each worker.  [cpus=1]",
        callback=_read_resources,
        metavar="cpus=N,gpus=N",
    ),
)
