import pytest

from cfr.thinking import without_thinking


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4", "4"),
        ("<think>maybe 5</think>4", "4"),
        ("<THINK>a</THINK>b<thinking>c</thinking>d", "d"),
        ("◁think▷5◁/think▷4", "4"),
        ("[THINK]5[/THINK]4", "4"),
        ("maybe 5</think>4", "4"),
        ("<think>cut off", ""),
        ("said<think>cut off", "said"),
        ("a <thinker> b", "a <thinker> b"),
    ],
)
def test_thinking_is_dropped(text: str, said: str) -> None:
    assert without_thinking(text) == said
