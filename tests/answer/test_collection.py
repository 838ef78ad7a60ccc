"""The collection as a whole: every verdict and every extracted answer."""

import pytest

from cfr.answer import Case, extract, grade_each

from .collection import grade_cases, read_cases


@pytest.mark.parametrize("split", ["tune", "held"])
def test_every_case_gets_its_verdict(split: str) -> None:
    cases = [case for case in grade_cases() if case.split == split]
    verdicts = grade_each(Case(case.pred, case.gold) for case in cases)
    wrong = [
        (case.pred, case.gold, verdict.verdict, verdict.why)
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict.verdict != case.verdict
    ]
    assert wrong == []


@pytest.mark.parametrize("split", ["tune", "held"])
def test_every_reply_gives_its_answer(split: str) -> None:
    replies = [reply for reply in read_cases() if reply.split == split]
    wrong = [
        (reply.text, found.answer, found.how)
        for reply in replies
        if (found := extract(reply.text)).answer != reply.answer
    ]
    assert wrong == []


def test_the_collection_is_large_and_a_third_of_it_is_held_aside() -> None:
    for cases, least in ((grade_cases(), 300), (read_cases(), 100)):
        held = sum(case.split == "held" for case in cases)
        assert len(cases) >= least
        assert held >= len(cases) // 3


def test_the_exact_tier_decides_at_least_a_third() -> None:
    verdicts = list(grade_each(Case(case.pred, case.gold) for case in grade_cases()))
    exact = sum(verdict.tier == "exact" for verdict in verdicts)
    assert exact >= 0.35 * len(verdicts)
