"""``cfr eval``: methods on benchmarks, resumable at any point."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from cfr.cli.solve import model_options
from cfr.error import CfrError

__all__ = ["Incomplete", "command"]


class Incomplete(CfrError):
    """Some attempts are missing; the same command makes them."""

    exit_code = 7


@click.command("eval")
@click.argument("benchmarks", nargs=-1, metavar="[BENCHMARK|FILE|EXPERIMENT.toml]...")
@click.option(
    "--method", "methods", multiple=True, help="A method; repeat for more.  [direct, routed-cfr]"
)
@click.option("--runs", type=click.IntRange(min=1), help="Attempts for each problem.  [4]")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N problems of each.")
@click.option("--store", default="runs.db", show_default=True, help="A file, or postgresql://….")
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    help="Most calls at the same time.  [grows to 256; 4 on this machine]",
)
@model_options
@click.option(
    "--temperature",
    "temperatures",
    multiple=True,
    type=click.FloatRange(0, 2),
    help="Repeat to compare several.  [0.7]",
)
@click.option("--top-p", type=click.FloatRange(0, 1), help="[0.95]")
@click.option("--seed", "seeds", multiple=True, type=int, help="Repeat to compare several.")
@click.option("--requests-per-minute", type=click.FloatRange(min=0, min_open=True))
@click.option("--tokens-per-minute", type=click.FloatRange(min=0, min_open=True))
@click.option(
    "--max-tokens-total", type=click.IntRange(min=1), help="Stop before more tokens are used."
)
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop before more money is spent; needs the model's prices.",
)
@click.option("--quiet", is_flag=True, help="Write no progress, only the summary.")
def command(benchmarks: tuple[str, ...], **options: Any) -> None:
    """Run methods on benchmarks, and lose nothing: the same command goes on where it stopped.

    Without a benchmark it is ConstraintBench, which is built in; without a model the small one that
    runs on this machine. A .toml file describes a whole grid; options beside it win.

    \b
    cfr eval aime24 aime25 --method direct --method routed-cfr --model deepseek-chat --runs 4
    cfr eval my-problems.jsonl --method cfr --runs 1 --limit 20
    cfr eval experiments/main.toml --store results.db
    """
    from cfr.cli.evaluating import Evaluation, Options

    evaluation = Evaluation(_experiment(benchmarks, options), Options.read(options))
    if reason := asyncio.run(evaluation.run()):
        raise Incomplete(reason)


def _experiment(benchmarks: tuple[str, ...], options: dict[str, Any]) -> Any:
    from dataclasses import replace

    from cfr.error import InputError
    from cfr.evaluation.experiment import Experiment, read_experiment

    given = {
        "methods": options["methods"],
        "runs": options["runs"],
        "models": (options["model"],) if options["model"] else None,
        "temperatures": options["temperatures"],
        "seeds": options["seeds"],
        "top_p": options["top_p"],
    }
    changes = {name: value for name, value in given.items() if value not in (None, ())}
    files = [name for name in benchmarks if name.endswith(".toml")]
    if files and len(benchmarks) > 1:
        raise InputError(f"{files[0]}: an experiment's file names its benchmarks itself")
    if files:
        return read_experiment(Path(files[0]), **changes)
    if benchmarks:
        changes["benchmarks"] = benchmarks
    return replace(Experiment(), **changes).check()
