from __future__ import annotations

from collections.abc import Sequence

import pytest

from cfr.analysis.audit.scoring import classify
from cfr.answer.expression.value import read_answer, same
from cfr.benchmark.constraintbench.family import gold
from cfr.benchmark.constraintbench.item import GoldConstraint, Item
from cfr.benchmark.constraintbench.split import load
from cfr.constraint import demand
from cfr.constraint.predicate import Predicate


def item(answer: str, *predicates: Predicate) -> Item:
    rules: Sequence[GoldConstraint] = [gold("domain", "rule", one) for one in predicates]
    return Item("text", answer, "integer", tuple(rules), (), "explicit", "family", 1, 1, 1)


@pytest.mark.parametrize("problem", load("public"), ids=lambda problem: problem.id)
def test_each_tempting_answer_gets_its_label(problem: Item) -> None:
    gold_value = read_answer(problem.answer)
    assert gold_value is not None
    assert classify(problem, problem.answer) is None
    for lure in problem.tempting:
        value = read_answer(lure.answer)
        assert value is not None
        # An unreduced fraction has the right value, so a grader by value takes it for right.
        expected = None if same(value, gold_value) else lure.error
        assert classify(problem, lure.answer) == expected


@pytest.mark.parametrize(
    ("problem", "answer", "error"),
    [
        (item("3", demand.least_residue(7)), "24", "forgot_modular_reduction"),
        (item("3", demand.least_residue(7)), "25", "forgot_modular_reduction"),
        (item("3", demand.least_residue(7)), "5", "arithmetic"),
        (item("3", demand.least_residue(7)), "7/2", "not_an_integer"),
        (item("2", demand.encoded("m+n", (3, 7), 4)), "10", "forgot_modular_reduction"),
        (item("10", demand.encoded("m+n", (3, 7))), "3/7", "encoded_form_not_applied"),
        (item("10", demand.encoded("m+n", (3, 7))), "11", "arithmetic"),
        (item("5", demand.encoded("a+b", (2, 3))), r"2\sqrt{3}", "encoded_form_not_applied"),
        (item("4", demand.integer()), "4.5", "not_an_integer"),
        (item("4", demand.between(0, 9)), "12", "out_of_range"),
        (item("1/2", demand.between(0, 1)), "3/2", "out_of_range"),
        (item("4", demand.parity("even")), "5", "ignored_parity"),
        (item("4", demand.congruent(1, 3)), "5", "forgot_modular_reduction"),
        (item("1/2", demand.not_whole()), "1", "misled_by_cue"),
        (item("B", demand.form("choice")), "17", "encoded_form_not_applied"),
        (item("B", demand.form("choice")), "C", "arithmetic"),
        (item("4", demand.all_of(demand.integer(), demand.above(0))), "-4", "out_of_range"),
        (item("4", demand.integer()), "no idea", "other"),
        (item("4", demand.integer()), None, "other"),
        (item("4", demand.integer()), "4.0", None),
        (item("1/2", demand.between(0, 1)), r"\frac{2}{4}", None),
    ],
)
def test_other_wrong_answers_are_judged_by_what_they_break(
    problem: Item, answer: str | None, error: str | None
) -> None:
    assert classify(problem, answer) == error
