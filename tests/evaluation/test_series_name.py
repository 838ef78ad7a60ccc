"""Stores from before CFR-brief had a name of its own: shown by today's names, and gone on with."""

import asyncio
import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.cli import root
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.report.reader import open_study, read_store
from constraint_first.run.forecast import read_earlier_runs
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.merge import merge
from constraint_first.store.query import (
    SeriesName,
    find_series,
    mean_output,
    read_attempt,
    read_series,
    summaries,
)
from constraint_first.store.series import Series, find_registered
from constraint_first.store.store import Store

BEFORE = {
    "cfr-brief": ("cfr", "CFR (always-on)", "c6eb70f2bd0d9489"),
    "cfr": ("cfr(prompts=paper)", "CFR (always-on)", "555814fa50c0d722"),
    "routed-cfr-brief(reply=json)": ("routed-cfr(reply=json)", "Routed-CFR", "0946a31fae7e98c0"),
    "self-consistency(base=cfr-brief)": (
        "self-consistency(base=cfr)",
        "Self-Consistency",
        "206ea4f2f0f8817f",
    ),
    "direct": ("direct", "Direct CoT", "3941a16d61d0834a"),
}
"""What series of today were called, and how the last version before wrote them into a store."""
LABELS = ["CFR-brief (always-on)", "CFR (always-on)", "Routed-CFR-brief", "Self-Consistency"]
SUMS = sums(2)


def reply(call: Call) -> Completion:
    return Completion(right(call), usage=Usage(10, 20))


def evaluate(store: Store, method: str) -> list[Call]:
    engine = Scripted(reply)
    job = prepare(store, Series("sums", method, "m"), SUMS, 1, engine)
    asyncio.run(run(store, [job], width=2))
    return engine.asked


def rows(store: Store) -> dict[int, tuple[str, str, str]]:
    s = schema.series.c
    found = store.read(sa.select(s.id, s.method, s.label, s.fingerprint).order_by(s.id))
    return {number: (method, label, asked) for number, method, label, asked in found}


def age(store: Store) -> None:
    """Give the series of a store the names that the version before would have entered."""
    before = {number: BEFORE[row[0]] for number, row in rows(store).items()}
    # By way of names that none has: a name may pass from one series to another.
    for numbered in ({n: (str(n), "", "") for n in before}, before):
        for number, (method, label, asked) in numbered.items():
            values = {"method": method, "label": label, "fingerprint": asked}
            change = schema.series.update().where(schema.series.c.id == number).values(values)
            store.change(lambda c, change=change: c.execute(change))


def fill(url: str) -> None:
    with Store(url) as store:
        for method in BEFORE:
            assert evaluate(store, method)
        age(store)


def test_a_store_from_before_shows_todays_names_and_is_not_touched(url: str) -> None:
    fill(url)
    with Store(url, existing=True) as store:
        stored = rows(store)
        assert [row[0] for row in stored.values()] == [row[0] for row in BEFORE.values()]
        found = summaries(store)
        assert [one.series.method for one in found] == list(BEFORE)
        assert [one.series.label for one in found] == [*LABELS, "Direct CoT"]
        study = read_store(store)
        assert [(arm.method, arm.label) for arm in study.arms] == [
            (one.series.method, one.series.label) for one in found
        ]
        key = (*study.arms[0].key, "p0", 0)
        assert study.transcripts([key])[key].answer == "1"
        assert find_series(store, *study.arms[1].key) == 2
        assert read_series(store, 1).label == "CFR-brief (always-on)"
        assert read_attempt(store, SeriesName("cfr"), "p0", 0).series["id"] == 2
        assert read_attempt(store, SeriesName("cfr-brief"), "p0", 0).series["id"] == 1
        used = {one.series.method for one in read_earlier_runs(store, "m").uses}
        assert used == {*BEFORE}
        assert mean_output(store, "cfr-brief", "m")
        assert mean_output(store, "cfr(prompts=paper)", "m") is None
        assert rows(store) == stored


@pytest.mark.parametrize("again", [*BEFORE, "cfr(prompts=paper)", "cfr-brief(prompts=own)"])
def test_a_series_from_before_is_gone_on_with_by_its_name_of_today(again: str, url: str) -> None:
    fill(url)
    with Store(url) as store:
        assert evaluate(store, again) == []
        assert len(rows(store)) == len(BEFORE)
        assert [one.series.method for one in summaries(store)] == list(BEFORE)


def test_a_name_that_passed_to_the_paper_takes_nothing_from_the_variant(url: str) -> None:
    with Store(url) as store:
        evaluate(store, "cfr-brief")
        age(store)
        before = rows(store)
        with store.database.connect() as connection:
            papers = Series("sums", "cfr", "m")
            assert find_registered(connection, url, papers, SUMS) is None
            brief = find_registered(connection, url, Series("sums", "cfr-brief", "m"), SUMS)
        assert brief
        assert (brief.series, rows(store)) == (1, before)
        asked = evaluate(store, "cfr")
        assert "analyst of mathematical constraints" in asked[0].messages[0].content
        assert [row[:2] for row in rows(store).values()] == [
            ("cfr-brief", "CFR-brief (always-on)"),
            ("cfr", "CFR (always-on)"),
        ]
        assert evaluate(store, "cfr") == evaluate(store, "cfr-brief") == []
        assert [one.series.label for one in summaries(store)] == LABELS[:2]


def test_an_old_spelling_that_says_nothing_is_found_too(url: str) -> None:
    with Store(url) as store:
        evaluate(store, "cfr-brief")
        age(store)
        own = schema.series.update().values(method="cfr(prompts=own)")
        store.change(lambda connection: connection.execute(own))
        assert [one.series.method for one in summaries(store)] == ["cfr-brief(prompts=own)"]
        assert evaluate(store, "cfr-brief") == []


def test_stores_from_before_and_of_today_become_one(tmp_path: Path) -> None:
    for name in ("old", "new"):
        with Store(str(tmp_path / f"{name}.db")) as store:
            for method in BEFORE:
                evaluate(store, method)
            if name == "old":
                age(store)
    for target, first, second in (("a", "old", "new"), ("b", "new", "old")):
        with (
            Store(str(tmp_path / f"{first}.db"), existing=True) as one,
            Store(str(tmp_path / f"{second}.db"), existing=True) as other,
        ):
            merged = merge([one, other], str(tmp_path / f"{target}.db"), "first")
        assert (merged.series, merged.attempts) == (len(BEFORE), 2 * len(BEFORE))
        with Store(str(tmp_path / f"{target}.db")) as store:
            assert [one.series.method for one in summaries(store)] == list(BEFORE)
            assert [evaluate(store, method) for method in BEFORE] == [[]] * len(BEFORE)


def cfr(*arguments: str | Path) -> str:
    done = CliRunner().invoke(root, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", "-outcomes.jsonl.gz"])
def test_an_export_says_which_names_it_has(suffix: str, tmp_path: Path) -> None:
    store, path = str(tmp_path / "runs.db"), tmp_path / f"attempts{suffix}"
    fill(store)
    cfr("export", path, store, *(["--outcomes"] if "outcomes" in suffix else []))
    study = open_study(path)
    assert [arm.method for arm in study.arms] == list(BEFORE)
    assert [arm.label for arm in study.arms] == [*LABELS, "Direct CoT"]
    assert "CFR-brief" in cfr("compare", path)


def test_an_export_from_before_keeps_its_meaning(tmp_path: Path) -> None:
    path = tmp_path / "before.jsonl"
    lines = [
        {"problem": "p", "method": method, "label": label, "run": 0, "correct": True}
        for method, label, _ in BEFORE.values()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [arm.method for arm in open_study(path).arms] == list(BEFORE)
    # A file of somebody else's says what it says today.
    path.write_text('{"problem": "p", "method": "routed-cfr", "run": 0, "correct": true}\n')
    (arm,) = open_study(path).arms
    assert (arm.method, arm.label) == ("routed-cfr", "Routed-CFR")
