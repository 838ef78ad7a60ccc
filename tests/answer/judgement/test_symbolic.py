import pytest

from constraint_first.answer.symbolic import TASKS, is_whole, judge


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (r"\sin^2(1) + \cos^2(1)", True),
        (r"(1+\sqrt{2})(\sqrt{2}-1)", True),
        (r"x = \log_2 8", True),
        (r"\pi", False),
        (r"1+\sqrt{2}", False),
        (r"118.1^\circ", False),
        ("3i", False),
        (r"2\pi\text{ cm}", False),
        ("x + 1", None),
        ("east", None),
        ("1/0", None),
        (r"\pi \cdot 10^{60}", None),
        (r"9^{9^{9^9}}", None),
    ],
)
def test_a_whole_number_is_known_by_its_value(text: str, whole: bool | None) -> None:
    assert is_whole(text) is whole


def test_what_cannot_be_evaluated_is_left_open() -> None:
    assert judge("2x", "x+x").same is True
    ruling = judge(r"\frac{1}{x-x}", "1")
    assert (ruling.same, ruling.why) == (None, "the expressions cannot be evaluated")


def test_a_worker_can_be_asked_for_both() -> None:
    assert TASKS["judge"]("2x", "x+x", False) == [True, "equal symbolically"]
    assert TASKS["is_whole"](r"\pi") is False
