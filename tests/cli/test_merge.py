import json
from pathlib import Path

import pytest
from stored import attempt
from sums import sums

from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import Run


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


def test_two_stores_are_one(cfr: Run, stores: Path) -> None:
    ran = cfr("merge", "a.db", "b.db", "-o", "all.db")
    assert ran.code == 0, ran.err
    assert ran.out == "all.db: 2 series, 2 problems, 4 attempts, 0 calls; 4 added\n"
    listed = json.loads(cfr("runs", "all.db", "--json").out)
    assert [(one["series"], one["method"], one["attempts"]) for one in listed] == [
        (1, "direct", 2),
        (2, "cfr", 2),
    ]
    assert sorted(path.name for path in stores.glob("*all*")) == ["all.db"]


def test_what_differs_is_one_line_and_a_choice(cfr: Run, stores: Path) -> None:
    ran = cfr("merge", "b.db", "c.db", "--store", "all.db")
    assert ran.code == 5
    assert ran.err == (
        "cfr: c.db: cfr on sums with m, problem p0, run 0 has another verdict than in b.db; "
        "--prefer first keeps that one, --prefer last this one\n"
    )
    assert not (stores / "all.db").exists()
    ran = cfr("merge", "c.db", "-o", "b.db", "--prefer", "last")
    assert ran.out == ("b.db: 1 series, 2 problems, 2 attempts, 0 calls; 0 added, 2 replaced\n")
    ran = cfr("merge", "c.db", "-o", "b.db")
    assert ran.out.endswith("0 added, 2 in both kept as they were\n")


def test_a_store_that_is_not_there_is_not_merged(cfr: Run, stores: Path) -> None:
    ran = cfr("merge", "a.db", "d.db", "-o", "all.db")
    assert ran.code == 5
    assert "d.db: there is no such store" in ran.err
    assert not (stores / "all.db").exists()


def test_what_was_left_out_is_told_and_is_no_success(cfr: Run, stores: Path) -> None:
    with Store(str(stores / "a.db")) as store, store.database.begin() as connection:
        connection.execute(schema.problems.delete().where(schema.problems.c.name == "p1"))
    ran = cfr("merge", "a.db", "b.db", "-o", "all.db")
    assert ran.code == 5
    assert ran.out == "all.db: 2 series, 2 problems, 3 attempts, 0 calls; 3 added\n"
    assert "1 of a.db: these attempts were left out" in ran.err
    assert ran.err.count("\n") == 1
