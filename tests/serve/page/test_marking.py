"""Marking and its agreement, for several people."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from paged import Paged, paged
from paged_store import make_store

from constraint_first.report.exhibit.marks import MISTAKE_LABELS, read_classes
from constraint_first.report.reader import open_study

SITTING = {"annotator": "ada", "size": "3", "seed": "7"}


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


async def mark(pages: Paged, **form: str) -> Any:
    return await pages.post("/audit/mark", SITTING | form, HX_Request="true")


async def test_each_mark_is_on_the_disk_at_once(tmp_path: Path, pages: Paged) -> None:
    shown = await pages.get("/audit/mark?annotator=ada&size=3&seed=7")
    count = shown.text.count('<li class="task')
    words = ["entailed", "not_entailed", *["vague"] * (count - 2)]
    for at, word in enumerate(words, start=1):
        shown = await mark(pages, n="1", at=str(at), mark=word)
    assert "Next attempt" in shown.words
    await mark(pages, n="1", at=str(count + 1), missing=" it is positive ")
    await mark(pages, n="1", at=str(count + 1), note="hm")
    last = lines(tmp_path)[-1]
    assert [one["mark"] for one in last["constraints"]] == words
    assert (last["annotator"], last["missing"], last["note"]) == ("ada", ["it is positive"], "hm")
    assert len(lines(tmp_path)) == count + 2


async def test_it_goes_on_where_it_stopped(pages: Paged) -> None:
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


async def test_which_model_it_is_by_is_not_shown(pages: Paged) -> None:
    shown = await pages.get("/audit/mark?annotator=ada")
    assert "m-1" not in shown.text
    assert ">cfr<" not in shown.text
    assert shown.text.index("<details") < shown.text.index("Gold answer")  # folded


async def test_what_is_missing_can_be_taken_back(tmp_path: Path, pages: Paged) -> None:
    for text in ("a", "b", "b", "  "):
        shown = await mark(pages, n="2", missing=text)
    assert "a take back b take back" in shown.words
    await mark(pages, n="2", drop="1")
    await mark(pages, n="2", drop="9")
    assert lines(tmp_path)[-1]["missing"] == ["b"]
    assert len(lines(tmp_path)) == 3  # what changes nothing is not written


async def test_without_a_script_a_form_leads_to_the_page(pages: Paged) -> None:
    form = SITTING | {"n": "1", "at": "1", "mark": "vague"}
    sent = await pages.post("/audit/mark", form)
    shown = await pages.get(sent.headers["Location"])
    assert sent.status == 303
    assert shown.text.startswith("<!doctype html>")
    assert 'aria-pressed="true"' in shown.text


async def test_marks_come_from_our_own_pages_alone(tmp_path: Path, pages: Paged) -> None:
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


def classes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "classes.jsonl").read_text().splitlines()]


async def test_classes_land_where_the_other_commands_read_them(
    store: str, tmp_path: Path, pages: Paged
) -> None:
    first = await pages.get("/audit/errors?annotator=ada")
    form = {"annotator": "ada", "n": "1", "class": "arithmetic", "note": " off by one "}
    second = await pages.post("/audit/errors", form, HX_Request="true")
    again = await pages.get("/audit/errors?annotator=ada&n=1")
    same = await pages.post("/audit/errors", form, HX_Request="true")
    plain = await pages.post("/audit/errors", form | {"n": "2"})
    assert "error 1 of 6, 0 classed" in first.words
    assert all(label in first.words for label in MISTAKE_LABELS.values())
    assert "error 2 of 6, 1 classed" in second.words
    assert 'value="off by one"' in again.text
    assert again.text.count('aria-pressed="true"') == 1
    assert same.status == 200
    assert plain.headers["Location"] == ("/audit/errors?annotator=ada&runs=1&size=50&seed=1&n=3")
    one, two = classes(tmp_path)  # what was said before is not written again
    assert (one["class"], one["note"], one["annotator"]) == ("arithmetic", "off by one", "ada")
    assert (one["method"], one["model"]) == ("cfr", "m-1")
    study = open_study(store)
    known = read_classes(tmp_path / "classes.jsonl", study)
    key = (one["benchmark"], one["problem"])
    assert known.find(key, "cfr", "m-1") == "arithmetic"
    assert two["problem"] != one["problem"]


async def test_the_error_is_shown_with_its_reply(pages: Paged) -> None:
    shown = await pages.get("/audit/errors?annotator=ada&baseline=program&method=direct")
    assert "wrong answer" in shown.words
    assert "gold answer" in shown.words
    assert "The reply that gave it" in shown.words
    assert "Let us see" in shown.words
    assert "error 1 of 12" in shown.words


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("errors", {"class": "lazy"}, "is not one of"),
        ("errors", {"class": "other", "n": "99"}, "there are 6 errors"),
        ("errors", {"class": "other", "annotator": "?"}, "a name has"),
        ("errors", {"class": "other", "baseline": "cfr", "method": "cfr"}, "compared with itself"),
        ("errors", {"class": "other", "model": "nothing"}, "has no model"),
        ("mark", {"annotator": "<script>"}, "a name has"),
        ("mark", {"mark": "right"}, "is not one of"),
        ("mark", {"n": "99", "mark": "vague"}, "in the sample"),
        ("mark", {"n": "0", "mark": "vague"}, "is no whole number"),
        ("mark", {"at": "99", "mark": "vague"}, "there is no such constraint"),
        ("mark", {"size": "many"}, "is no whole number"),
        ("mark", {"runs": "9"}, "there is no such store"),
        ("mark", {"method": "nothing"}, "has no"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    pages: Paged, tmp_path: Path, path: str, form: dict[str, str], said: str
) -> None:
    sent = {"annotator": "ada", "n": "1", "size": "3", "seed": "7"} | form
    shown = await pages.post(f"/audit/{path}", sent, HX_Request="true")
    assert (shown.status in (400, 404), said in shown.words) == (True, True), shown.words
    assert '<div class="fault"' in shown.text
    kept = tmp_path / "labels.jsonl"
    assert not kept.exists() or kept.read_text() == ""
    assert not (tmp_path / "classes.jsonl").exists()


async def test_two_methods_that_do_not_differ(endpoint: Server, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    rows = [
        {"problem": "1", "method": name, "run": 0, "correct": True} for name in ("direct", "cfr")
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    async with paged(endpoint.url, str(file), marks=tmp_path) as pages:
        shown = await pages.get("/audit/errors?annotator=ada")
    assert "have no problem that only one of them solves" in shown.words


async def test_before_anything_is_marked(pages: Paged, tmp_path: Path) -> None:
    shown = await pages.get("/audit?annotator=ada")
    assert "So far" not in shown.words
    assert 'value="ada"' in shown.text
    assert str(tmp_path / "labels.jsonl") in shown.words
    assert not (tmp_path / "labels.jsonl").exists()


async def test_marks_become_rates_and_agreement(pages: Paged) -> None:
    for annotator, marks in (("ada", "e" * 9), ("ben", "n" + "e" * 8)):
        for at, mark in enumerate(marks, start=1):
            form = {"annotator": annotator, "n": "1", "at": str(at)}
            word = {"e": "entailed", "n": "not_entailed"}[mark]
            await pages.post("/audit/mark", form | {"mark": word}, HX_Request="true")
        error = {"annotator": annotator, "n": "1", "class": "other"}
        await pages.post("/audit/errors", error)
    shown = await pages.get("/audit")
    assert "ada 1 0 1" in shown.words
    assert "Manual audit of Stage 1 constraints" in shown.words
    assert "ada, ben" in shown.words
    assert "Agreement on error classes" in shown.words
    assert "κ is not defined, both marked every error other" in shown.words


async def test_two_people_mark_at_the_same_time(tmp_path: Path, pages: Paged) -> None:
    forms = [
        {"annotator": name, "n": "1", "at": str(at), "mark": "vague"}
        for at in (1, 2, 3)
        for name in ("ada", "ben", "cem")
    ]
    await asyncio.gather(*(pages.post("/audit/mark", form, HX_Request="true") for form in forms))
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    last = {line["annotator"]: line for line in lines}
    assert {*last} == {"ada", "ben", "cem"}
    for line in last.values():
        assert [one["mark"] for one in line["constraints"]][:3] == ["vague"] * 3


async def test_marks_elsewhere_and_files_that_are_broken(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    other = make_store(tmp_path / "other.db", model="m-2")
    async with paged(endpoint.url, store, other, marks=tmp_path) as pages:
        form = {"annotator": "ada", "n": "1", "at": "1", "mark": "vague", "runs": "2"}
        await pages.post("/audit/mark", form)
        first = await pages.get("/audit?runs=1")
        (tmp_path / "labels.jsonl").write_text("{")
        broken = await pages.get("/audit")
    assert "Marks on attempts that are not in these runs: 1." in first.words
    assert broken.status == 400
    assert "labels.jsonl, line 1" in broken.words
