"""The options of commands that run attempts: how fast, how long a call, how long a lease."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import click

from constraint_first.cli.option import (
    call_timeout_option,
    max_attempt_tokens_option,
    max_calls_option,
    max_reply_bytes_option,
)

__all__ = ["call_options", "load_run_options", "speed_options"]


def load_run_options() -> Callable[..., object]:
    """Load the class that these options make."""
    from constraint_first.evaluation.run_options import RunOptions

    return RunOptions


speed_options: Final = (
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        help="Most calls at the same time, at each endpoint.  [adapts, up to 256; 4 for a local "
        "model]",
    ),
    click.option(
        "--requests-per-minute",
        type=click.FloatRange(min=0, min_open=True),
        help="Rate limit on requests to each endpoint.",
    ),
    click.option(
        "--tokens-per-minute",
        type=click.FloatRange(min=0, min_open=True),
        help="Rate limit on tokens of each endpoint, estimated before a call.",
    ),
)
"""How fast a run may go."""

call_options: Final = (
    call_timeout_option("call_timeout"),
    max_reply_bytes_option("max_reply_bytes"),
    max_calls_option("max_calls"),
    max_attempt_tokens_option("max_attempt_tokens"),
    click.option(
        "--lease",
        type=click.FloatRange(min=0.1),
        default=60.0,
        show_default=True,
        help="On PostgreSQL: seconds after which what a dead worker had begun is taken over.",
    ),
)
"""What each call is held to, and each worker."""
