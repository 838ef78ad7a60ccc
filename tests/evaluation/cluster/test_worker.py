"""The worker itself, without Ray: it is an ordinary object, which Ray puts into a process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, failure
from postgres import empty_database
from sums import reply_right, sums

from constraint_first import ModelRef, RunOptions, aevaluate
from constraint_first.benchmark.registry import Benchmark
from constraint_first.run.cluster import RayWorker
from constraint_first.run.shared import pending_series
from constraint_first.store.query import attempt_rows
from constraint_first.store.store import Store

FREE = sa.text("SELECT count(*) FROM leases WHERE owner IS NULL")
SUMS = Benchmark("sums", "Sums", sums(4))


@pytest.fixture
def store(postgres: str) -> Iterator[str]:
    yield postgres
    empty_database(postgres)


def enter(store: str, server: Server, model: str = "m") -> dict[str, Any]:
    """Enter a grid of which nothing is made, for a budget that allows nothing."""
    ref = ModelRef(model, base_url=server.url)
    options = RunOptions(store=store, max_tokens_total=1)
    asyncio.run(aevaluate(SUMS, "direct", runs=1, model=ref, options=options))
    with Store(store, existing=True) as opened:
        series = [one.series.number for one in pending_series(opened) if one.series.model == model]
    allow_everything(store)
    return {"store": store, "limits": {"concurrency": 1}, "series": series, "base_url": []}


def allow_everything(store: str) -> None:
    with Store(store, existing=True) as opened:
        opened.change(lambda one: one.execute(sa.text("UPDATE run_settings SET budget = NULL")))


def test_it_makes_its_series_and_no_others(store: str, endpoint: Server) -> None:
    endpoint.respond = reply_right
    settings = enter(store, endpoint)
    enter(store, endpoint, "other")
    worker = RayWorker()
    assert worker.locate() == socket.gethostname()
    assert worker.work(settings) == {"skipped": [], "refused": None, "error": ""}
    with Store(store, existing=True) as opened:
        assert [row["model"] for row in attempt_rows(opened)] == ["m"] * 4
        assert [one.series.model for one in pending_series(opened)] == ["other"]


def test_what_it_cannot_run_is_reported(
    store: str, endpoint: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    presets = tmp_path / "models.toml"
    presets.write_text(f'["keyed"]\nbase_url = "{endpoint.url}"\nkey_env = "ODD_KEY"\n')
    monkeypatch.setenv("CFR_MODELS", str(presets))
    monkeypatch.setenv("ODD_KEY", "sk-secret")
    options = RunOptions(store=store, max_tokens_total=1)
    asyncio.run(aevaluate(SUMS, "direct", runs=1, model="keyed", options=options))
    monkeypatch.delenv("ODD_KEY")
    settings: dict[str, Any] = {"store": store, "limits": {}, "series": [1], "base_url": []}
    report = RayWorker().work(settings)
    (why,) = report["skipped"]
    assert "ODD_KEY is not set" in why
    assert report["error"] == ""


def test_a_refused_setting_is_reported_as_such(store: str, endpoint: Server) -> None:
    endpoint.respond = lambda _: failure(400, "temperature is not supported with this model")
    report = RayWorker().work(enter(store, endpoint))
    assert report["refused"]
    assert (report["refused"]["model"], report["refused"]["setting"]) == ("m", "temperature")
    assert "temperature" in report["refused"]["message"]


def test_an_error_carries_no_password() -> None:
    store = "postgresql://me:pass%20word@127.0.0.1:1/runs?connect_timeout=1"
    settings: dict[str, Any] = {"store": store, "limits": {}, "series": [1], "base_url": []}
    error = RayWorker().work(settings)["error"]
    assert "cannot be opened" in error
    assert "pass" not in error
    assert "word" not in error


def test_it_can_be_stopped_and_leaves_everything_to_others(store: str, endpoint: Server) -> None:
    asked = threading.Event()

    def hang(_: dict[str, Any]) -> Reply:
        asked.set()
        return Reply(delay=60)

    settings = enter(store, endpoint)
    endpoint.respond = hang
    worker = RayWorker()
    stopper = threading.Thread(target=lambda: (asked.wait(), worker.stop()))
    stopper.start()
    assert worker.work(settings)["error"] == ""
    stopper.join()
    with Store(store, existing=True) as opened:
        ((free,),) = opened.read(FREE)
    assert free == 4
    assert worker.work(settings)["error"] == "", "a worker that was told to stop stays stopped"
