import pytest

from constraint_first.answer.parse import MAX_DEPTH, Cursor
from constraint_first.answer.syntax import Token, Unreadable


def cursor(*texts: str) -> Cursor:
    return Cursor([Token("num" if text.isdigit() else "op", text, False) for text in texts])


def test_it_steps_over_tokens() -> None:
    place = cursor("1", "+", "2")
    assert (place.peek(), place.peek(1), place.peek(2), place.peek(3)) == ("1", "+", "2", "")
    assert (place.kind(), place.next()) == ("num", "1")
    assert (place.kind(), place.next()) == ("op", "+")
    assert place.more()
    assert (place.peek(), place.next()) == ("2", "2")
    assert not place.more()


def test_looking_ahead_moves_nothing() -> None:
    place = cursor("1", "+")
    assert [place.peek(ahead) for ahead in (1, 0, 3, 1)] == ["+", "1", "", "+"]
    assert place.next() == "1"


def test_past_the_end_there_is_nothing() -> None:
    place = cursor()
    assert (place.more(), place.peek(), place.peek(3), place.kind()) == (False, "", "", "")
    with pytest.raises(Unreadable, match="ends too early"):
        place.next()
    place = cursor("1")
    place.next()
    for _ in range(3):
        with pytest.raises(Unreadable, match="ends too early"):
            place.next()
    assert place.peek(3) == ""


def test_what_is_expected_must_come() -> None:
    place = cursor("(", "1", "]")
    place.expect("(")
    place.next()
    with pytest.raises(Unreadable, match=r"'\)' is missing"):
        place.expect(")")
    with pytest.raises(Unreadable, match="ends too early"):
        place.expect(")")


def test_the_kind_of_the_token_just_read_is_remembered() -> None:
    place = cursor("1", "+", "2")
    kinds = [place.last_kind()]
    while place.more():
        place.next()
        kinds.append(place.last_kind())
    assert kinds == ["", "num", "op", "num"]


def test_nesting_has_a_bound() -> None:
    place = cursor("1")
    for _ in range(MAX_DEPTH):
        place.descend()
    with pytest.raises(Unreadable, match="nested too deeply"):
        place.descend()


def test_levels_that_were_left_do_not_count() -> None:
    place = cursor("1")
    for _ in range(10 * MAX_DEPTH):
        place.descend()
        place.ascend()
    assert place.next() == "1"
