import asyncio
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

from constraint_first.attempt.drive import Scripted, drive
from constraint_first.cli import root
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Output, Program, Steps, execute
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import Run


def test_a_program_from_a_file_and_from_standard_input(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("from fractions import Fraction\nprint(Fraction(2, 4))\n")
    ran = cfr("program", "answer.py")
    assert (ran.code, ran.out, ran.err) == (0, "1/2\n", "")
    piped = cfr("program", "-", stdin=b"print(6 * 7)")
    assert (piped.code, piped.out) == (0, "42\n")


def test_one_that_fails_says_why_in_one_line(cfr: Run) -> None:
    ran = cfr("program", "-", stdin=b"print('so far')\nraise ValueError('a\\nb \\x1b[31m')")
    assert ran.code == 1
    assert ran.out == "so far\n"
    assert ran.err == "cfr: ValueError: a b �[31m\n"


def test_for_programs(cfr: Run) -> None:
    ran = cfr("program", "-", "--json", stdin=b"print('\\x1b[2J')")
    assert "\x1b" not in ran.out
    said = json.loads(ran.out)
    assert (said["text"], said["error"]) == ("\x1b[2J\n", "")
    assert said["seconds"] > 0
    failed = cfr("program", "-", "--json", stdin=b"1 / 0")
    assert failed.code == 1
    assert json.loads(failed.out)["error"] == "ZeroDivisionError: division by zero"


def test_its_limits_can_be_set(cfr: Run) -> None:
    slow = cfr("program", "-", "--time", "0.1", stdin=b"while True: pass")
    assert (slow.code, slow.err) == (1, "cfr: TimeoutError: stopped after 0.1 s\n")
    large = cfr("program", "-", "--memory", "8", stdin=b"x = [0] * 10**7")
    assert (large.code, large.err) == (1, "cfr: MemoryError: needs more than 8 MB\n")


def test_what_is_wrong_with_the_input_is_named(cfr: Run, tmp_path: Path) -> None:
    absent, folder = cfr("program", "absent.py"), cfr("program", ".")
    assert (absent.code, folder.code) == (2, 2)
    assert absent.err.startswith("cfr: absent.py: cannot be read")
    assert folder.err.startswith("cfr: .: a folder, not a file")
    assert cfr("program", "-", stdin=b"\xff").code == 2
    assert cfr("program", "-", "--memory", "0").code == 2


def test_a_program_sees_nothing_of_the_host(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("4711")
    for source in ("print(open('secret.txt').read())", "import os\nprint(os.environ['KEY'])"):
        ran = cfr("program", "-", stdin=source.encode(), KEY="4711")
        assert ran.code == 1
        assert "4711" not in ran.out + ran.err


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
