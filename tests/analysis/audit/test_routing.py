import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, study, texts

from constraint_first.report.exhibit.routing import (
    activations,
    audit_router,
    cofire,
    family_counts,
    phrase_counts,
)

PROBLEMS = texts(
    {
        "none": "Compute $1 + 1$.",
        "one": "How many are there? HOW MANY?",
        "two": "Find the remainder when the area is halved.",
        "four": "Find p + q if the probability is at least the largest remainder.",
    },
    benchmark="aime24",
)
MARKS = {"none": "++", "one": "--", "two": "--", "four": "+-", "without_text": "++"}
OURS = {"none": "+-", "one": "++", "two": "+-", "four": "++", "without_text": "--"}
STUDY = study(
    arm("direct", MARKS, benchmark="aime24"),
    arm("routed-cfr", OURS, benchmark="aime24"),
    problems=PROBLEMS,
)
AUDIT = audit_router(STUDY)


def test_what_is_routed_and_what_the_convention_would_add() -> None:
    (found,) = activations(AUDIT)
    assert (found.benchmark, found.routed, found.total) == ("aime24", 3, 4)
    assert found.rate == 0.75
    assert found.with_convention == 4


def test_a_problem_without_a_text_is_left_out_and_counted() -> None:
    assert AUDIT.without_text == {"aime24": 1}


def test_phrases_count_once_for_each_problem_however_they_are_written() -> None:
    assert AUDIT.phrases["final_integer_or_count"] == {"how many": 1}
    assert AUDIT.phrases["encoded_exact_form"] == {"find p+q": 1}
    assert AUDIT.phrases["modular_remainder"] == {"remainder": 2}


def test_families_are_counted_for_each_of_several_benchmarks() -> None:
    asked = {**texts({"a": "How many?"}, "aime24"), **texts({"b": "The remainder?"}, "aime25")}
    found = {one.family: one for one in family_counts(audit_router(study(problems=asked)))}
    assert found["final_integer_or_count"].by_benchmark == {"aime24": 1, "aime25": 0}
    modular = found["modular_remainder"]
    assert modular.by_benchmark == {"aime24": 0, "aime25": 1}
    assert (modular.problems, modular.total, modular.share) == (1, 2, 0.5)


def test_a_phrase_belongs_to_the_first_family_that_has_it() -> None:
    found = {one.phrase: (one.family, one.problems) for one in phrase_counts(AUDIT)}
    assert found["remainder"] == ("modular_remainder", 2)
    twice = replace(
        AUDIT, phrases={"first": Counter({"least": 2}), "second": Counter({"least": 1, "most": 1})}
    )
    (least, most) = phrase_counts(twice)
    assert (least.phrase, least.family, least.problems) == ("least", "first", 3)
    assert (most.family, most.problems) == ("second", 1)


def test_gains_by_the_number_of_families() -> None:
    gains = {one.families: one.gain for one in cofire(STUDY, AUDIT, "routed-cfr")}
    points = {name: (gain.points, gain.n) if gain else None for name, gain in gains.items()}
    assert points == {"0": (-50, 1), "1": (100, 1), "2": (50, 1), "3": None, "4+": (50, 1)}


def test_a_study_without_texts_has_nothing_to_route() -> None:
    nothing = audit_router(study(arm("direct", {"p": "+"})))
    assert family_counts(nothing) == ()
    assert (activations(nothing), cofire(STUDY, AUDIT, "cfr")) == ((), ())


@pytest.mark.parametrize(
    ("name", "routed", "total"),
    [
        *(("aime24", 28, 30), ("aime25", 28, 30), ("aime26", 27, 30), ("gsm8k", 834, 1319)),
        *(("math500", 281, 500), ("olympiadbench", 417, 674)),
    ],
)
def test_the_counts_of_the_paper(
    name: str, routed: int, total: int, benchmark_file: Callable[[str], Path]
) -> None:
    lines = benchmark_file(name).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    posed = texts({row["id"]: row["problem"] for row in rows}, benchmark=name)
    (found,) = activations(audit_router(study(problems=posed)))
    assert (found.routed, found.total) == (routed, total)
