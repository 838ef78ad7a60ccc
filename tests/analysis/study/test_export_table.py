import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from stored import attempt

from constraint_first.cli.runs import export_command as command
from constraint_first.error import InputError
from constraint_first.problem import Problem
from constraint_first.report.reader import outcome_lines, read_file, read_store
from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

EXPORTS = (".jsonl", ".jsonl.gz", ".csv", ".parquet")
HOSTILE = ("=cmd|x", "'=cmd|x", "''-x", "@p", "-1", "'", 'say "hi", twice\nor more', "ü")


def needs_pyarrow(kind: str) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of attempts whose names and texts a spreadsheet would take for formulas."""
    url = str(tmp_path / "runs.db")
    problems = [Problem(f"{text} {n}", id=text, answer=text) for n, text in enumerate(HOSTILE)]
    details = {"routed": True, "cues": ["=x"], "rung": "fallback"}
    with Store(url) as opened:
        known = opened.register(Series("=b", "direct", "'=m"), problems)
        rows = [
            attempt(known.series, number, run, answer=name, text=name, seconds=0.1 * run)
            | {"details": json.dumps(details), "verdict": "correct" if run else "incorrect"}
            for name, number in known.problems.items()
            for run in range(2)
        ]
        failed = {"status": "failed", "verdict": None, "tier": None, "answer": None, "text": ""}
        rows[-1] |= failed | {"error": "-busy"}
        rows[-3] |= {"text": "x" * 200_000}  # longer than Python's limit for a cell
        with opened.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)
    return url


@pytest.mark.parametrize("kind", EXPORTS)
def test_every_export_is_read_back_as_the_store_was(kind: str, store: str, tmp_path: Path) -> None:
    needs_pyarrow(kind)
    path = tmp_path / f"out{kind}"
    done = CliRunner().invoke(command, [str(path), "--store", store])
    assert done.exit_code == 0, done.output
    with Store(store, existing=True) as opened:
        stored, found = read_store(opened), read_file(path)
        assert [vars(arm) for arm in found.arms] == [vars(arm) for arm in stored.arms]
        assert found.problems == stored.problems
        keys = [(*stored.arms[0].key, name, run) for name in HOSTILE for run in range(2)]
        assert found.transcripts(keys) == stored.transcripts(keys)


def test_outcomes_of_anyone_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("Problem,method,run,correct\n1,A,0,True\n1,A,1,0\n\n1,B,0,\n")
    rows = [row for _, row in outcome_lines(path)]
    assert [(r["method"], r["run"], r["verdict"], r["status"]) for r in rows] == [
        ("A", 0, "correct", "ok"),
        ("A", 1, "incorrect", "ok"),
        ("B", 0, None, "failed"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("problem,method,run,correct\n1,A,0,maybe\n", "line 2: .*'correct'"),
        ("problem,method,run,correct\n1,A,first,1\n", "line 2: .*'run'"),
        ("problem,method\n1\n", "line 2: has 1 cells where the header has 2"),
        ("problem,correct\n1,1\n", "line 2: .*'method'"),
        ('problem,method\n"1,A\n', "line 2: not CSV"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"o\.csv, {said}"):
        list(outcome_lines(path))
