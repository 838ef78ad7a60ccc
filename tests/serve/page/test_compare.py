import html
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from loopback import Endpoint as Server
from paged import HOSTILE, paged
from paged_store import ITEMS, make_store

import constraint_first.report.canvas as figures
from constraint_first.report.notation import MissingExtra

SAFE = HOSTILE.replace("\x1b", "").replace("\u202e", "")


async def test_two_methods_get_a_verdict_a_plot_and_lists(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        shown = await pages.get("/compare")
    assert "On m-1, CFR (always-on) is better than Direct CoT: +25.0 points" in shown.words
    assert '<svg xmlns="http://www.w3.org/2000/svg" id="forest"' in shown.text
    assert 'data-name="paired"' in shown.text
    assert "Improved: 6 problems" in shown.words
    assert "Degraded: 0 problems" in shown.words
    assert "Direct CoT right in 0 of 2 runs; CFR (always-on) right in 2 of 2 runs" in shown.words


async def test_any_two_can_be_chosen(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        shown = await pages.get("/compare?runs=1&baseline=program&method=direct")
        itself = await pages.get("/compare?baseline=cfr&method=cfr")
        unknown = await pages.get("/compare?method=nothing")
    assert "Direct CoT is worse than Program" in shown.words
    assert "Degraded: 12 problems" in shown.words
    assert '<option value="program" selected>' in shown.text
    assert "one method alone" in itself.words
    assert (unknown.status, "has no method 'nothing'" in unknown.words) == (400, True)


async def test_a_case_shows_both_transcripts_and_leads_to_all_messages(
    endpoint: Server, store: str
) -> None:
    async with paged(endpoint.url, store) as pages:
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
    endpoint: Server, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: str) -> None:
        raise MissingExtra("reports need matplotlib")

    monkeypatch.setattr(figures, "require", missing)
    async with paged(endpoint.url, store) as pages:
        shown = await pages.get("/compare")
    assert shown.status == 200
    assert "<svg" not in shown.text
    assert "is better than" in shown.words


async def test_what_cannot_be_compared_is_said(endpoint: Server, tmp_path: Path) -> None:
    lone = tmp_path / "lone.jsonl"
    row = {"problem": "1", "method": "direct", "run": 0, "correct": True}
    lone.write_text(json.dumps(row) + "\n")
    async with paged(endpoint.url) as none, paged(endpoint.url, str(lone)) as pages:
        nothing = await none.get("/compare")
        one = await pages.get("/compare")
        gone = await pages.get("/compare?runs=7")
        odd = await pages.get("/compare?runs=..%2f1")
    assert "cfr serve runs.db" in nothing.words
    assert "has one method alone" in one.words
    assert (gone.status, odd.status) == (404, 400)


async def test_an_enemys_runs_are_shown_and_not_obeyed(endpoint: Server, tmp_path: Path) -> None:
    file = tmp_path / "<script>.jsonl"
    spec = {"raw_constraints": [{"id": SAFE, "type": SAFE, "description": SAFE}]}
    row = {
        "benchmark": SAFE,
        "problem": SAFE,
        "problem_text": SAFE,
        "gold": SAFE,
        "run": 0,
        "model": SAFE,
        "text": SAFE,
        "input_tokens": 1,
        "output_tokens": 1,
        "details": {"rung": "parsed", "constraints": spec},
    }
    rows = [
        row | {"method": SAFE, "correct": False, "answer": SAFE},
        row | {"method": f"b{SAFE}", "correct": True, "answer": "4"},
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    async with paged(endpoint.url, str(file)) as pages:
        shown = await pages.get("/compare")
        path = html.unescape(re.findall(r'hx-get="(/compare/case[^"]+)"', shown.text)[0])
        case = await pages.get(path)
        odd = await pages.get(f"/compare?method={quote(SAFE)}&model={quote(HOSTILE)}")
    assert (shown.status, case.status, odd.status) == (200, 200, 400)
    assert "<script>document.title" in case.words
