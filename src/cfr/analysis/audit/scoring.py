"""What kind of error a wrong answer shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from cfr.answer.expression.value import AnswerValue, read_answer, same
from cfr.benchmark.constraintbench.item import ErrorType, Item
from cfr.constraint.predicate import Predicate, holds
from cfr.problem import Json

__all__ = ["classify", "parts"]

# What breaking a predicate says about the error. Predicates that pin the answer to one value
# (encoded, rounded, in_unit, counts, root) are absent: every wrong answer breaks those.
_BROKEN: tuple[tuple[str, ErrorType], ...] = (
    ("integer", "not_an_integer"),
    ("between", "out_of_range"),
    ("above", "out_of_range"),
    ("below", "out_of_range"),
    ("parity", "ignored_parity"),
    ("least_residue", "forgot_modular_reduction"),
    ("congruent", "forgot_modular_reduction"),
    ("divisible", "forgot_modular_reduction"),
    ("form", "encoded_form_not_applied"),
    ("reduced", "encoded_form_not_applied"),
    ("not_whole", "misled_by_cue"),
)


def classify(item: Item, answer: str | None) -> ErrorType | None:
    """Name the error that an answer to an item shows; None for an answer that has the right value.

    A tempting answer carries its label. Any other wrong answer is judged by the gold constraints:
    first whether it is the right value before its last step (the reduction, the encoding), then
    which constraint it breaks. One that breaks none is an arithmetic error.
    """
    reading = read_answer(answer or "")
    gold = read_answer(item.answer)
    if reading is None or gold is None:
        return "other"
    if same(reading, gold):
        return None
    for lure in item.tempting:
        known = read_answer(lure.answer)
        if known is not None and same(reading, known):
            return lure.error
    predicates = [part for one in item.constraints for part in parts(one.predicate)]
    return _one_step_short(predicates, reading, gold) or _first_broken(predicates, reading)


def parts(predicate: Predicate) -> Iterator[Predicate]:
    """Take a conjunction apart; anything else is its own only part."""
    if predicate.get("op") == "all":
        for one in cast("list[dict[str, Json]]", predicate["of"]):
            yield from parts(one)
    else:
        yield predicate


def _one_step_short(
    predicates: list[Predicate], reading: AnswerValue, gold: AnswerValue
) -> ErrorType | None:
    value, right = reading.number, gold.number
    for predicate in predicates:
        modulus = predicate.get("modulus")
        reducible = predicate["op"] in ("least_residue", "encoded") and isinstance(modulus, int)
        if reducible and value is not None and right is not None:
            difference = (value - right) / cast("int", modulus)
            if difference.denominator == 1 and value > right:
                return "forgot_modular_reduction"
        if predicate["op"] == "encoded" and reading.form in ("fraction", "surd"):
            return "encoded_form_not_applied"
    return None


def _first_broken(predicates: list[Predicate], reading: AnswerValue) -> ErrorType:
    broken = {str(p["op"]) for p in predicates if holds(p, reading) == "violated"}
    value = reading.number
    for op, error in _BROKEN:
        if op in broken:
            # A fraction is no remainder either, but its error is that it is a fraction.
            whole = value is not None and value.denominator == 1
            integral = op in ("parity", "least_residue", "congruent", "divisible")
            return "not_an_integer" if integral and not whole else error
    return "arithmetic"
