"""Stores of older versions: each opens, resumes without a call, is graded anew and exported."""

import gzip
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_server import CommandServer

HERE = Path(__file__).parent
STORES = sorted(path.name.removesuffix(".db.gz") for path in HERE.glob("*.db.gz"))
EXPECTED = json.loads((HERE / "expected.json").read_text())
RENAMED = ("direct", "cfr-brief", "routed-cfr-brief")
"""What the methods of the older stores are called today."""
NO_MODEL = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")


@pytest.fixture(scope="module")
def commands() -> Iterator[CommandServer]:
    server = CommandServer()
    yield server
    server.close()


def run(commands: CommandServer, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "OPENAI_API_KEY": "none"}
    code, out, err = commands.run(arguments, b"", environment, folder)
    assert code == 0, (out + err).decode()
    return out.decode()


def rows(file: Path) -> list[dict[str, Any]]:
    """The attempts of an export, less what differs from run to run or with the reader."""
    found: list[dict[str, Any]] = []
    for line in file.read_text().splitlines():
        row = json.loads(line)
        calls = {name: stage["calls"] for name, stage in row["stages"].items()}
        noted = sorted(row["details"].keys() - {"checks", "confidence"})
        names = "method label problem run status verdict tier answer".split()
        tokens = [row[f"{kind}_tokens"] for kind in ("input", "output", "shared")]
        found.append(
            {n: row[n] for n in names} | {"noted": noted, "calls": calls, "tokens": tokens}
        )
    return sorted(found, key=lambda row: (row["method"], row["problem"], row["run"]))


def test_nine_stores() -> None:
    assert len(STORES) == 9


@pytest.mark.parametrize("name", STORES)
def test_an_old_store_resumes_without_a_call(
    commands: CommandServer, tmp_path: Path, name: str
) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(gzip.decompress((HERE / f"{name}.db.gz").read_bytes()))
    # The second run is played again from its calls; the first is complete.
    with sqlite3.connect(store) as database:
        database.execute("DELETE FROM attempts WHERE run = 1")
    database.close()
    methods = RENAMED if name != "3d7eb8aa" else ("direct", "cfr", "routed-cfr")
    chosen = [word for method in methods for word in ("--method", method)]
    problems = str(HERE / "problems.jsonl")
    common = ("--runs", "2", "--store", str(store), "--quiet", *NO_MODEL)
    run(commands, tmp_path, "eval", problems, *chosen, *common)
    run(commands, tmp_path, "runs", str(store), "--regrade")
    run(commands, tmp_path, "export", "all.jsonl", str(store))
    assert rows(tmp_path / "all.jsonl") == EXPECTED["3d7eb8aa" if name == "3d7eb8aa" else "older"]


@pytest.mark.parametrize("name", STORES[:1])
def test_the_name_of_a_method_that_changed_its_prompts_is_a_new_series(
    commands: CommandServer, tmp_path: Path, name: str
) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(gzip.decompress((HERE / f"{name}.db.gz").read_bytes()))
    out = run(commands, tmp_path, "runs", str(store), "--json")
    assert [series["method"] for series in json.loads(out)] == [*RENAMED]
