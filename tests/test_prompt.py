import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.problem import Prompt, load

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
