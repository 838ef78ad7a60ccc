import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from sums import right, sums

from cfr.analysis.statistics.interval import wilson
from cfr.engine.engine import Decoding
from cfr.engine.scripted import Scripted
from cfr.evaluation import schema
from cfr.evaluation.record import attempt_rows, problem_rows
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series, fingerprint
from cfr.evaluation.store import Store, StoreError
from cfr.method import make
from cfr.problem import Problem

PROBLEMS = sums(5)
SERIES = Series("sums", "direct", "model-a")


async def evaluate(store: Store, series: Series = SERIES, runs: int = 2) -> Scripted:
    engine = Scripted(right)
    await run(store, [prepare(store, series, PROBLEMS, runs, engine)], width=4)
    return engine


async def test_attempts_are_there_once_and_not_made_again(url: str) -> None:
    with Store(url) as store:
        assert len((await evaluate(store)).asked) == 10
        assert len((await evaluate(store)).asked) == 0
        assert len((await evaluate(store, runs=3)).asked) == 5
    with Store(url) as store:
        rows = list(attempt_rows(store))
    assert len(rows) == 15
    assert {(row["problem"], row["run"]) for row in rows} == {
        (p.id, r) for p in PROBLEMS for r in range(3)
    }
    assert {row["verdict"] for row in rows} == {"correct"}


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
        monkeypatch.setattr("cfr.evaluation.store.fingerprint", _another)
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


def test_a_store_of_another_version_is_refused(url: str) -> None:
    with Store(url) as store, store.database.begin() as connection:
        connection.execute(schema.store.update().values(version=99))
    with pytest.raises(StoreError, match=r"written by another version of cfr \(99\)"):
        Store(url)


async def test_text_of_any_kind_is_stored(url: str) -> None:
    odd = Problem("“ſ” \u2028 \U0001f600 {x} \\frac", id="odd", answer="1")
    with Store(url) as store:
        engine = Scripted(["\x01 \ufffd \U0001f600 \\boxed{1}"])
        await run(store, [prepare(store, SERIES, (odd,), 1, engine)], width=1)
        (row,) = attempt_rows(store)
    assert row["text"].startswith("\x01 \ufffd \U0001f600")


def test_a_fingerprint_depends_on_configuration_and_prompts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ["direct", "cfr", "cfr(reply=json)", "routed-cfr", "routed-cfr(router=printed)"]
    prints = {fingerprint(make(name)) for name in names}
    assert len(prints) == len(names)
    assert fingerprint(make("cfr")) == fingerprint(make("cfr"))
    before = fingerprint(make("direct"))
    from cfr.method import direct
    from cfr.prompt import Prompt

    monkeypatch.setattr(direct, "_PROMPT", Prompt("direct", "Please solve [[problem]]"))
    assert fingerprint(make("direct")) != before


def test_wilson_intervals() -> None:
    low, high = wilson(50, 100)
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)
    assert wilson(0, 10)[0] == 0.0
    assert round(wilson(10, 10)[1], 9) == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_store_closes_with_everything_written(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with Store(url) as store:
        asyncio.run(evaluate(store))
    with Store(url) as store:
        assert len(list(attempt_rows(store))) == 10
