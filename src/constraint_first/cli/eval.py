"""``cfr eval``: methods on benchmarks, resumable at any point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraint_first.cli.batch_option import batch_options
from constraint_first.cli.option import (
    columns_option,
    grouped,
    max_tokens_option,
    model_options,
    number_or_none,
    prompts_option,
    seed,
    store_option,
    system_option,
)
from constraint_first.cli.output import print_json, print_note
from constraint_first.cli.ray_option import ray_options
from constraint_first.cli.speed_option import call_options, load_run_options, speed_options
from constraint_first.error import InputError

if TYPE_CHECKING:
    from constraint_first.engine.resolve import ModelRef
    from constraint_first.evaluation.batch.option import BatchOptions
    from constraint_first.evaluation.cluster.option import RayOptions
    from constraint_first.evaluation.experiment import Changes, Experiment
    from constraint_first.evaluation.run_options import RunOptions

__all__ = ["command"]


def _changes() -> Callable[..., object]:
    from constraint_first.evaluation.experiment import Changes

    return Changes


_grid_options: Final = grouped(
    "changes",
    _changes,
    click.option(
        "--method",
        "methods",
        multiple=True,
        help="A method; repeat for more.  [direct, and auto: a policy for the model]",
    ),
    click.option("--runs", type=click.IntRange(min=1), help="Attempts for each problem.  [4]"),
    click.option(
        "--temperature",
        "temperatures",
        multiple=True,
        type=number_or_none(0, 2),
        help="Repeat to compare several; none is not sent.  [0.7]",
    ),
    click.option("--top-p", type=number_or_none(0, 1), help="Likewise.  [0.95]"),
    click.option(
        "--seed",
        "seeds",
        multiple=True,
        type=seed,
        metavar="INTEGER",
        help="Repeat to compare several.",
    ),
    max_tokens_option,
    prompts_option,
    system_option,
)

_run_settings: Final = grouped(
    "options",
    load_run_options,
    click.option("--limit", type=click.IntRange(min=1), help="Only the first N problems of each."),
    store_option,
    *speed_options,
    click.option(
        "--max-tokens-total",
        type=click.IntRange(min=1),
        help="Stop before this many tokens are exceeded.",
    ),
    click.option(
        "--max-cost",
        type=click.FloatRange(min=0, min_open=True),
        help="Stop before this many US dollars are exceeded; needs the model's price.",
    ),
    *call_options,
)


@click.command("eval")
@click.argument("benchmarks", nargs=-1, metavar="[BENCHMARK|FILE|EXPERIMENT.toml]...")
@_grid_options
@_run_settings
@batch_options
@ray_options
@columns_option()
@model_options
@click.option("--quiet", is_flag=True, help="Write no progress, only the summary.")
@click.option("--dry-run", is_flag=True, help="Ask nothing; say what it would take and cost.")
@click.option("--json", "as_json", is_flag=True, help="With --dry-run: write JSON.")
def command(
    benchmarks: tuple[str, ...],
    changes: Changes,
    options: RunOptions,
    batch: BatchOptions,
    ray: RayOptions,
    columns: dict[str, str],
    ref: ModelRef,
    *,
    quiet: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run methods on benchmarks; the same command resumes a run that was stopped.

    Without a benchmark it is ConstraintBench, which is built in; without a model the small one that
    runs on this machine. A .toml file describes a whole grid; options beside it win.

    \b
    cfr eval aime24 aime25 --method direct --method routed-cfr --model deepseek-chat --runs 4
    cfr eval my-problems.jsonl --method cfr --runs 1 --limit 20
    cfr eval exam.csv --columns problem=question,answer=solution
    cfr eval experiments/main.toml --store results.db
    cfr eval aime24 --base-url http://gpu1:8000/v1 --base-url http://gpu2:8000/v1
    cfr eval aime24 --method cfr --model deepseek-chat --dry-run
    cfr eval aime24 --method cfr --model gpt-4o-mini --base-url https://api.openai.com/v1 --batch
    cfr eval aime24 --method cfr --model Qwen/Qwen2.5-7B-Instruct --batch-dir waves
    cfr eval aime24 --method cfr --store postgresql://me@db/runs --ray auto --ray-resources cpus=8
    """
    options = replace(options, batch=batch, ray=ray)
    experiment, notes = _load_files(_experiment(benchmarks, changes), columns)
    if dry_run:
        _foretell(experiment, ref, options, () if quiet else notes, as_json=as_json)
        return
    if as_json:
        raise InputError("--json: goes with --dry-run; 'cfr runs --json' writes what was run")

    from constraint_first.cli.evaluated import print_evaluated, tell_stopped
    from constraint_first.cli.interrupt import run_interruptible
    from constraint_first.cli.live import TerminalWatcher
    from constraint_first.evaluation.evaluate import aevaluate

    watcher = TerminalWatcher(notes, quiet=quiet)
    work = aevaluate(experiment, model=ref, options=options, watcher=watcher)
    left = partial(tell_stopped, watcher, options.store)
    print_evaluated(run_interruptible(work, left, watcher.interrupted))


def _foretell(
    experiment: Experiment,
    ref: ModelRef,
    options: RunOptions,
    notes: Sequence[str],
    *,
    as_json: bool,
) -> None:
    from constraint_first.cli.forecast import print_forecast
    from constraint_first.evaluation.forecast import forecast

    found = forecast(experiment, ref, options)
    for note in notes:
        print_note(note)
    if as_json:
        print_json(found.to_json())
    else:
        print_forecast(found, options)


def _experiment(benchmarks: tuple[str, ...], changes: Changes) -> Experiment:
    from constraint_first.evaluation.experiment import Experiment, read_experiment

    files = [name for name in benchmarks if name.endswith(".toml")]
    if files and len(benchmarks) > 1:
        raise InputError(f"{files[0]}: an experiment's file names its benchmarks itself")
    if files:
        return read_experiment(Path(files[0]), changes)
    return Experiment().changed(replace(changes, benchmarks=benchmarks))


def _load_files(experiment: Experiment, columns: dict[str, str]) -> tuple[Experiment, list[str]]:
    """Load the user's own files; a line about each says what was taken from it."""
    from constraint_first.benchmark import load
    from constraint_first.benchmark.source import names_rows

    loaded = [
        load(one, columns=columns) if isinstance(one, str) and names_rows(one) else one
        for one in experiment.benchmarks
    ]
    files = [one for one in loaded if not isinstance(one, str)]
    if columns and not files:
        raise InputError("--columns: goes with a file of problems; none is named")
    names = [one.name for one in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"benchmark {twice}: two have this name; rename one, or name it once")
    return replace(experiment, benchmarks=tuple(loaded)), [one.taken for one in files]
