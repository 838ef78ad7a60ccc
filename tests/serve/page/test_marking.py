import json
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from paged import HOSTILE, Paged, paged

SAFE = HOSTILE.replace("\x1b", "").replace("\u202e", "")
SITTING = {"annotator": "ada", "size": "3", "seed": "7"}


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


async def mark(pages: Paged, **form: str) -> Any:
    return await pages.post("/audit/mark", SITTING | form, HX_Request="true")


async def test_marks_a_missing_constraint_and_a_note_are_kept(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        shown = await pages.get("/audit/mark?annotator=ada&size=3&seed=7")
        count = shown.text.count('<li class="task')
        for at, word in enumerate(["entailed", "not_entailed", *["vague"] * (count - 2)], start=1):
            shown = await mark(pages, n="1", at=str(at), mark=word)
        assert "Next attempt" in shown.words
        await mark(pages, n="1", at=str(count + 1), missing=" it is positive ")
        await mark(pages, n="1", at=str(count + 1), note="hm")
    last = lines(tmp_path)[-1]
    marks = ["entailed", "not_entailed", *["vague"] * (count - 2)]
    assert [one["mark"] for one in last["constraints"]] == marks
    assert (last["annotator"], last["missing"], last["note"]) == ("ada", ["it is positive"], "hm")
    assert len(lines(tmp_path)) == count + 2  # each mark is on the disk at once


async def test_it_goes_on_where_it_stopped(endpoint: Server, store: str, tmp_path: Path) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        first = await pages.get("/audit/mark?annotator=ada&size=3&seed=7")
        count = first.text.count('<li class="task')
        await mark(pages, n="1", at="1", mark="entailed")
        again = await pages.get("/audit/mark?annotator=ada&size=3&seed=7")
        for at in range(2, count + 1):
            await mark(pages, n="1", at=str(at), mark="vague")
        after = await pages.get("/audit/mark?annotator=ada&size=3&seed=7")
        other = await pages.get("/audit/mark?annotator=ben&size=3&seed=7")
        back = await pages.get("/audit/mark?annotator=ada&size=3&seed=7&n=1&at=1")
    assert "attempt 1 of 3, 0 judged" in again.words
    assert again.text.index('aria-pressed="true"') < again.text.index('aria-current="step"')
    assert "attempt 2 of 3, 1 judged" in after.words
    assert "attempt 1 of 3, 0 judged" in other.words
    assert "Keep it" in back.words


async def test_which_model_it_is_by_is_not_shown(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        shown = await pages.get("/audit/mark?annotator=ada")
    assert "m-1" not in shown.text
    assert ">cfr<" not in shown.text
    assert shown.text.index("<details") < shown.text.index("Gold answer")  # folded


async def test_what_is_missing_can_be_taken_back(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        for text in ("a", "b", "b", "  "):
            shown = await mark(pages, n="2", missing=text)
        assert "a take back b take back" in shown.words
        await mark(pages, n="2", drop="1")
        await mark(pages, n="2", drop="9")
    assert lines(tmp_path)[-1]["missing"] == ["b"]
    assert len(lines(tmp_path)) == 3  # what changes nothing is not written


async def test_without_a_script_a_form_leads_to_the_page(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        form = SITTING | {"n": "1", "at": "1", "mark": "vague"}
        sent = await pages.post("/audit/mark", form)
        shown = await pages.get(sent.headers["Location"])
    assert sent.status == 303
    assert shown.text.startswith("<!doctype html>")
    assert 'aria-pressed="true"' in shown.text


@pytest.mark.parametrize(
    "form",
    [
        {"annotator": "<script>"},
        {"mark": "right"},
        {"n": "99", "mark": "vague"},
        {"n": "0", "mark": "vague"},
        {"at": "99", "mark": "vague"},
        {"size": "many"},
        {"runs": "9"},
        {"method": "nothing"},
    ],
)
async def test_what_makes_no_sense_is_refused(
    endpoint: Server, store: str, tmp_path: Path, form: dict[str, str]
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        shown = await mark(pages, **form)
    assert shown.status in (400, 404)
    assert '<div class="fault"' in shown.text
    labels = tmp_path / "labels.jsonl"
    assert not labels.exists() or labels.read_text() == ""


async def test_marks_come_from_our_own_pages_alone(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        for path in ("/audit/mark", "/audit/errors"):
            form = SITTING | {"n": "1", "at": "1", "mark": "vague", "class": "other"}
            sent = await pages.post(path, form, Sec_Fetch_Site="cross-site")
            assert sent.status == 403
    assert [*tmp_path.iterdir()] == []


async def test_a_file_that_cannot_be_written_is_said(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path / "nowhere") as pages:
        shown = await mark(pages, n="1", at="1", mark="vague")
    assert shown.status == 400
    assert "cannot be written" in shown.words


async def test_an_enemys_constraints_are_shown_and_not_obeyed(
    endpoint: Server, tmp_path: Path
) -> None:
    file = tmp_path / "runs.jsonl"
    spec = {"raw_constraints": [{"id": SAFE, "type": SAFE, "description": SAFE}]}
    row = {
        "benchmark": SAFE,
        "problem": SAFE,
        "problem_text": SAFE,
        "gold": SAFE,
        "run": 0,
        "model": SAFE,
        "method": "cfr",
        "correct": False,
        "details": {"rung": "parsed", "constraints": spec},
    }
    file.write_text(json.dumps(row) + "\n")
    async with paged(endpoint.url, str(file), marks=tmp_path) as pages:
        shown = await pages.get("/audit/mark?annotator=ada")
        marked = await mark(pages, size="50", seed="1", at="1", mark="vague", benchmark=SAFE)
        missing = await mark(pages, size="50", seed="1", missing=HOSTILE)
        audit = await pages.get(f"/audit?annotator={'%3Cscript%3E'}")
    assert [one.status for one in (shown, marked, missing, audit)] == [200] * 4
    assert "<script>document.title" in missing.words
