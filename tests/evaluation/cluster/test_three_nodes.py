"""A real Ray cluster of three nodes, one of which is killed in the middle of a run."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint, Reply, completion
from postgres import empty_database
from ray_cluster import RayCluster
from sums import number_in, write_sums

from constraint_first.model.error import ModelFileError
from constraint_first.model.local import find_model, pull
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import outcome_rows
from constraint_first.store.store import Store

PASSWORD = "hardly-a-secret-9713"  # noqa: S105
PROBLEMS, RUNS, CONCURRENCY = 5, 2, 1
ATTEMPTS = PROBLEMS * RUNS
GRID = f"--runs {RUNS} --seed 5 --temperature 0 --max-tokens 12 --concurrency {CONCURRENCY}".split()


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster(3) as running:
        yield running


@pytest.fixture
def store(postgres: str) -> Iterator[str]:
    yield postgres.replace("@/", f":{PASSWORD}@/", 1)
    empty_database(postgres)


@pytest.fixture(scope="module")
def smallest() -> Path:
    try:
        return pull(find_model("smollm2-135m-instruct"))
    except ModelFileError as error:
        pytest.skip(f"the smallest model cannot be had here: {error}")


def reply_by_seed(body: dict[str, Any], delay: float = 0.0) -> Reply:
    """Reply as the prompt and the seed demand."""
    reply = completion(f"Of {body['seed']} I say \\boxed{{{number_in(body) + 1}}}.")
    reply.delay = delay
    return reply


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    """Start ``cfr eval`` on some sums."""
    write_sums(folder / "sums.jsonl", PROBLEMS)
    command = [
        sys.executable,
        "-m",
        "constraint_first",
        "eval",
        "sums.jsonl",
        *GRID,
        "--quiet",
        *more,
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True)


def count_attempts(store: str) -> int:
    try:
        with Store(store, existing=True) as opened:
            query = sa.select(sa.func.count()).select_from(schema.attempts)
            return opened.read(query)[0][0]
    except StoreError:  # it is being made
        return 0


def wait_for_attempts(store: str, count: int, running: subprocess.Popen[str]) -> None:
    while count_attempts(store) < count:
        assert running.poll() is None, running.communicate()
        time.sleep(0.1)


def stored_calls(store: str) -> dict[tuple[str, int, int], tuple[str, str]]:
    """Return the prompt and the reply of every call; each attempt must be there once."""
    c, problems = schema.calls.c, schema.problems
    query = sa.select(problems.c.name, c.run, c.ordinal, c.messages, c.text)
    with Store(store, existing=True) as opened:
        rows = list(outcome_rows(opened))
        found = opened.read(query.join(problems, problems.c.id == c.problem))
    keys = Counter((row["problem"], row["run"]) for row in rows)
    assert len(keys) == keys.total() == ATTEMPTS
    assert not {row["status"] for row in rows} & {"failed"}
    return {(name, run, ordinal): tuple(texts) for name, run, ordinal, *texts in found}


def first_prompts(store: str) -> dict[tuple[str, int], str]:
    calls = stored_calls(store).items()
    return {(name, run): prompt for (name, run, ordinal), (prompt, _) in calls if ordinal == 0}


def logged(cluster: RayCluster) -> str:
    files = (path for path in (cluster.folder / "ray").rglob("*") if path.is_file())
    return "".join(path.read_text(errors="replace") for path in files)


@pytest.mark.long
def test_a_real_model_on_three_nodes_survives_the_loss_of_one(
    cluster: RayCluster, store: str, tmp_path: Path, smallest: Path
) -> None:
    model = ["--model", str(smallest), "--context", "1024", "--method", "cfr"]
    there = ["--ray", cluster.address, "--ray-workers", "3", "--ray-resources", "cpus=1"]
    running = start(tmp_path, *model, "--store", store, "--lease", "3", *there)
    wait_for_attempts(store, 2, running)
    cluster.lose_node()
    assert count_attempts(store) < ATTEMPTS, "the node was lost too late"
    out, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    assert f"{ATTEMPTS}/{ATTEMPTS}" in out
    cluster.add_node()
    with start(tmp_path, *model, "--store", "here.db") as here:
        here.communicate(timeout=300)
    assert first_prompts(store) == first_prompts(str(tmp_path / "here.db"))
    assert "RayWorker" in logged(cluster)
    assert PASSWORD not in out + err + logged(cluster)


@pytest.mark.long
def test_a_lost_node_and_a_command_that_is_killed_cost_the_calls_that_were_under_way(
    cluster: RayCluster, store: str, tmp_path: Path, endpoint: Endpoint
) -> None:
    endpoint.respond = partial(reply_by_seed, delay=1.0)
    asked = ["--model", "m", "--base-url", endpoint.url, "--method", "cfr", "--lease", "3"]
    command = [*asked, "--store", store, "--ray", cluster.address]
    with start(tmp_path, *command) as killed:
        wait_for_attempts(store, 1, killed)
        killed.kill()
    before = count_attempts(store)
    running = start(tmp_path, *command)
    wait_for_attempts(store, before + 1, running)
    cluster.lose_node()
    assert count_attempts(store) < ATTEMPTS, "the node was lost too late"
    out, err = running.communicate(timeout=300)
    assert running.returncode == 0, out + err
    cluster.add_node()
    calls = len(stored_calls(store))
    assert calls == 2 * ATTEMPTS
    # Asked for again are those of the node that was lost and of the three workers before.
    assert calls <= len(endpoint.requests) <= calls + 4 * 2 * CONCURRENCY
    endpoint.respond = reply_by_seed
    with start(tmp_path, *asked, "--store", "here.db") as here:
        here.communicate(timeout=300)
    assert stored_calls(store) == stored_calls(str(tmp_path / "here.db"))
