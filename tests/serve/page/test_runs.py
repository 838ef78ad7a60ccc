"""Stored runs and comparisons."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from instructed import request_store
from loopback import Endpoint as Server
from paged import HOSTILE, Paged, paged
from paged_store import ITEMS, make_store
from stored import attempt

import constraint_first.report.canvas as figures
from constraint_first.report.table import MissingExtra
from constraint_first.serve.page.runs import view_store
from constraint_first.serve.page.site import RunLibrary, RunSource
from constraint_first.store import database as schema
from constraint_first.store.store import Store

FEW = ITEMS[:2]


def test_a_password_is_not_shown() -> None:
    source = RunSource(1, "postgresql://me:secret@host/db")
    assert "secret" not in source.name


def test_a_study_is_read_again_when_its_store_has_changed(tmp_path: Path) -> None:
    url = make_store(tmp_path / "runs.db", FEW, runs=1)
    library = RunLibrary([url])
    first = library.study(1)
    assert library.study(1) is first
    with Store(url) as store:
        row = attempt(1, 1, 7)
        store.change(lambda c: c.execute(schema.attempts.insert(), row))
    second = library.study(1)
    assert second is not first
    assert len(list(second.all_attempts())) == len(list(first.all_attempts())) + 1


def test_a_database_on_a_server_has_a_stamp_too(postgres: str) -> None:
    with Store(postgres) as store:
        source = RunSource(1, postgres)
        before = source.stamp()
        assert source.is_store
        assert before == source.stamp()
        schema.METADATA.drop_all(store.database)


def test_words_choose_series(store: str) -> None:
    source = RunSource(1, store)

    def found(words: str) -> list[str]:
        return [line.summary.series.method for line in view_store(source, words).shown]

    assert found("") == ["direct", "cfr", "program"]
    assert found("always-ON") == ["cfr"]
    assert found("mini cot") == ["direct"]
    assert found("3") == ["program"]
    assert found("nothing like it") == []


SAFE = HOSTILE.replace("\x1b", "").replace("\u202e", "")


@pytest.mark.parametrize("path", ["/runs", "/compare", "/audit", "/report"])
async def test_a_server_without_runs_says_how_to_name_some(bare: Paged, path: str) -> None:
    assert "cfr serve runs.db" in (await bare.get(path)).words


async def test_the_only_store_is_opened_at_once(pages: Paged) -> None:
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


async def test_a_series_is_shown_problem_by_problem(pages: Paged) -> None:
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


async def test_an_attempt_is_shown_in_full(pages: Paged) -> None:
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


async def test_a_chart_gets_its_numbers(pages: Paged) -> None:
    every = json.loads((await pages.get("/runs/1/growth")).text)
    one = json.loads((await pages.get("/runs/1/growth?series=3")).text)
    assert every["attempts"][-1] == 144
    assert (one["attempts"][-1], one["right"][-1]) == (48, 48)
    assert one["times"] == sorted(one["times"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/benchmark/nothing", 404),
        ("/benchmark/..%2f..%2fetc%2fpasswd", 404),
        (f"/benchmark/{quote(HOSTILE, safe='')}", 404),
        ("/benchmark?at=-1", 400),
        (f"/benchmark?at={quote(HOSTILE)}", 400),
        ("/benchmark?at=99999999999999999999", 400),
        ("/report/1/view", 404),
        ("/report/x/view", 404),
        ("/report?runs=9", 404),
        ("/report?runs=%3Cscript%3E", 400),
        ("/report/99999999999999999999/view", 404),
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
async def test_what_is_not_there_is_refused(path: str, status: int, pages: Paged) -> None:
    shown = await pages.get(path)
    assert shown.status == status
    assert '<div class="fault"' in shown.text


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


async def test_two_methods_get_a_verdict_a_plot_and_lists(pages: Paged) -> None:
    shown = await pages.get("/compare")
    assert "On m-1, CFR (always-on) is better than Direct CoT: +25.0 points" in shown.words
    assert '<svg xmlns="http://www.w3.org/2000/svg" id="forest"' in shown.text
    assert 'data-name="paired"' in shown.text
    assert "Improved: 6 problems" in shown.words
    assert "Degraded: 0 problems" in shown.words
    assert "Direct CoT right in 0 of 2 runs; CFR (always-on) right in 2 of 2 runs" in shown.words


async def test_any_two_can_be_chosen(pages: Paged) -> None:
    shown = await pages.get("/compare?runs=1&baseline=program&method=direct")
    itself = await pages.get("/compare?baseline=cfr&method=cfr")
    unknown = await pages.get("/compare?method=nothing")
    assert "Direct CoT is worse than Program" in shown.words
    assert "Degraded: 12 problems" in shown.words
    assert '<option value="program" selected>' in shown.text
    assert "one method alone" in itself.words
    assert (unknown.status, "has no method 'nothing'" in unknown.words) == (400, True)


async def test_a_case_shows_both_transcripts_and_leads_to_all_messages(pages: Paged) -> None:
    shown = await pages.get("/compare?baseline=direct&method=cfr")
    path = html.unescape(re.findall(r'hx-get="(/compare/case[^"]+)"', shown.text)[0])
    case = await pages.get(path, HX_Request="true")
    links = [html.unescape(link) for link in re.findall('href="(/runs[^"]+)"', case.text)]
    attempts = [await pages.get(link) for link in links]
    missing = await pages.get(path + "x", HX_Request="true")
    assert case.text.count('<div class="side">') == 2
    assert "Constraints that Stage 1 stated" in case.words
    assert "Gold answer:" in case.words
    assert [one.status for one in attempts] == [200, 200]
    assert "incorrect" in attempts[0].words
    assert "correct: it is the gold answer" in attempts[1].words
    assert missing.status == 404


async def test_several_sources_and_models_can_be_chosen(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    other = make_store(tmp_path / "other.db", ITEMS[:8], runs=1, model="m-2")
    async with paged(endpoint.url, store, other) as pages:
        first = await pages.get("/compare")
        second = await pages.get("/compare?runs=2")
        both = await pages.get("/compare?runs=0&model=m-2&benchmark=constraintbench-mini")
        path = html.unescape(re.findall(r'hx-get="(/compare/case[^"]+)"', both.text)[0])
        case = await pages.get(path)
    assert "On m-1, CFR" in first.words
    assert "8 problems of ConstraintBench-mini" in second.words
    assert "all together" in both.words
    assert "On m-2" in both.words
    assert case.status == 200
    assert "/runs/" not in case.text  # which store it is in is not known


async def test_without_matplotlib_the_table_says_the_same(
    monkeypatch: pytest.MonkeyPatch, pages: Paged
) -> None:
    def missing(*_: str) -> None:
        raise MissingExtra("reports need matplotlib")

    monkeypatch.setattr(figures, "require", missing)
    shown = await pages.get("/compare")
    assert shown.status == 200
    assert "<svg" not in shown.text
    assert "is better than" in shown.words


async def test_what_cannot_be_compared_is_said(endpoint: Server, tmp_path: Path) -> None:
    lone = tmp_path / "lone.jsonl"
    row = {"problem": "1", "method": "direct", "run": 0, "correct": True}
    lone.write_text(json.dumps(row) + "\n")
    async with paged(endpoint.url, str(lone)) as pages:
        one = await pages.get("/compare")
        gone = await pages.get("/compare?runs=7")
        odd = await pages.get("/compare?runs=..%2f1")
    assert "has one method alone" in one.words
    assert (gone.status, odd.status) == (404, 400)
