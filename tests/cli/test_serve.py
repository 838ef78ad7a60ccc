import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from loopback import Endpoint as Server
from loopback import failure
from postgres import Postgres
from sums import reply_right, write_sums

from constraint_first.cli import root
from constraint_first.cli import serve as mcp

from .conftest import Run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "dirct"], "did you mean 'direct'"),
        (["--host", "0.0.0.0"], "give it a token"),  # noqa: S104
        (["--base-url", "nowhere"], "nowhere"),
        (["--model", "no-such-model"], "not in the catalogue"),
        (["--base-url", "http://127.0.0.1:9/v1", "--store", "no/such/folder.db"], "make it first"),
    ],
)
def test_a_mistake_is_one_line(cfr: Run, arguments: list[str], said: str) -> None:
    ran = cfr("serve", "--port", "0", *arguments)
    assert ran.code in (2, 3, 5)
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("log", "expected"),
    [("text", r" 200 .* GET /health\n"), ("json", r'"path": "/health"'), ("off", "")],
)
def test_it_serves_until_it_is_told_to_stop(
    endpoint: Server, tmp_path: Path, log: str, expected: str
) -> None:
    arguments = ["serve", "--port", "0", "--base-url", endpoint.url, "--log", log]
    with subprocess.Popen(
        [sys.executable, "-m", "constraint_first", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ,
    ) as process:
        assert process.stdout
        assert process.stderr
        line = process.stderr.readline()
        found = re.match(r"serving (http://127\.0\.0\.1:\d+)/v1 with auto in front of its", line)
        assert found, line
        with urllib.request.urlopen(f"{found[1]}/health") as reply:  # noqa: S310
            assert reply.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert re.search(expected, out) if expected else not out
    assert "Traceback" not in err


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(mcp, "find_spec", nothing)
    ran = CliRunner().invoke(root, ["mcp"])
    assert "pip install 'constraint-first[mcp]'" in str(ran.exception)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "nope"], "cfr: method 'nope': not known"),
        (
            ["--method", "vote(samples=8)", "--max-calls", "5"],
            "cfr: method 'vote(samples=8)': needs more than the 5 calls",
        ),
        (["--model", "nope"], "cfr: model 'nope': no .gguf file"),
        (["--http", "0"], "--http"),
    ],
)
def test_a_mistake_shows_at_the_start(cfr: Run, arguments: list[str], said: str) -> None:
    pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")
    ran = cfr("mcp", *arguments)
    assert (ran.code in (2, 3), ran.out) == (True, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_client_that_says_nothing_and_leaves_is_no_mistake(cfr: Run) -> None:
    pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")
    ran = cfr("mcp")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with Postgres() as server:
        yield server.url


def test_what_an_evaluation_left_is_made_by_a_worker(
    cfr: Run, endpoint: Server, address: str, tmp_path: Path
) -> None:
    write_sums(tmp_path / "sums.jsonl", 6)
    endpoint.script(failure(400, "not now"))
    grid = ("--method", "direct", "--runs", "1", "--base-url", endpoint.url, "--model", "m")
    entered = cfr("eval", "sums.jsonl", *grid, "--store", address)
    assert entered.code == 7, entered.err
    endpoint.respond = reply_right
    ran = cfr("work", "--store", address, "--concurrency", "4")
    assert ran.code == 0, ran.err
    assert "6/6" in ran.out
    again = cfr("work", "--store", address)
    assert again.code == 0
    assert again.out.strip().endswith(": nothing is missing")
    more = cfr("eval", "sums.jsonl", *grid, "--store", address)
    assert (more.code, more.out) == (0, ran.out)


def test_a_file_has_one_run_at_a_time(cfr: Run) -> None:
    ran = cfr("work", "--store", "runs.db")
    assert ran.code == 5
    assert "workers share a PostgreSQL database (--store postgresql://…)" in ran.err
