from dataclasses import replace
from pathlib import Path

import pytest

from constraint_first.method.baselines import CheckAnswer, Direct, Reminder
from constraint_first.method.method import models_of
from constraint_first.method.policy import (
    Calibrated,
    Chosen,
    Evidence,
    Policy,
    Rule,
    calibrate_by,
    in_conversation,
    write_policy,
)
from constraint_first.method.registry import make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Message, Run
from constraint_first.store.store import fingerprint

EVIDENCE = Evidence(1_234, 40.0, 55.5, 15.5, (10.0, 21.0), 0.9)
POLICY = Policy(
    "m", (Rule(("latex",), "reminder", EVIDENCE), Rule(("cue.modular_remainder",), "check"))
)
LATEX, CUED, PLAIN = (
    Problem(text)
    for text in ("What is $2 + 2$?", "Find the remainder of 7 by 3.", "What is two plus two?")
)


def solved(method: Calibrated, problem: Problem) -> Solution:
    run = Run(method.solve(problem))
    while run.calls:
        run.advance(tuple(Completion(r"\boxed{4}") for _ in run.calls))
    return run.result


def test_each_problem_goes_to_the_method_of_its_rule() -> None:
    method = calibrate_by(POLICY, make)
    assert method.choose(LATEX) == Chosen(Reminder(), 1)
    assert method.choose(CUED) == Chosen(CheckAnswer(), 2)
    assert method.choose(PLAIN) == Chosen(Direct(), 0)
    assert (
        method.explain(LATEX) == "reminder on problems with LaTeX (+15.5 points on 1,234 of them)"
    )
    assert method.explain(CUED) == "check on problems with a cue of modular remainder"
    assert method.explain(PLAIN) == "no rule fits; direct"


def test_the_rule_and_its_evidence_are_noted() -> None:
    method = calibrate_by(POLICY, make)
    noted = solved(method, LATEX).details["policy"]
    assert noted == {"rule": 1, "when": ["latex"], "method": "reminder", **EVIDENCE.to_json()}
    assert solved(method, PLAIN).details["policy"] == {"rule": 0, "method": "direct"}
    assert solved(method, PLAIN).answer == "4"


def test_neither_benchmark_nor_id_decides() -> None:
    method = calibrate_by(POLICY, make)
    assert method.choose(replace(PLAIN, id="latex", benchmark="math500")).rule == 0


def test_the_fingerprint_is_that_of_what_is_decided() -> None:
    def of(policy: Policy) -> str:
        return fingerprint(calibrate_by(policy, make))

    assert of(replace(POLICY, made="later", answer="Yes")) == of(POLICY)
    assert of(replace(POLICY, rules=POLICY.rules[1:])) != of(POLICY)
    changed = replace(POLICY.rules[0], when=("not latex",))
    assert of(replace(POLICY, rules=(changed, POLICY.rules[1]))) != of(POLICY)
    assert "cue" not in repr(calibrate_by(POLICY, make))  # the hash stands for the conditions
    assert POLICY.digest in repr(calibrate_by(POLICY, make))


def test_other_models_of_its_methods_are_known() -> None:
    policy = replace(POLICY, rules=(Rule((), "cfr(extractor=small)"),))
    assert models_of(calibrate_by(policy, make)) == ("small",)


def test_by_the_name_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a policy.toml"
    path.write_text(write_policy(POLICY))
    assert make(f"calibrated(policy='{path}')") == calibrate_by(POLICY, make)


@pytest.mark.parametrize("text", ["\ud800", "", "$" * 1_000])
def test_any_problem_is_decided(text: str) -> None:
    assert calibrate_by(POLICY, make).choose(Problem(text)).rule in (0, 1, 2)


def test_requests_are_left_to_sound_and_plain_replies() -> None:
    method = calibrate_by(POLICY, make)
    demanding = Problem("Write about tea. Do not use any commas.")
    free = Problem("Write me a poem about tea.")
    assert method.choose(demanding) == Chosen(make("sound(add=off,then=off)"), 0)
    assert method.choose(free).method == make("plain")
    assert method.leaves_alone(free)
    assert method.explain(demanding) == (
        "a request that demands something of its reply; the reply is checked"
    )
    why = "it asks for a text (“Write me a poem”)"
    assert method.explain(free) == f"passed to the model untouched, because {why}"
    noted = {"rule": 0, "method": "plain", "why": why}
    assert solved(method, free).details["policy"] == noted
    assert solved(method, demanding).details["policy"] == {
        "rule": 0,
        "method": "sound(add=off,then=off)",
    }


def test_a_policy_that_knows_requests_decides_about_them() -> None:
    policy = replace(POLICY, rules=(Rule(("demand",), "sound(most=4)"), *POLICY.rules))
    method = calibrate_by(policy, make)
    demanding = Problem("Write about tea. Do not use any commas.")
    assert method.choose(demanding) == Chosen(make("sound(most=4)"), 1)
    assert method.leaves_alone(Problem("Write me a poem about tea."))


def test_a_rule_for_everything_is_for_requests_where_it_leads_to_whole_replies() -> None:
    demanding = Problem("Write about tea. Do not use any commas.")
    for name, wanted in (("sound(then=turn)", 1), ("program", 0)):
        method = calibrate_by(replace(POLICY, rules=(Rule((), name),)), make)
        assert method.choose(demanding).rule == wanted


PROGRAMS = Policy("m", (Rule(("not functions",), "program"),))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Which of the following is prime? (A) 21 (B) 27 (C) 31 (D) 33", "one of several options"),
        ("What is 3 + 4?\nAnswer Choices: (A)5 (B)6 (C)7", "one of several options"),
        (
            "What is $2+2$? $\\textbf{(A)}\\ 3 \\textbf{(B)}\\ 4 \\textbf{(C)}\\ 5$",
            "one of several",
        ),
        ("Solve the equation: $x^2 = 9$", "several values"),
        (
            "Find all positive integers $n$ such that $n^2 < 10$. List all solutions.",
            "several values",
        ),
        ("Find the coordinates of the midpoint of $(1,2)$ and $(3,4)$.", "several values"),
        ("The sum of two numbers is 35 and their difference is 13. Find the numbers.", "several"),
        ("Simplify: $3(8v + 9)$", "an expression"),
        ("Factor $7x^3 - 21x^2 + 14x$.", "an expression"),
        ("Find the derivative of $x^3$.", "an expression"),
        ("Find the range of values of $x$ for which $x + 4 > 0$.", "an expression"),
        ("If 3 pens cost $p$ dollars, find the cost of 7 pens in terms of $p$.", "an expression"),
    ],
)
def test_programs_are_for_problems_that_ask_for_a_number(text: str, form: str) -> None:
    method = calibrate_by(PROGRAMS, make)
    assert method.choose(Problem(text)).method == Direct()
    assert form in method.explain(Problem(text))
    assert method.explain(Problem(text)).startswith("direct: programs print numbers")


@pytest.mark.parametrize(
    "text",
    [
        "Ann has 5 apples and buys 3 more. How many apples does she have?",
        "A farmer wants to expand his 3 fields by 2 each. How many fields has he then?",
        "Tom solved 4 puzzles on each of 3 days. How many puzzles did he solve?",
        "A factory makes 20 toys in each of 5 hours. How many toys is that?",
        "For how many ordered pairs of positive integers $(x,y)$ is $x+2y = 100$?",
        "What is the sum of all possible values of $n$ if $n^2 = 9$?",
        "Find the remainder when $7^{100}$ is divided by 13.",
        "What is the probability of two sixes with 2 fair dice? Express your answer as a fraction.",
    ],
)
def test_a_number_is_still_left_to_programs(text: str) -> None:
    assert calibrate_by(PROGRAMS, make).choose(Problem(text)).rule == 1


def test_a_rule_that_was_learnt_for_a_form_counts_for_it() -> None:
    text = Problem("Simplify: $3(8v + 9)$")
    learnt = replace(PROGRAMS, rules=(Rule(("asks.expression",), "program"),))
    assert calibrate_by(learnt, make).choose(text).rule == 1


def test_rules_learnt_from_english_say_nothing_of_other_languages() -> None:
    method = calibrate_by(PROGRAMS, make)
    text = "Tom hat 5 Äpfel und kauft 3 dazu. Wie viele Äpfel hat er jetzt?"
    assert method.choose(Problem(text)).method == Direct()
    assert "English" in method.explain(Problem(text))


@pytest.mark.parametrize(
    ("ahead", "alone"),
    [
        ([], True),
        ([Message("system", "You are a helpful assistant.")], True),
        ([Message("system", "You are Qwen, by Alibaba. You are a helpful assistant.")], True),
        ([Message("system", "Answer in JSON.")], False),
        ([Message("system", "You are a poet. Answer in rhyme.")], False),
        ([Message("user", "hi"), Message("assistant", "Hello.")], False),
    ],
)
def test_a_problem_in_a_conversation_is_left_to_the_model(
    ahead: list[Message], *, alone: bool
) -> None:
    method = in_conversation(calibrate_by(PROGRAMS, make), ahead)
    assert isinstance(method, Calibrated)
    assert method.leaves_alone(Problem("What is 2 + 2?")) != alone
    assert in_conversation(Direct(), ahead) == Direct()
