import pytest
from hand_made import arm, study

from constraint_first.method.registry import METHODS
from constraint_first.report.exhibit.scores import StageRequest, row_settings, stage_requests

STAGES = {
    "direct": ["direct"],
    "plain": ["reply"],
    "sound": ["reply"],
    "reminder": ["solve"],
    "list-first": ["solve"],
    "check": ["solve"],
    "extended": ["solve", "continue"],
    "plan-and-solve": ["plan"],
    "format-only": ["format", "solve", "direct"],
    "self-refine": ["draft", "feedback", "revise"],
    "cfr": ["stage1", "stage2", "direct"],
    "cfr-brief": ["stage1", "stage2", "direct"],
    "routed-cfr": ["stage1", "stage2", "direct"],
    "routed-cfr-brief": ["stage1", "stage2", "direct"],
    "self-consistency": ["direct"],
    "llm-router": ["router", "stage1", "stage2", "direct"],
    "llm-router-brief": ["router", "stage1", "stage2", "direct"],
    "program": ["program", "direct"],
    "vote": ["program", "direct"],
    "until-agreed": ["program", "direct"],
    "checked": ["direct", "correct"],
    "prove": ["direct", "translate"],
    "stated-cfr": ["stage2", "direct"],
    "search": ["explore", "solve"],
    "calibrated": ["reply", "program", "direct"],
    "self-consistency(base=llm-router)": ["router", "stage1", "stage2", "direct"],
}


@pytest.mark.parametrize("method", dict.fromkeys((*METHODS, *STAGES)))
def test_every_stage_of_every_method_is_found(method: str) -> None:
    assert [request.stage for request in stage_requests(method)] == STAGES[method]


def test_budgets_and_json_of_the_llm_router() -> None:
    assert stage_requests("llm-router(reply=json)") == (
        StageRequest("router", (1_024,), json=True),
        StageRequest("stage1", (1_024,), json=True),
        StageRequest("stage2", (31_744,), json=True),
        StageRequest("direct", (32_768,), json=False),
    )


def test_rows_are_models_methods_and_decodings_that_have_attempts() -> None:
    warm = '{"temperature": 0.7}'
    (both, mine) = row_settings(
        study(
            arm("direct", {"p": "++"}, benchmark="aime24", decoding=warm),
            arm("direct", {"p": "++++"}, benchmark="aime25", decoding=warm),
            arm("mine", {"p": "+"}),
            arm("begun only", {}),
        )
    )
    assert (both.model, both.method, both.decoding) == ("model", "Direct CoT", warm)
    assert (both.benchmarks, both.runs) == (("aime24", "aime25"), (2, 4))
    assert both.requests == (StageRequest("direct", (32_768,), json=False),)
    assert (mine.method, mine.requests) == ("mine", ())


def test_other_models_of_a_stage_are_named() -> None:
    stages = stage_requests("self-consistency(base=cfr(extractor=a/b:c@d))")
    assert [(request.stage, request.models) for request in stages] == [
        ("stage1", ("a/b:c@d",)),
        ("stage2", ()),
        ("direct", ()),
    ]


def test_own_prompts_change_none_of_it() -> None:
    assert stage_requests("cfr(reply=json,wording=mine)") == stage_requests("cfr(reply=json)")
    assert stage_requests("direct(wording=mine)") == stage_requests("direct") != ()
