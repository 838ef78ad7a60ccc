"""Opening a store that must be there already, or a study made of several."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from cfr.analysis.audit.error_rule import Judging
    from cfr.analysis.study.study import Study
    from cfr.evaluation.store import Store

__all__ = ["judging_of", "judging_options", "open_existing", "open_study", "study_options"]

F = TypeVar("F", bound=Callable[..., Any])


def open_existing(url: str) -> Store:
    """Open a store for reading; a mistyped name must not make a new one."""
    from cfr.evaluation.store import Store, StoreError

    if "://" not in url and not Path(url).expanduser().is_file():
        raise StoreError(f"{url}: there is no such store; run 'cfr eval' first, or name one")
    return Store(url)


def study_options(command: F) -> F:
    """Add the options that narrow a study down."""
    model = click.option("--model", "models", multiple=True, help="Only this model; repeatable.")
    benchmark = click.option(
        "--benchmark", "benchmarks", multiple=True, help="Only this benchmark; repeatable."
    )
    return benchmark(model(command))


def judging_options(command: F) -> F:
    """Add the options that say how problems and errors are judged."""
    classes = click.option(
        "--classes",
        type=click.Path(path_type=Path),
        help='Errors that a person classed: {"problem", "class"} lines; they win.',
    )
    rule = click.option(
        "--rule",
        type=click.Choice(["any", "first"]),
        default="any",
        show_default=True,
        help="A problem is right where any of its runs is, or where the first is.",
    )
    return rule(classes(command))


def judging_of(study: Study, options: dict[str, Any]) -> Judging:
    """Read how problems and errors are to be judged."""
    from cfr.analysis.audit.error_rule import Classes, Judging, read_classes

    classes = read_classes(options["classes"], study) if options["classes"] else Classes()
    return Judging(options["rule"], classes)


@contextmanager
def open_study(runs: Sequence[str], options: dict[str, Any]) -> Generator[Study]:
    """Read stores and files (``runs.db`` where none is named) as one study."""
    from cfr.analysis.study.reader import read_study
    from cfr.analysis.study.study import StudyError

    with ExitStack() as stack:
        sources = [
            Path(name)
            if name.lower().endswith((".jsonl", ".jsonl.gz"))
            else stack.enter_context(open_existing(name))
            for name in runs or ("runs.db",)
        ]
        study = read_study(sources)
        if not study.arms:
            raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
        yield study.only(benchmark=options["benchmarks"], model=options["models"])
