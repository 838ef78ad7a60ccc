import asyncio
import json
from pathlib import Path

from loopback import Endpoint as Server
from paged import HOSTILE, paged
from paged_store import make_store

SAFE = HOSTILE.replace("\x1b", "").replace("\u202e", "")


async def test_before_anything_is_marked(endpoint: Server, store: str, tmp_path: Path) -> None:
    async with paged(endpoint.url) as none, paged(endpoint.url, store, marks=tmp_path) as pages:
        nothing = await none.get("/audit")
        shown = await pages.get("/audit?annotator=ada")
    assert "cfr serve runs.db" in nothing.words
    assert "So far" not in shown.words
    assert 'value="ada"' in shown.text
    assert str(tmp_path / "labels.jsonl") in shown.words
    assert not (tmp_path / "labels.jsonl").exists()


async def test_marks_become_rates_and_agreement(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
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


async def test_two_people_mark_at_the_same_time(
    endpoint: Server, store: str, tmp_path: Path
) -> None:
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        forms = [
            {"annotator": name, "n": "1", "at": str(at), "mark": "vague"}
            for at in (1, 2, 3)
            for name in ("ada", "ben", "cem")
        ]
        await asyncio.gather(
            *(pages.post("/audit/mark", form, HX_Request="true") for form in forms)
        )
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
