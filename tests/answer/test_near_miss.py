"""Wrong answers that look right are never called correct."""

from collections.abc import Iterable

import pytest

from constraint_first.answer.grade import GradingCase, grade_each

from .collection import benchmark_answers, grade_cases
from .near_miss import near_misses


def called_correct(golds: Iterable[str]) -> tuple[int, list[tuple[str, str]]]:
    pairs = [(miss, gold) for gold in sorted(set(golds)) for miss in near_misses(gold)]
    bare = grade_each(GradingCase(*pair) for pair in pairs)
    read = grade_each(GradingCase.from_reply(*pair) for pair in pairs)
    judged = zip(pairs, bare, read, strict=True)
    return len(pairs), [pair for pair, *both in judged if any(one.correct for one in both)]


def test_no_near_miss_of_the_collection_is_correct() -> None:
    count, correct = called_correct(case.gold for case in grade_cases() if case.tag != "completion")
    assert correct == []
    assert count > 800


@pytest.mark.slow
def test_no_near_miss_of_a_benchmark_answer_is_correct() -> None:
    golds = benchmark_answers()
    if not golds:
        pytest.skip("no benchmark files; set CFR_DATA to a folder that has them")
    count, correct = called_correct(golds)
    assert correct == []
    assert count > 3000
