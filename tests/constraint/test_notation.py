from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import (
    MONTHS,
    WEEKDAYS,
    WRITTEN,
    Predicate,
    Truth,
    truth_of,
)

DAY = demand.named(*WEEKDAYS)
MONTH = demand.named(*MONTHS)
UP = demand.listed("increasing")
CASES: list[tuple[Predicate, str, Truth]] = [
    (demand.clock(), "0:05", "holds"),
    (demand.clock(), r"3\!:\!40\text{ p.m.}", "holds"),
    (demand.clock(), "at 11:59 PM", "holds"),
    (demand.clock(), "4:11:08", "holds"),
    (demand.clock(), "24:00", "holds"),
    (demand.clock(), "24:01", "violated"),
    (demand.clock(), "2:75", "violated"),
    (demand.clock(), "7:3:90", "violated"),
    (demand.clock(), "15:40 pm", "violated"),
    (demand.clock(), "75", "violated"),
    (demand.clock(), "-2", "violated"),
    (demand.clock(), "8", "undecided"),
    (demand.clock(), "1540", "undecided"),
    (demand.clock(), "10.30", "undecided"),
    (demand.clock(), "noon", "undecided"),
    (demand.clock(), "75 minutes past noon", "undecided"),
    (demand.clock(), "from 3:40 to 4:70", "undecided"),
    (demand.clock(), "(B) 9:75", "undecided"),
    (demand.clock(12), "12:30", "holds"),
    (demand.clock(12), "13:30", "violated"),
    (demand.clock(24), "1:30 a.m.", "violated"),
    (demand.date("MDY"), "02/29/2024", "holds"),
    (demand.date("MDY"), "2/9/2024", "holds"),
    (demand.date("MDY"), "02/29/2023", "violated"),
    (demand.date("MDY"), "2024-02-29", "violated"),
    (demand.date("MDY"), "12", "violated"),
    (demand.date("MDY"), "00/12/2020", "violated"),
    (demand.date("MDY"), "04/12/0000", "violated"),
    (demand.date("MDY"), "May 3, 2021", "undecided"),
    (demand.date("MDY"), "June 31, 2021", "violated"),
    (demand.date("MDY"), "tomorrow", "undecided"),
    (demand.date("YMD"), "2024-02-29", "holds"),
    (demand.date("DMY"), "29.02.2024", "holds"),
    (demand.date(), "Tuesday, 3rd of March", "holds"),
    (demand.date(), "Feb 29", "holds"),
    (demand.date(), "Feb. 29, 2023", "violated"),
    (demand.date(), "31/12/1999", "holds"),
    (demand.date(), "17", "undecided"),
    (demand.date(), "C", "undecided"),
    (DAY, r"\text{Friday}", "holds"),
    (DAY, "on a Wed.", "holds"),
    (DAY, "5", "undecided"),
    (DAY, "12", "violated"),
    (DAY, "5/2", "violated"),
    (DAY, "the day after", "undecided"),
    (DAY, "(D)", "undecided"),
    (MONTH, "Sept", "holds"),
    (MONTH, "12", "undecided"),
    (MONTH, "13", "violated"),
    (UP, r"-\frac{1}{2}, 0, \sqrt{2}, 1.5", "holds"),
    (UP, r"\{2, 3, 3\}", "holds"),
    (UP, "(1, 2)", "holds"),
    (UP, "2, 5, and 3", "violated"),
    (UP, "7", "undecided"),
    (UP, "50 cm, 0.6 m", "undecided"),
    (UP, r"25\%, 0.3", "undecided"),
    (UP, "A, C, B", "undecided"),
    (UP, "B", "undecided"),
    (UP, "(1, 2), (0, 5)", "undecided"),
    (UP, r"1 \pm \sqrt{19}", "undecided"),
    (UP, "3,200,100", "undecided"),
    (UP, "3, 200, 100", "violated"),
    (UP, "x = 5, x = 3", "undecided"),
    (UP, "999, 1,000, 1,001", "holds"),
    (UP, "1,001, 1,000", "violated"),
    (UP, "5,4, 3", "undecided"),
    (UP, "2,3,5", "holds"),
    (UP, "3;2;5", "violated"),
    (UP, "", "undecided"),
    (demand.listed("decreasing"), "3, 2, 2", "holds"),
    (demand.listed("decreasing"), "2, 3", "violated"),
    (demand.listed("increasing", 3), "2, 3", "violated"),
    (demand.listed("increasing", 2), "5", "violated"),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "answer", "truth"), CASES)
def test_an_answer_is_read_as_it_is_written(
    predicate: Predicate, answer: str, truth: Truth
) -> None:
    assert truth_of(predicate, answer) == truth


@given(st.sampled_from(CASES).map(lambda case: case[0]), st.text(max_size=60))
def test_any_answer_can_be_checked(predicate: Predicate, answer: str) -> None:
    assert truth_of(predicate, answer) in ("holds", "violated", "undecided")


def test_a_long_answer_is_not_read() -> None:
    assert {truth_of(case[0], "9:75, 3, " * 200) for case in CASES} == {"undecided"}
    assert {str(case[0]["op"]) for case in CASES} == set(WRITTEN)
