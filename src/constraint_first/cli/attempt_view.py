"""``cfr show``: one stored attempt in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from constraint_first.cli.option import json_option, store_option
from constraint_first.cli.output import print_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from constraint_first.evaluation.stored_attempt import StoredAttempt
    from constraint_first.problem import Json

__all__ = ["command"]

_CHECKED: Final = ("checks", "confidence", "interventions")
_SHOWN_BEFORE: Final = (*_CHECKED, "programs")


@click.command("show")
@click.argument("series", metavar="SERIES")
@click.argument("problem", metavar="PROBLEM")
@click.argument("run", metavar="[RUN]", type=click.IntRange(0, 2**31 - 1), default=0)
@store_option
@click.option("--benchmark", help="The series on this benchmark.")
@click.option("--model", help="The series with this model.")
@json_option
def command(
    series: str,
    problem: str,
    run: int,
    store: str,
    benchmark: str | None,
    model: str | None,
    *,
    as_json: bool,
) -> None:
    """Show one stored attempt in full: the problem, every call, checks and the verdict.

    SERIES is the number that 'cfr runs' lists, or a method's name where only one series has it.
    PROBLEM is a problem's id, or its place in the benchmark from 1 on. RUN counts from 0, which is
    the one that is shown where none is named.

    \b
    cfr show 2 aime24-7
    cfr show cfr 7 3 --benchmark aime24 --store results.db
    cfr show 2 7 --json
    """
    from constraint_first.analysis.study.reader import existing_store
    from constraint_first.cli.console import SafeConsole
    from constraint_first.evaluation.stored_attempt import SeriesName, read_attempt

    with existing_store(store) as opened:
        found = read_attempt(opened, SeriesName(series, benchmark, model), problem, run)
    if as_json:
        print_json(found.to_json())
        return
    console = SafeConsole()
    for part in _parts(found):
        console.print(part)


def _parts(found: StoredAttempt) -> Iterator[RenderableType]:
    from constraint_first.cli.checks import shown_checks
    from constraint_first.evaluation.stored_attempt import explain_ending
    from constraint_first.file.printable import one_line, printable_json

    series, details = found.series, found.details
    yield _heading(f"{series['label']} on {series['benchmark']} with {series['model']}")
    settings = {**series["decoding"]} if isinstance(series["decoding"], dict) else {}
    system = settings.pop("system", None)
    named = ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
    yield _text(one_line(f"series {series['id']} ({series['method']}), {named}"))
    if system:
        yield _section("System message, ahead of every call", system)
    own = series["prompts"] if isinstance(series["prompts"], dict) else {}
    for name, text in own.items():
        yield _section(f"Own prompt {name}.txt", text)
    yield _section(f"Problem {found.problem['id']}, run {found.run}", found.problem["text"])
    yield _section(found.gold_name.capitalize(), found.gold_shown)
    for number, step in enumerate(found.steps, start=1):
        yield from _program(number, step) if "program" in step else _call(number, step)
    if any(name in details for name in _CHECKED):
        yield _heading("\nChecks")
        yield shown_checks(details, str(found.problem["text"]))
    if rest := {n: value for n, value in details.items() if n not in _SHOWN_BEFORE}:
        yield _section("Details", printable_json(rest, indent=2))
    yield _section("Verdict", "\n".join(explain_ending(found)))


def _call(number: int, step: dict[str, Any]) -> Iterator[RenderableType]:
    from constraint_first.evaluation.stored_attempt import describe_cost

    by = f" by {step['model']}" if "model" in step else ""
    yield _heading(f"\nCall {number}: {step['stage']}{by}")
    for message in step["messages"]:
        yield _labelled(message["role"], message["content"])
    if step["reasoning"]:
        yield _labelled("reasoning", step["reasoning"])
    yield _labelled("reply", step["reply"])
    yield _labelled("", describe_cost(step))


def _program(number: int, step: dict[str, Any]) -> Iterator[RenderableType]:
    from constraint_first.evaluation.stored_attempt import write_seconds

    yield _heading(f"\nProgram {number}: {step['stage']}")
    yield _labelled("source", step["program"].strip("\n"))
    yield _labelled("output", step["output"].rstrip("\n") or "nothing")
    if step["error"]:
        yield _labelled("error", step["error"])
    yield _labelled("", write_seconds(step))


def _section(title: str, text: Json) -> RenderableType:
    from rich.console import Group

    return Group(_heading(f"\n{title}"), _text(text))


def _labelled(label: str, text: Json) -> RenderableType:
    from rich.console import Group

    return Group(_text(f"[{label}]", "dim"), _text(text)) if label else _text(text, "dim")


def _heading(title: str) -> RenderableType:
    return _text(title, "bold")


def _text(text: Json, style: str = "") -> RenderableType:
    """Write a text at the width of a terminal; a file or a pipe gets its lines as they are."""
    from rich.text import Text

    from constraint_first.cli.fold import Folded
    from constraint_first.file.printable import printable

    return Folded(Text(printable(str(text)), style))
