import json
from dataclasses import replace

import pytest

from constraint_first.constraint.stage1 import FEW, Limit
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import BRIEF, CFR, Routed
from constraint_first.method.registry import make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Completion, Run

SPEC = {"raw_constraints": [{"id": "C1", "type": "modular", "description": "mod 7"}]}
CUED = Problem("Find the remainder when $3^5$ is divided by 7.", benchmark="aime24", answer="5")
PLAIN = Problem("Compute $3^5$.", benchmark="aime24", answer="243")


def play(method: CFR | Routed, problem: Problem, *replies: str | Completion) -> Run[Solution]:
    run = Run(method.solve(problem))
    for reply in replies:
        run.advance((reply if isinstance(reply, Completion) else Completion(reply),))
    assert run.done
    return run


def asked(run: Run[Solution]) -> list[Call]:
    return [exchange.call for exchange in run.exchanges]


def test_cfr_extracts_then_solves_within_the_papers_budgets() -> None:
    run = play(CFR(), CUED, json.dumps(SPEC), r"So \boxed{5}.")
    stages = [(call.stage, call.max_tokens) for call in asked(run)]
    assert stages == [("stage1", 1_024), ("stage2", 31_744)]
    assert run.result.answer == "5"
    assert run.result.details["rung"] == "parsed"
    assert run.result.details["constraints"] == SPEC


def test_cfr_with_the_papers_reply_keeps_its_fields() -> None:
    reply = {"certificate_type": "computation", "final_answer": "5", "solution": "…"}
    run = play(CFR(reply="json"), CUED, json.dumps(SPEC), json.dumps(reply))
    assert asked(run)[1].json
    assert run.result.details["reply"] == reply


def test_the_papers_prompts_bring_its_settings_unless_others_are_given() -> None:
    paper = CFR("json", prompts="paper", limit=None, json="object")
    assert make("cfr(prompts=paper)") == paper
    assert make("routed-cfr(prompts=paper)") == Routed(paper)
    own = CFR("prose", prompts="paper", limit=Limit(8, 5), json="schema")
    assert make("cfr(prompts=paper,reply=prose,constraints=8+5,json=schema)") == own
    reply = json.dumps({"final_answer": "5"})
    first, second = asked(play(paper, CUED, json.dumps(SPEC), reply))
    assert (first.json, first.schema, second.json) == (True, "", True)
    assert "Leave out none" in first.messages[0].content
    assert "the final answer must satisfy them" in second.messages[0].content


def test_later_options_are_named_only_where_they_are_used() -> None:
    known = (
        "CFR(reply='prose', extraction_budget=1024, solving_budget=31744, "
        "fallback=Direct(budget=32768)"
    )
    brief = CFR("prose", prompts="brief", limit=FEW, json="schema")
    assert repr(BRIEF) == repr(brief) == f"{known})"
    assert repr(replace(BRIEF, limit=None)) == f"{known}, limit=None)"
    assert repr(replace(BRIEF, prompts="paper", json="off")) == (
        f"{known}, prompts='paper', json='off')"
    )
    papers = f"{known}, prompts='paper', limit=None, json='object')".replace("prose", "json")
    assert repr(CFR()) == papers


@pytest.mark.parametrize(
    ("text", "budget", "extent"),
    [
        ("Compute $3^5$.", 512, "at most two constraints and two combinations"),
        ("Find the remainder when $3^5$ is divided by 7.", 512, "at most two constraints"),
        (
            "Find the smallest positive integer n such that n mod 7 is even; give m+n.",
            1_024,
            "at most six constraints and three combinations",
        ),
    ],
)
def test_stage_1_may_have_a_budget_by_the_number_of_cues(
    text: str, budget: int, extent: str
) -> None:
    (call,) = Run(replace(BRIEF, stage1="cues").solve(Problem(text))).calls
    assert call.max_tokens == budget
    assert extent in call.messages[0].content
    (unlimited,) = Run(CFR(stage1="cues", limit=None).solve(Problem(text))).calls
    assert (unlimited.max_tokens, "Leave out none" in unlimited.messages[0].content) == (
        budget,
        True,
    )
    assert repr(CFR(stage1="cues")).endswith(", stage1='cues')")


def test_a_useless_stage_1_falls_back_to_direct() -> None:
    run = play(CFR(), CUED, "I would rather not.", r"\boxed{5}")
    assert [call.stage for call in asked(run)] == ["stage1", "direct"]
    assert asked(run)[1] == Run(Direct().solve(CUED)).calls[0]
    assert run.result.details["rung"] == "fallback"
    assert run.result.answer == "5"


@pytest.mark.parametrize(
    "stage1",
    [
        "{}",
        '{"problem_summary": "", "raw_constraints": [], "answer_format": ""}',
        '{"raw_constraints": [], "propagated_constraints": [],'
        ' "likely_answer_range": "N/A (proof problem)", "answer_format": "proof/argument"}',
    ],
)
def test_a_stage_1_without_constraints_defers_to_direct_and_is_not_malformed(stage1: str) -> None:
    run = play(CFR(), CUED, stage1, r"\boxed{5}")
    assert [call.stage for call in asked(run)] == ["stage1", "direct"]
    assert run.result.details["rung"] == "empty"
    assert "constraints" not in run.result.details


def test_a_truncated_stage_1_with_one_field_falls_back_to_direct() -> None:
    cut = Completion(json.dumps(SPEC)[:-8], finish="length")
    run = play(CFR(), CUED, cut, r"\boxed{5}")
    assert [call.stage for call in asked(run)] == ["stage1", "direct"]
    assert run.result.details["rung"] == "fallback"
    assert run.result.details["stage1_truncated"] is True


@pytest.mark.parametrize("thought", ["<think>mod 7</think>", "mod 7</think>\n"])
def test_a_stage_1_that_thinks_first_is_parsed(thought: str) -> None:
    run = play(CFR(), CUED, thought + json.dumps(SPEC), r"\boxed{5}")
    assert run.result.details["rung"] == "parsed"
    assert run.result.details["constraints"] == SPEC


def test_a_truncated_stage_1_is_used_as_far_as_it_goes() -> None:
    cut = Completion(json.dumps(SPEC | {"answer_format": "integer"})[:-4], finish="length")
    run = play(CFR(), CUED, cut, r"\boxed{5}")
    assert run.result.details["rung"] == "repaired"
    assert run.result.details["stage1_truncated"] is True
    assert [call.stage for call in asked(run)] == ["stage1", "stage2"]


def test_routed_takes_two_stages_where_there_is_a_cue() -> None:
    run = play(Routed(), CUED, json.dumps(SPEC), r"\boxed{5}")
    assert [call.stage for call in asked(run)] == ["stage1", "stage2"]
    assert run.result.details["routed"] is True
    assert run.result.details["cues"] == {"modular_remainder": ["remainder"]}


def test_routed_is_direct_where_there_is_none() -> None:
    run = play(Routed(), PLAIN, r"\boxed{243}")
    assert asked(run) == list(Run(Direct().solve(PLAIN)).calls)
    assert run.result.details["routed"] is False
    assert run.result.details["cues"] == {}


def test_the_aime_convention_routes_only_as_an_ablation() -> None:
    ablation = Routed(convention="aime")
    assert Run(ablation.solve(PLAIN)).calls[0].stage == "stage1"
    assert Run(Routed().solve(PLAIN)).calls[0].stage == "direct"
    elsewhere = Problem(PLAIN.text, benchmark="math500")
    assert Run(ablation.solve(elsewhere)).calls[0].stage == "direct"
