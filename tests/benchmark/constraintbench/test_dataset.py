from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from constraint_first.benchmark.constraintbench.item import Split, load
from constraint_first.benchmark.constraintbench.make import dataset_files

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
    for split in CHOSEN:
        lines = files()[f"data/{split.replace('@', '-version-')}.jsonl"].splitlines()
        for item, line in zip(load(split), lines, strict=True):
            row = json.loads(line)
            assert (row["id"], row["problem"], row["answer"]) == (item.id, item.text, item.answer)
            assert row["version"] == item.version
            for gold, told in zip(item.constraints, row["constraints"], strict=True):
                assert json.loads(told["predicate"]) == gold.predicate
                assert told["pins"] == (gold.pins if item.version == 2 else None)


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
