import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from instructed import request_store
from loopback import Endpoint as Server
from paged import HOSTILE, paged
from paged_store import ITEMS, make_store
from stored import attempt

from constraint_first.store import schema
from constraint_first.store.store import Store

SAFE = HOSTILE.replace("\x1b", "").replace("\u202e", "")


async def test_a_server_without_runs_says_how_to_name_some(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        shown = await pages.get("/runs")
    assert "cfr serve runs.db" in shown.words


async def test_the_only_store_is_opened_at_once(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        assert (await pages.get("/runs")).headers["Location"] == "/runs/1"
        shown = await pages.get("/runs/1")
    assert "Direct CoT direct ConstraintBench-mini m-1 50.0 [29." in shown.words
    assert "attempts 144" in shown.words
    assert "every 2s" not in shown.text  # nothing is running


async def test_several_sources_are_listed(endpoint: Server, store: str, tmp_path: Path) -> None:
    file = tmp_path / "o.jsonl"
    file.write_text("")
    async with paged(endpoint.url, store, str(file), str(tmp_path / "gone.db")) as pages:
        shown = await pages.get("/runs")
        no_store = await pages.get("/runs/2")
        gone = await pages.get("/runs/3")
    assert "series 3 attempts 144" in shown.words
    assert "a file of attempts" in shown.words
    assert "there is no such store" in shown.words
    assert no_store.status == gone.status == 400
    assert "not a store" in no_store.words


async def test_the_table_is_renewed_while_a_run_has_the_store(
    endpoint: Server, tmp_path: Path
) -> None:
    url = make_store(tmp_path / "runs.db", ITEMS[:2], runs=1)
    async with paged(endpoint.url, url) as pages:
        with Store(url) as store, store.exclusively():
            shown = await pages.get("/runs/1?q=direct")
            part = await pages.get("/runs/1/series?q=direct", HX_Request="true")
        after = await pages.get("/runs/1/series?q=direct", HX_Request="true")
    for live in (shown, part):
        assert 'hx-get="/runs/1/series?q=direct" hx-trigger="every 2s"' in live.text
        assert "under way" in live.words
    assert part.text.startswith("<section")
    assert "hx-trigger" not in after.text
    assert "cfr" not in after.words


async def test_why_attempts_failed(endpoint: Server, tmp_path: Path) -> None:
    url = make_store(tmp_path / "runs.db", ITEMS[:2], runs=1)
    with Store(url) as store:
        ended = {"status": "failed", "verdict": None, "tier": None, "answer": None}
        row = attempt(1, 1, 9, **ended, error=f"{SAFE}; wait")
        store.change(lambda c: c.execute(schema.attempts.insert(), row))
    async with paged(endpoint.url, url) as pages:
        shown = await pages.get("/runs/1")
        failed = await pages.get("/runs/1/1?show=failed")
        one = await pages.get(f"/runs/1/1/attempt?problem={ITEMS[0].id}&run=9")
    assert "Why attempts failed" in shown.words
    assert "wait, then run the same 'cfr eval' command again" in shown.words
    assert "run 9: failed" in failed.words
    assert "'cfr eval' makes it again" in one.words


async def test_a_series_is_shown_problem_by_problem(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        every = await pages.get("/runs/1/1")
        wrong = await pages.get("/runs/1/1?show=wrong")
        found = await pages.get(f"/runs/1/1?q={ITEMS[3].id}", HX_Request="true")
        odd = await pages.get("/runs/1/1?show=%3Cscript%3E&at=99")
    assert "24 problems" in every.words
    assert "12 problems" in wrong.words
    assert found.text.startswith('<section id="problems"')
    assert "1 problem " in found.words
    assert "0 / 2" in found.words
    assert "No problem is like that" in odd.words


async def test_long_lists_come_in_pages(endpoint: Server, tmp_path: Path) -> None:
    items = [replace(ITEMS[0], index=n, text=f"{ITEMS[0].text} ({n})") for n in range(120)]
    url = make_store(tmp_path / "runs.db", items, runs=1)
    async with paged(endpoint.url, url) as pages:
        first = await pages.get("/runs/1/1?q=marbles&show=all")
        first = await pages.get("/runs/1/1")
        second = await pages.get("/runs/1/1?show=all&at=50")
        last = await pages.get("/runs/1/1?at=100")
    assert "120 problems, 1 to 50 shown" in first.words
    assert 'href="?show=all&amp;at=50" rel="next"' in first.text
    assert 'href="?show=all&amp;at=0" rel="prev"' in second.text
    assert 'rel="next"' not in last.text


async def test_an_attempt_is_shown_in_full(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        cfr = await pages.get(f"/runs/1/2/attempt?problem={ITEMS[3].id}&run=1")
        direct = await pages.get("/runs/1/1/attempt")
        program = await pages.get("/runs/1/3/attempt?problem=2")
    assert "incorrect: it is not the gold answer" in cfr.words
    assert "1. Stage 1: constraints" in cfr.words
    assert f"C1 {ITEMS[3].constraints[0].kind}" in cfr.words
    assert "120 tokens in, 60 out of at most" in cfr.words
    assert "What was asked: 1 message" in cfr.words
    assert "correct: it is the gold answer" in direct.words
    assert "Reasoning" in direct.words
    assert "Hm." in direct.words
    assert "<math>" in direct.text
    assert "Confidence 0.50" in direct.words
    assert "2. Program" in program.words
    assert "print(" in program.words


async def test_a_chart_gets_its_numbers(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        every = json.loads((await pages.get("/runs/1/growth")).text)
        one = json.loads((await pages.get("/runs/1/growth?series=3")).text)
    assert every["attempts"][-1] == 144
    assert (one["attempts"][-1], one["right"][-1]) == (48, 48)
    assert one["times"] == sorted(one["times"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/2", 404),
        ("/runs/0", 404),
        ("/runs/-1", 404),
        ("/runs/1/99", 400),
        ("/runs/1/1/attempt?problem=nothing", 400),
        ("/runs/1/1/attempt?run=99", 400),
        ("/runs/1/1/attempt?run=-1", 400),
        ("/runs/1/1/attempt?run=99999999999999999999", 400),
        ("/runs/1/1?at=%D9%A3", 400),
        ("/runs/1/growth?series=x", 400),
        ("/runs/..%2f..%2fetc", 404),
        ("/runs/%2fetc%2fpasswd", 404),
        ("/runs/1/..%2f1", 404),
        ("/runs/9999999999999999", 404),
    ],
)
async def test_what_is_not_there_is_refused(
    endpoint: Server, store: str, path: str, status: int
) -> None:
    async with paged(endpoint.url, store) as pages:
        shown = await pages.get(path)
    assert shown.status == status
    assert '<div class="fault"' in shown.text


async def test_an_enemys_store_is_shown_and_not_obeyed(endpoint: Server, tmp_path: Path) -> None:
    items = [replace(ITEMS[0], text=HOSTILE, family=SAFE), replace(ITEMS[1], text=SAFE + "?")]
    name = "<img src=x onerror=alert(1)>.db"
    url = make_store(tmp_path / name, items, runs=1, model=SAFE, text=HOSTILE)
    async with paged(endpoint.url, url) as pages:
        shown = [
            await pages.get(f"/runs/1{rest}")
            for rest in (
                "",
                f"?q={quote(SAFE)}",
                "/1",
                f"/1?q={quote(HOSTILE)}",
                *(f"/{series}/attempt?problem=1" for series in (1, 2, 3)),
                f"/1/attempt?problem={quote(HOSTILE)}",
            )
        ]
    assert [one.status for one in shown] == [200] * 7 + [400]
    assert all("<img src=x" in one.words for one in shown)


async def test_gold_instructions_are_shown_in_words(endpoint: Server, tmp_path: Path) -> None:
    url = request_store(str(tmp_path / "runs.db"), 4, runs=1)
    async with paged(endpoint.url, url) as pages:
        listed = await pages.get("/runs/1/1")
        right = await pages.get("/runs/1/1/attempt?problem=r0&run=0")
        wrong = await pages.get("/runs/1/1/attempt?problem=r3&run=0")
    assert "✓run 0: correct" in listed.words.replace("✓ run", "✓run")
    assert "Gold instructions: The reply does without “,”. The reply has at most 9" in wrong.words
    assert "incorrect: it follows 2 of 3 instructions; broken: The reply has a title" in wrong.words
    assert "correct: it follows 2 of 2 instructions" in right.words
    for page in (listed, right, wrong):
        assert "kwargs" not in page.text
