"""The collection as a whole: every verdict and every extracted answer."""

import pytest

from cfr.answer import GradingCase, extract, grade_each

from .collection import grade_cases, measured_replies, read_cases


@pytest.mark.parametrize("split", ["tune", "held"])
def test_every_case_gets_its_verdict(split: str) -> None:
    cases = [case for case in grade_cases() if case.split == split]
    verdicts = grade_each(GradingCase.from_reply(case.pred, case.gold) for case in cases)
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


def test_an_answer_that_was_extracted_is_not_extracted_from_again() -> None:
    texts = [reply.text for reply in read_cases()]
    texts += [text for case in grade_cases() for text in (case.pred, case.gold)]
    texts += [row["text"] for row in measured_replies()]
    answers = [answer for text in texts if (answer := extract(text).answer) is not None]
    again = [(answer, extract(answer).answer) for answer in answers]
    assert [pair for pair in again if pair[1] not in (pair[0], None)] == []


def test_a_stored_answer_gets_the_verdict_of_its_reply() -> None:
    cases = [(case.pred, case.gold, "", case.verdict) for case in grade_cases()]
    cases += [
        (row["text"], row["gold"], row["problem_text"], row["verdict"])
        for row in measured_replies()
    ]
    stored = [GradingCase(extract(text).answer, *rest) for text, *rest, _ in cases]
    whole = [GradingCase.from_reply(text, *rest) for text, *rest, _ in cases]
    verdicts = zip(cases, grade_each(stored), grade_each(whole), strict=True)
    assert [case for case, *both in verdicts if any(one.verdict != case[-1] for one in both)] == []


def test_the_collection_is_large_and_a_third_of_it_is_held_aside() -> None:
    for cases, least in ((grade_cases(), 300), (read_cases(), 100)):
        held = sum(case.split == "held" for case in cases)
        assert len(cases) >= least
        assert held >= len(cases) // 3


def test_the_exact_tier_decides_at_least_a_third() -> None:
    verdicts = list(
        grade_each(GradingCase.from_reply(case.pred, case.gold) for case in grade_cases())
    )
    exact = sum(verdict.tier == "exact" for verdict in verdicts)
    assert exact >= 0.35 * len(verdicts)
