import json

import pytest
from snapshot import assert_unchanged

from cfr.constraint.spec import KINDS, SCHEMA, Constraint, ConstraintSpec
from cfr.constraint.stage import (
    REPLY_FIELDS,
    ReplyStyle,
    extract_constraints,
    read_reply,
    solve_under,
)

PROBLEM = r"Find the remainder when $\sum_{k=1}^{9} k^{3}$ is divided by {17} \n [[problem]]."
SPEC = ConstraintSpec(
    "A remainder.", (Constraint("C1", "modular", "modulo 17"),), (), "0 to 16", "integer", ("C1",)
)


def test_stage_1_asks_for_json_within_its_budget() -> None:
    call = extract_constraints(PROBLEM, 1024)
    assert (call.stage, call.max_tokens, call.json, call.schema) == ("stage1", 1024, True, SCHEMA)
    prompt = call.messages[0].content
    assert all(f"- {kind}:" in prompt for kind in KINDS)
    assert "Do not solve" in prompt
    assert prompt.endswith(PROBLEM)
    assert_unchanged("stage1.txt", prompt)


@pytest.mark.parametrize("style", ["prose", "json"])
def test_stage_2_carries_problem_and_constraints(style: ReplyStyle) -> None:
    call = solve_under(PROBLEM, SPEC, style, 31_744)
    assert (call.stage, call.max_tokens, call.json) == ("stage2", 31_744, style == "json")
    prompt = call.messages[0].content
    assert PROBLEM in prompt
    assert '"description": "modulo 17"' in prompt
    assert_unchanged(f"stage2-{style}.txt", prompt)


def test_the_json_style_names_the_papers_fields_and_prose_the_box() -> None:
    as_json = solve_under(PROBLEM, SPEC, "json", 1).messages[0].content
    assert all(f'"{name}"' in as_json for name in REPLY_FIELDS)
    assert r"\boxed{}" in solve_under(PROBLEM, SPEC, "prose", 1).messages[0].content


def test_both_styles_give_the_same_rules() -> None:
    def rules(style: ReplyStyle) -> list[str]:
        lines = solve_under(PROBLEM, SPEC, style, 1).messages[0].content.splitlines()
        return [line for line in lines if line[:2] in ("1.", "2.", "3.", "4.")]

    assert len(rules("prose")) == 4
    assert rules("prose") == rules("json")


def test_a_structured_reply_is_read_as_far_as_it_goes() -> None:
    whole = {name: name.upper() for name in REPLY_FIELDS} | {"extra": 1}
    assert read_reply(json.dumps(whole)) == {name: name.upper() for name in REPLY_FIELDS}
    assert read_reply('{"strategy_tag": "count", "final_answer": "7", "solution": "We cou') == {
        "strategy_tag": "count",
        "final_answer": "7",
        "solution": "We cou",
    }
    assert read_reply("The answer is 7.") == {}
