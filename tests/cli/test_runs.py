import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sums import number_in, right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.cli import root
from constraint_first.model.error import Rejected
from constraint_first.protocol import Call, Completion
from constraint_first.report.comparison import score
from constraint_first.report.reader import open_study
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import Run


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with six attempts, three of them under a verdict that they do not deserve."""
    path = tmp_path / "runs.db"
    with Store(str(path)) as store:
        engine = Scripted(lambda call: right(call))
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 2, engine)
        asyncio.run(run(store, [job], 2))
        with store.database.begin() as connection:
            spoiled = schema.attempts.update().where(schema.attempts.c.run == 1)
            connection.execute(spoiled.values(verdict="incorrect"))
    return path


def test_series_are_listed_for_people_and_for_programs(cfr: Run, filled: Path) -> None:
    shown = cfr("runs")
    assert shown.code == 0, shown.err
    assert shown.out.splitlines()[1].split()[:6] == ["1", "sums", "direct", "m", "6", "50.0%"]
    (row,) = json.loads(cfr("runs", "--json", "--store", str(filled)).out)
    named = "series benchmark method model attempts ok truncated unparsed failed accuracy tokens"
    wanted = [1, "sums", "direct", "m", 6, 6, 0, 0, 0, 0.5, 0]
    assert [row[name] for name in named.split()] == wanted


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


def test_regrading_asks_no_model(cfr: Run, filled: Path) -> None:
    ran = cfr("runs", "--regrade", "--json")
    assert ran.code == 0, ran.err
    assert "3 verdict(s) changed" in ran.err
    assert json.loads(ran.out)[0]["accuracy"] == 1.0


def test_failures_are_listed_with_their_reason_and_a_way_out(cfr: Run, tmp_path: Path) -> None:
    def reply(call: Call) -> Completion:
        if number_in(call) < 3:
            raise Rejected(f"http://h: HTTP 503 (busy \x1b[2J, request {number_in(call)}); wait")
        if number_in(call) == 3:
            raise Rejected("odd")
        return Completion(right(call))

    with Store(str(tmp_path / "runs.db")) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(5), 1, Scripted(reply))
        asyncio.run(run(store, [job], 1))
    ran = cfr("runs", "--failures")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        "3 failed: http://h: HTTP 503 (busy �[2J, request 0); wait",
        "    the first: direct on sums with m, problem p0, run 0",
        "    way out: wait, then run the same 'cfr eval' command again",
        "1 failed: odd",
        "    the first: direct on sums with m, problem p3, run 0",
        "    way out: run the same 'cfr eval' command again",
    ]
    listed = json.loads(cfr("runs", "--failures", "--json").out)
    assert [(one["count"], one["problem"], one["way_out"][:4]) for one in listed] == [
        (3, "p0", "wait"),
        (1, "p3", "run "),
    ]
    assert listed[0]["reason"].endswith("[2J, request 0); wait")


def test_a_store_without_failures_says_so(cfr: Run, filled: Path) -> None:
    assert cfr("runs", "--failures").out == f"{filled.name}: no attempt failed\n"
    assert cfr("runs", "--failures", "--json").out == "[]\n"


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


def test_a_mistyped_store_is_not_made(cfr: Run, tmp_path: Path) -> None:
    ran = cfr("runs", "rnus.db")
    assert ran.code == 5
    assert "rnus.db: there is no such store; run 'cfr eval' first" in ran.err
    assert not (tmp_path / "rnus.db").exists()
    ran = cfr("runs", "rnus.db", "--store", "runs.db")
    assert ran.code == 2
    assert "Name one store: 'rnus.db', or --store 'runs.db'." in ran.err


def test_a_file_of_attempts_is_not_a_store(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "out.csv").touch()
    ran = cfr("runs", "out.csv")
    assert ran.code == 5
    assert "out.csv: a file of attempts, not a store; 'cfr compare', 'report'" in ran.err


def test_an_empty_store_says_so(cfr: Run, tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")):
        pass
    assert "nothing has been run yet" in cfr("runs").out
    assert cfr("runs", "--json").out.strip() == "[]"
