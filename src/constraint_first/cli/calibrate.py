"""``cfr calibrate``: which method for which problems, learnt from graded runs of one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from constraint_first.cli.interrupt import typed_command
from constraint_first.cli.option import columns_option, grouped, json_option
from constraint_first.cli.output import print_json, print_note, print_text
from constraint_first.cli.study_option import StudyPart, open_part, part_options, runs_argument
from constraint_first.error import OutputError

if TYPE_CHECKING:
    from constraint_first.analysis.calibration.calibrate import Calibration
    from constraint_first.analysis.calibration.learner import LearningPlan

__all__ = ["command"]


def _learning() -> Callable[..., object]:
    from constraint_first.analysis.calibration.learner import LearningPlan

    def make(price: float, most_tokens: float | str) -> LearningPlan:
        return LearningPlan(price, None if isinstance(most_tokens, str) else most_tokens)

    return make


def _ratio_or_any(value: Any) -> float | str:
    return "any" if value == "any" else click.FloatRange(min=1).convert(value, None, None)


_ratio_or_any.__name__ = "number|any"  # what a help text shows

_learning_options: Final = grouped(
    "learning",
    _learning,
    click.option(
        "--most-tokens",
        type=_ratio_or_any,
        default=1.05,
        show_default=True,
        help="Most output tokens of the policy, for each one of Direct CoT's.",
    ),
    click.option(
        "--price",
        type=click.FloatRange(0, 1e6),
        default=0.0,
        show_default=True,
        help="Points of accuracy that 1,000 more output tokens must bring.",
    ),
)


@click.command("calibrate")
@runs_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the policy to this file."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option(
    "--method", "methods", multiple=True, help="A method to choose from; repeatable.  [all]"
)
@click.option(
    "--problems",
    multiple=True,
    metavar="BENCHMARK|FILE",
    help="Has the texts of the problems, where the runs were stored without; repeatable.",
)
@columns_option()
@_learning_options
@part_options
@json_option
def command(
    runs: tuple[str, ...],
    output: Path | None,
    methods: tuple[str, ...],
    problems: tuple[str, ...],
    columns: dict[str, str],
    learning: LearningPlan,
    part: StudyPart,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Learn from graded runs which method to use for which problems; say whether to switch.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare': of one
    model, with Direct CoT and other methods on the same problems. Direct CoT is left only where the
    gain is certain on problems that were held out. 'calibrated(policy=FILE)' is the method that
    follows a policy.

    \b
    cfr eval gsm8k math500 --method direct --method program --method vote --runs 2
    cfr calibrate runs.db -o policy.toml
    cfr solve problem.txt --method 'calibrated(policy=policy.toml)'
    """
    from constraint_first.analysis.calibration.calibrate import CalibrationPlan, calibrate
    from constraint_first.file.atomic import refuse_overwrite

    if output:
        if output.suffix.lower() != ".toml":
            raise OutputError(f"{output}: a policy is a .toml file; name it {output.name}.toml")
        refuse_overwrite(output, force=force)
    study = open_part(runs, part)
    texts = _texts(problems, columns)
    made = calibrate(study, CalibrationPlan(learning, methods, texts, typed_command(), _today()))
    for note in made.notes:
        print_note(note)
    if output:
        _write(output, made)
    if as_json:
        print_json(made.policy.to_json())
    else:
        print_text(made.policy.answer)


def _texts(problems: Sequence[str], columns: Mapping[str, str]) -> dict[tuple[str, str], str]:
    if not problems:
        return {}
    from constraint_first.benchmark import load

    sets = [load(name, columns=columns) for name in problems]
    for note in filter(None, (one.taken for one in sets)):
        print_note(note)
    return {(one.name, problem.id): problem.text for one in sets for problem in one.problems}


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).date().isoformat()


def _write(path: Path, made: Calibration) -> None:
    from constraint_first.file.atomic import atomic_file
    from constraint_first.method.policy_file import write_policy

    with atomic_file(path) as temporary:
        temporary.write_text(write_policy(made.policy), encoding="utf-8")
    use = f"--method 'calibrated(policy={path})' uses it"
    print_note(f"{path}: written; {use if made.recommended else 'it leaves all to Direct CoT'}.")
