import json
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from paged import HOSTILE, paged

from constraint_first.report.exhibit.marks import MISTAKE_LABELS, read_classes
from constraint_first.report.reader import open_study

SAFE = HOSTILE.replace("\x1b", "").replace("\u202e", "")


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "classes.jsonl").read_text().splitlines()]


async def test_classes_land_where_the_other_commands_read_them(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
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
    one, two = lines(tmp_path)  # what was said before is not written again
    assert (one["class"], one["note"], one["annotator"]) == ("arithmetic", "off by one", "ada")
    assert (one["method"], one["model"]) == ("cfr", "m-1")
    study = open_study(store)
    known = read_classes(tmp_path / "classes.jsonl", study)
    key = (one["benchmark"], one["problem"])
    assert known.find(key, "cfr", "m-1") == "arithmetic"
    assert two["problem"] != one["problem"]


async def test_the_error_is_shown_with_its_reply(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        shown = await pages.get("/audit/errors?annotator=ada&baseline=program&method=direct")
    assert "wrong answer" in shown.words
    assert "gold answer" in shown.words
    assert "The reply that gave it" in shown.words
    assert "Let us see" in shown.words
    assert "error 1 of 12" in shown.words


async def test_when_all_is_classed(endpoint: Server, store: str, tmp_path: Path) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        for n in range(1, 7):
            form = {"annotator": "ada", "n": str(n), "class": "other"}
            await pages.post("/audit/errors", form, HX_Request="true")
        shown = await pages.get("/audit/errors?annotator=ada")
    assert "6 classed" in shown.words
    assert "All is classed" in shown.words


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"class": "lazy"}, "is not one of"),
        ({"class": "other", "n": "99"}, "there are 6 errors"),
        ({"class": "other", "annotator": "?"}, "a name has"),
        ({"class": "other", "baseline": "cfr", "method": "cfr"}, "compared with itself"),
        ({"class": "other", "model": "nothing"}, "has no model"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    endpoint: Server, store: str, tmp_path: Path, form: dict[str, str], said: str
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        sent = {"annotator": "ada", "n": "1"} | form
        shown = await pages.post("/audit/errors", sent, HX_Request="true")
    assert (shown.status, said in shown.words) == (400, True)
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


async def test_an_enemys_answers_are_shown_and_not_obeyed(endpoint: Server, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    row = {
        "benchmark": SAFE,
        "problem": SAFE,
        "problem_text": SAFE,
        "gold": SAFE,
        "run": 0,
        "model": SAFE,
        "text": SAFE,
    }
    rows = [
        row | {"method": "direct", "correct": False, "answer": SAFE},
        row | {"method": f"b{SAFE}", "correct": True, "answer": "4"},
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    async with paged(endpoint.url, str(file), marks=tmp_path) as pages:
        shown = await pages.get("/audit/errors?annotator=ada")
        form = {"annotator": "ada", "class": "other", "note": HOSTILE}
        classed = await pages.post("/audit/errors", form, HX_Request="true")
        audit = await pages.get("/audit")
    assert (shown.status, classed.status, audit.status) == (200, 200, 200)
    assert "<script>document.title" in classed.words
