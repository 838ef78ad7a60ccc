"""ConstraintBench in the layout of a Hugging Face dataset: a card and files of JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from constraint_first.benchmark.constraintbench.item import VERSION, Item
from constraint_first.benchmark.constraintbench.split import Split, load
from constraint_first.problem import Json

__all__ = ["dataset_files"]

_TEXT: Final = {"dtype": "string"}
_FEATURES: Final[dict[str, dict[str, Json]]] = {
    **{name: {**_TEXT} for name in ("id", "problem", "answer", "source", "form", "tier")},
    "kinds": {"sequence": "string"},
    "level": {"dtype": "int64"},
    "family": {"dtype": "string"},
    "seed": {"dtype": "int64"},
    "index": {"dtype": "int64"},
    "constraints": {
        "list": [
            *({"name": name, **_TEXT} for name in ("kind", "description", "predicate", "span")),
            {"name": "pins", "dtype": "bool"},
        ]
    },
    "tempting": {"list": [{"name": name, **_TEXT} for name in ("answer", "error")]},
    "version": {"dtype": "int64"},
}
"""The columns, as a dataset's card declares them."""

_BODY: Final = """
# ConstraintBench

Problems whose mathematics is modest and whose difficulty is what they demand of the answer: a
remainder, a whole number, a range, m + n instead of m/n, a cue that misleads, several conditions
that must hold together. Every answer was computed in two independent ways.

| config | split | problems |
| --- | --- | --: |
{splits}

```python
from datasets import load_dataset

problems = load_dataset("FOLDER", split="public")
```

Every row has the problem's text, its answer, and the gold constraints on that answer: kind,
description, `predicate` (JSON in a text, because its fields differ from one predicate to the next),
the `span` of the text that states it (null where it is implied), and whether it `pins` the answer
(null where that was not recorded, in version 1). A constraint that pins contains the answer: never
hand it to a solver. `tempting` lists wrong answers that a hurried solver may give, each with the
error that it would show. `id` is family, level, seed and index, from which the generator of the
package `constraint-first` draws the problem again (`cfr bench check`).

The problems are under Apache-2.0. All texts were written for this benchmark. To keep measurements
honest, do not train on `public`, `mini` or `hard`: any number of other problems can be drawn.
"""


def dataset_files(splits: Sequence[Split]) -> Iterator[tuple[Path, bytes]]:
    """Give the files of a dataset that holds these splits, by their places in its folder."""
    loaded: dict[Split, Sequence[Item]] = {split: load(split) for split in splits}
    yield Path("README.md"), _card(loaded).encode()
    for split, items in loaded.items():
        lines = (json.dumps(_row(item), ensure_ascii=False) for item in items)
        yield Path(_place(split)), "".join(f"{line}\n" for line in lines).encode()


def _row(item: Item) -> dict[str, Json]:
    """Give a row whose fields have one type each, in all rows and versions."""
    constraints: list[Json] = [
        {
            "kind": gold.kind,
            "description": gold.description,
            "predicate": json.dumps(dict(gold.predicate), ensure_ascii=False),
            "span": gold.span,
            "pins": gold.pins if item.version == VERSION else None,
        }
        for gold in item.constraints
    ]
    row = item.to_json()
    row["constraints"], row["version"] = constraints, item.version
    return row


def _card(loaded: dict[Split, Sequence[Item]]) -> str:
    configs: dict[str, list[Split]] = {}
    for split in loaded:
        configs.setdefault(_config(split), []).append(split)
    features: list[Json] = [{"name": name, **kind} for name, kind in _FEATURES.items()]
    head: dict[str, Json] = {
        "pretty_name": "ConstraintBench",
        "license": "apache-2.0",
        "language": ["en"],
        "task_categories": ["question-answering"],
        "tags": ["mathematics", "constraints", "reasoning"],
        "size_categories": ["n<1K" if sum(map(len, loaded.values())) < 1000 else "1K<n<10K"],
        "configs": [
            {
                "config_name": config,
                "data_files": [{"split": _kind(one), "path": _place(one)} for one in members],
            }
            for config, members in configs.items()
        ],
        "dataset_info": [{"config_name": name, "features": features} for name in configs],
    }
    # JSON is YAML, so that each line below is what a reader of YAML expects.
    lines = (f"{name}: {json.dumps(value)}" for name, value in head.items())
    table = (f"| {_config(one)} | `{_kind(one)}` | {len(own)} |" for one, own in loaded.items())
    front = "---\n" + "\n".join(lines) + "\n---\n"
    return front + _BODY.replace("{splits}", "\n".join(table))


def _kind(split: Split) -> str:
    return split.partition("@")[0]


def _config(split: Split) -> str:
    return "version-1" if "@" in split else "default"


def _place(split: Split) -> str:
    return f"data/{split.replace('@', '-version-')}.jsonl"
