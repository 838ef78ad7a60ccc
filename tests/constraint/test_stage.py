import json

import pytest
from snapshot import assert_unchanged

from constraint_first.constraint.stage1 import (
    FEW,
    KINDS,
    REPLY_FIELDS,
    Constraint,
    ConstraintSpec,
    JsonMode,
    Limit,
    PromptSet,
    ReplyStyle,
    extract_constraints,
    read_reply,
    schema_for,
    solve_under,
)

PROBLEM = r"Find the remainder when $\sum_{k=1}^{9} k^{3}$ is divided by {17} \n [[problem]]."
SPEC = ConstraintSpec(
    "A remainder.", (Constraint("C1", "modular", "modulo 17"),), (), "0 to 16", "integer", ("C1",)
)


STYLES: list[tuple[PromptSet, ReplyStyle]] = [
    ("brief", "prose"),
    ("brief", "json"),
    ("paper", "prose"),
    ("paper", "json"),
]


def stage1(prompts: PromptSet = "brief", limit: Limit | None = FEW) -> str:
    return extract_constraints(PROBLEM, 1, prompts=prompts, limit=limit).messages[0].content


def stage2(prompts: PromptSet, style: ReplyStyle) -> str:
    return solve_under(PROBLEM, SPEC, style, 1, prompts=prompts).messages[0].content


def test_stage_1_asks_for_json_within_its_budget() -> None:
    call = extract_constraints(PROBLEM, 1024, prompts="brief", limit=FEW, json="schema")
    assert (call.stage, call.max_tokens, call.json) == ("stage1", 1024, True)
    assert call.schema == schema_for(FEW)
    prompt = call.messages[0].content
    assert all(f"- {kind}:" in prompt for kind in KINDS)
    assert "Do not solve" in prompt
    assert prompt.endswith(PROBLEM)
    assert_unchanged("stage1.txt", prompt)


def test_the_papers_stage_1_has_no_limit_of_its_own() -> None:
    call = extract_constraints(PROBLEM, 1024)
    assert (call.json, call.schema) == (True, "")
    held = extract_constraints(PROBLEM, 1024, json="schema")
    assert held.schema == schema_for(None, danger_note=False)
    assert_unchanged("stage1-paper.txt", call.messages[0].content)


@pytest.mark.parametrize(
    ("prompts", "limit", "extent"),
    [
        (
            "brief",
            FEW,
            "Be brief: at most six constraints and three combinations, each in fewer than",
        ),
        (
            "brief",
            Limit(20, 12),
            "Be brief: at most 20 constraints and twelve combinations, each in",
        ),
        ("brief", None, "Leave out none that you find, each in fewer than twenty words. Reply"),
        ("paper", None, "Leave out none that you find. Reply"),
        ("paper", Limit(8, 5), "List at most eight constraints and five combinations. Reply"),
    ],
)
def test_the_prompt_says_how_many(prompts: PromptSet, limit: Limit | None, extent: str) -> None:
    assert f"\n{extent}" in stage1(prompts, limit)
    unlimited = limit is None
    assert ("at most" in stage1(prompts, limit).partition("Reply")[0]) != unlimited


@pytest.mark.parametrize(("prompts", "style"), STYLES)
def test_stage_2_carries_problem_and_constraints(prompts: PromptSet, style: ReplyStyle) -> None:
    call = solve_under(PROBLEM, SPEC, style, 31_744, prompts=prompts)
    assert (call.stage, call.max_tokens, call.json) == ("stage2", 31_744, style == "json")
    prompt = call.messages[0].content
    assert PROBLEM in prompt
    assert '"description": "modulo 17"' in prompt
    of_paper = "paper-" if prompts == "paper" else ""
    assert_unchanged(f"stage2-{of_paper}{style}.txt", prompt)


@pytest.mark.parametrize("prompts", ["brief", "paper"])
def test_the_json_style_names_the_papers_fields_and_prose_the_box(prompts: PromptSet) -> None:
    assert all(f'"{name}"' in stage2(prompts, "json") for name in REPLY_FIELDS)
    assert r"\boxed{}" in stage2(prompts, "prose")


@pytest.mark.parametrize(("prompts", "count"), [("brief", 4), ("paper", 3)])
def test_both_styles_give_the_same_rules(prompts: PromptSet, count: int) -> None:
    def rules(style: ReplyStyle) -> list[str]:
        lines = stage2(prompts, style).splitlines()
        return [line for line in lines if line[:2] in ("1.", "2.", "3.", "4.")]

    assert len(rules("prose")) == count
    assert rules("prose") == rules("json")


# What the paper's templates demand (Complete Prompt Templates), and our words for it.
STAGE_1_DEMANDS = {
    "the role": "You are an analyst of mathematical constraints",
    "before solving": "Ahead of any solution",
    "what the final answer must satisfy": "what the final answer to the problem below must satisfy",
    "extract all": "extract every constraint",
    "all of them": "Leave out none that you find",
    "propagate": "then propagate them",
    "do not solve": "Do not solve the problem",
    "only what catches wrong answers": "only if it can catch a final answer that is wrong",
    "or wrong formats": "written in the wrong form",
    "cross-check each": "Check each constraint against the others",
    "to narrow the range": "narrow what the answer can be",
    "an example of propagation": 'propagate to "k is 42, 49 or 56"',
    "domain": "- domain: the range of values, the sign, whether it is an integer",
    "positivity": "whether it is positive\n",
    "modular": "- modular: congruences, remainders, divisibility",
    "parity": "- parity: even or odd",
    "bound": "- bound: inequalities, largest and smallest",
    "monotonic": "- monotonic: quantities that only increase or only decrease",
    "structure": "- structure: symmetry, what exactly is being counted",
    "dimension": "- dimension: units that must agree, ranges of coordinates",
    "format": "- format: the exact form that is asked for, and how the answer is encoded",
    "JSON": "Reply with one JSON object and nothing else",
    "summary": '"problem_summary"',
    "raw": '"raw_constraints": [',
    "propagated": '"propagated_constraints": [',
    "range": '"likely_answer_range": "the narrowest range',
    "form": '"answer_format"',
    "critical": '"critical_constraints": [',
}
STAGE_2_DEMANDS = {
    "a competition problem": "Solve the competition problem below",
    "constraints computed before": "were computed beforehand",
    "the answer must satisfy them": "the final answer must satisfy them",
    "step by step": "Reason step by step",
    "check after each major step": "Whenever a major step is done, check that its result is consis",
    "stop at a violation": "If it violates one, stop",
    "and re-examine": "examine the work again",
    "explain a wrong constraint": "a constraint seems wrong, explain why before you set it aside",
    "confirm all at the end": "Before you state the final answer, confirm that it passes every",
}


@pytest.mark.parametrize("demand", STAGE_1_DEMANDS)
def test_the_papers_stage_1_makes_every_demand(demand: str) -> None:
    assert STAGE_1_DEMANDS[demand] in stage1("paper", None)


@pytest.mark.parametrize("style", ["prose", "json"])
@pytest.mark.parametrize("demand", STAGE_2_DEMANDS)
def test_the_papers_stage_2_makes_every_demand(demand: str, style: ReplyStyle) -> None:
    assert STAGE_2_DEMANDS[demand] in stage2("paper", style)


@pytest.mark.parametrize("style", ["prose", "json"])
def test_the_papers_stage_2_does_not_call_the_list_doubtful(style: ReplyStyle) -> None:
    assert "may contain an error" in stage2("brief", style)
    assert "may contain an error" not in stage2("paper", style)


def test_the_papers_stage_1_asks_for_the_papers_fields_alone() -> None:
    assert "danger_note" in stage1("brief")
    assert "danger_note" not in stage1("paper")


@pytest.mark.parametrize(
    ("json_mode", "wanted", "has_schema"),
    [("schema", True, True), ("object", True, False), ("off", False, False)],
)
def test_json_is_asked_for_by_schema_by_mode_or_by_the_prompt_alone(
    json_mode: JsonMode, wanted: bool, has_schema: bool
) -> None:
    first = extract_constraints(PROBLEM, 1, json=json_mode)
    assert (first.json, bool(first.schema)) == (wanted, has_schema)
    assert "Reply with one JSON object" in first.messages[0].content
    assert solve_under(PROBLEM, SPEC, "json", 1, json=json_mode).json == wanted
    assert not solve_under(PROBLEM, SPEC, "prose", 1, json=json_mode).json


def test_a_structured_reply_is_read_as_far_as_it_goes() -> None:
    whole = {name: name.upper() for name in REPLY_FIELDS} | {"extra": 1}
    assert read_reply(json.dumps(whole)) == {name: name.upper() for name in REPLY_FIELDS}
    assert read_reply('{"strategy_tag": "count", "final_answer": "7", "solution": "We cou') == {
        "strategy_tag": "count",
        "final_answer": "7",
        "solution": "We cou",
    }
    assert read_reply("The answer is 7.") == {}
