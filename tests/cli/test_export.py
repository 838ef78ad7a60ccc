import asyncio
import csv
import gzip
import importlib.util
import json
from pathlib import Path

import pytest
from intervened import intervened_store
from sums import number_in, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.error import Rejected
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion
from constraint_first.report.reader import read_file
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

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


def test_whole_replies_are_no_outcomes(cfr: Run, tmp_path: Path) -> None:
    intervened_store(str(tmp_path / "runs.db"))
    assert cfr("export", "out.jsonl", "--outcomes").code == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    answers = {row["benchmark"]: row["answer"] for row in rows}
    assert answers == {"requests": None, "sums": "4"}


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


SPEC = json.dumps(
    {
        "raw_constraints": [
            {"id": "C1", "type": "domain", "description": "The answer is an integer."}
        ]
    }
)


def reply_with_constraints(call: Call) -> Completion:
    return Completion(SPEC if call.stage == "stage1" else f"\\boxed{{{number_in(call)}}}")


@pytest.fixture
def extracted(tmp_path: Path) -> Path:
    """A store with Stage 1 of three sums, each in two runs; some answers are wrong."""
    with Store(str(tmp_path / "runs.db")) as store:
        engine = Scripted(reply_with_constraints)
        job = prepare(store, Series("sums", "cfr", "m"), sums(3), 2, engine)
        asyncio.run(run(store, [job], 1))
    return tmp_path


def test_pairs_are_conversations_that_tell_how_many_there_are(cfr: Run, extracted: Path) -> None:
    ran = cfr("export", "pairs.jsonl", "--pairs")
    assert ran.code == 0, ran.err
    assert ran.err.splitlines() == [
        "3 pairs written to pairs.jsonl",
        "3 dropped: the same pair is there already",
        "problems are of sums (3): a model trained on them cannot be measured on these",
    ]
    rows = [json.loads(line) for line in (extracted / "pairs.jsonl").read_text().splitlines()]
    for row in rows:
        assert list(row) == ["messages"]
        assert [list(one) for one in row["messages"]] == [["role", "content"]] * 2
        assert [one["role"] for one in row["messages"]] == ["user", "assistant"]
        assert json.loads(row["messages"][1]["content"]) == json.loads(SPEC)


def test_an_export_gives_the_same_pairs_as_its_store(cfr: Run, extracted: Path) -> None:
    assert cfr("export", "all.jsonl").code == 0
    assert cfr("export", "one.jsonl.gz", "--pairs", "--prompt", "problem").code == 0
    assert cfr("export", "two.jsonl.gz", "all.jsonl", "--pairs", "--prompt", "problem").code == 0
    first = (extracted / "one.jsonl.gz").read_bytes()
    assert first == (extracted / "two.jsonl.gz").read_bytes()
    assert len(gzip.decompress(first).splitlines()) == 3


def test_pairs_of_right_attempts_and_of_what_people_marked(cfr: Run, extracted: Path) -> None:
    label = {
        "annotator": "ada",
        "benchmark": "sums",
        "problem": "p0",
        "method": "cfr",
        "model": "m",
        "run": 0,
        "decoding": {"temperature": 0.7, "top_p": 0.95, "seed": None},
        "constraints": [{"id": "C1", "stage": "raw", "mark": "vague"}],
        "missing": [],
        "names": 2,
    }
    (extracted / "labels.jsonl").write_text(json.dumps(label))
    ran = cfr("export", "pairs.jsonl", "--pairs", "--labels", "labels.jsonl")
    assert "1 dropped: a person marked a constraint as not entailed or vague" in ran.err
    assert "1 of them all were judged by people" in ran.err
    ran = cfr("export", "pairs.jsonl", "--pairs", "--right")
    assert "dropped: the attempt did not end right" in ran.err


def test_pairs_that_cannot_be_had_are_refused_in_a_line(cfr: Run, filled: Path) -> None:
    for arguments, said in (
        (("out.jsonl", "--pairs"), "no attempt has a Stage 1"),
        (("out.csv", "--pairs"), "--pairs are written as .jsonl"),
        (("out.jsonl", "--pairs", "--outcomes"), "one of the two"),
        (("out.jsonl", "--right"), "--right goes with --pairs"),
        (("out.jsonl", "--pairs", "--labels", "none.jsonl"), "none.jsonl"),
    ):
        ran = cfr("export", *arguments)
        assert ran.code == 2
        assert said in ran.err
        assert not (filled / arguments[0]).exists()


def test_the_page_shows_what_pairs_look_like(cfr: Run, tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    (tmp_path / "docs").symlink_to(docs)
    text = (docs / "evaluation.md").read_text(encoding="utf-8")
    block = text.split("### Pairs to train")[1].split("```console\n")[1].split("```")[0]
    typed, *said, head, shown = block.splitlines()
    ran = cfr(*typed.removeprefix("$ cfr ").split())
    assert ran.err.splitlines() == said
    count = int(head.removeprefix("$ head -c ").split()[0])
    assert (tmp_path / "pairs.jsonl").read_text(encoding="utf-8")[:count] == shown
