from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from instructed import TITLE, request_store
from postgres import empty_database
from stored import attempt
from sums import number_in, right, sums
from sums_run import execute, make_sums

from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import load, write_instructions
from constraint_first.model.error import Rejected
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion
from constraint_first.store import database as schema
from constraint_first.store import merge as merging
from constraint_first.store.database import StoreError
from constraint_first.store.merge import (
    Merged,
    Prefer,
    merge,
)
from constraint_first.store.query import regrade
from constraint_first.store.series import Series, fingerprint
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "m")
Answer = Callable[[Call], str | Completion]


def fill(path: Path, count: int = 3, *, answer: Answer = right, series: Series = SERIES) -> str:
    """Attempt the first sums."""
    with Store(str(path)) as store:
        make_sums(store, series, count, engine=Scripted(answer), width=1)
    return str(path)


def fails_at(number: int) -> Answer:
    def answer(call: Call) -> str:
        if number_in(call) == number:
            raise Rejected("busy")
        return right(call)

    return answer


def joined(*sources: str, to: str, prefer: Prefer | None = None) -> Merged:
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(source, existing=True)) for source in sources]
        return merge(stores, to, prefer)


def content(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that a store holds, with names for numbers."""
    s, p = schema.series, schema.problems
    with Store(url, existing=True) as store:
        found: dict[str, list[tuple[Any, ...]]] = {}
        for table in (schema.attempts, schema.calls):
            rest = [c for c in table.c if c.name not in ("series", "problem")]
            names = (s.c.benchmark, s.c.method, s.c.model, s.c.fingerprint, p.c.name, p.c.answer)
            query = sa.select(*names, *rest).join(s, table.c.series == s.c.id)
            rows = store.read(query.join(p, table.c.problem == p.c.id))
            found[table.name] = sorted((tuple(row) for row in rows), key=repr)
        return found


def change(url: str, table: sa.Table, **values: Any) -> None:
    with Store(url) as store:
        execute(store, table.update().values(**values))


def test_nothing_is_lost(url: str, tmp_path: Path) -> None:
    one = fill(tmp_path / "one.db", 3, answer=fails_at(2))
    other = fill(tmp_path / "other.db", 4, series=Series("sums", "cfr", "m"))
    target = url if "://" in url else str(tmp_path / "new.db")
    merged = joined(one, other, to=target)
    assert (merged.series, merged.problems, merged.attempts, merged.failed) == (2, 4, 7, 1)
    assert (merged.added, merged.known, merged.replaced) == (7, 0, 0)
    parts, whole = [content(one), content(other)], content(target)
    for table, rows in whole.items():
        assert rows == sorted((row for part in parts for row in part[table]), key=repr)
    assert merged.calls == len(whole["calls"])
    again = joined(one, other, to=target)
    assert (again.added, again.known, again.attempts) == (0, 7, 7)
    assert content(target) == whole


def test_a_series_that_was_run_in_two_places_is_one(tmp_path: Path) -> None:
    one = fill(tmp_path / "one.db", 2)
    other = str(tmp_path / "other.db")
    (tmp_path / "other.db").write_bytes((tmp_path / "one.db").read_bytes())
    fill(tmp_path / "other.db", 5)  # goes on with what was copied
    merged = joined(one, other, to=str(tmp_path / "new.db"))
    assert (merged.series, merged.attempts, merged.added, merged.known) == (1, 5, 5, 2)
    assert content(str(tmp_path / "new.db")) == content(other)


@pytest.mark.parametrize("turned", [False, True])
def test_a_failure_gives_way_to_what_was_finished(tmp_path: Path, *, turned: bool) -> None:
    failed = fill(tmp_path / "failed.db", 2, answer=fails_at(1))
    whole = fill(tmp_path / "whole.db", 2)
    change(whole, schema.attempts, finished_at=1.0, seconds=1.0)
    change(failed, schema.attempts, finished_at=1.0, seconds=1.0)
    names = (whole, failed) if turned else (failed, whole)
    merged = joined(*names, to=str(tmp_path / "new.db"))
    assert (merged.attempts, merged.failed, merged.replaced) == (2, 0, 0 if turned else 1)
    assert content(str(tmp_path / "new.db"))["attempts"] == content(whole)["attempts"]


def test_calls_of_an_attempt_that_was_broken_off_travel(tmp_path: Path) -> None:
    one, other = fill(tmp_path / "one.db", 3), fill(tmp_path / "other.db", 2)
    for url in (one, other):
        with Store(url) as store:
            execute(store, schema.attempts.delete())
    merged = joined(other, one, to=str(tmp_path / "new.db"))
    assert (merged.attempts, merged.calls) == (0, 3)
    with Store(str(tmp_path / "new.db")) as store:
        # The engine would answer nothing.
        assert make_sums(store, SERIES, engine=Scripted([])).tally.correct == 3


def test_two_answers_to_the_same_are_told_or_chosen(tmp_path: Path) -> None:
    one = fill(tmp_path / "one.db", 3)
    other = fill(tmp_path / "other.db", 3, answer=lambda _: r"\boxed{2}")
    for url in (one, other):
        change(url, schema.attempts, finished_at=1.0, seconds=1.0)
    new = str(tmp_path / "new.db")
    told = (
        rf"{other}: direct on sums with m, problem p0, run 0 has another verdict and .* "
        rf"than in {one}; --prefer first keeps that one, --prefer last this one"
    )
    with pytest.raises(StoreError, match=told):
        joined(one, other, to=new)
    assert sorted(p.name for p in tmp_path.iterdir() if "new" in p.name) == []
    first = joined(one, other, to=new, prefer="first")
    assert (first.attempts, first.known, first.replaced) == (3, 3, 0)
    assert content(new) == content(one)
    last = joined(other, to=new, prefer="last")
    assert (last.attempts, last.replaced) == (3, 3)
    assert content(new)["attempts"] == content(other)["attempts"]


@pytest.mark.parametrize(
    ("table", "changed", "said"),
    [
        (
            schema.series,
            {"fingerprint": f"{fingerprint(SERIES.build())} monty 1"},
            r"direct on sums with m was run with another interpreter \(monty 1, not an int",
        ),
        (schema.series, {"fingerprint": "other"}, "direct on sums with m was run with other prom"),
        (schema.problems, {"text": "What?"}, "problem p0 of sums has another text than in"),
    ],
)
def test_no_mixing(tmp_path: Path, table: sa.Table, changed: dict[str, str], said: str) -> None:
    one, other = fill(tmp_path / "one.db"), fill(tmp_path / "other.db")
    change(other, table, **changed)
    with pytest.raises(StoreError, match=rf"other\.db: {said}.*leave one (out|of the stores out)"):
        joined(one, other, to=str(tmp_path / "new.db"), prefer="last")
    assert not (tmp_path / "new.db").exists()


def test_another_gold_answer_is_told_or_chosen(tmp_path: Path) -> None:
    one = fill(tmp_path / "one.db", 1)
    (tmp_path / "other.db").write_bytes((tmp_path / "one.db").read_bytes())
    other, new = str(tmp_path / "other.db"), str(tmp_path / "new.db")
    change(other, schema.problems, answer="7")
    with pytest.raises(StoreError, match=r"gold answer '7', and '1' in .*'cfr runs --regrade'"):
        joined(one, other, to=new)
    joined(one, other, to=new, prefer="last")
    assert content(new)["attempts"][0][5] == "7"


def test_an_interrupted_merge(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = fill(tmp_path / "one.db", 3)
    with Store(url) as store:
        number = store.register(SERIES, sums(1))
        row = attempt(number.series, number.problems["p0"], 5)
        execute(store, schema.attempts.insert(), row)
    before = content(url)

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    for target in (url, str(tmp_path / "new.db")):
        with Store(one, existing=True) as source, pytest.raises(KeyboardInterrupt):
            merge([source], target, progress=interrupt)
    assert content(url) == before
    assert not [path for path in tmp_path.iterdir() if "new" in path.name]
    monkeypatch.setattr(merging, "_ROWS_AT_ONCE", 2)
    seen: list[tuple[int, int]] = []
    with Store(one, existing=True) as source:
        merge([source], url, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 6), (3, 6), (5, 6), (6, 6)]


def test_a_store_is_merged_into_itself_without_harm(tmp_path: Path) -> None:
    one, other = fill(tmp_path / "one.db", 2), fill(tmp_path / "other.db", 3)
    change(one, schema.attempts, finished_at=1.0, seconds=1.0)
    change(other, schema.attempts, finished_at=1.0, seconds=1.0)
    merged = joined(one, other, to=one)
    assert (merged.attempts, merged.added, merged.known) == (3, 1, 2)


def test_the_first_constraintbench_is_kept_apart_from_the_second(tmp_path: Path) -> None:
    """Stores from before the second version have the first under the name that is the second's."""
    urls: list[str] = []
    for name in ("constraintbench-mini@1", "constraintbench-mini"):
        url = str(tmp_path / f"{len(urls)}.db")
        problems: tuple[Problem, ...] = load(name).problems[:2]
        with Store(url) as store:
            store.register(Series(name, "direct", "m"), problems)
        urls.append(url)
    change(urls[0], schema.series, benchmark="constraintbench-mini")
    change(urls[0], schema.problems, benchmark="constraintbench-mini")
    assert joined(*urls, to=str(tmp_path / "new.db")).series == 2
    with Store(str(tmp_path / "new.db"), existing=True) as store:
        named = store.read(sa.select(schema.series.c.benchmark).order_by(schema.series.c.id))
    assert [name for (name,) in named] == ["constraintbench-mini@1", "constraintbench-mini"]


def test_gold_instructions_are_merged_like_any_gold(tmp_path: Path) -> None:
    ours, theirs = (request_store(str(tmp_path / f"{n}.db"), n, runs=1) for n in (3, 5))
    change(theirs, schema.series, model="other")
    to = str(tmp_path / "all.db")
    joined(ours, theirs, to=to)
    with Store(to) as store:
        assert regrade(store) == 0
        assert len(store.read(sa.select(schema.problems))) == 5
    change(theirs, schema.problems, answer=write_instructions([TITLE]))
    with pytest.raises(StoreError) as caught:
        joined(ours, theirs, to=str(tmp_path / "more.db"))
    assert "r0 of requests has the gold instructions 'The reply has a title" in str(caught.value)
    assert "{" not in str(caught.value)


@pytest.mark.parametrize(
    ("harm", "lost", "kept"),
    [
        ("DELETE FROM problems WHERE name = 'p1'", 1, 2),
        ("DELETE FROM problems", 3, 0),
        ("DELETE FROM series", 3, 0),
        ("DELETE FROM attempts", 0, 0),  # calls of attempts that have not ended
        ("DELETE FROM attempts; DELETE FROM problems WHERE name = 'p1'", 1, 0),
        ("DELETE FROM calls", 0, 3),
    ],
)
def test_orphans_are_left_out(url: str, tmp_path: Path, harm: str, lost: int, kept: int) -> None:
    source = fill(tmp_path / "damaged.db")
    whole = fill(tmp_path / "whole.db", series=Series("sums", "direct", "other"))
    with Store(source) as store:
        for statement in harm.split("; "):
            execute(store, statement)
    merged = joined(source, whole, to=url)
    assert merged.left_out == (((source, lost),) if lost else ())
    assert merged.attempts == kept + 3
    again = joined(source, whole, to=url)
    assert (again.attempts, again.added) == (kept + 3, 0)


def test_a_server_may_lack_rows_too(postgres: str, tmp_path: Path) -> None:
    with Store(postgres) as store:
        make_sums(store)
        with store.database.begin() as connection:
            connection.execute(sa.text("SET session_replication_role = replica"))  # no foreign keys
            connection.execute(sa.text("DELETE FROM problems WHERE name = 'p1'"))
    try:
        merged = joined(postgres, to=str(tmp_path / "all.db"))
        assert [count for _, count in merged.left_out] == [1]
        assert merged.attempts == 2
    finally:
        empty_database(postgres)
