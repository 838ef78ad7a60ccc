import json
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion

from cfr.cli.demo import PROBLEMS
from cfr.constraint.router import route

from .conftest import Run

SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "domain", "description": "a whole number"}]}
)
TEXTS = [text for text, _ in PROBLEMS]


def asked(body: dict[str, Any]) -> tuple[int, str]:
    """Tell a request's problem and stage by its prompt."""
    prompt = body["messages"][-1]["content"]
    problem = next(place for place, text in enumerate(TEXTS) if text in prompt)
    stage1 = body.get("response_format") is not None
    return problem, "stage1" if stage1 else "stage2" if "a whole number" in prompt else "direct"


def test_the_gold_answers() -> None:
    marbles = ["red"] * 3 + ["blue"] * 5
    pairs = list(combinations(marbles, 2))
    chance = Fraction(pairs.count(("blue", "blue")), len(pairs))
    answers = [sum([45] * 31) % 100, chance.numerator + chance.denominator]
    answers.append(sum(n % 6 == 0 for n in range(1, 100)))
    assert [answer for _, answer in PROBLEMS] == [str(answer) for answer in answers]


@pytest.mark.parametrize("text", TEXTS)
def test_every_problem_is_routed(text: str) -> None:
    assert route(text), "the demonstration shows both stages on each"


def test_both_methods_solve_each_problem_side_by_side(cfr: Run, endpoint: Server) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        problem, stage = asked(body)
        if stage == "stage1":
            return completion(SPEC)
        # Direct CoT errs on the first problem; CFR answers all of them.
        wrong = stage == "direct" and problem == 0
        return completion(rf"\boxed{{{1395 if wrong else PROBLEMS[problem][1]}}}")

    endpoint.respond = respond
    ran = cfr("demo", "--base-url", endpoint.url, "--temperature", "0")
    assert ran.code == 0, ran.err
    assert [asked(body) for body in endpoint.requests] == [
        (problem, stage) for problem in range(3) for stage in ("stage1", "stage2", "direct")
    ]
    assert {body["temperature"] for body in endpoint.requests} == {0}
    table = ran.out[ran.out.rindex("┏") :]
    heading = table.splitlines()[1]
    assert heading.index("Direct CoT") < heading.index("Routed-CFR")
    assert table.count("✗ 1395") == 1
    assert [table.count(f"✓ {answer}") for _, answer in PROBLEMS] == [1, 2, 2]
    assert (table.count("18 tokens"), table.count("36 tokens")) == (3, 3)


def test_hostile_answers_cannot_drive_the_terminal(cfr: Run, endpoint: Server) -> None:
    endpoint.script(completion("\\boxed{[red]4\x1b]0;owned\x07\u202e}"))
    ran = cfr("demo", "--base-url", endpoint.url)
    assert ran.code == 0, ran.err
    for character in "\x1b\x07\u202e":
        assert character not in ran.out
    assert "✗ [red]4" in ran.out


def test_replies_without_an_answer(cfr: Run, endpoint: Server) -> None:
    endpoint.script(completion("I give up", finish="length"))
    ran = cfr("demo", "--base-url", endpoint.url)
    assert ran.code == 0, ran.err
    assert ran.out.count("✗ no answer") == 6


def test_an_endpoint_that_is_not_there_is_one_line(cfr: Run) -> None:
    ran = cfr("demo", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
    assert ran.code == 3
    assert ran.err.splitlines()[-1].startswith("cfr: ")
    assert "Traceback" not in ran.err
