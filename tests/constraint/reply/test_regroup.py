import pytest

from constraint_first.constraint.reply.regroup import group_lines, group_sentences, split_sentences

TEXTS = [
    "One. Two! Three?",
    "1. First item.\n2. Second item.\n\nThe end",
    'He said "no." Then he left.\n* a point\n',
    "",
    "no mark at all",
    "...\n\n...",
]


@pytest.mark.parametrize("text", TEXTS)
def test_sentences_joined_again_are_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


def test_sentences_end_at_marks_and_lines() -> None:
    assert split_sentences("One. Two!\nThree") == ["One. ", "Two!\n", "Three"]
    assert split_sentences("1. First item.\n2. Second.") == ["1. First item.\n", "2. Second."]


def test_neighbours_are_joined_to_groups_of_like_size() -> None:
    assert group_lines(["a", "b", "c", "d", "e"], 2, " ") == ["a b", "c d e"]
    assert group_lines(["a", "b"], 2, " ") == ["a", "b"]


def test_fewer_sentences_than_groups_make_fewer_groups() -> None:
    assert group_sentences("One. Two.", 3) == ["One.", "Two."]
    assert group_sentences("", 3) == []


def test_a_long_text_takes_no_long_time() -> None:
    assert len(split_sentences("a. " * 200_000)) == 200_000
    assert len(split_sentences("." * 1_000_000)) >= 1
