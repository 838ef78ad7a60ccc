"""Every page, driven by a real browser, on ``cfr serve`` with a real model and a real store."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from browsing import Browsed, browser, looking, needs_browser

from constraint_first.model.error import ModelFileError
from constraint_first.model.local import find_model, pull
from constraint_first.store.query import summaries
from constraint_first.store.store import Store

pytestmark = [needs_browser, pytest.mark.long]

MODEL = "smollm2-135m-instruct"
PRIMES = "How many positive integers less than 20 are prime?"
CUED = "Find the remainder when 100 is divided by 7."


@pytest.fixture
def smallest() -> Path:
    try:
        return pull(find_model(MODEL))
    except ModelFileError as error:
        pytest.skip(f"the smallest model cannot be had here: {error}")


def evaluate(store: Path, model: Path) -> None:
    """Fill a store with what the model really says; Stage 1 finds something to mark here."""
    asked = store.with_name("primes.jsonl")
    asked.write_text(json.dumps({"id": "primes", "problem": PRIMES, "answer": "8"}))
    command = [sys.executable, "-m", "constraint_first", "eval", str(asked), "--store", str(store)]
    command += ["--method", "direct", "--method", "cfr", "--runs", "1", "--temperature", "0"]
    command += ["--model", str(model), "--context", "2048", "--max-tokens", "200"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@asynccontextmanager
async def serving(model: Path, store: Path, kept: Path) -> AsyncGenerator[str]:
    """Start ``cfr serve`` as a person would, and stop it as one would."""
    options = ("--port", "0", "--model", str(model), "--context", "2048", "--max-tokens", "48")
    started = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "constraint_first",
            "serve",
            str(store),
            *options,
            "--store",
            str(kept),
        ),
        cwd=store.parent,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"NO_COLOR": "1"},
    )
    assert started.stderr
    try:
        said = ""
        while not (found := re.search(r"(http://127\.0\.0\.1:\d+)/v1", said)):
            line = (await started.stderr.readline()).decode()
            assert line, said
            said += line
        yield found[1]
        started.send_signal(signal.SIGTERM)
        assert await started.wait() == 0
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


async def solve(at: Browsed) -> None:
    """Ask a problem in two ways, and see both replies come word by word."""
    page = at.page
    await page.get_by_label("Problem").fill(CUED)
    await page.wait_for_selector("mark.cue-1")
    await page.keyboard.press("Control+Enter")
    await page.wait_for_selector(".raw")  # words are there before the reply is whole
    for side in ("#left", "#right"):
        await page.wait_for_selector(f"{side} .final")
    await at.check()


async def read_runs(at: Browsed) -> None:
    page = at.page
    await page.get_by_role("link", name="Runs", exact=True).click()
    await page.get_by_role("link", name="real.db").first.click()
    await page.get_by_role("link", name="CFR").first.click()
    await page.locator("a.run").first.click()
    await page.wait_for_selector(".step")
    assert "What was asked" in await page.inner_text("main")
    await at.check()


async def mark(at: Browsed) -> None:
    """Judge every constraint of one attempt with a key."""
    page = at.page
    await page.get_by_role("link", name="Audit", exact=True).click()
    await page.locator("#annotator").fill("ada")
    await page.locator("#size").fill("1")
    await page.get_by_role("button", name="Mark constraints").click()
    await page.wait_for_selector(".task")
    for _ in range(await page.locator(".task").count()):
        await page.keyboard.press("e")
    await page.get_by_text("attempt 1 of 1, 1 judged").wait_for()
    await at.check()


async def browse(at: Browsed) -> None:
    """Open a problem of the benchmark, and take it to the playground."""
    page = at.page
    await page.get_by_role("link", name="Benchmark", exact=True).click()
    await page.locator("main .card a").first.click()
    await page.get_by_role("link", name="Try it").click()
    assert len(await page.input_value("#problem")) > 20
    await at.check()


async def report(at: Browsed) -> None:
    """Make the report, and read it."""
    page = at.page
    await page.get_by_role("link", name="Report", exact=True).click()
    await page.get_by_role("button", name="Make the report").click()
    await page.get_by_role("link", name="Open it").click()
    assert MODEL in (await page.inner_text("body")).lower()


@pytest.mark.long
async def test_every_page(smallest: Path, tmp_path: Path) -> None:
    store, kept = tmp_path / "real.db", tmp_path / "served.db"
    evaluate(store, smallest)
    async with (
        serving(smallest, store, kept) as root,
        browser() as started,
        looking(started, f"{root}/?left=cfr&right=direct") as at,
    ):
        await solve(at)
        await read_runs(at)
        await at.page.get_by_role("link", name="Compare", exact=True).click()
        assert "better" in await at.page.inner_text(".verdict")
        await mark(at)
        await browse(at)
        await report(at)
    label = json.loads((tmp_path / "labels.jsonl").read_text().splitlines()[-1])
    assert label["annotator"] == "ada"
    with Store(str(kept)) as served:
        assert {one.series.label for one in summaries(served)} == {"CFR (always-on)", "Direct CoT"}
