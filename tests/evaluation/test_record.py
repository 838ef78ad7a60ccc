import json

from sums import right, sums

from cfr.engine.scripted import Scripted
from cfr.evaluation.record import (
    attempt_rows,
    outcome_rows,
    problem_rows,
    stage_rows,
    transcript_rows,
)
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store

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


async def test_outcomes_are_light_and_single_attempts_whole(url: str) -> None:
    with Store(url) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(3), 2, Scripted(right))
        await run(store, [job], width=2)
        light = list(outcome_rows(store))
        key = ("sums", "direct", "m", light[0]["decoding"], "p1", 1)
        found = dict(transcript_rows(store, [key, (*key[:5], 9)]))
        asked = {row["name"]: row["text"] for row in problem_rows(store)}
    assert len(light) == 6
    assert not {"text", "problem_text", "error"} & light[0].keys()
    assert list(found) == [key]
    assert "boxed" in found[key]["text"]
    assert found[key]["problem_text"] == asked["p1"]
