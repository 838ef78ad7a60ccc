import random
from dataclasses import replace
from typing import Any, cast

import pytest
from hand_made import arm, study
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.report.exhibit.gold import Quality
from constraint_first.report.exhibit.marks import (
    ALL,
    MARKS,
    Judged,
    Label,
    Mark,
    Share,
    accords,
    by_method,
    labels_of,
    rates,
    rates_by_model,
)
from constraint_first.report.statistics import wilson
from constraint_first.store.query import RecordKey

WORDS: dict[str, Mark | None] = {"e": "entailed", "n": "not_entailed", "v": "vague", "?": None}


def label(
    problem: str,
    raw: str,
    propagated: str = "",
    *,
    by: str = "ada",
    model: str = "m",
    lacks: int = 0,
) -> Label:
    constraints = (
        *(Judged(f"C{n}", "raw", WORDS[mark]) for n, mark in enumerate(raw)),
        *(Judged(f"P{n}", "propagated", WORDS[mark]) for n, mark in enumerate(propagated)),
    )
    return Label(by, ("b", "cfr", model, "{}", problem, 0), constraints, ("x",) * lacks)


def shown(share: Share) -> tuple[float | None, float]:
    return share.value, share.n


def test_rates_by_hand() -> None:
    (found,) = rates([label("p0", "en", "e", lacks=1), label("p1", "v")])
    assert (found.model, found.attempts, found.constraints) == ("m", 2, 4)
    assert (found.raw, found.propagated) == (1.5, 0.5)
    assert shown(found.validity) == (0.5, 4)
    assert shown(found.propagated_validity) == (1.0, 1)
    assert shown(found.hallucination) == (0.25, 4)
    assert shown(found.vague) == (0.25, 4)
    assert shown(found.completeness) == (0.5, 2)
    assert found.validity.interval == wilson(2, 4)
    assert wilson(2, 4) == pytest.approx((0.1500, 0.8500), abs=1e-4)  # pyright: ignore


def test_models_apart_and_together() -> None:
    labels = [
        label("p0", "eee", model="y"),
        label("p0", "n", model="x"),
        label("p1", "v", model="x"),
    ]
    x, y, together = rates(labels)
    assert [one.model for one in (x, y, together)] == ["x", "y", ALL]
    assert (x.validity.value, y.validity.value, together.validity.value) == (0, 1, 0.6)
    assert (together.attempts, together.raw) == (3, 5 / 3)
    assert rates_by_model(labels) == {"x": (0, 0.5, 2), "y": (1, 0, 3)}


def test_a_persons_rates_are_those_of_the_method_that_was_judged() -> None:
    routed = label("p0", "en")
    routed = replace(routed, key=(routed.key[0], "routed-cfr", *routed.key[2:]))
    found = by_method([label("p0", "ee"), label("p1", "v", "n"), routed, label("p2", "")])
    assert found == {
        ("m", "cfr"): Quality(0.5, 0.25, 4, 1.0, 2),
        ("m", "routed-cfr"): Quality(0.5, 0.5, 2, 1.0, 1),
    }
    assert by_method([label("p0", ""), label("p1", "?")]) == {}


def test_labels_of_other_runs_are_told_apart() -> None:
    made = study(arm("cfr", {"p0": "+", "p1": "+"}, benchmark="b", model="m"))
    ours, draft = label("p0", "e"), label("p1", "?")
    fields: list[tuple[int, str | int]] = [
        (0, "c"),
        (1, "x"),
        (2, "n"),
        (3, "[]"),
        (4, "q"),
        (5, 1),
    ]
    others: list[Label] = []
    for at, value in fields:
        key: list[Any] = [*ours.key]
        key[at] = value
        others.append(replace(ours, key=cast("RecordKey", tuple(key))))
    assert labels_of([others[0], ours, *others[1:], draft], made) == ([ours, draft], 6)
    assert labels_of([], made) == ([], 0)


def test_nothing_of_nothing_is_not_a_number() -> None:
    (found,) = rates([label("p0", "n")])
    assert (found.completeness.value, found.completeness.interval) == (None, None)
    assert found.propagated_validity.to_json() == {"value": None, "ci": None, "n": 0}
    assert rates([]) == []
    assert rates_by_model([label("p0", "")]) == {}


def test_drafts_do_not_count() -> None:
    assert rates([label("p0", "e?")]) == []
    (found,) = rates([label("p0", "e?"), label("p1", "e")])
    assert (found.attempts, found.constraints) == (1, 1)


def test_an_attempt_that_two_judged_counts_once() -> None:
    (found,) = rates([label("p0", "e"), label("p0", "n", by="ben", lacks=2), label("p1", "e")])
    assert (found.attempts, found.constraints) == (2, 2)
    assert shown(found.validity) == (0.75, 2)
    assert shown(found.hallucination) == (0.25, 2)
    assert shown(found.completeness) == (0.6, 2.5)  # 1.5 entailed, 1 missing on average


def test_kappa_by_hand() -> None:
    ada, ben = label("p0", "eeeennneen"), label("p0", "eeeennnnne", by="ben")
    (found,) = accords([ben, ada, label("p9", "v")])
    assert (found.annotators, found.attempts, found.n, found.agree) == (("ada", "ben"), 1, 10, 7)
    # Seven of ten agree; by chance it would be .6 × .5 + .4 × .5 = .5.
    assert found.agreement == 0.7
    assert found.kappa == pytest.approx(0.4)  # pyright: ignore


def test_every_two_annotators_are_compared() -> None:
    labels = [label("p0", "en", by=name) for name in ("cy", "ada", "ben")]
    assert [(one.annotators, one.kappa) for one in accords(labels)] == [
        (("ada", "ben"), 1),
        (("ada", "cy"), 1),
        (("ben", "cy"), 1),
    ]
    assert accords(labels[:1]) == []


def test_where_kappa_is_not_defined_it_is_said_why() -> None:
    (same,) = accords([label("p0", "nn"), label("p0", "nn", by="ben")])
    assert (same.n, same.agreement, same.kappa) == (2, 1, None)
    assert same.reason == "both marked every constraint not entailed"
    (apart,) = accords([label("p0", "e"), label("p1", "e", by="ben"), label("p0", "?", by="ben")])
    assert (apart.n, apart.agreement, apart.kappa) == (0, None, None)
    assert apart.reason == "no constraint was marked by both"


MARK = st.sampled_from("env")
JUDGED = st.tuples(st.text(MARK, max_size=4), st.text(MARK, max_size=3), st.integers(0, 2))


@given(st.lists(JUDGED, min_size=1, max_size=6), st.integers(0, 100))
def test_shares_add_up_and_order_does_not_matter(judged: list[Any], seed: int) -> None:
    labels = [
        label(f"p{n}", raw, propagated, lacks=lacks)
        for n, (raw, propagated, lacks) in enumerate(judged)
    ]
    (found,) = rates(labels)
    marked = [one.mark for each in labels for one in each.constraints]
    parts = (found.validity, found.hallucination, found.vague)
    assert [share.part for share in parts] == [marked.count(mark) for mark in MARKS]
    assert {share.whole for share in parts} == {len(marked)}
    random.Random(seed).shuffle(labels)
    assert rates(labels) == [found]
    twice = [*labels, *(Label("ben", o.key, o.constraints, o.missing) for o in labels)]
    assert rates(twice) == [found], "two who say the same are as sure as one"
