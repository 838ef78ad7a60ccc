from constraint_first.method.baselines import SelfRefine
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run

PROBLEM = Problem("What is $2+2$?")


def play(method: SelfRefine, *replies: str) -> Run[Solution]:
    run = Run(method.solve(PROBLEM))
    for reply in replies:
        run.advance((Completion(reply),))
    assert run.done
    return run


def test_draft_feedback_revision() -> None:
    run = play(SelfRefine(), r"<think>hm</think>\boxed{5}", "It is not 5.", r"\boxed{4}")
    stages = [(e.call.stage, e.call.max_tokens) for e in run.exchanges]
    assert stages == [("draft", 32_768), ("feedback", 32_768), ("revise", 32_768)]
    revise = run.exchanges[2].call.messages[0].content
    assert revise.endswith("Proposed solution:\n\\boxed{5}\n\nRemarks:\nIt is not 5.")
    assert run.result.answer == "4"
    assert run.result.details["drafts"] == ["5", "4"]


def test_each_iteration_works_on_the_latest_answer() -> None:
    run = play(SelfRefine(2), r"\boxed{5}", "No.", r"\boxed{6}", "No.", r"\boxed{4}")
    assert r"\boxed{6}" in run.exchanges[3].call.messages[0].content
    assert run.result.answer == "4"


def test_a_revision_without_an_answer_changes_nothing() -> None:
    run = play(SelfRefine(), r"\boxed{4}", "Fine.", "")
    assert run.result.answer == "4"
    assert run.result.text == r"\boxed{4}"
