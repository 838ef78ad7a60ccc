import json
from dataclasses import replace

import pytest

from constraint_first.method.constraint_first import BRIEF, CFR, Routed, read_question
from constraint_first.method.registry import make
from constraint_first.problem import Problem
from constraint_first.protocol import Completion, Run

CUED = Problem("Find the remainder when $3^{50}$ is divided by 7.")
SPEC = json.dumps({"raw_constraints": [{"id": "C1", "type": "modular", "description": "mod 7"}]})
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
    run = Run(replace(BRIEF, questions=1).solve(CUED))
    for reply in (SPEC, ASKS, "Yes, of the answer.", r"\boxed{2}"):
        run.advance((Completion(reply),))
    first, second, clarify, last = (exchange.call for exchange in run.exchanges)
    stages = [call.stage for call in (first, second, clarify, last)]
    assert stages == ["stage1", "stage2", "clarify", "stage2"]
    assert second.messages[0].content.endswith("Otherwise solve the problem now.")
    assert clarify.messages[:2] == (*first.messages, clarify.messages[1])
    assert clarify.messages[1].content == SPEC
    assert "Does C1 speak of the final answer?" in clarify.messages[2].content
    assert not clarify.json
    assert last.messages[1].content == ASKS
    assert "Yes, of the answer." in last.messages[2].content
    asked = {"question": "Does C1 speak of the final answer?", "reply": "Yes, of the answer."}
    assert run.result.details["questions"] == [asked]
    assert run.result.answer == "2"


def test_questions_are_bounded() -> None:
    run = Run(replace(BRIEF, questions=1).solve(CUED))
    for reply in (SPEC, ASKS, "Yes.", "QUESTION: Is 5 in the range?"):
        run.advance((Completion(reply),))
    assert run.result.answer is None  # one question too many is no answer either
    assert run.result.details["how"] == "question"
    with pytest.raises(ValueError, match="at most 3 questions"):
        CFR("prose", questions=4)
    with pytest.raises(ValueError, match="use reply=prose"):
        CFR(questions=1)


def test_without_questions_nothing_is_offered() -> None:
    run = Run(CFR().solve(CUED))
    run.advance((Completion(SPEC),))
    assert "QUESTION" not in run.calls[0].messages[0].content
    assert make("cfr(reply=prose,question=1)") == CFR("prose", questions=1)
    assert make("routed-cfr-brief(question=2)") == Routed(replace(BRIEF, questions=2))
    assert repr(CFR("prose", questions=1)).endswith(", questions=1)")
