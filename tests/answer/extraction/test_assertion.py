"""The quick look for words must never hide what the patterns would find."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.answer.marks import bounds, is_rejected, is_supposed

_PIECES = st.sampled_from(
    (
        "it is/not/cannot be/isn't/never/neither/nor/nicht/kein/weder/noch/none of the/nothing"
        "/no one/rather than/instead of/as opposed to/unlike/ruling out/eliminating/exclude"
        "/discard/reject/the value/dismissed/n'est pas/no es/no puede ser/at least/at the most"
        "/more than/fewer than or equal to/up to/exceeds/exceeding/over/under/above/below/almost"
        "/nearly/anything but/all numbers except/except for/between/3 and/negative of"
        "/square root of/half/twice/double/triple/log base 2 of/close to/not far from"
        "/divisible by/congruent to/ending in/starts with/mindestens/mehr als/au moins/plus de"
        "/menos de/al menos/x/</>/<=/>=/!=/=</\\leq/\\ge/\\leqslant/\\neq/\\ne/\\gt/\\lt/\\neg"
        "/\\le/\\geq/\\leslant/\\geslant/\\geqslant/exceed/between 3 and/au plus/suppose/assume"
        "/assuming/imagine/whether/one might think/we may guess/you could say/people would expect"
        "/my first guess/initial idea/original answer/earlier attempt/previous answer/mistakenly"
        "/wrongly/incorrectly/erroneously/thought/believe/I doubt that/it is false that"
        "/untrue that/deny that/no reason/evidence/the/a/an/about/exactly/approximately/$/(/[/**"
        '/"/\\(/\\[/`/_/so/,/./;/\n/\x1f/but'
    ).split("/")
)


@settings(max_examples=1_500, deadline=None)
@given(st.lists(_PIECES, max_size=7), st.sampled_from([" ", "  ", "\n", ""]), st.booleans())
def test_ascii_text_is_read_like_any_other(pieces: list[str], gap: str, shouts: bool) -> None:
    before = " ".join(pieces)[-60:] + gap
    before = before.upper() if shouts else before
    text, start = f"{before}5", len(before)
    # With another letter than ASCII's ahead, every pattern is tried.
    marked = f"é. {text}"
    assert is_supposed(before) == is_supposed(f"é. {before}")
    assert is_rejected(text, start, start + 1) == is_rejected(marked, start + 3, start + 4)
    assert bounds(text, start, start + 1) == bounds(marked, start + 3, start + 4)
