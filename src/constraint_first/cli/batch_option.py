"""The options of ``cfr eval`` for batches, which reach it as one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import click

from constraint_first.cli.option import grouped

__all__ = ["batch_options"]


def _batch_options() -> Callable[..., object]:
    from constraint_first.evaluation.batch.option import BatchOptions

    return BatchOptions


batch_options: Final = grouped(
    "batch",
    _batch_options,
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
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Seconds between two looks at a batch.  [5, growing to 60]",
    ),
    click.option(
        "--batch-file-requests",
        type=click.IntRange(min=1),
        default=50_000,
        show_default=True,
        help="Most requests in one file.",
    ),
    click.option(
        "--batch-file-bytes",
        type=click.IntRange(min=1),
        default=200_000_000,
        show_default=True,
        help="Most bytes in one file.",
    ),
    click.option(
        "--batch-price-factor",
        type=click.FloatRange(min=0),
        help="What a call costs, as a part of the model's price.  [0.5 with --batch]",
    ),
    click.option(
        "--forget-batches",
        is_flag=True,
        help="Give up batches that were not collected; their requests are paid for again.",
    ),
)
