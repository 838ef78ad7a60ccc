import pytest

pytest.importorskip("pydantic", reason="pydantic comes with the extras llm and mcp")

from constraint_first.adapter.mcp_server import check_answer, stated_in
from constraint_first.error import InputError

REMAINDER = "Find the remainder when $3^5$ is divided by 7."


def test_an_answer_that_breaks_a_demand_is_told_which() -> None:
    found = check_answer(REMAINDER, "12")
    assert not found.sound
    assert "breaks 1 of 1 demands: The answer is a remainder: an integer from 0 to 6." in (
        found.summary
    )
    (check,) = found.checks
    assert (check.truth, check.kind) == ("violated", "modular")
    assert check.words in REMAINDER


def test_an_answer_may_meet_every_demand_and_be_wrong() -> None:
    found = check_answer(REMAINDER, "4")
    assert found.sound
    assert found.summary == "The answer breaks no demand: 1 met, 0 undecided."


def test_a_text_without_demands_says_so() -> None:
    found = check_answer("What is it?", "4")
    assert found.sound
    assert not found.checks
    assert "states no demand" in found.summary


@pytest.mark.parametrize(
    ("problem", "answer", "named"), [(" ", "4", "problem"), ("x", "", "answer")]
)
def test_an_empty_text_is_refused_by_name(problem: str, answer: str, named: str) -> None:
    with pytest.raises(InputError, match=f"^{named}: is empty"):
        check_answer(problem, answer)


@pytest.mark.parametrize("garbage", ["\x00\x1b[2J" * 50, "{" * 5_000, "9" * 10_000, "\ud800"])
def test_garbage_is_a_text_like_any_other(garbage: str) -> None:
    assert stated_in(garbage) == []
    assert check_answer(REMAINDER, garbage).checks[0].truth in ("violated", "undecided")
