from dataclasses import replace

import pytest
from sums_run import PROBLEMS, SERIES, evaluate

from constraint_first.benchmark.registry import load
from constraint_first.error import InputError
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows, problem_rows, summaries
from constraint_first.store.series import (
    Registered,
    Series,
    enter_problem,
    enter_series,
    find_registered,
)
from constraint_first.store.store import Store


async def test_another_decoding_is_another_series(url: str) -> None:
    with Store(url) as store:
        await evaluate(store)
        hot = replace(SERIES, decoding=Decoding(temperature=1.0))
        assert len((await evaluate(store, hot)).asked) == 10


def _another(_method: object) -> str:
    return "another"


async def test_a_changed_prompt_is_refused_and_not_mixed_in(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(url) as store:
        await evaluate(store)
        monkeypatch.setattr("constraint_first.store.series.fingerprint", _another)
        with pytest.raises(StoreError, match="other prompts or settings"):
            await evaluate(store, runs=3)
        assert len(list(attempt_rows(store))) == 10


async def test_a_changed_problem_is_refused(url: str) -> None:
    with Store(url) as store:
        await evaluate(store)
        changed = (replace(PROBLEMS[0], text="Another question?"), *PROBLEMS[1:])
        with pytest.raises(StoreError, match="problem p0 of sums has another text"):
            store.register(SERIES, changed)
        assert {row["text"] for row in problem_rows(store)} == {p.text for p in PROBLEMS}


async def test_a_series_is_found_without_being_entered(url: str) -> None:
    with Store(url) as store:

        def find(series: Series) -> Registered | None:
            with store.database.connect() as connection:
                return find_registered(connection, url, series, PROBLEMS)

        assert find(SERIES) is None
        await evaluate(store)
        assert find(SERIES) == store.register(SERIES, PROBLEMS)
        assert find(replace(SERIES, model="another")) is None
        assert len(summaries(store)) == 1


ODD = [
    Problem("nul \0", "p0", "1"),
    Problem("half", "p\ud83d", "1"),
    Problem("gold", "p0", "\ud83d"),
]


@pytest.mark.parametrize("problem", ODD)
def test_a_problem_that_cannot_be_stored_is_named(url: str, problem: Problem) -> None:
    with Store(url) as store:
        with pytest.raises(InputError, match=r"^problem 'p\S*' of sums: has a character that"):
            store.register(SERIES, (problem,))
        assert not list(problem_rows(store))
        assert not summaries(store)


@pytest.mark.parametrize("name", ["benchmark", "model", "system"])
def test_a_name_that_cannot_be_stored_is_named(url: str, name: str) -> None:
    odd = replace(SERIES, **{name: "odd \udcff"})
    with Store(url) as store, pytest.raises(InputError, match=r"^'odd \\udcff': has a character"):
        store.register(odd, PROBLEMS)


def test_a_seed_of_any_size_is_a_setting(url: str) -> None:
    with Store(url) as store:
        store.register(replace(SERIES, decoding=Decoding(seed=2**80)), PROBLEMS)
        assert summaries(store)[0].series.settings["seed"] == str(2**80)


@pytest.mark.parametrize("name", ["constraintbench", "constraintbench-mini"])
async def test_the_first_constraintbench_is_set_apart_from_the_second(url: str, name: str) -> None:
    old, new = (tuple(load(one).problems[:2]) for one in (f"{name}@1", name))
    series = replace(SERIES, benchmark=name)
    with Store(url) as store:
        # A store from before the second version has the first one under the plain name.
        with store.database.begin() as connection:
            rows = [{"benchmark": name, "name": p.id, "text": p.text} for p in old]
            connection.execute(schema.problems.insert(), rows)
            values = {"benchmark": name, "method": "direct", "label": "", "model": "m"}
            entered = values | {"decoding": "{}", "fingerprint": ""}
            connection.execute(schema.series.insert(), entered)
        found = store.register(series, new)
        again = store.register(replace(series, benchmark=f"{name}@1"), old)
        assert sorted(found.problems) == sorted(problem.id for problem in new)
        assert sorted(again.problems) == sorted(problem.id for problem in old)
        assert len(list(problem_rows(store))) == 4
        store.register(series, new)
        assert {row["benchmark"] for row in problem_rows(store)} == {name, f"{name}@1"}


def test_a_series_and_a_problem_by_themselves(url: str) -> None:
    problem = Problem("What is 1 + 1?", id="q1")
    with Store(url) as store:
        first = store.change(lambda c: enter_series(c, store.url, SERIES))
        assert store.change(lambda c: enter_series(c, store.url, SERIES)) == first
        number = store.change(lambda c: enter_problem(c, "served", problem))
        assert store.change(lambda c: enter_problem(c, "served", problem)) == number
        (row,) = problem_rows(store)
        assert (row["id"], row["name"], row["answer"]) == (number, "q1", None)
        odd = replace(SERIES, model="a\0b")
        with pytest.raises(InputError, match="cannot be stored"):
            store.change(lambda c: enter_series(c, store.url, odd))
