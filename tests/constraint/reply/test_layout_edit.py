import pytest

from constraint_first.constraint.reply.layout_edit import (
    divide_paragraphs,
    head_sections,
    list_points,
)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_no_word_is_lost_where_a_reply_is_laid_out_anew(count: int) -> None:
    reply = "One is here. Two is there.\n\nThree came. Four left.\n\nFive stayed."
    words = reply.split()
    args = {"low": count, "high": count, "separator": "***", "mark": "PART"}
    for edit in (divide_paragraphs, head_sections, list_points):
        for edited in edit(args, reply):
            kept = [one for one in edited.split() if one in words]
            assert kept == words
