from __future__ import annotations

import runpy
import sys
from collections import Counter
from pathlib import Path
from typing import cast

import pytest

from constraint_first.benchmark.constraintbench import item as split
from constraint_first.benchmark.constraintbench.item import (
    HARD_SIZE,
    PUBLIC_SIZE,
    SEED,
    SHA256,
    SPLITS,
    TIERS,
    USUAL_LEVELS,
    Split,
    SplitError,
    encode,
    find_item,
    load,
    split_bytes,
)
from constraint_first.benchmark.constraintbench.make import FAMILIES, check_items, generate
from constraint_first.benchmark.registry import load as load_benchmark
from constraint_first.constraint.router import route

OLD: Split = "public@1"


def test_a_release_draws_the_shipped_files_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = "constraint_first.benchmark.constraintbench"
    monkeypatch.delitem(sys.modules, f"{package}.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path)])
    runpy.run_module(package, run_name="__main__")
    printed = capsys.readouterr().out
    sizes: dict[Split, int] = {"public": PUBLIC_SIZE, "hard": HARD_SIZE}
    for name, size in sizes.items():
        assert (tmp_path / f"{name}.jsonl").read_bytes() == split_bytes(name)
        assert f"{name.upper()}_SIZE: Final = {size}\n" in printed
        assert f'"{name}": "{SHA256[name]}",\n' in printed


def test_the_seed_and_the_size_make_the_split() -> None:
    assert encode(generate(SEED, HARD_SIZE, levels=(4,))) == split_bytes("hard")


@pytest.mark.parametrize("name", SHA256)
def test_rows_are_read_and_written_as_they_are(name: Split) -> None:
    assert encode(load(name)) == split_bytes(name)


def test_public_has_every_family_at_every_level_equally_often() -> None:
    items = load("public")
    usual = {family.name for family in FAMILIES.values() if 1 in family.levels}
    assert {item.family for item in items} == usual
    assert {item.level for item in items} == {*USUAL_LEVELS}
    assert len(set(Counter((item.family, item.level) for item in items).values())) == 1
    assert len({item.text for item in items}) == PUBLIC_SIZE


def test_hard_has_its_families_equally_often() -> None:
    items = load("hard")
    assert {item.level for item in items} == {4}
    assert {item.family for item in items} == {
        family.name for family in FAMILIES.values() if 4 in family.levels
    }
    assert len(set(Counter(item.family for item in items).values())) == 1


@pytest.mark.parametrize("name", ["mini", "mini@1"])
def test_mini_has_six_families_of_each_tier(name: Split) -> None:
    items = load(name)
    assert Counter(item.tier for item in items) == dict.fromkeys(TIERS, 6)
    assert Counter(item.level for item in items) == dict.fromkeys(USUAL_LEVELS, 8)
    assert len({item.family for item in items}) == 24
    whole = load("public" if name == "mini" else "public@1")
    assert {item.id for item in items} <= {item.id for item in whole}


@pytest.mark.parametrize("name", SPLITS)
def test_a_split_passes_the_check_and_repeats_no_numbers(name: Split) -> None:
    report = check_items(dict(enumerate(load(name), 1)))
    assert report.faults == ()
    assert report.not_drawn == (len(load(name)) if "@1" in name else 0)
    if not report.not_drawn:
        assert [one.hits for one in report.shortcuts if "near-duplicates" in one.name] == [0, 0]


def test_versions_and_splits_are_benchmarks_of_their_own() -> None:
    old, new = load_benchmark("constraintbench@1"), load_benchmark("constraintbench")
    assert [one.id for one in old.problems] == [item.id for item in load("public@1")]
    assert {one.benchmark for one in old.problems} == {old.name} == {"constraintbench@1"}
    assert not {one.id for one in old.problems} & {one.id for one in new.problems}
    assert len(load_benchmark("constraintbench-mini@1").problems) == 24
    assert len(load_benchmark("constraintbench-hard").problems) == HARD_SIZE


def test_an_item_is_found_in_every_split() -> None:
    for name in SPLITS:
        assert find_item(load(name)[0].id) == load(name)[0]
    assert find_item("nobody-1-1-1") is None


def test_the_old_rows_name_no_version_and_say_nothing_about_pinning() -> None:
    assert {item.version for item in load(OLD)} == {1}
    row = load(OLD)[0].to_json()
    assert "version" not in row
    assert "pins" not in str(row["constraints"])
    assert {item.version for item in load("public")} == {2}


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(SplitError, match="no split is called 'hidden'; there are public, mini"):
        load(cast("Split", "hidden"))


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(split.SHA256, "hard", "0" * 64)
    with pytest.raises(SplitError, match="not the released file"):
        split_bytes("hard")


def test_a_lost_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def elsewhere(_package: str) -> Path:
        return tmp_path

    monkeypatch.setattr(
        "constraint_first.benchmark.constraintbench.item.resources.files", elsewhere
    )
    with pytest.raises(SplitError, match="has lost its"):
        split_bytes("public")


def test_misleading_problems_fire_cues() -> None:
    fired = Counter(item.tier for item in load("public") if route(item.text))
    count = Counter(item.tier for item in load("public"))
    assert fired["misleading"] >= 0.8 * count["misleading"]
