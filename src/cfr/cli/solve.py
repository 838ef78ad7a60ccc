"""``cfr solve``: one problem, and everything that happens on the way to its answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import click

from cfr.error import CfrError

__all__ = ["NoAnswer", "command", "decoding_options", "model_options"]


class NoAnswer(CfrError):
    """The model replied, but its reply has no final answer."""

    exit_code = 4


def _add(
    *options: Callable[[Callable[..., None]], Callable[..., None]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


model_options = _add(
    click.option("--model", help="A preset, a catalogue name, a .gguf file, or an endpoint's."),
    click.option("--base-url", help="An OpenAI-compatible endpoint.  [OPENAI_BASE_URL]"),
    click.option(
        "--key-env", help="The variable that holds the key.  [OPENAI_API_KEY or the preset's]"
    ),
    click.option(
        "--context",
        type=click.IntRange(min=256),
        help="Tokens of context: to serve a local model with, or that an endpoint has.",
    ),
)
"""The options that choose a model."""

decoding_options = _add(
    click.option("--temperature", type=click.FloatRange(0, 2), default=0.7, show_default=True),
    click.option("--top-p", type=click.FloatRange(0, 1), default=0.95, show_default=True),
    click.option("--seed", type=int, help="Sample repeatably, as far as the endpoint can."),
)
"""The options that say how replies are sampled."""


@click.command("solve")
@click.argument("source", metavar="TEXT|FILE|-")
@click.option(
    "--method",
    default="routed-cfr",
    show_default=True,
    help="direct, cfr, list-first, self-refine, …; options in brackets: 'cfr(reply=json)'.",
)
@model_options
@decoding_options
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a problem.")
@click.option("--quiet", is_flag=True, help="Write the final answer alone.")
def command(
    source: str,
    method: str,
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    context: int | None,
    temperature: float,
    top_p: float,
    seed: int | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Solve a problem; show its cues, constraints, solution and cost.

    Without --model and --base-url a small model runs on this machine; it is fetched the first time.

    \b
    cfr solve "Find the remainder when 7^100 is divided by 13."
    cfr solve problem.txt --method direct --quiet
    cfr solve - --base-url http://127.0.0.1:8000/v1 < problem.txt
    """
    # All that can be wrong with the input is found before a model is fetched or loaded.
    from cfr.benchmark.source import read_problems
    from cfr.engine.engine import SILENT, Decoding
    from cfr.engine.resolve import Wanted
    from cfr.method import make

    problems, chosen = read_problems(source), make(method)
    wanted = Wanted(model, base_url, key_env, context)
    decoding = Decoding(temperature, top_p, seed)

    from cfr.cli.session import Session

    async def run() -> int:
        unanswered = 0
        async with Session(wanted, decoding, quiet=quiet or as_json) as session:
            for problem in problems:
                watcher = None if not (quiet or as_json) else SILENT
                report = await session.solve(chosen, problem, watcher)
                unanswered += report.outcome.result.answer is None
                if as_json:
                    click.echo(json.dumps(report.to_json(), ensure_ascii=False))
                elif quiet:
                    click.echo(report.outcome.result.answer or "")
        return unanswered

    if unanswered := asyncio.run(run()):
        raise NoAnswer(f"{unanswered} of {len(problems)} problem(s): the reply has no final answer")
