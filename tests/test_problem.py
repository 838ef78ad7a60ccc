from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.method.registry import METHODS, make
from constraint_first.problem import Problem, Prompt, Solution, load
from constraint_first.protocol import Completion, Run

SECRET = Problem(
    "Find the remainder when $2^{10}$ is divided by 7.", "id-4711", "gold-4711", "set-4711"
)


def test_a_text_alone_is_a_problem() -> None:
    problem = Problem("Compute $1+1$.")
    assert (problem.id, problem.answer, problem.benchmark) == ("", None, "")
    assert problem == Problem(text="Compute $1+1$.")
    assert hash(problem) == hash(Problem("Compute $1+1$."))


def test_neither_can_be_changed_afterwards() -> None:
    for value in (Problem("P"), Solution("4", "so 4")):
        for field in fields(value):
            with pytest.raises(FrozenInstanceError):
                setattr(value, field.name, "")


def test_solutions_share_no_notes() -> None:
    first, second = Solution(None, ""), Solution(None, "")
    assert first.details == {}
    assert first.details is not second.details
    assert not first.truncated


@pytest.mark.parametrize("name", METHODS)
def test_methods_see_the_text_alone(name: str) -> None:
    run = Run(make(name).solve(SECRET))
    bare = Run(make(name).solve(Problem(SECRET.text)))
    while not run.done:
        assert "4711" not in repr(run.calls)
        assert run.calls == bare.calls
        replies = tuple(Completion(r"\boxed{2}") for _ in run.calls)
        run.advance(replies)
        bare.advance(replies)
    assert bare.done
    expected = r"\boxed{2}" if run.result.is_whole else "2"
    assert run.result.answer == bare.result.answer == expected


PROMPT = Prompt("example", "Problem: [[problem]] | Constraints: [[constraints]] | {not a place}")


@given(st.text(), st.text())
def test_what_is_filled_in_arrives_as_it_was(problem: str, constraints: str) -> None:
    filled = PROMPT.fill(problem=problem, constraints=constraints)
    assert filled == f"Problem: {problem} | Constraints: {constraints} | {{not a place}}"


@pytest.mark.parametrize("text", ["[[constraints]]", "{problem}", r"\g<0> \1", "%s $problem"])
def test_a_problem_is_not_a_template(text: str) -> None:
    assert PROMPT.fill(problem=text, constraints="C").count("C") >= 1
    assert text in PROMPT.fill(problem=text, constraints="C")


def test_every_place_must_be_filled() -> None:
    with pytest.raises(TypeError, match=r"takes \['constraints', 'problem'\], got \['problem'\]"):
        PROMPT.fill(problem="x")


def test_prompts_come_from_the_package() -> None:
    assert load("constraint_first.method", "direct").places == {"problem"}
