from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from constraint_first.benchmark.constraintbench import family as split
from constraint_first.benchmark.constraintbench.family import (
    HARD_SIZE,
    PUBLIC_SIZE,
    SHA256,
    SPLITS,
    TIERS,
    USUAL_LEVELS,
    Draft,
    Family,
    Level,
    Split,
    SplitError,
    encode,
    find_item,
    load,
    split_bytes,
)
from constraint_first.benchmark.constraintbench.make import (
    FAMILIES,
    GenerateError,
    check_file,
    check_items,
    choose,
    dataset_files,
    generate,
    release,
)
from constraint_first.benchmark.registry import load as load_benchmark
from constraint_first.constraint.predicate import integer
from constraint_first.constraint.router import route

# --- split


OLD: Split = "public@1"


def test_a_release_draws_the_shipped_files_byte_for_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release(tmp_path)
    printed = capsys.readouterr().out
    sizes: dict[Split, int] = {"public": PUBLIC_SIZE, "hard": HARD_SIZE}
    for name, size in sizes.items():
        assert (tmp_path / f"{name}.jsonl").read_bytes() == split_bytes(name)
        assert f"{name.upper()}_SIZE: Final = {size}\n" in printed
        assert f'"{name}": "{SHA256[name]}",\n' in printed


@pytest.mark.parametrize("name", SHA256)
def test_rows_are_read_and_written_as_they_are(name: Split) -> None:
    assert encode(load(name)) == split_bytes(name)


@pytest.mark.parametrize(("name", "levels"), [("public", USUAL_LEVELS), ("hard", (4,))])
def test_a_split_has_every_family_at_every_level_equally_often(
    name: Split, levels: tuple[Level, ...]
) -> None:
    cells = Counter((item.family, item.level) for item in load(name))
    families = [family for family in FAMILIES.values() if levels[0] in family.levels]
    assert {*cells} == {(family.name, level) for family in families for level in levels}
    assert len({*cells.values()}) == 1


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
        "constraint_first.benchmark.constraintbench.family.resources.files", elsewhere
    )
    with pytest.raises(SplitError, match="has lost its"):
        split_bytes("public")


def test_misleading_problems_fire_cues() -> None:
    fired = Counter(item.tier for item in load("public") if route(item.text))
    count = Counter(item.tier for item in load("public"))
    assert fired["misleading"] >= 0.8 * count["misleading"]


# --- generate


def test_more_problems_begin_with_the_same_ones() -> None:
    assert list(generate(3, 40))[:10] == list(generate(3, 10))


def test_families_and_levels_are_balanced() -> None:
    usual = [family for family in FAMILIES.values() if 1 in family.levels]
    count = 2 * len(USUAL_LEVELS) * len(usual)
    items = list(generate(5, count))
    assert set(Counter(item.level for item in items).values()) == {count // len(USUAL_LEVELS)}
    assert set(Counter((item.family, item.level) for item in items).values()) == {2}
    assert set(Counter(item.tier for item in items[:12]).values()) == {3}


def test_level_4_has_families_of_its_own() -> None:
    items = list(generate(5, 16, levels=(4,)))
    assert {item.level for item in items} == {4}
    (hard,) = choose([items[0].family])
    with pytest.raises(GenerateError, match=f"no problems of level 1 or 2 or 3 in {hard.name}"):
        generate(5, 16, families=[hard])


def twice(rng: Random, level: Level) -> Draft:
    half = rng.randrange(1, 4 + level)
    draft = Draft(2 * half, half=half)
    draft.rule(integer(), "the answer is a whole number")
    draft.wrong("not_an_integer", "0.5")
    return draft


TWICE = Family(
    "twice", "explicit", "twice\n\n- What is twice $<half>$?\n2- Double $<half>$?", twice
)


def test_numbers_come_again_only_where_a_family_has_no_others() -> None:
    texts = [item.text for item in generate(1, 10, families=[TWICE], levels=(2,))]
    assert len(set(texts)) == 10
    assert len({text.split()[-1] for text in texts[:5]}) == 5
    with pytest.raises(GenerateError, match="twice at level 1 has only about 4"):
        list(generate(1, 5, families=[TWICE], levels=(1,)))


def test_only_what_was_asked_for() -> None:
    items = list(generate(1, 6, families=choose(["minute_display"]), levels=(2,)))
    assert {(item.family, item.level) for item in items} == {("minute_display", 2)}
    assert {family.tier for family in choose(tiers=["joint"])} == {"joint"}


@pytest.mark.parametrize("n", [0, -3])
def test_fewer_than_one_is_refused(n: int) -> None:
    with pytest.raises(GenerateError, match="at least 1"):
        generate(1, n)


def test_an_unknown_family_suggests_a_near_one() -> None:
    with pytest.raises(GenerateError, match="did you mean minute_display"):
        choose(["minut_display"])
    with pytest.raises(GenerateError, match="cfr bench show"):
        choose(["zzzz"])


def test_a_family_outside_the_tier_is_refused() -> None:
    with pytest.raises(GenerateError, match="minute_display is in tier joint"):
        choose(["minute_display"], ["joint"])


@pytest.mark.long
def test_ten_thousand_problems_pass_the_check(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(encode(generate(7, 10_000)))
    report = check_file(path)
    assert (report.count, report.faults, report.not_drawn) == (10_000, (), 0)


# --- dataset


CHOSEN: tuple[Split, ...] = ("mini", "hard", "mini@1")


def files() -> dict[str, str]:
    return {str(path): content.decode() for path, content in dataset_files(CHOSEN)}


def front_matter(card: str) -> dict[str, Any]:
    _, head, _ = card.split("---\n", 2)
    pairs = (line.partition(": ") for line in head.splitlines())
    return {name: json.loads(value) for name, _, value in pairs}


def test_the_card_names_every_file_licence_and_column() -> None:
    found = files()
    head = front_matter(found["README.md"])
    assert head["license"] == "apache-2.0"
    places = {
        (config["config_name"], one["split"]): one["path"]
        for config in head["configs"]
        for one in config["data_files"]
    }
    assert places == {
        ("default", "mini"): "data/mini.jsonl",
        ("default", "hard"): "data/hard.jsonl",
        ("version-1", "mini"): "data/mini-version-1.jsonl",
    }
    assert {*places.values(), "README.md"} == {*found}
    for info in head["dataset_info"]:
        names = [one["name"] for one in info["features"]]
        row = json.loads(found["data/mini.jsonl"].splitlines()[0])
        assert names == [*row]


def test_rows_are_the_problems_with_one_type_in_each_field() -> None:
    for name in CHOSEN:
        lines = files()[f"data/{name.replace('@', '-version-')}.jsonl"].splitlines()
        for item, line in zip(load(name), lines, strict=True):
            row = json.loads(line)
            assert (row["id"], row["problem"], row["answer"]) == (item.id, item.text, item.answer)
            assert row["version"] == item.version
            for one, told in zip(item.constraints, row["constraints"], strict=True):
                assert json.loads(told["predicate"]) == one.predicate
                assert told["pins"] == (one.pins if item.version == 2 else None)


def test_the_card_says_how_many_problems_there_are() -> None:
    assert f"| default | `hard` | {len(load('hard'))} |" in files()["README.md"]


def test_datasets_loads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for place, content in dataset_files(CHOSEN):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    loaded = datasets.load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
    assert [row["id"] for row in loaded["mini"]] == [item.id for item in load("mini")]
    assert len(loaded["hard"]) == len(load("hard"))
