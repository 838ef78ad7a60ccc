import pytest

from constraint_first.constraint.reply.measure import (
    count_bullets,
    count_capital_words,
    count_highlights,
    count_letter,
    count_phrase,
    count_placeholders,
    count_sections,
    count_sentences,
    count_words,
    first_word,
    has_title,
    has_word,
    split_by,
    split_paragraphs,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One. Two! Three?", 3),
        ("No mark at the end", 1),
        ("Dr. Smith met Mr. Jones at 5 p.m. in the U.S. today.", 1),
        ("J. R. Tolkien wrote it. So did I. Really.", 3),
        ("Pi is 3.14. It goes on...  And on.", 3),
        ('He said "Stop!" and left. "Why?" she asked.', 4),
        ("1. First point.\n2. Second point.\n10. Third", 3),
        ("### 1. Title\nText.", 1),
        ("all in small letters. the next one. and one more.", 3),
        ("これは文です。二つ目です。", 2),
        ("Lines\nwithout\nmarks", 1),
        ("***", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert count_sentences(text) == count


def test_words() -> None:
    assert count_words("Don't stop, snake_case; 3.5 naïve") == 7
    assert count_phrase("Cat catalogue CAT", "cat") == 3
    assert (has_word("a cat.", "CAT"), has_word("catalogue", "cat")) == (True, False)
    assert (has_word("I like C++ a lot", "c++"), has_word("x", "")) == (True, False)
    assert count_letter("Aa#b#", "a") == count_letter("Aa#b#", "#") == 2
    assert count_capital_words("I'm the BOSS of AI-based R&D, said (NASA): OK.") == 6


def test_parts() -> None:
    assert split_by("a***b***", "***") == ["a", "b"]
    assert split_by("a******b", "***") is None
    assert split_by("", "***") == []
    assert split_paragraphs("a\nb\n\n\n\nc\n\n ") == ["a\nb", "c"]
    assert [first_word(one) for one in ("\"It's so", "Jasper, you", "", "**x**")] == [
        "it",
        "jasper",
        "",
        "**x**",
    ]
    assert count_sections("SECTION 1 a SECTION2 b section 3 SECTION X", "SECTION") == 2


def test_marks() -> None:
    assert count_bullets("* a\n  - b\n** c\n*\n-d\ntext - e\n---") == 4
    assert count_highlights("*a* **b** ** ** *\n* x") == 2
    assert count_placeholders("[a] [b [c] ] [d\n] []") == 3
    assert [has_title(one) for one in ("a <<b>>", "<< >>", ">>a<<", "<<a\n>>")] == [
        True,
        False,
        False,
        False,
    ]
