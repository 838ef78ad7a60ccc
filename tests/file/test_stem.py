from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from constraint_first.file.safe import file_stem


def test_plain_words_make_plain_names() -> None:
    assert file_stem("grid", "aime25") == "grid-aime25"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_words_make_safe_names_that_tell_them_apart(one: str, other: str) -> None:
    stems = file_stem(one), file_stem(other)
    for stem in stems:
        assert stem.isascii()
        assert stem.replace("-", "").isalnum()
        assert len(stem) < 60
    assert (one == other) == (stems[0] == stems[1])
