import json

from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import BRIEF, StatedCFR
from constraint_first.method.registry import make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run

CUED = Problem("Find the remainder when $3^{50}$ is divided by 7.")
PLAIN = Problem("Simplify $x + x$.")
OWN = {
    "raw_constraints": [
        {"id": "C1", "type": "bound", "description": "The answer is between 50 and 90."},
        {"id": "C2", "type": "structure", "description": "Powers of 3 repeat modulo 7."},
    ],
    "propagated_constraints": [{"id": "P1", "description": "The answer is less than 7."}],
}


def play(method: StatedCFR, problem: Problem, *replies: str) -> Run[Solution]:
    run = Run(method.solve(problem))
    for reply in replies:
        run.advance((Completion(reply),))
    assert run.done
    return run


def test_stage_1_costs_nothing() -> None:
    run = play(StatedCFR(), CUED, r"\boxed{2}")
    (exchange,) = run.exchanges
    assert (exchange.call.stage, exchange.call.max_tokens) == ("stage2", 31_744)
    listed = run.result.details["constraints"]
    assert isinstance(listed, dict)
    assert json.dumps(listed, ensure_ascii=False, indent=1) in exchange.call.messages[0].content
    assert run.result.answer == "2"


def test_where_the_text_states_nothing_it_is_direct() -> None:
    run = play(StatedCFR(), PLAIN, r"\boxed{2x}")
    assert run.exchanges[0].call == Run(Direct().solve(PLAIN)).calls[0]
    assert run.result.details["stated"] == 0


def test_own_constraints_join_unless_the_text_contradicts_them() -> None:
    run = play(StatedCFR("join"), CUED, json.dumps(OWN), r"\boxed{2}")
    first, second = (exchange.call for exchange in run.exchanges)
    assert first == BRIEF.extraction(CUED)
    assert "Powers of 3 repeat" in second.messages[0].content
    assert "The answer is less than 7." in second.messages[0].content
    assert "between 50 and 90" not in second.messages[0].content
    assert run.result.details["dropped"] == ["The answer is between 50 and 90."]


def test_own_constraints_alone_will_do() -> None:
    run = play(StatedCFR("join"), PLAIN, json.dumps(OWN), r"\boxed{2x}")
    assert [exchange.call.stage for exchange in run.exchanges] == ["stage1", "stage2"]
    useless = play(StatedCFR("join"), PLAIN, "No.", r"\boxed{2x}")
    assert [exchange.call.stage for exchange in useless.exchanges] == ["stage1", "direct"]


def test_it_is_made_by_name() -> None:
    assert make("stated-cfr") == StatedCFR()
    assert make("stated-cfr(own=join)") == StatedCFR("join")
