import asyncio
import csv
import gzip
import importlib.util
import json
from contextlib import chdir
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from snapshot import Golden
from stored import attempt
from sums import number_in, right, sums

from constraint_first.attempt.drive import Scripted, drive
from constraint_first.cli import root
from constraint_first.cli.runs import show_command as command
from constraint_first.model.error import Rejected
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program, Steps, Usage, execute
from constraint_first.report.comparison import score
from constraint_first.report.reader import open_study, read_file
from constraint_first.run.job import prepare, run
from constraint_first.sandbox.interpreter import shortfall
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import Run, played


def test_the_interval_is_that_of_the_report(cfr: Run, tmp_path: Path) -> None:
    """Runs of a problem that agree are no new observations: the problem is the unit."""
    with Store(str(tmp_path / "runs.db")) as store:
        engine = Scripted(lambda call: right(call) if number_in(call) < 5 else r"\boxed{no}")
        job = prepare(store, Series("sums", "direct", "m"), sums(10), 4, engine)
        asyncio.run(run(store, [job], 4))
    assert "50.0%  20.0% – 80.0%" in cfr("runs").out
    (row,) = json.loads(cfr("runs", "--json").out)
    assert (row["accuracy"], row["interval"]) == (0.5, [0.2, 0.8])
    found = score(*open_study(tmp_path / "runs.db").arms)
    assert found is not None
    assert (found.accuracy, found.interval) == (50.0, (20.0, 80.0))


def test_a_series_that_was_not_judged_has_no_interval(cfr: Run, tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        store.register(Series("sums", "direct", "m"), sums(3))
    (row,) = json.loads(cfr("runs", "--json").out)
    assert (row["accuracy"], row["interval"]) == (None, None)


@pytest.mark.parametrize("named", [["rnus.db"], ["--store", "rnus.db"]])
@pytest.mark.parametrize(
    "command",
    [
        ["runs"],
        ["export", "out.csv"],
        ["compare"],
        ["calibrate"],
        ["audit", "errors"],
        ["audit", "router"],
        ["report"],
    ],
    ids=" ".join,
)
def test_every_command_takes_the_name_of_a_store_in_both_ways(
    command: list[str], named: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A mistyped one is not made, and the way out is told in the same words."""
    monkeypatch.chdir(tmp_path)
    failed = CliRunner().invoke(root, [*command, *named]).exception
    assert isinstance(failed, StoreError)
    assert str(failed).startswith("rnus.db: there is no such store; run 'cfr eval' first")
    assert not (tmp_path / "rnus.db").exists()


COMMANDS = """
runs listed.db
runs listed.db --json
runs listed.db --failures
runs listed.db --failures --json
runs listed.db --regrade --json
runs failed.db --failures
runs failed.db --failures --json
runs empty.db
runs --store empty.db --json
runs rnus.db
runs rnus.db --store runs.db
runs attempts.csv
export out.xlsx
export out
export none/such/out.csv
export runs.db/out.csv
export folder.csv
export out.csv --outcomes
export out.csv --pairs
export out.jsonl --pairs
export out.jsonl --pairs --outcomes
export out.jsonl --pairs --labels none.jsonl
export out.jsonl --right
export out.jsonl empty.db --prompt problem
export empty.csv empty.db
cat empty.csv
merge a.db b.db -o all.db
runs all.db --json
merge b.db c.db --store none.db
merge c.db -o b.db --prefer last
merge c.db -o b.db
program answer.py
program fails.py
program control.py --json
program zero.py --json
program loop.py --time 0.1
program large.py --memory 8
program absent.py
program .
program latin.py
program answer.py --memory 0
""".strip()
PROGRAMS = {
    "answer": b"print(f'{2 // 2}/{4 // 2}')\n",
    "fails": b"print('so far')\nraise ValueError('a\\nb \\x1b[31m')",
    "control": b"print('\\x1b[2J')",
    "zero": b"1 / 0",
    "loop": b"while True: pass",
    "large": b"x = [0] * 10**7",
    "latin": b"\xff",
}


def failing(call: Call) -> Completion:
    if number_in(call) < 3:
        raise Rejected(f"http://h: HTTP 503 (busy \x1b[2J, request {number_in(call)}); wait")
    if number_in(call) == 3:
        raise Rejected("odd")
    return Completion(right(call))


@pytest.mark.slow  # dozens of commands
@pytest.mark.usefixtures("stores", "export_filled", "program_cache")
def test_what_is_typed_and_what_is_said(golden: Golden, cfr: Run, tmp_path: Path) -> None:
    with Store(str(tmp_path / "listed.db")) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 2, Scripted(right))
        asyncio.run(run(store, [job], 1))
        wrong = schema.attempts.update().where(schema.attempts.c.run == 1)
        store.change(lambda c: c.execute(wrong.values(verdict="incorrect")))
    with Store(str(tmp_path / "failed.db")) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(5), 1, Scripted(failing))
        asyncio.run(run(store, [job], 1))
    with Store(str(tmp_path / "empty.db")):
        pass
    (tmp_path / "attempts.csv").touch()
    (tmp_path / "folder.csv").mkdir()
    for name, source in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_bytes(source)
    said, lack = played(cfr, COMMANDS, tmp_path), f"{shortfall()}\n"
    assert said.replace(lack, "" if lack.strip() else lack) == golden("runs.txt")
    assert not {"rnus.db", "none.db"} & {path.name for path in tmp_path.iterdir()}
    assert [path.name for path in tmp_path.glob("*out*")] == [], "half a file was left behind"
    assert cfr("program", "-", stdin=b"print(6 * 7)").out == "42\n"


LONG = "long " * 60


def reply(call: Call) -> Completion:
    text = f"{LONG}\x1b[2J [bold]\n```python\nprint(2)\n```\n" + right(call)
    return Completion(text, usage=Usage(1_200, 34))


@pytest.fixture
def attempt_view_filled(tmp_path: Path) -> Path:
    with Store(str(tmp_path / "runs.db")) as store:
        for method in ("direct", "checked(base=program)"):
            job = prepare(store, Series("sums", method, "\x1bm"), sums(2), 1, Scripted(reply))
            asyncio.run(run(store, [job], 1))
    return tmp_path


def test_an_attempt_is_shown_in_full_and_drives_no_terminal(
    cfr: Run, attempt_view_filled: Path
) -> None:
    ran = cfr("show", "2", "p1", COLUMNS="400")
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.out
    shown = ran.out.splitlines()
    assert shown[0] == "Checked on sums with �m"
    assert shown[1] == "series 2 (checked(base=program)), temperature 0.7, top_p 0.95"
    wanted = [
        "Problem p1, run 0",
        "What is 1 + 1?",
        "Gold answer",
        "Call 1: program",
        f"{LONG}�[2J [bold]",
        "Program 2: program",
        "[output]",
        "Checks",
        "Verdict",
        "answer: 2",
        "correct: it is the gold answer 2 (compared by the exact tier)",
    ]
    places = [shown.index(line) for line in wanted]
    assert places == sorted(places)
    assert shown[shown.index("[source]") + 1] == "print(2)"
    assert "\n1,200 tokens in, 34 out of at most 32,768, finish stop, " in ran.out


def test_at_eighty_columns_no_word_is_split(cfr: Run, attempt_view_filled: Path) -> None:
    wide, narrow = (cfr("show", "2", "p1", COLUMNS=width) for width in ("400", "80"))
    assert max(map(len, wide.out.splitlines())) > 300
    assert max(map(len, narrow.out.splitlines())) <= 80
    assert sorted(narrow.out.split()) == sorted(wide.out.split())


def test_for_programs(cfr: Run, attempt_view_filled: Path) -> None:
    found = json.loads(cfr("show", "direct", "1", "0", "--store", "runs.db", "--json").out)
    assert (found["series"]["method"], found["problem"]["id"], found["run"]) == ("direct", "p0", 0)
    assert [step["stage"] for step in found["steps"]] == ["direct"]
    assert found["steps"][0]["reply"].startswith(f"{LONG}\x1b[2J")
    assert found["verdict"] == "correct"


NOBODY: dict[str, object] = {"verdict": None, "tier": None, "answer": None}


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        ({"verdict": "incorrect"}, "incorrect: it is not the gold answer 1 (compared by the exact"),
        ({"verdict": "undecided"}, "undecided: it may or may not be the gold answer 1"),
        ({"verdict": None}, "not judged: the problem has no gold answer"),
        (
            NOBODY | {"verdict": "incorrect", "status": "truncated"},
            "no answer: a reply was cut off at its token limit\n"
            "incorrect: there is no answer to compare with the gold answer 1",
        ),
        (NOBODY | {"status": "unparsed"}, "no answer: none could be read in the reply"),
        (
            NOBODY | {"status": "failed", "error": "HTTP 503"},
            "failed: HTTP 503\n'cfr eval' makes it again",
        ),
        ({"details": '{"cues": ["range"]}'}, 'Details\n{\n  "cues": [\n    "range"'),
    ],
)
def test_the_verdict_says_why(ended: dict[str, object], said: str, tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with Store(url) as store:
        known = store.register(Series("sums", "direct", "m"), sums(1))
        row = attempt(known.series, known.problems["p0"]) | ended
        store.change(lambda connection: connection.execute(schema.attempts.insert(), row))
    shown = CliRunner().invoke(command, ["1", "p0", "--store", url])
    assert shown.exit_code == 0, shown.output
    assert said in shown.output


def test_an_attempt_that_was_broken_off_says_so(attempt_view_filled: Path) -> None:
    url = str(attempt_view_filled / "runs.db")
    with Store(url) as store:
        store.change(lambda connection: connection.execute(schema.attempts.delete()))
    shown = CliRunner().invoke(command, ["1", "p0", "--store", url]).output
    assert "not finished; 1 calls are stored, and 'cfr eval' goes on with them" in shown


TEXT = 'Über "5, 6"\nund \\boxed{1}'


def export_reply(call: Call) -> Completion:
    if number_in(call) == 2:
        raise Rejected("no such thing")
    return Completion(TEXT)


@pytest.fixture
def export_filled(tmp_path: Path) -> Path:
    """A store with a right answer, a wrong one and a failure."""
    with Store(str(tmp_path / "runs.db")) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 1, Scripted(export_reply))
        asyncio.run(run(store, [job], 1))
    return tmp_path


def test_json_lines(cfr: Run, export_filled: Path) -> None:
    ran = cfr("export", "out.jsonl")
    assert ran.code == 0, ran.err
    assert "3 attempts written to out.jsonl" in ran.err
    rows = [json.loads(line) for line in (export_filled / "out.jsonl").read_text().splitlines()]
    assert [(r["problem"], r["status"], r["verdict"], r["error"]) for r in rows] == [
        ("p0", "ok", "correct", None),
        ("p1", "ok", "incorrect", None),
        ("p2", "failed", None, "no such thing"),
    ]
    assert rows[0]["text"] == TEXT
    assert rows[0]["decoding"] == {"temperature": 0.7, "top_p": 0.95, "seed": None}


def test_outcomes_alone_are_small_and_enough_to_compare(cfr: Run, export_filled: Path) -> None:
    assert cfr("export", "out.jsonl.gz", "--outcomes").code == 0
    first = (export_filled / "out.jsonl.gz").read_bytes()
    assert cfr("export", "out.jsonl.gz", "--outcomes").code == 0
    assert (export_filled / "out.jsonl.gz").read_bytes() == first
    rows = [json.loads(line) for line in gzip.decompress(first).decode().splitlines()]
    assert [(r["problem"], r["correct"]) for r in rows] == [
        ("p0", True),
        ("p1", False),
        ("p2", None),
    ]
    assert "text" not in rows[0]
    (arm,) = read_file(export_filled / "out.jsonl.gz").arms
    assert (arm.scores, arm.statuses["failed"]) == ({"p0": (1, 1), "p1": (0, 1)}, 1)
    assert cfr("export", "out.csv", "--outcomes").code == 2


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


def test_parquet(cfr: Run, export_filled: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    assert cfr("export", "out.parquet").code == 0
    table = parquet.read_table(export_filled / "out.parquet")
    assert table.column("error").to_pylist() == [None, None, "no such thing"]
    assert str(table.schema.field("tier").type) == "string"


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is here")
def test_parquet_without_its_library_says_what_to_install(cfr: Run, export_filled: Path) -> None:
    ran = cfr("export", "out.parquet")
    assert ran.code == 2
    assert "constraint-first[parquet]" in ran.err
    assert sorted(path.name for path in export_filled.glob("*out*")) == []


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


def fill(path: Path, method: str, verdict: str = "correct") -> None:
    with Store(str(path)) as store:
        known = store.register(Series("sums", method, "m"), sums(2))
        rows = [attempt(known.series, n, verdict=verdict) for n in known.problems.values()]
        with store.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    fill(tmp_path / "a.db", "direct")
    fill(tmp_path / "b.db", "cfr")
    fill(tmp_path / "c.db", "cfr", "incorrect")
    return tmp_path


def test_what_was_left_out_is_told_and_is_no_success(cfr: Run, stores: Path) -> None:
    with Store(str(stores / "a.db")) as store, store.database.begin() as connection:
        connection.execute(schema.problems.delete().where(schema.problems.c.name == "p1"))
    ran = cfr("merge", "a.db", "b.db", "-o", "all.db")
    assert ran.code == 5
    assert ran.out == "all.db: 2 series, 2 problems, 3 attempts, 0 calls; 3 added\n"
    assert "1 of a.db: these attempts were left out" in ran.err
    assert ran.err.count("\n") == 1


@dataclass(frozen=True)
class Computes:
    """A method that has a program run, and answers with what it printed."""

    source: str
    label: ClassVar[str] = "Computes"

    def solve(self, problem: Problem) -> Steps[Solution]:
        output = yield from execute(Program(self.source))
        ran: Json = [{"source": self.source, "output": output.text, "error": output.error}]
        return Solution(output.text, f"{self.source}\n{output.text}", details={"programs": ran})


ANYTHING = st.text(st.characters(exclude_categories=()), max_size=40)
HOSTILE = ANYTHING | st.sampled_from(
    ["\0", "\ud83d", "\x1b[2J\x1b]0;title\x07", "=cmd()", "<script>alert(1)</script>", "\u202e$"]
)
READERS = (
    "runs --json",
    "export out.csv",
    "export out.jsonl",
    "report --no-figures --baseline computes",
)


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(HOSTILE, HOSTILE, HOSTILE)
def test_programs_cannot_break_a_store_an_export_or_a_report(
    source: str, text: str, error: str
) -> None:
    async def sandbox(_: Program) -> Output:
        return Output(text, error, 0.5)

    with TemporaryDirectory() as folder, chdir(folder), Store("runs.db") as store:
        problems = tuple(Problem(f"What is {n} + 2?", str(n), "4") for n in range(2))
        series = Series("sums", "computes", "model-a", given=Computes(source))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("constraint_first.attempt.attempt.drive", partial(drive, sandbox=sandbox))
            job = prepare(store, series, problems, 1, Scripted([]))
            asyncio.run(run(store, [job], width=1))
        assert job.tally.failed == 0
        for command in READERS:
            ran = CliRunner().invoke(root, command.split())
            assert ran.exit_code == 0, ran.output
        files = [path for path in Path().rglob("*") if path.suffix in WRITTEN]
        assert {".csv", ".html", ".jsonl"} <= {path.suffix for path in files}
        for written in files:
            said = written.read_text("utf-8")
            assert not {"\0", "\x1b", "\u202e"} & set(said)
            assert written.suffix != ".html" or "<script>alert" not in said


WRITTEN = {".csv", ".html", ".jsonl", ".md", ".tex"}
