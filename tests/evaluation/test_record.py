import json

import sqlalchemy as sa
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.client import Client
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.query import (
    attempt_columns,
    attempt_rows,
    outcome_rows,
    problem_rows,
    stage_rows,
    transcript_rows,
)
from constraint_first.store.series import Series
from constraint_first.store.store import Store

STAGE1 = '{"raw_constraints": [{"type": "domain", "description": "an integer"}]}'


async def test_stages_add_up_calls_tokens_and_seconds(url: str) -> None:
    engine = Scripted(lambda call: STAGE1 if call.stage == "stage1" else right(call))
    with Store(url) as store:
        await run(store, [prepare(store, Series("sums", "cfr", "m"), sums(3), 2, engine)], width=2)
        total = {row["stage"]: row for row in stage_rows(store)}
        single = [json.loads(row["stages"]) for row in attempt_rows(store)]
    assert {stage: row["calls"] for stage, row in total.items()} == {"stage1": 6, "stage2": 6}
    for name in ("input_tokens", "output_tokens", "seconds"):
        for stage, row in total.items():
            assert abs(row[name] - sum(one[stage][name] for one in single)) < 1e-9
    assert total["stage1"]["seconds"] > 0


async def test_the_model_of_a_stage_is_told_where_it_is_another(url: str) -> None:
    engines = Client(Scripted(right), {"org/small:7b@q4": Scripted(lambda _call: STAGE1)})
    with Store(url) as store:
        series = Series("sums", "cfr(extractor=org/small:7b@q4)", "m")
        await run(store, [prepare(store, series, sums(2), 1, engines)], width=2)
        stages = [json.loads(row["stages"]) for row in attempt_rows(store)]
        assert {row["stage"] for row in stage_rows(store)} == {"stage1", "stage2"}
    assert [one["stage1"]["model"] for one in stages] == ["org/small:7b@q4"] * 2
    assert all("model" not in one["stage2"] for one in stages)


async def test_outcomes_are_light_and_single_attempts_whole(url: str) -> None:
    with Store(url) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 2, Scripted(right))
        await run(store, [job], width=2)
        light = list(outcome_rows(store))
        key = ("sums", "direct", "m", light[0]["decoding"], "p1", 1)
        other = (*key[:4], "p2", 0)
        found = dict(transcript_rows(store, [key, (*key[:5], 9), other]))
        asked = {row["name"]: row["text"] for row in problem_rows(store)}
    assert len(light) == 6
    assert not {"text", "problem_text", "error"} & light[0].keys()
    assert {*found} == {key, other}, "neither the other run of p1 nor that of p2"
    assert "boxed" in found[key]["text"]
    assert found[key]["problem_text"] == asked["p1"]


async def test_an_attempt_that_was_begun_and_not_finished_gives_its_stages_to_no_other(
    url: str,
) -> None:
    engine = Scripted(lambda call: STAGE1 if call.stage == "stage1" else right(call))
    with Store(url) as store:
        job = prepare(store, Series("sums", "cfr", "m"), sums(4), 1, engine)
        await run(store, [job], width=1)
        _, middle, third, last = job.problems
        a, c = schema.attempts.c, schema.calls.c
        with store.database.begin() as connection:
            connection.execute(schema.attempts.delete().where(a.problem.in_([middle, last])))
            second = sa.and_(c.problem == third, c.ordinal == 1)
            connection.execute(schema.calls.delete().where(second))
        found = {row["problem"]: json.loads(row["stages"]) for row in attempt_rows(store)}
    assert {name: list(stages) for name, stages in found.items()} == {
        "p0": ["stage1", "stage2"],
        "p2": ["stage1"],
    }


async def test_the_columns_of_an_attempt_are_those_of_its_rows(url: str) -> None:
    with Store(url) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(1), 1, Scripted(right))
        await run(store, [job], width=1)
        (row,) = attempt_rows(store)
    columns = attempt_columns()
    assert list(row) == list(columns)
    for name, value in row.items():
        assert value is None or isinstance(value, columns[name]), name


def test_a_store_without_attempts_has_no_rows(url: str) -> None:
    with Store(url) as store:
        for rows in (attempt_rows, outcome_rows, problem_rows, stage_rows):
            assert list(rows(store)) == []
