"""The options of commands over stored runs: which runs, which part of them, how to judge them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraint_first.cli.option import grouped

if TYPE_CHECKING:
    from constraint_first.analysis.audit.error_rule import ErrorRule, RightRule
    from constraint_first.analysis.study.study import Study

__all__ = [
    "ErrorRuleOptions",
    "StudyPart",
    "error_rule_options",
    "open_part",
    "part_options",
    "runs_argument",
]


def _all_runs() -> Callable[..., object]:
    def join(named: tuple[str, ...], stores: tuple[str, ...]) -> tuple[str, ...]:
        return named + stores

    return join


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


@dataclass(frozen=True, slots=True)
class StudyPart:
    """The part of a study to look at; nothing named is no limit."""

    benchmarks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorRuleOptions:
    """When a problem counts as right, and a file of errors that a person classed."""

    rule: RightRule
    classes: Path | None

    def read(self, study: Study) -> ErrorRule:
        """Read the file, where there is one."""
        from constraint_first.analysis.audit.error_rule import ErrorClasses, ErrorRule, read_classes

        classes = read_classes(self.classes, study) if self.classes else ErrorClasses()
        return ErrorRule(self.rule, classes)


part_options: Final = grouped(
    "part",
    lambda: StudyPart,
    click.option(
        "--benchmark", "benchmarks", multiple=True, help="Only this benchmark; repeatable."
    ),
    click.option("--model", "models", multiple=True, help="Only this model; repeatable."),
)
"""The options that narrow a study down, as a ``StudyPart``."""

error_rule_options: Final = grouped(
    "error_rule",
    lambda: ErrorRuleOptions,
    click.option(
        "--rule",
        type=click.Choice(["any", "first"]),
        default="any",
        show_default=True,
        help="A problem counts as right if any of its runs is, or if the first is.",
    ),
    click.option(
        "--classes",
        type=click.Path(path_type=Path),
        help='Error classes by a person: {"problem", "class"} lines; they take precedence.',
    ),
)
"""The options that say how problems and errors are judged, as ``ErrorRuleOptions``."""


def open_part(runs: Sequence[str], part: StudyPart) -> Study:
    """Read stores and files (``runs.db`` where none is named) as one study."""
    from constraint_first.analysis.study import reader
    from constraint_first.analysis.study.study import StudyError

    study = reader.open_study(runs or ("runs.db",))
    if not study.arms:
        raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
    return study.only(benchmark=part.benchmarks, model=part.models)
