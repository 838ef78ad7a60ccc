import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from stored import attempt
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.cli.runs import show_command as command
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import Run

LONG = "long " * 60


def reply(call: Call) -> Completion:
    text = f"{LONG}\x1b[2J [bold]\n```python\nprint(2)\n```\n" + right(call)
    return Completion(text, usage=Usage(1_200, 34))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with Store(str(tmp_path / "runs.db")) as store:
        for method in ("direct", "checked(base=program)"):
            job = prepare(store, Series("sums", method, "\x1bm"), sums(2), 1, Scripted(reply))
            asyncio.run(run(store, [job], 1))
    return tmp_path


def test_an_attempt_is_shown_in_full_and_drives_no_terminal(cfr: Run, filled: Path) -> None:
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


def test_at_eighty_columns_no_word_is_split(cfr: Run, filled: Path) -> None:
    wide, narrow = (cfr("show", "2", "p1", COLUMNS=width) for width in ("400", "80"))
    assert max(map(len, wide.out.splitlines())) > 300
    assert max(map(len, narrow.out.splitlines())) <= 80
    assert sorted(narrow.out.split()) == sorted(wide.out.split())


def test_for_programs(cfr: Run, filled: Path) -> None:
    found = json.loads(cfr("show", "direct", "1", "0", "--store", "runs.db", "--json").out)
    assert (found["series"]["method"], found["problem"]["id"], found["run"]) == ("direct", "p0", 0)
    assert [step["stage"] for step in found["steps"]] == ["direct"]
    assert found["steps"][0]["reply"].startswith(f"{LONG}\x1b[2J")
    assert found["verdict"] == "correct"


def test_what_is_not_there_is_one_line(cfr: Run, filled: Path) -> None:
    ran = cfr("show", "direkt", "1")
    assert ran.code == 2
    assert ran.err == (
        "cfr: runs.db: has no series 'direkt' ('cfr runs' lists them); did you mean 'direct'?\n"
    )


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


def test_an_attempt_that_was_broken_off_says_so(filled: Path) -> None:
    url = str(filled / "runs.db")
    with Store(url) as store:
        store.change(lambda connection: connection.execute(schema.attempts.delete()))
    shown = CliRunner().invoke(command, ["1", "p0", "--store", url]).output
    assert "not finished; 1 calls are stored, and 'cfr eval' goes on with them" in shown
