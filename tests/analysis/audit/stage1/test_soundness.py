from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.benchmark.constraintbench.family import gold
from constraint_first.benchmark.constraintbench.item import GoldConstraint, Item, load
from constraint_first.constraint import predicate as demand
from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated
from constraint_first.report.exhibit.gold import (
    GoldStatus,
    Statement,
    StatementStatus,
    audit,
    statements,
)


def item(text: str, answer: str, *rules: GoldConstraint) -> Item:
    return Item(text, answer, "integer", rules, (), "explicit", "family", 1, 1, 1)


REMAINDER = item(
    "Find the remainder when $430$ is divided by $9$.",
    "7",
    gold("modular", "a remainder on division by 9", demand.least_residue(9)),
)
PROBABILITY = item(
    r"The probability of red is $\frac{m}{n}$ in lowest terms. Find $m+n$.",
    "23",
    gold("domain", "an integer", demand.integer()),
    gold("format", "m + n", demand.encoded("m+n", (2, 21))),
)
COUNT = item(
    "How many odd multiples of $7$ are there from $1$ to $41$ inclusive?",
    "3",
    gold("parity", "odd", demand.counts(1, 41, demand.parity("odd"), demand.divisible(7))),
)
RANGE = item(
    "An integer between $40$ and $74$ leaves remainder $3$ when divided by $5$. Find the integer.",
    "53",
    gold("bound", "between", demand.between(40, 74)),
    gold("modular", "3 mod 5", demand.congruent(3, 5)),
)
ROOT = item(
    "Solve $x^2 = x + 6$ for positive $x$.",
    "3",
    gold("structure", "a root", demand.root(1, -1, -6)),
)
PERCENT = item(
    "What percent of the tank is full?",
    "53",
    gold("dimension", "in percent", demand.in_unit(Fraction(53, 100), 100, "percent")),
)


def spec(rows: list[tuple[str, str]], answer_range: str = "", form: str = "") -> ConstraintSpec:
    raw = tuple(Constraint("C", kind, text) for text, kind in rows)
    return ConstraintSpec(raw_constraints=raw, likely_answer_range=answer_range, answer_format=form)


def one(problem: Item, text: str, kind: str = "") -> str:
    return audit(problem, spec([(text, kind)])).statements[0]


@pytest.mark.parametrize(
    ("problem", "text", "status"),
    [
        (REMAINDER, "The answer is an integer", "valid"),
        (REMAINDER, "the remainder is an integer from 0 to 8", "valid"),
        (REMAINDER, "final answer = N mod 9", "valid"),
        (REMAINDER, "final answer = N mod 11", "hallucinated"),
        (REMAINDER, "the remainder is less than 5", "hallucinated"),
        (REMAINDER, "the answer must be even", "hallucinated"),
        (REMAINDER, "the answer is odd", "unsupported"),
        (REMAINDER, "N is even", "undecided"),
        (REMAINDER, "the answer is prime", "undecided"),
        (PROBABILITY, "m and n are relatively prime positive integers", "undecided"),
        (PROBABILITY, "The final answer is m + n", "valid"),
        (PROBABILITY, "the answer is a fraction between 0 and 1", "hallucinated"),
        (PROBABILITY, "The probability is between 0 and 1", "undecided"),
        (COUNT, "n must be odd", "undecided"),
        (COUNT, "the answer is a non-negative integer", "valid"),
        (COUNT, "the number of multiples is at most 2", "hallucinated"),
        (RANGE, "n is congruent: n ≡ 3 (mod 5)", "valid"),
        (RANGE, "k ≡ 2 (mod 5)", "undecided"),
        (RANGE, "the integer lies between 50 and 60", "unsupported"),
        (RANGE, "the integer is 54", "hallucinated"),
        (RANGE, "the digit sum of the integer is 8", "undecided"),
        (RANGE, "the integer is above 40 (since 54 > 53)", "valid"),
        (COUNT, "the number of cards is at most 2", "undecided"),
        (PERCENT, "the answer is in percent", "valid"),
        (PERCENT, "the answer is in grams", "hallucinated"),
    ],
)
def test_a_statement_is_judged(problem: Item, text: str, status: str) -> None:
    assert one(problem, text) == status


@pytest.mark.parametrize(
    ("problem", "rows", "statuses"),
    [
        (REMAINDER, [("the answer is an integer", ""), ("at most 8, at least 0", "")], ["stated"]),
        (REMAINDER, [("the answer is an integer", "domain")], ["not_stated"]),
        (REMAINDER, [("the sum is reduced somehow", "modular")], ["undecided"]),
        (REMAINDER, [("the remainder is between 0 and 3", "bound")], ["not_stated"]),
        (PROBABILITY, [("the answer is m+n", "format")], ["stated", "stated"]),
        (PROBABILITY, [("the answer is an integer", "domain")], ["stated", "not_stated"]),
        (COUNT, [("n is odd", "parity"), ("n is divisible by 7", "modular")], ["stated"]),
        (COUNT, [("n is odd", "domain")], ["not_stated"]),
        (ROOT, [("x must solve the equation", "domain")], ["undecided"]),
        (ROOT, [("the answer is positive", "domain")], ["not_stated"]),
        (RANGE, [("the integer is 53", "")], ["stated", "stated"]),
    ],
)
def test_gold_constraints_are_found(
    problem: Item, rows: list[tuple[str, str]], statuses: list[str]
) -> None:
    assert list(audit(problem, spec(rows)).gold) == statuses


def test_range_and_format_always_speak_about_the_answer() -> None:
    reply = spec([], "0 to 8", "n is an integer")
    assert audit(REMAINDER, reply).statements == ("valid", "valid")


def test_an_empty_reply_states_nothing() -> None:
    result = audit(PROBABILITY, spec([]))
    assert (result.gold, result.statements) == (("not_stated", "not_stated"), ())


@pytest.mark.parametrize("problem", load("public")[:96], ids=lambda problem: problem.id)
def test_the_gold_itself_is_never_called_a_hallucination(problem: Item) -> None:
    reply = spec([(rule.description, rule.kind) for rule in problem.constraints])
    result = audit(problem, reply)
    assert "hallucinated" not in result.statements


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=8)), max_size=4))
def test_every_statement_and_every_gold_constraint_is_judged(rows: list[tuple[str, str]]) -> None:
    reply = spec(rows, "[0, 1)", "m+n")
    result = audit(PROBABILITY, reply)
    assert len(result.statements) == len(statements(reply))
    assert set(result.statements) <= set(get_args(StatementStatus))
    assert len(result.gold) == len(PROBABILITY.constraints)
    assert set(result.gold) <= set(get_args(GoldStatus))
    assert result.statements[-2] == "hallucinated", "23 is not below 1"
    assert audit(PROBABILITY, reply) == result


EXPECTED = (
    Statement("the answer is even", "parity"),
    Statement("0 to 9", "bound", "range"),
    Statement("integer", "format", "format"),
)


def test_range_and_format_are_statements_behind_the_constraints() -> None:
    assert statements(spec([("the answer is even", "parity")], "0 to 9", "integer")) == EXPECTED
    assert statements(spec([(" ", "parity")])) == ()


def test_propagated_constraints_have_no_kind() -> None:
    derived = ConstraintSpec(propagated_constraints=(Propagated("P1", ("C1",), "it is even"),))
    assert statements(derived) == (Statement("it is even"),)


def test_a_reply_in_json_of_any_shape_is_read() -> None:
    value = {
        "raw_constraints": [{"type": "parity", "description": "the answer is even"}],
        "propagated_constraints": None,
        "likely_answer_range": "0 to 9",
        "answer_format": "integer",
    }
    assert statements(ConstraintSpec.from_mapping(value)) == EXPECTED
    assert statements(ConstraintSpec.from_mapping({"likely_answer_range": 7}))[0].text == "7"
    assert statements(ConstraintSpec.from_mapping({})) == ()
