"""``cfr serve``: an OpenAI-compatible server that puts a method in front of a model."""

from __future__ import annotations

import asyncio
import importlib
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from constraint_first.cli import print_json, print_note, print_text
from constraint_first.cli.options import (
    A_PATH,
    COUNT,
    POSITIVE,
    bound_options,
    client_limit_options,
    decoding_options,
    grouped,
    model_options,
    option,
)
from constraint_first.error import InputError

if TYPE_CHECKING:
    from aiohttp.web import Application

    from constraint_first.attempt.drive import AttemptLimit
    from constraint_first.model.resolve import ModelRef
    from constraint_first.model.transport import Bounds
    from constraint_first.model.wire import Decoding
    from constraint_first.problem import Json
    from constraint_first.serve.attempt import Log
    from constraint_first.serve.guard import ServeSettings

_USUAL_STORE: Final = "runs.db"


_server_options: Final = grouped(
    "settings",
    "constraint_first.serve.guard:ServeSettings",
    option(
        "--method methods",
        "A method to offer, as in 'cfr solve'; repeatable. The first one answers "
        "requests that name no model.",
        default=("auto",),
        multiple=True,
    ),
    option("--host", "Address to listen on.", default="127.0.0.1"),
    option("--port", "Port to listen on; 0 for any free one.", click.IntRange(0, 65_535), 8080),
    option(
        "--token",
        "The API key that clients must send; required unless --host is this machine.  [CFR_TOKEN]",
        default="",
        envvar="CFR_TOKEN",
        show_default=False,
    ),
    option(
        "--allow-host allowed_hosts",
        "A host name that clients use for the server, behind a proxy for example.",
        multiple=True,
        metavar="NAME",
    ),
    option(
        "--allow-origin allowed_origins",
        "A site whose pages may call the API from a browser.",
        multiple=True,
        metavar="URL",
    ),
    option("--max-requests most_requests", "Requests at the same time.", COUNT, 256),
    option(
        "--max-waiting most_waiting",
        "Requests that wait for a turn; more are refused (503).",
        click.IntRange(min=0),
        256,
    ),
    option(
        "--max-connections most_connections",
        "Open connections, half as many from one address; idle ones give way to new ones.",
        click.IntRange(min=2),
        2_048,
    ),
    option(
        "--max-calls --max-samples most_calls",  # --max-samples is its earlier name
        ("Calls of one request, all samples and rounds together; beyond them it is refused (400)."),
        COUNT,
        256,
    ),
    option(
        "--max-attempt-tokens most_tokens",
        "Tokens of one request, prompts and replies together (400).",
        COUNT,
        4_000_000,
    ),
    option("--max-body-bytes body_bytes", "A larger request is refused (413).", COUNT, 20_000_000),
    option(
        "--request-timeout request_seconds",
        "Time limit of a request in seconds, waiting included (504).",
        POSITIVE,
        3_600.0,
    ),
    option(
        "--grace",
        "Seconds for running requests to finish when the server is stopped.",
        click.FloatRange(min=0),
        30.0,
    ),
)


@click.command("serve")
@click.argument("runs", metavar="[RUNS]...", nargs=-1)
@_server_options
@model_options
@decoding_options
@bound_options
@option(
    "--slots",
    "Calls at the same time, where the model runs on this machine.",
    click.IntRange(1, 64),
    2,
)
@option("--requests-per-minute", "Rate limit on requests to the endpoint.", POSITIVE)
@option("--tokens-per-minute", "Rate limit on tokens, estimated before a call.", POSITIVE)
@option("--store", "Keep every answer in this store.", metavar="RUNS")
@option(
    "--labels",
    "The file where marks that people make on pages are kept.",
    A_PATH,
    Path("labels.jsonl"),
)
@option(
    "--classes",
    "The file where classes of errors that people give on pages are kept.",
    A_PATH,
    Path("classes.jsonl"),
)
@option(
    "--log", "The form of the line for each request.", click.Choice(["text", "json", "off"]), "text"
)
def serve_command(
    runs: tuple[str, ...],
    settings: ServeSettings,
    ref: ModelRef,
    decoding: Decoding,
    bounds: Bounds,
    slots: int,
    requests_per_minute: float | None,
    tokens_per_minute: float | None,
    store: str | None,
    labels: Path,
    classes: Path,
    log: str,
) -> None:
    """Serve a model with a method in front of it, for any OpenAI client.

    Clients name METHOD@MODEL ('routed-cfr@deepseek-chat', 'auto@local'), or a plain model, whose
    requests pass through untouched. The server's address with /v1 is their base URL.

    The server's address itself is a page: a playground, and the attempts in RUNS: stores (runs.db
    unless named; a file, or postgresql://…) and files that 'cfr export' wrote.

    Without --model and --base-url a small model runs on this machine; it is fetched the first time.

    \b
    cfr serve
    cfr serve runs.db
    cfr serve --model deepseek-chat --method routed-cfr --store served.db
    cfr serve --base-url http://127.0.0.1:8000/v1 --port 9000 --log json
    CFR_TOKEN=… cfr serve --host 0.0.0.0 --allow-host llm.example.org
    """
    from constraint_first.cli.console import bytes_bar
    from constraint_first.serve.server import Serving, serve
    from constraint_first.serve.upstream import UpstreamOptions

    options = UpstreamOptions(
        decoding,
        bounds,
        connections=max(256, 4 * settings.most_requests),
        slots=slots,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
    )
    shown = (*runs, *([store] if store else []))  # pages also show the server's own store
    usual = (_USUAL_STORE,) if Path(_USUAL_STORE).is_file() else ()
    serving = Serving(
        settings,
        ref,
        options,
        _log(log),
        print_note,
        store,
        install=_pages(shown or usual, labels, classes),
        fetching=lambda: bytes_bar(ref.model or "model"),
    )
    library: Any = importlib.import_module("uvloop") if find_spec("uvloop") else asyncio
    with asyncio.Runner(loop_factory=library.new_event_loop) as runner:
        runner.run(serve(serving))


def _pages(
    runs: tuple[str, ...], labels: Path, classes: Path
) -> Callable[[Application], None] | None:
    """Import the pages if the libraries that they need are installed."""
    if find_spec("jinja2") is None or find_spec("latex2mathml") is None:
        print_note("no pages, the API alone: pip install 'constraint-first[serve]' adds them")
        return None
    from constraint_first.serve.page import install_pages
    from constraint_first.serve.page.site import SiteOptions

    options = SiteOptions(runs, labels, classes)
    return lambda application: install_pages(application, options)


def _log(kind: str) -> Log | None:
    """Make a writer of one line a request; a closed pipe ends the lines, not the server."""
    from constraint_first.serve.server import describe_access

    reading = True

    def write(line: dict[str, Json]) -> None:
        nonlocal reading
        if not reading:
            return
        try:
            if kind == "json":
                print_json(line)
            else:
                print_text(describe_access(line))
        except OSError:
            reading = False

    return None if kind == "off" else write


# ``cfr mcp``: tools for assistants and editors that speak the Model Context Protocol.


@click.command("mcp")
@option(
    "--method",
    "The method of 'solve' where a client names none, as in 'cfr solve'.",
    default="auto",
)
@option(
    "--http port",
    "Serve http://127.0.0.1:PORT/mcp in place of standard input and output.",
    click.IntRange(1, 65_535),
    metavar="PORT",
)
@model_options
@decoding_options
@bound_options
@client_limit_options
def mcp_command(
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
    from constraint_first.model.resolve import require_known

    require_known(ref)
    asked = Asked(ref, decoding, bounds, method, limit)
    if port is not None:
        print_note(f"MCP server at http://127.0.0.1:{port}/mcp; Ctrl-C ends it")
        asyncio.run(run_http(asked, port))
        return
    # A thread blocks in a read of standard input that cannot be cancelled, so exit without joining
    # it; no data is lost.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(run_stdio(asked))
