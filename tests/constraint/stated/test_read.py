from __future__ import annotations

from cfr.constraint.stated import check_stated, read_stated


def test_a_remainder_is_read_with_the_words_that_ask_for_it() -> None:
    text = "Find the remainder when $7^{100}$ is divided by $1000$."
    (stated,) = read_stated(text)
    assert stated.predicate == {"op": "least_residue", "modulus": 1000}
    assert text[slice(*stated.span)] == "Find the remainder when $7^{100}$ is divided by $1000"
    assert [truth for _, truth in check_stated([stated], "1001")] == ["violated"]


def test_a_text_without_a_question_states_nothing() -> None:
    assert read_stated("The remainder is 3 when 10 is divided by 7.") == ()
