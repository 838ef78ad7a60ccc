import pytest

from constraint_first.constraint.reply.order import After, is_ordered


def ordered(told: str, after: After) -> bool:
    at = told.index("<")
    return is_ordered(told.replace("<", ""), 0, at, after)


@pytest.mark.parametrize("after", ["aside", "self", "others"])
def test_an_order_brings_a_sentence_back_to_the_reply(after: After) -> None:
    assert ordered("who counts, so use <300 words", after)
    assert ordered("who counts. please, <300 words", after)
    assert ordered("who counts, so the letter must have <300 words", after)
    assert not ordered("who writes <300 words", after)


def test_how_plain_an_order_must_be() -> None:
    assert ordered("who counts, in <300 words", "aside")
    assert ordered("i count, in <300 words", "self")
    assert not ordered("she counts, in <300 words", "others")
    assert ordered("who sits and end with <300 words", "aside")
    assert not ordered("i begin and end with <300 words", "self")
    assert not ordered("function to count, use <300 words", "program")
    assert ordered("function to count, and write <300 words", "program")
