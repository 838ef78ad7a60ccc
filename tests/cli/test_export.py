import asyncio
import csv
import gzip
import importlib.util
import json
from pathlib import Path

import pytest
from sums import number_in, sums

from cfr.analysis.study.reader import read_file
from cfr.engine.error import Rejected
from cfr.engine.scripted import Scripted
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store
from cfr.problem import Problem
from cfr.protocol import Call, Completion

from .conftest import Run

TEXT = 'Über "5, 6"\nund \\boxed{1}'


def reply(call: Call) -> Completion:
    if number_in(call) == 2:
        raise Rejected("no such thing")
    return Completion(TEXT)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with a right answer, a wrong one and a failure."""
    with Store(str(tmp_path / "runs.db")) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 1, Scripted(reply))
        asyncio.run(run(store, [job], 1))
    return tmp_path


def test_json_lines(cfr: Run, filled: Path) -> None:
    ran = cfr("export", "out.jsonl")
    assert ran.code == 0, ran.err
    assert "3 attempts written to out.jsonl" in ran.err
    rows = [json.loads(line) for line in (filled / "out.jsonl").read_text().splitlines()]
    assert [(r["problem"], r["status"], r["verdict"], r["error"]) for r in rows] == [
        ("p0", "ok", "correct", None),
        ("p1", "ok", "incorrect", None),
        ("p2", "failed", None, "no such thing"),
    ]
    assert rows[0]["text"] == TEXT
    assert rows[0]["decoding"] == {"temperature": 0.7, "top_p": 0.95, "seed": None}


def test_outcomes_alone_are_small_and_enough_to_compare(cfr: Run, filled: Path) -> None:
    assert cfr("export", "out.jsonl.gz", "--outcomes").code == 0
    first = (filled / "out.jsonl.gz").read_bytes()
    assert cfr("export", "out.jsonl.gz", "--outcomes").code == 0
    assert (filled / "out.jsonl.gz").read_bytes() == first
    rows = [json.loads(line) for line in gzip.decompress(first).decode().splitlines()]
    assert [(r["problem"], r["correct"]) for r in rows] == [
        ("p0", True),
        ("p1", False),
        ("p2", None),
    ]
    assert "text" not in rows[0]
    (arm,) = read_file(filled / "out.jsonl.gz").arms
    assert (arm.scores, arm.statuses["failed"]) == ({"p0": (1, 1), "p1": (0, 1)}, 1)
    assert cfr("export", "out.csv", "--outcomes").code == 2


def test_csv(cfr: Run, filled: Path) -> None:
    assert cfr("export", "out.csv").code == 0
    with (filled / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["gold"], r["answer"], r["text"]) for r in rows] == [
        ("1", "1", TEXT),
        ("2", "1", TEXT),
        ("3", "", ""),
    ]


def test_csv_is_safe_to_open_and_the_other_formats_are_exact(cfr: Run, tmp_path: Path) -> None:
    text = "=cmd|' /C calc'!A0 \x1b[2J\r\n\\boxed{-1}"
    asked = (Problem("+1 + 1?", id="@p", answer="-1"),)
    with Store(str(tmp_path / "runs.db")) as store:
        engine = Scripted(lambda _: Completion(text))
        job = prepare(store, Series("-b", "direct", "=m"), asked, 1, engine)
        asyncio.run(run(store, [job], 1))
    assert cfr("export", "out.csv").code == 0
    assert cfr("export", "out.jsonl").code == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    named = ("benchmark", "problem", "problem_text", "model", "gold", "answer", "run", "text")
    safe = "'=cmd|' /C calc'!A0 �[2J\n\\boxed{-1}"
    assert [row[name] for name in named] == [
        *("'-b", "'@p", "'+1 + 1?", "'=m", "-1", "-1", "0"),
        safe,
    ]
    exact = json.loads((tmp_path / "out.jsonl").read_text())
    kept = ["-b", "@p", "+1 + 1?", "=m", "-1", "-1", 0, text]
    assert [exact[name] for name in named] == kept


def test_parquet(cfr: Run, filled: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    assert cfr("export", "out.parquet").code == 0
    table = parquet.read_table(filled / "out.parquet")
    assert table.column("error").to_pylist() == [None, None, "no such thing"]
    assert str(table.schema.field("tier").type) == "string"


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is here")
def test_parquet_without_its_library_says_what_to_install(cfr: Run, filled: Path) -> None:
    ran = cfr("export", "out.parquet")
    assert ran.code == 2
    assert "constraint-first[parquet]" in ran.err
    assert sorted(path.name for path in filled.glob("*out*")) == []


def test_a_store_without_attempts_still_has_its_columns(cfr: Run, tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")):
        pass
    assert cfr("export", "out.csv").code == 0
    header = (tmp_path / "out.csv").read_text().strip()
    assert header.startswith("benchmark,method,label,model,decoding,problem,problem_text,gold,run")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("out.xlsx", "end the name in .jsonl, .jsonl.gz, .csv, .parquet"),
        ("out", "end the name in .jsonl, .jsonl.gz, .csv, .parquet"),
        ("none/such/out.csv", "cannot be written (No such file or directory)"),
        ("runs.db/out.csv", "cannot be written (Not a directory)"),
        ("folder.csv", "a folder, not a file"),
    ],
)
def test_a_file_that_cannot_be_written(path: str, message: str, cfr: Run, filled: Path) -> None:
    (filled / "folder.csv").mkdir()
    ran = cfr("export", path)
    assert ran.code == 2
    assert f"{path}: {message}" in ran.err
    assert not list(filled.glob(".*out*")), "half a file was left behind"
