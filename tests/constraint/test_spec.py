import json
from typing import Any

import pytest

from constraint_first.constraint.stage1 import KINDS, Constraint, ConstraintSpec, Propagated


def test_the_papers_fields_are_read() -> None:
    spec = ConstraintSpec.from_mapping(
        {
            "problem_summary": "Count pairs.",
            "raw_constraints": [{"id": "C1", "type": "domain", "description": "positive"}],
            "propagated_constraints": [
                {"id": "P1", "derived_from": ["C1"], "description": "at least 1"}
            ],
            "likely_answer_range": "1-99",
            "answer_format": "integer",
            "critical_constraints": ["C1"],
            "danger_note": "Do not count zero.",
        }
    )
    assert spec == ConstraintSpec(
        "Count pairs.",
        (Constraint("C1", "domain", "positive"),),
        (Propagated("P1", ("C1",), "at least 1"),),
        "1-99",
        "integer",
        ("C1",),
        "Do not count zero.",
    )
    assert ConstraintSpec.from_mapping(spec.to_json()) == spec


def test_the_variants_of_the_papers_examples_are_read() -> None:
    spec = ConstraintSpec.from_mapping(
        {
            "raw_constraints": [{"id": "C1", "type": "bounds_or_extremal", "desc": "n < 9"}],
            "propagated_constraints": [{"id": "P1", "from": ["C1"], "desc": "n in 1..8"}],
        }
    )
    assert spec.raw_constraints == (Constraint("C1", "bound", "n < 9"),)
    assert spec.raw_constraints[0].known
    assert spec.propagated_constraints == (Propagated("P1", ("C1",), "n in 1..8"),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["n is even"], [("C1", "", "n is even")]),
        ({"a": {"desc": "x"}, "b": {"desc": "y"}}, [("C1", "", "x"), ("C2", "", "y")]),
        ({"id": "K", "kind": "Parity", "description": "even"}, [("K", "parity", "even")]),
        ("n is even", [("C1", "", "n is even")]),
        ([{"id": 3, "type": None, "description": "z"}], [("3", "", "z")]),
        ([{"id": "C1"}, None, "", 7], [("C4", "", "7")]),
        (None, []),
        (5, []),
    ],
)
def test_raw_constraints_in_any_shape(value: Any, expected: list[tuple[str, str, str]]) -> None:
    spec = ConstraintSpec.from_mapping({"raw_constraints": value})
    assert [(c.id, c.type, c.description) for c in spec.raw_constraints] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [("0-999", "0-999"), ([0, 999], "[0, 999]"), (7, "7"), (None, ""), ({}, ""), (" x ", "x")],
)
def test_a_range_in_any_shape_becomes_text(value: Any, text: str) -> None:
    assert ConstraintSpec.from_mapping({"likely_answer_range": value}).likely_answer_range == text


def test_critical_constraints_may_be_whole_constraints() -> None:
    spec = ConstraintSpec.from_mapping({"critical_constraints": [{"id": "C2"}, "P1", None]})
    assert spec.critical_constraints == ("C2", "P1")


def test_latex_whose_backslash_json_ate_is_restored() -> None:
    decoded = json.loads(r'{"answer_format": "\frac{a}{b} \times \binom{n}{k} \right) \neq 0"}')
    spec = ConstraintSpec.from_mapping(decoded)
    assert spec.answer_format == r"\frac{a}{b} \times \binom{n}{k} \right) \neq 0"


def test_a_line_break_stays_a_line_break() -> None:
    assert ConstraintSpec.from_mapping({"danger_note": "one\ntwo"}).danger_note == "one\ntwo"


def test_a_summary_alone_restricts_nothing() -> None:
    assert not ConstraintSpec(problem_summary="A problem.").restricts
    assert ConstraintSpec(answer_format="integer").restricts
    assert ConstraintSpec().to_json() == {}


@pytest.mark.parametrize(
    "said",
    [
        *("N/A", "N/A (proof problem)", "n/a.", "NA", "None", "not applicable for a proof", "-"),
        *("no specific range", "unknown", "N/A: proof"),
    ],
)
def test_a_field_that_has_nothing_to_say_restricts_nothing(said: str) -> None:
    spec = ConstraintSpec(likely_answer_range=said, answer_format=said, danger_note=said)
    assert spec.restricting == ()
    assert spec.likely_answer_range == said, "and is kept as it was written"


@pytest.mark.parametrize(
    "said",
    [
        *("none of the above, A to E", "N/A, but at least 1", "unknown integer from 1 to 9"),
        *("nonnegative", "natural number", "no more than 9", "-5", "nanometres", "0"),
    ],
)
def test_a_field_that_says_something_restricts(said: str) -> None:
    spec = ConstraintSpec(likely_answer_range=said, answer_format=said)
    assert spec.restricting == ("likely_answer_range", "answer_format")


@pytest.mark.parametrize(
    ("form", "restricts"),
    [
        ("proof/argument", False),
        ("A rigorous proof", False),
        ("proof (no final answer)", False),
        ("proof, then the integer k", True),
        ("argument of z", True),
    ],
)
def test_a_proof_is_no_form_of_an_answer(form: str, restricts: bool) -> None:
    assert ConstraintSpec(answer_format=form).restricts == restricts


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *((kind.upper(), kind) for kind in KINDS),
        *((f"{kind}s", kind) for kind in KINDS),
        ("bounds_or_extremal", "bound"),
        ("Domain (integer)", "domain"),
        ("answer format", "format"),
        ("modular/divisibility", "modular"),
        ("divisibility", "divisibility"),
        ("monotonicity", "monotonic"),
        ("Colour", "colour"),
        ("rebound", "rebound"),
        ("", ""),
    ],
)
def test_a_kind_is_known_in_its_other_forms(written: str, kind: str) -> None:
    value = {"raw_constraints": [{"type": written, "description": "x"}]}
    (read,) = ConstraintSpec.from_mapping(value).raw_constraints
    assert (read.type, read.known) == (kind, kind in KINDS)
