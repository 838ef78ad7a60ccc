import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loopback import Endpoint as Server
from loopback import Reply, completion

from constraint_first.cli import solve as session
from constraint_first.cli.demo import EXAMPLES
from constraint_first.cli.demo import demo_command as command
from constraint_first.constraint.kind import find_features
from constraint_first.constraint.router import route
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import check_stated
from constraint_first.model.resolve import AutoChoice

from .conftest import Run

SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "domain", "description": "a whole number"}]}
)
EVERY = range(len(EXAMPLES))
POLICY = """
schema = 1
model = "m"
[[rules]]
when = ["not functions"]
method = "until-agreed(base=program(tokens=200),most=3,agree=1)"
[by_problem]
problems = 1022
before = 44.8
after = 57.8
gain = 13.0
tokens = 0.91
"""


def asked(body: dict[str, Any]) -> tuple[int, str]:
    """Tell a request's problem and stage by its prompt."""
    prompt = body["messages"][-1]["content"]
    problem = next(place for place in EVERY if EXAMPLES[place].text in prompt)
    if "a whole number" in prompt:
        return problem, "stage2"
    if body.get("response_format") is not None:
        return problem, "stage1"
    return problem, "program" if "program" in prompt else "direct"


def last_lines(shown: str) -> str:
    """Find what stands below all problems."""
    return shown[shown.index("right answer") :]


def test_the_gold_answers() -> None:
    answers = (
        next(n for n in range(55, 72, 5) if sum(map(int, str(n))) == 11),
        (242 + 155 + 154 + 388) // 13 * 13,
        sum(sum(map(int, str(n))) == 10 for n in range(100, 1000)),
        max(n for n in range(500) if n % 7 == 3 and n % 5 == 2),
    )
    assert [one.answer for one in EXAMPLES] == [str(answer) for answer in answers]


@pytest.mark.parametrize("example", EXAMPLES, ids=[one.name for one in EXAMPLES])
def test_every_example_has_something_to_show(example: Any) -> None:
    assert route(example.text), "the demonstration shows both stages of Routed-CFR on each"
    checks = check_stated(read_stated(example.text), example.answer)
    assert {truth for _, truth in checks} == {"holds"}
    assert "functions" not in find_features(example.text), "the embedded model's policy has a rule"


def test_both_methods_solve_each_problem(cfr: Run, endpoint: Server) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        problem, stage = asked(body)
        if stage == "stage1":
            return completion(SPEC)
        # Direct CoT errs on the first problem; CFR answers all of them.
        if stage == "stage2":
            return completion(json.dumps({"final_answer": EXAMPLES[problem].answer}))
        return completion(rf"\boxed{{{EXAMPLES[problem].answer if problem else 1395}}}")

    endpoint.respond = respond
    ran = cfr("demo", "--base-url", endpoint.url, "--temperature", "0")
    assert ran.code == 0, ran.err
    assert [asked(body) for body in endpoint.requests] == [
        (problem, stage) for problem in EVERY for stage in ("direct", "stage1", "stage2")
    ]
    assert {body["temperature"] for body in endpoint.requests} == {0}
    assert ran.err.startswith(
        "auto is calibrated(policy=unmeasured): no policy comes with the package"
    )
    assert ran.out.count("a whole number") == len(EXAMPLES)
    assert "✓  The answer is from 51 to 71." in ran.out
    table = last_lines(ran.out)
    assert table.index("Direct CoT") < table.index("Routed-CFR")
    assert table.count("✗ 1395") == 1
    assert [table.count(f"✓ {one.answer} ") for one in EXAMPLES] == [1, 2, 2, 2]
    said = " ".join(table.split())
    assert "Direct CoT got 3 of 4 right with 28 output tokens" in said
    assert "Routed-CFR got 4 of 4 right with 56: 2.00 times as many, and 2.00 times with" in said
    assert "4 examples measure nothing" in said
    assert [one in said for one in ("cfr eval", "cfr calibrate", "cfr solve")] == [True] * 3


def test_a_policy_s_programs_are_shown(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        problem, stage = asked(body)
        if stage == "direct":
            return completion(r"\boxed{1395}")
        crash = problem == 1
        source = "1 // 0" if crash else f"int('{EXAMPLES[problem].answer}')"
        return completion(f"So:\n```python\nprint({source})\n```")

    endpoint.respond = respond
    (tmp_path / "p.toml").write_text(POLICY)
    choice = AutoChoice(f"calibrated(policy={tmp_path / 'p.toml'})", "a test says so")

    def choose(*_: object) -> AutoChoice:
        return choice

    monkeypatch.setattr(session, "choose_for", choose)
    ran = CliRunner().invoke(command, ["--base-url", endpoint.url])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    for problem, example in enumerate(EXAMPLES):
        shown = f"print(int('{example.answer}'))"
        assert lines.count(shown) == (problem != 1), "two programs agree, and one is shown"
        assert lines.count(f"Output  {example.answer}") == (problem != 1)
    assert "No program of 3 printed this answer." in lines
    said = " ".join(last_lines(ran.output).split())
    assert "Direct CoT got 0 of 4 right with 28 output tokens, Calibrated got 3 of 4 right" in said
    assert "1,022 other problems" in said
    assert "44.8 % right before, 57.8 % after, at 0.91 times the output tokens" in said


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
    assert last_lines(ran.out).count("✗ no answer") == 2 * len(EXAMPLES)


def test_an_endpoint_that_is_not_there_is_one_line(cfr: Run) -> None:
    ran = cfr("demo", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
    assert ran.code == 3
    assert ran.err.splitlines()[-1].startswith("cfr: ")
    assert "Traceback" not in ran.err
