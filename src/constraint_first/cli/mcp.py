"""``cfr mcp``: tools for assistants and editors that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
import signal
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from constraint_first.cli.option import (
    bound_options,
    client_limit_options,
    decoding_options,
    model_options,
)
from constraint_first.cli.output import print_note
from constraint_first.error import InputError

if TYPE_CHECKING:
    from constraint_first.engine.allowance import AttemptLimit
    from constraint_first.engine.engine import Decoding
    from constraint_first.engine.resolve import ModelRef
    from constraint_first.engine.transport import Bounds

__all__ = ["command"]


@click.command("mcp")
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="The method of 'solve' where a client names none, as in 'cfr solve'.",
)
@click.option(
    "--http",
    "port",
    type=click.IntRange(1, 65_535),
    metavar="PORT",
    help="Serve http://127.0.0.1:PORT/mcp in place of standard input and output.",
)
@model_options
@decoding_options
@bound_options
@client_limit_options
def command(
    method: str,
    port: int | None,
    ref: ModelRef,
    decoding: Decoding,
    bounds: Bounds,
    limit: AttemptLimit,
) -> None:
    """Serve tools to MCP clients: solve, constraints, check_answer and grade.

    A client starts this command itself and talks to it on standard input and output; nothing else
    is written there. The model is opened when 'solve' is first called; the other tools need none.

    \b
    cfr mcp --model deepseek-chat
    cfr mcp --base-url http://127.0.0.1:8000/v1 --method 'vote(samples=5)'
    cfr mcp --http 8765
    """
    if find_spec("mcp") is None:
        raise InputError("cfr mcp needs the package mcp: pip install 'constraint-first[mcp]'")
    from constraint_first.adapter.mcp_server import Asked, run_http, run_stdio
    from constraint_first.engine.resolve import require_known

    require_known(ref)
    asked = Asked(ref, decoding, bounds, method, limit)
    if port is not None:
        print_note(f"MCP server at http://127.0.0.1:{port}/mcp; Ctrl-C ends it")
        asyncio.run(run_http(asked, port))
        return
    # A thread waits in a read of standard input that nothing can break off; nothing is lost here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(run_stdio(asked))
