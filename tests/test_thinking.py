import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.thinking import ThinkingStream, split_thinking, without_thinking


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


@pytest.mark.parametrize(
    ("text", "thinking", "said"),
    [
        ("4", "", "4"),
        ("<think>maybe 5</think>\n\n4", "maybe 5", "4"),
        ("maybe 5</think>4", "maybe 5", "4"),
        ("<think>cut off", "cut off", ""),
        ("<think></think>4", "", "4"),
        ("said <think>cut off", "cut off", "said "),
        ("<think>a</think>b<think>c</think>d", "abc", "d"),
        ("[THINK]5[/THINK]4", "5", "4"),
        ('{"danger_note": "<think> first"}', "", '{"danger_note": "<think> first"}'),
        ("a <thinker> b", "", "a <thinker> b"),
    ],
)
def test_a_reply_is_split_into_thinking_and_what_it_says(
    text: str, thinking: str, said: str
) -> None:
    assert split_thinking(text) == (thinking, said)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("4", [("4", False)]),
        ("<think>maybe 5</think>4", [("maybe 5", True), ("4", False)]),
        ("a<thinking>b</thinking>c", [("a", False), ("b", True), ("c", False)]),
        ("◁think▷5◁/think▷4", [("5", True), ("4", False)]),
        ("<think>cut off </thi", [("cut off </thi", True)]),
        ("a < b <thinker>", [("a < b <thinker>", False)]),
        (' {"a": "<think>"}', [(' {"a": "<think>"}', False)]),
    ],
)
def test_a_stream_is_sorted_whatever_its_pieces(text: str, parts: list[tuple[str, bool]]) -> None:
    for size in range(1, len(text) + 1):
        stream = ThinkingStream()
        found = [p for at in range(0, len(text), size) for p in stream.add(text[at : at + size])]
        found += stream.end()
        assert _joined(found) == parts


def _joined(parts: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    joined: list[tuple[str, bool]] = []
    for text, thought in parts:
        if joined and joined[-1][1] is thought:
            text = joined.pop()[0] + text
        joined.append((text, thought))
    return joined


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thin", "k>", "x", "{", " "])))
def test_a_stream_loses_nothing_but_marks(pieces: list[str]) -> None:
    stream = ThinkingStream()
    shown = [text for piece in pieces for text, _ in stream.add(piece)]
    shown += [text for text, _ in stream.end()]
    assert _without_marks("".join(shown)) == _without_marks("".join(pieces))


def _without_marks(text: str) -> str:
    while (shorter := text.replace("<think>", "").replace("</think>", "")) != text:
        text = shorter
    return text
