import re

from constraint_first.constraint.reply.pattern import either


def test_phrases_are_matched_with_any_blanks_and_the_longest_first() -> None:
    pattern = re.compile(either("word(s), at least, at, p.s"))
    assert [one[0] for one in pattern.finditer("at  least words at word p.s pxs")] == [
        "at  least",
        "words",
        "at",
        "word",
        "p.s",
    ]
