from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Endpoint as Server
from loopback import failure
from postgres import Postgres
from sums import reply_right, write_sums

from .conftest import Run


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


def test_a_refused_call_is_an_incomplete_run(cfr: Run, endpoint: Server, address: str) -> None:
    endpoint.script(failure(400, "not now"))
    ran = cfr("work", "--store", address)
    assert ran.code == 0  # nothing is left from before
