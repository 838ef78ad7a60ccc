"""Several samples in one reply: each read by itself, their tokens divided without a remainder."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.model.error import BadReply, EngineError, ServerFault
from constraint_first.model.wire import SampledCall, SampledCompletion, divide, sampled_from
from constraint_first.protocol import Completion, Usage

USAGE = {"prompt_tokens": 100, "completion_tokens": 30}


def choice(text: Any, **more: Any) -> dict[str, Any]:
    return {"message": {"content": text}, "finish_reason": "stop"} | more


def body(*choices: Any, usage: Any = USAGE) -> bytes:
    return json.dumps({"choices": choices, "usage": usage}).encode()


def read(data: bytes, samples: int) -> tuple[SampledCompletion, int]:
    return sampled_from(data, SampledCall((), "direct", 64, samples=samples))


def texts(data: bytes, samples: int) -> list[str | None]:
    found, _ = read(data, samples)
    return [one.text if one else None for one in found.replies]


def test_every_choice_is_a_completion_of_its_own() -> None:
    cut = choice("b", finish_reason="length")
    thought = {"message": {"content": "c", "reasoning_content": "why"}, "finish_reason": "stop"}
    found, came = read(body(choice("a"), cut, thought), 3)
    assert came == 3
    replies = [one for one in found.replies if one]
    assert [(one.text, one.finish, one.reasoning) for one in replies] == [
        ("a", "stop", ""),
        ("b", "length", ""),
        ("c", "stop", "why"),
    ]
    assert [one.usage.input for one in replies] == [100, 100, 100]
    assert [one.usage.output for one in replies] == [5, 5, 20]
    assert (found.text, found.usage) == ("a", Usage(100, 30))


def test_choices_go_by_their_index_and_by_their_order_where_that_makes_no_sense() -> None:
    there = (choice("b", index=1), choice("a", index=0))
    assert texts(body(*there), 2) == ["a", "b"]
    assert texts(body(choice("b", index=2)), 3) == [None, None, "b"]
    for odd in (0, "x", None, 7, True, 1.0):
        same = (choice("a", index=odd), choice("b", index=odd))
        assert texts(body(*same), 2) == ["a", "b"]


def test_fewer_choices_than_asked_for_are_counted_and_more_left_out() -> None:
    found, came = read(body(choice("a")), 3)
    assert (came, found.replies[1:]) == (1, (None, None))
    assert texts(body(choice("a"), choice("b"), choice("c")), 2) == ["a", "b"]


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "text",
        {"finish_reason": "stop"},
        choice(5),
        choice("x", finish_reason="error"),
        choice("x", error={"message": "no"}),
    ],
)
def test_a_choice_that_nobody_can_read_costs_no_other(bad: Any) -> None:
    data = body(choice("a"), bad, choice(""))
    assert texts(data, 3) == ["a", None, ""]
    found, came = read(data, 3)
    assert came == 3
    assert sum(one.usage.output for one in found.replies if one) == 30
    assert texts(body(bad, choice("b")), 2) == [None, "b"]
    with pytest.raises(BadReply):
        read(body(bad, bad), 2)


def test_a_reply_without_any_choice_is_a_fault() -> None:
    with pytest.raises(BadReply, match="no choices"):
        read(body(), 2)
    with pytest.raises(ServerFault, match="full"):
        read(b'{"error": {"message": "full"}}', 2)


def test_tokens_that_are_not_reported_are_so_for_every_sample() -> None:
    found, _ = read(body(choice("a"), choice("b"), usage=None), 2)
    assert [one.usage.reported for one in found.replies if one] == [False, False]


def test_of_a_reply_that_counts_the_first_alone_only_the_first_is_taken() -> None:
    whole = {"choices": [choice("a"), choice("b")], "usage": USAGE}
    llama = json.dumps(whole | {"timings": {"predicted_n": 30}}).encode()
    found, came = read(llama, 2)
    assert (came, found.replies) == (1, (Completion("a", usage=Usage(100, 30)), None))
    for fine in ({"predicted_n": 15}, {}, None, 30):
        assert texts(json.dumps(whole | {"timings": fine}).encode(), 2) == ["a", "b"]


def test_what_came_from_the_cache_did_so_once() -> None:
    assert divide(Usage(10, 9, 6, 4), [2, 1]) == [Usage(10, 6, 4, 4), Usage(10, 3, 2, 0)]


def test_replies_without_any_text_share_alike() -> None:
    assert [one.output for one in divide(Usage(1, 7), [0, 0, 0])] == [2, 2, 3]


@given(
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=20),
)
def test_parts_add_up_and_reasoning_is_within_the_output(
    written: int, thought: int, lengths: list[int]
) -> None:
    whole = Usage(5, written, min(thought, written))
    parts = divide(whole, lengths)
    assert sum(one.output for one in parts) == whole.output
    assert sum(one.reasoning for one in parts) == whole.reasoning
    assert all(0 <= one.reasoning <= one.output for one in parts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["index", "message", "content", "error"]), inner)
    ),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=4), st.integers(1, 4))
def test_any_choices_at_all_are_completions_or_a_fault_with_a_name(
    found: list[Any], samples: int
) -> None:
    try:
        whole, _ = read(body(*found), samples)
    except EngineError:
        return
    assert len(whole.replies) == samples
    assert any(isinstance(one, Completion) for one in whole.replies)
