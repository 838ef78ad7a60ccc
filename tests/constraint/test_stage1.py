import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot import Golden

from constraint_first.constraint.stage1 import (
    DEFERRED,
    FEW,
    KINDS,
    REPLY_FIELDS,
    RUNGS,
    WELL_FORMED,
    Constraint,
    ConstraintSpec,
    JsonMode,
    Limit,
    PromptSet,
    Propagated,
    ReplyStyle,
    extract_constraints,
    read_object,
    read_reply,
    read_spec,
    schema_for,
    solve_under,
)
from constraint_first.thinking import without_thinking

# --- spec


def test_the_papers_fields_are_read() -> None:
    spec = ConstraintSpec.from_mapping(
        {
            "problem_summary": "Count pairs.",
            "raw_constraints": [{"id": "C1", "type": "domain", "description": "positive"}],
            "propagated_constraints": [
                {"id": "P1", "derived_from": ["C1"], "description": "at least 1"}
            ],
            "likely_answer_range": "1-99",
            "answer_format": "integer",
            "critical_constraints": ["C1"],
            "danger_note": "Do not count zero.",
        }
    )
    assert spec == ConstraintSpec(
        "Count pairs.",
        (Constraint("C1", "domain", "positive"),),
        (Propagated("P1", ("C1",), "at least 1"),),
        "1-99",
        "integer",
        ("C1",),
        "Do not count zero.",
    )
    assert ConstraintSpec.from_mapping(spec.to_json()) == spec


def test_the_variants_of_the_papers_examples_are_read() -> None:
    spec = ConstraintSpec.from_mapping(
        {
            "raw_constraints": [{"id": "C1", "type": "bounds_or_extremal", "desc": "n < 9"}],
            "propagated_constraints": [{"id": "P1", "from": ["C1"], "desc": "n in 1..8"}],
        }
    )
    assert spec.raw_constraints == (Constraint("C1", "bound", "n < 9"),)
    assert spec.raw_constraints[0].known
    assert spec.propagated_constraints == (Propagated("P1", ("C1",), "n in 1..8"),)


def test_critical_constraints_may_be_whole_constraints() -> None:
    spec = ConstraintSpec.from_mapping({"critical_constraints": [{"id": "C2"}, "P1", None]})
    assert spec.critical_constraints == ("C2", "P1")


def test_latex_whose_backslash_json_ate_is_restored() -> None:
    decoded = json.loads(r'{"answer_format": "\frac{a}{b} \times \binom{n}{k} \right) \neq 0"}')
    spec = ConstraintSpec.from_mapping(decoded)
    assert spec.answer_format == r"\frac{a}{b} \times \binom{n}{k} \right) \neq 0"


def test_a_line_break_stays_a_line_break() -> None:
    assert ConstraintSpec.from_mapping({"danger_note": "one\ntwo"}).danger_note == "one\ntwo"


def test_a_summary_alone_restricts_nothing() -> None:
    assert not ConstraintSpec(problem_summary="A problem.").restricts
    assert ConstraintSpec(answer_format="integer").restricts
    assert ConstraintSpec().to_json() == {}


# --- schema


def nodes(node: Any) -> Iterator[Any]:
    """Go through a schema and all schemas in it."""
    yield node
    for child in (*node.get("properties", {}).values(), *filter(None, [node.get("items")])):
        yield from nodes(child)


def test_the_schema_bounds_every_string_and_list() -> None:
    schema = json.loads(schema_for(FEW))
    for node in nodes(schema):
        assert node.get("type") != "string" or node["maxLength"] > 0
        assert node.get("type") != "array" or node["maxItems"] > 0
    kinds = schema["properties"]["raw_constraints"]["items"]["properties"]["type"]["enum"]
    assert tuple(kinds) == KINDS
    assert len(KINDS) == 8


@pytest.mark.parametrize("limit", [FEW, Limit(8, 5), Limit(99, 0)])
def test_a_limit_is_what_the_lists_may_hold(limit: Limit) -> None:
    lists = json.loads(schema_for(limit))["properties"]
    assert lists["raw_constraints"]["maxItems"] == limit.raw
    assert lists["propagated_constraints"]["maxItems"] == limit.propagated


def test_without_a_limit_no_list_is_bounded_but_every_string_is() -> None:
    for node in nodes(json.loads(schema_for(None))):
        assert "maxItems" not in node
        assert node.get("type") != "string" or node["maxLength"] > 0


def test_the_danger_note_may_be_left_out_where_nobody_asks_for_it() -> None:
    asked, unasked = (json.loads(schema_for(None, danger_note=note)) for note in (True, False))
    assert asked["properties"] == unasked["properties"]
    assert asked["required"] == [*unasked["required"], "danger_note"]


# --- recovery


CORPUS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__)
    .with_name("stage1_replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["note"])
def test_each_reply_lands_on_its_rung(case: dict[str, Any]) -> None:
    recovered = read_spec(case["reply"])
    assert recovered.rung == case["rung"]
    assert recovered.defers == (case["rung"] in DEFERRED)
    assert recovered.spec.restricts != recovered.defers
    if "format" in case:
        assert recovered.spec.answer_format == case["format"]
    if "kind" in case:
        assert [one.type for one in recovered.spec.raw_constraints] == [case["kind"]]


def test_the_corpus_covers_every_rung() -> None:
    rungs = Counter(case["rung"] for case in CORPUS)
    assert len(CORPUS) >= 110
    assert set(rungs) == set(RUNGS)
    assert min(rungs.values()) >= 8


def test_a_repaired_reply_keeps_all_it_said() -> None:
    whole = next(case["reply"] for case in CORPUS if case["note"] == "as asked")
    fenced = read_spec(f"Here you are:\n```json\n{whole}\n```\nGood luck!")
    assert fenced.spec == read_spec(whole).spec
    assert len(fenced.spec.raw_constraints) == 2


def test_a_reply_cut_off_by_its_budget_keeps_what_came_before() -> None:
    whole = next(case["reply"] for case in CORPUS if case["note"] == "as asked")
    cut = read_spec(whole[: whole.index('"likely_answer_range"')]).spec
    assert cut.raw_constraints == read_spec(whole).spec.raw_constraints
    assert not cut.likely_answer_range


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["note"])
def test_a_reply_is_well_formed_where_json_reads_it(case: dict[str, Any]) -> None:
    try:
        value: object = json.loads(without_thinking(case["reply"]))
    except ValueError:
        try:
            value = json.loads(case["reply"])
        except ValueError:
            value = None
    well_formed = isinstance(value, dict | list)
    assert (read_spec(case["reply"]).rung in WELL_FORMED) == well_formed


def test_what_is_malformed_yields_two_fields_or_none() -> None:
    whole = next(case["reply"] for case in CORPUS if case["note"] == "as asked")
    for length in range(len(whole)):
        recovered = read_spec(whole[:length])
        assert recovered.defers or len(recovered.spec.restricting) >= 2


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert read_spec(text).rung in RUNGS


@given(st.integers(0, 600), st.sampled_from([c["reply"] for c in CORPUS if c["reply"]]))
def test_a_reply_cut_anywhere_is_answered(length: int, reply: str) -> None:
    assert read_spec(reply[:length]).rung in RUNGS


def test_objects_are_read_from_other_replies_too() -> None:
    assert read_object('```json\n{"final_answer": 7}\n```') == {"final_answer": 7}
    assert read_object('<think>{"final_answer": 6}?</think>{"final_answer": 7}') == {
        "final_answer": 7
    }
    assert read_object("nothing here") is None


# --- stage


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


def test_stage_1_asks_for_json_within_its_budget(golden: Golden) -> None:
    call = extract_constraints(PROBLEM, 1024, prompts="brief", limit=FEW, json="schema")
    assert (call.stage, call.max_tokens, call.json) == ("stage1", 1024, True)
    assert call.schema == schema_for(FEW)
    prompt = call.messages[0].content
    assert all(f"- {kind}:" in prompt for kind in KINDS)
    assert "Do not solve" in prompt
    assert prompt.endswith(PROBLEM)
    assert prompt == golden("stage1.txt")


def test_the_papers_stage_1_has_no_limit_of_its_own(golden: Golden) -> None:
    call = extract_constraints(PROBLEM, 1024)
    assert (call.json, call.schema) == (True, "")
    held = extract_constraints(PROBLEM, 1024, json="schema")
    assert held.schema == schema_for(None, danger_note=False)
    assert call.messages[0].content == golden("stage1-paper.txt")


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
def test_stage_2_carries_problem_and_constraints(
    golden: Golden, prompts: PromptSet, style: ReplyStyle
) -> None:
    call = solve_under(PROBLEM, SPEC, style, 31_744, prompts=prompts)
    assert (call.stage, call.max_tokens, call.json) == ("stage2", 31_744, style == "json")
    prompt = call.messages[0].content
    assert PROBLEM in prompt
    assert '"description": "modulo 17"' in prompt
    of_paper = "paper-" if prompts == "paper" else ""
    assert prompt == golden(f"stage2-{of_paper}{style}.txt")


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
