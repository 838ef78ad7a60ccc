import json
from dataclasses import replace

import pytest
from played import play, stages

from constraint_first.constraint.stage1 import FEW, Limit
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import (
    BRIEF,
    CFR,
    LLMRouted,
    Routed,
    StatedCFR,
    read_decision,
    read_question,
)
from constraint_first.method.registry import make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Completion, Finish, Message, Run

SPEC = {"raw_constraints": [{"id": "C1", "type": "modular", "description": "mod 7"}]}
CUED = Problem("Find the remainder when $3^5$ is divided by 7.", benchmark="aime24", answer="5")
PLAIN = Problem("Compute $3^5$.", benchmark="aime24", answer="243")


def asked(run: Run[Solution]) -> list[Call]:
    return [exchange.call for exchange in run.exchanges]


def test_cfr_extracts_then_solves_within_the_papers_budgets() -> None:
    run = play(CFR(reply="prose"), CUED, json.dumps(SPEC), r"So \boxed{5}.")
    stages = [(call.stage, call.max_tokens, call.json) for call in asked(run)]
    assert stages == [("stage1", 1_024, True), ("stage2", 31_744, False)]
    assert run.result.answer == "5"
    assert run.result.details["rung"] == "parsed"
    assert run.result.details["constraints"] == SPEC
    reply = {"certificate_type": "computation", "final_answer": "5", "solution": "…"}
    run = play(CFR(reply="json"), CUED, json.dumps(SPEC), json.dumps(reply))
    assert asked(run)[1].json
    assert run.result.details["reply"] == reply


def test_the_papers_prompts_bring_its_settings_unless_others_are_given() -> None:
    paper = CFR("json", prompts="paper", limit=None, json="object")
    own = CFR("prose", prompts="paper", limit=Limit(8, 5), json="schema")
    assert make("cfr(prompts=paper)") == paper
    assert make("routed-cfr(prompts=paper)") == Routed(paper)
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
    papers = ", prompts='paper', limit=None, json='object')"
    for method, written in (
        (BRIEF, ")"),
        (CFR("prose", prompts="brief", limit=FEW, json="schema"), ")"),
        (replace(BRIEF, limit=None), ", limit=None)"),
        (replace(BRIEF, prompts="paper", json="off"), ", prompts='paper', json='off')"),
        (CFR("prose"), papers),
    ):
        assert repr(method) == known + written
    assert repr(CFR()) == (known + papers).replace("prose", "json")


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
    limited, unlimited = replace(BRIEF, stage1="cues"), CFR(stage1="cues", limit=None)
    for method, said in ((limited, extent), (unlimited, "Leave out none")):
        (call,) = Run(method.solve(Problem(text))).calls
        assert call.max_tokens == budget
        assert said in call.messages[0].content
    assert repr(CFR(stage1="cues")).endswith(", stage1='cues')")


CUT = json.dumps(SPEC | {"answer_format": "integer"})[:-4]
NO_RANGE = '"likely_answer_range": "N/A (proof problem)", "answer_format": "proof/argument"'


@pytest.mark.parametrize(
    ("stage1", "finish", "rung", "stage"),
    [
        ("I would rather not.", "stop", "fallback", "direct"),
        ("{}", "stop", "empty", "direct"),
        ('{"problem_summary": "", "raw_constraints": []}', "stop", "empty", "direct"),
        (f'{{"raw_constraints": [], {NO_RANGE}}}', "stop", "empty", "direct"),
        (json.dumps(SPEC)[:-8], "length", "fallback", "direct"),
        (CUT, "length", "repaired", "stage2"),
        (f"<think>mod 7</think>{json.dumps(SPEC)}", "stop", "parsed", "stage2"),
        (f"mod 7</think>\n{json.dumps(SPEC)}", "stop", "parsed", "stage2"),
    ],
)
def test_a_stage_1_that_cannot_be_used_or_says_nothing_falls_back_to_direct(
    stage1: str, finish: Finish, rung: str, stage: str
) -> None:
    run = play(CFR(), CUED, Completion(stage1, finish), r"\boxed{5}")
    assert stages(run) == ["stage1", stage]
    assert (run.result.answer, run.result.details["rung"]) == ("5", rung)
    assert run.result.details["stage1_truncated"] is (finish == "length")
    if stage == "direct":
        assert asked(run)[1] == Run(Direct().solve(CUED)).calls[0]
    assert ("constraints" in run.result.details) == (stage == "stage2")


def test_routed_takes_two_stages_where_there_is_a_cue_and_is_direct_elsewhere() -> None:
    run = play(Routed(), CUED, json.dumps(SPEC), r"\boxed{5}")
    assert stages(run) == ["stage1", "stage2"]
    assert run.result.details["routed"] is True
    assert run.result.details["cues"] == {"modular_remainder": ["remainder"]}
    run = play(Routed(), PLAIN, r"\boxed{243}")
    assert asked(run) == list(Run(Direct().solve(PLAIN)).calls)
    assert (run.result.details["routed"], run.result.details["cues"]) == (False, {})


def test_the_aime_convention_routes_only_as_an_ablation() -> None:
    elsewhere = Problem(PLAIN.text, benchmark="math500")
    for method, problem, stage in (
        (Routed(convention="aime"), PLAIN, "stage1"),
        (Routed(), PLAIN, "direct"),
        (Routed(convention="aime"), elsewhere, "direct"),
    ):
        assert Run(method.solve(problem)).calls[0].stage == stage


SPEC_QUESTION = json.dumps(SPEC)
ASKS = "QUESTION: Does C1 speak of the final answer?"


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        (ASKS, "Does C1 speak of the final answer?"),
        ("**Question:** What is C1?\n\nThanks", "What is C1?"),
        ("<think>hm</think>\nQUESTION: What is C1?", "What is C1?"),
        ("QUESTION: What is C1? Never mind, it is\n\\boxed{2}", ""),
        ("The QUESTION: is what?", ""),
        ("", ""),
        ("QUESTION: " + "x" * 5_000, "x" * 500),
    ],
)
def test_a_question_stands_at_the_beginning_and_alone(reply: str, question: str) -> None:
    assert read_question(reply) == question


def test_the_constraint_stage_answers_and_the_solver_goes_on() -> None:
    replies = (SPEC_QUESTION, ASKS, "Yes, of the answer.", r"\boxed{2}")
    run = play(replace(BRIEF, questions=1), CUED, *replies)
    first, second, clarify, last = asked(run)
    assert stages(run) == ["stage1", "stage2", "clarify", "stage2"]
    assert second.messages[0].content.endswith("Otherwise solve the problem now.")
    assert clarify.messages[:2] == (*first.messages, Message("assistant", SPEC_QUESTION))
    assert "Does C1 speak of the final answer?" in clarify.messages[2].content
    assert not clarify.json
    assert last.messages[1].content == ASKS
    assert "Yes, of the answer." in last.messages[2].content
    noted = {"question": "Does C1 speak of the final answer?", "reply": "Yes, of the answer."}
    assert run.result.details["questions"] == [noted]
    assert run.result.answer == "2"


def test_questions_are_bounded() -> None:
    replies = (SPEC_QUESTION, ASKS, "Yes.", "QUESTION: Is 5 in the range?")
    result = play(replace(BRIEF, questions=1), CUED, *replies).result
    # One question too many is no answer either.
    assert (result.answer, result.details["how"]) == (None, "question")
    with pytest.raises(ValueError, match="at most 3 questions"):
        CFR("prose", questions=4)
    with pytest.raises(ValueError, match="use reply=prose"):
        CFR(questions=1)


def test_without_questions_nothing_is_offered() -> None:
    run = play(CFR(), CUED, SPEC_QUESTION, r"\boxed{5}")
    assert "QUESTION" not in asked(run)[1].messages[0].content
    assert make("cfr(reply=prose,question=1)") == CFR("prose", questions=1)
    assert make("routed-cfr-brief(question=2)") == Routed(replace(BRIEF, questions=2))
    assert repr(CFR("prose", questions=1)).endswith(", questions=1)")


PLAIN_STATED_CFR = Problem("Simplify $x + x$.")
OWN = {
    "raw_constraints": [
        {"id": "C1", "type": "bound", "description": "The answer is between 50 and 90."},
        {"id": "C2", "type": "structure", "description": "Powers of 3 repeat modulo 7."},
    ],
    "propagated_constraints": [{"id": "P1", "description": "The answer is less than 7."}],
}


def test_stage_1_costs_nothing() -> None:
    run = play(StatedCFR(), CUED, r"\boxed{2}")
    (exchange,) = run.exchanges
    assert (exchange.call.stage, exchange.call.max_tokens) == ("stage2", 31_744)
    listed = run.result.details["constraints"]
    assert isinstance(listed, dict)
    assert json.dumps(listed, ensure_ascii=False, indent=1) in exchange.call.messages[0].content
    assert run.result.answer == "2"


def test_where_the_text_states_nothing_it_is_direct() -> None:
    run = play(StatedCFR(), PLAIN_STATED_CFR, r"\boxed{2x}")
    assert run.exchanges[0].call == Run(Direct().solve(PLAIN_STATED_CFR)).calls[0]
    assert run.result.details["stated"] == 0


def test_own_constraints_join_unless_the_text_contradicts_them() -> None:
    run = play(StatedCFR("join"), CUED, json.dumps(OWN), r"\boxed{2}")
    first, second = asked(run)
    assert first == BRIEF.extraction(CUED)
    assert "Powers of 3 repeat" in second.messages[0].content
    assert "The answer is less than 7." in second.messages[0].content
    assert "between 50 and 90" not in second.messages[0].content
    assert run.result.details["dropped"] == ["The answer is between 50 and 90."]
    for reply, stage in ((json.dumps(OWN), "stage2"), ("No.", "direct")):  # they alone will do
        run = play(StatedCFR("join"), PLAIN_STATED_CFR, reply, r"\boxed{2x}")
        assert stages(run) == ["stage1", stage]


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ('{"restrictive": "yes"}', True),
        ('{"restrictive": "No"}', False),
        ('{"restrictive": true}', True),
        ('```json\n{"restrictive": "no"}\n```', False),
        ("<think>maybe no</think> Yes.", True),
        ("It depends.", None),
        ('{"restrictive": "perhaps"}', None),
        ("", None),
    ],
)
def test_the_decision_is_read(reply: str, decision: bool | None) -> None:
    assert read_decision(reply) is decision
    run = Run(LLMRouted().solve(CUED))
    (call,) = run.calls
    assert (call.stage, call.json) == ("router", True)
    run.advance((Completion(reply),))
    assert run.calls[0].stage == ("stage1" if decision else "direct")
    if not decision:
        run.advance((Completion(r"\boxed{5}"),))
        details = run.result.details
        assert (run.result.answer, details["routed"]) == ("5", False)
        assert details["router_readable"] is (decision is not None)
