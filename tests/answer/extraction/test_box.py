import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.marks import Box, find_box, latex_boxes, without_empty_boxes


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{5}", "5"),
        (r"\boxed 5", "5"),
        (r"\fbox{5}", "5"),
        (r"\framebox{5}", "5"),
        ("boxed{5}", "5"),
        (r"\boxed{5}, the boxed answer", "5"),
        (r"\boxed{5} Final answer: \boxed{}", "5"),
        (r"\boxed{5} Final answer: \boxed{\,} \boxed{ }", "5"),
        (r"\boxed{12}. Once more: \boxed{1", "12"),
        (r"\boxed{12}. Once more: $\boxed{", "12"),
        (r"\boxed{12}. Once more: $\boxed{12$.", "12"),
        (r"\boxed{12}. Once more: \boxed", "12"),
        (r"$x=\boxed{1}$ and $x=\boxed{2}$", "1, 2"),
    ],
)
def test_what_the_last_box_says(text: str, content: str) -> None:
    assert find_box(text) == Box(content)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("nothing", None),
        ("the boxed answer", None),
        (r"\boxed{}", Box(None)),
        (r"\boxed{5", Box(None, closed=False)),
        (r"\boxed{5}, no: \boxed{6", Box(None, closed=False)),
        (r"\boxed{5} and \boxed{", Box(None, closed=False)),
    ],
)
def test_where_no_box_says_anything(text: str, box: Box | None) -> None:
    assert find_box(text) == box


@pytest.mark.parametrize(
    ("text", "truncated", "latex"),
    [
        ("5", False, "5"),
        ("<|begin_of_box|>5<|end_of_box|>", False, r"\boxed{5}"),
        ("<|begin_of_box|>5", False, r"\boxed{5}"),
        ("<|begin_of_box|>5", True, r"\boxed{5"),
    ],
)
def test_box_tokens(text: str, truncated: bool, latex: str) -> None:
    assert latex_boxes(text, truncated=truncated) == latex


def test_empty_boxes_go() -> None:
    assert without_empty_boxes(r"It is 5. \boxed{ }\boxed{5}") == r"It is 5. \boxed{5}"


@given(st.text(alphabet=r"\boxedf{} 12,and$", max_size=120))
def test_no_text_breaks_it(text: str) -> None:
    box = find_box(text)
    assert box is None or box.content is None or box.closed
