"""``cfr eval`` and ``cfr work``: methods on benchmarks, resumable at any point."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraint_first.cli import print_json, print_note, print_text, run_interruptible
from constraint_first.cli.options import (
    COUNT,
    POSITIVE,
    batch_options,
    call_options,
    columns_option,
    grouped,
    max_tokens_option,
    model_options,
    number_or_none,
    option,
    prompts_option,
    ray_options,
    seed,
    speed_options,
    store_option,
    system_option,
)
from constraint_first.error import InputError

if TYPE_CHECKING:
    from constraint_first.model.resolve import ModelRef
    from constraint_first.run.grid import BatchOptions, Changes, Experiment, RayOptions, RunOptions


_grid_options: Final = grouped(
    "changes",
    "constraint_first.run.grid:Changes",
    option(
        "--method methods",
        "A method; repeat for more.  [direct, and auto: a policy for the model]",
        multiple=True,
    ),
    option("--runs", "Attempts for each problem.  [4]", COUNT),
    option(
        "--temperature temperatures",
        "Repeat to compare several; none is not sent.  [0.7]",
        number_or_none(0, 2),
        multiple=True,
    ),
    option("--top-p", "Likewise.  [0.95]", number_or_none(0, 1)),
    option("--seed seeds", "Repeat to compare several.", seed, multiple=True, metavar="INTEGER"),
    max_tokens_option,
    prompts_option,
    system_option,
)

_run_settings: Final = grouped(
    "options",
    "constraint_first.run.grid:RunOptions",
    option("--limit", "Only the first N problems of each.", COUNT),
    store_option,
    *speed_options,
    option("--max-tokens-total", "Stop before this many tokens are exceeded.", COUNT),
    option(
        "--max-cost",
        "Stop before this many US dollars are exceeded; needs the model's price.",
        POSITIVE,
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
@option("--quiet", "Write no progress, only the summary.", is_flag=True)
@option("--dry-run", "Call no model; estimate calls, tokens and cost.", is_flag=True)
@option("--json as_json", "With --dry-run: write JSON.", is_flag=True)
def eval_command(
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
        from constraint_first.run.forecast import forecast

        found = forecast(experiment, ref, options)
        for note in () if quiet else notes:
            print_note(note)
        if as_json:
            print_json(found.to_json())
            return
        from constraint_first.cli.progress import print_forecast

        print_forecast(found, options)
        return
    if as_json:
        raise InputError("--json: goes with --dry-run; 'cfr runs --json' writes what was run")
    from constraint_first.cli.progress import TerminalWatcher, print_evaluated
    from constraint_first.run.run import aevaluate

    watcher = TerminalWatcher(notes, quiet=quiet)
    run = aevaluate(experiment, model=ref, options=options, watcher=watcher)
    left = partial(watcher.stopped, options.store)
    print_evaluated(run_interruptible(run, left, watcher.interrupted))


def _experiment(benchmarks: tuple[str, ...], changes: Changes) -> Experiment:
    from constraint_first.run.grid import Experiment, read_experiment

    for name in benchmarks:
        if name.endswith(".toml"):
            if len(benchmarks) > 1:
                raise InputError(f"{name}: an experiment's file names its benchmarks itself")
            return read_experiment(Path(name), changes)
    return Experiment().changed(replace(changes, benchmarks=benchmarks))


def _load_files(experiment: Experiment, columns: dict[str, str]) -> tuple[Experiment, list[str]]:
    """Load the user's own files; print a line about each."""
    from constraint_first.benchmark.registry import load, names_rows

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


@click.command("work")
@grouped(
    "options", "constraint_first.run.grid:RunOptions", store_option, *speed_options, *call_options
)
@option(
    "--base-url",
    "Call this endpoint instead of the stored one; repeatable.",
    multiple=True,
)
@option("--key-env", "Name of the variable that holds its key, instead of the stored name.")
@option("--quiet", "Write no progress, only the summary.", is_flag=True)
def work_command(
    options: RunOptions, base_url: tuple[str, ...], key_env: str | None, *, quiet: bool
) -> None:
    """Run the missing attempts of a shared store, beside any number of other workers.

    'cfr eval --store postgresql://…' enters the attempts and may then be stopped. A worker on any
    machine runs those that are missing, takes over those that a dead worker had begun, and ends
    when none is left. It reads keys, prices and model files on its machine; speed limits are per
    worker, budgets per store.

    \b
    cfr work --store postgresql://user@host/runs
    cfr work --store postgresql://user@host/runs --concurrency 64
    cfr work --store postgresql://user@host/runs --base-url http://localhost:8000/v1
    srun -N 8 --ntasks-per-node 1 cfr work --store postgresql://user@host/runs
    """
    from constraint_first.cli.progress import TerminalWatcher, print_evaluated
    from constraint_first.model.resolve import ModelRef
    from constraint_first.run.shared import awork
    from constraint_first.store.database import without_password

    watcher = TerminalWatcher(quiet=quiet)
    instead = ModelRef(base_url=base_url or None, key_name=key_env)
    work = awork(options, instead=instead, watcher=watcher)
    left = partial(watcher.stopped, options.store)
    done = run_interruptible(work, left, watcher.interrupted)
    if done.series:
        print_evaluated(done)
    else:
        print_text(f"{without_password(options.store)}: nothing is missing")
