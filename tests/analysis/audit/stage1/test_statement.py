from __future__ import annotations

from cfr.analysis.audit.stage1.statement import Reply, Statement
from cfr.constraint.spec import Constraint, ConstraintSpec, Propagated

EXPECTED = (
    Statement("the answer is even", "parity"),
    Statement("0 to 9", "bound", about_answer=True),
    Statement("integer", "format", about_answer=True),
)


def test_reads_a_specification() -> None:
    spec = ConstraintSpec(
        raw_constraints=(Constraint("C1", "parity", "the answer is even"),),
        likely_answer_range="0 to 9",
        answer_format="integer",
    )
    assert Reply.of(spec).statements == EXPECTED


def test_propagated_constraints_have_no_kind() -> None:
    spec = ConstraintSpec(propagated_constraints=(Propagated("P1", ("C1",), "it is even"),))
    assert Reply.of(spec).statements == (Statement("it is even"),)


def test_reads_json_of_any_shape() -> None:
    value = {
        "raw_constraints": [{"type": "parity", "description": "the answer is even"}, "loose", 3],
        "propagated_constraints": None,
        "likely_answer_range": "0 to 9",
        "answer_format": "integer",
    }
    assert Reply.from_json(value).statements == EXPECTED  # pyright: ignore[reportArgumentType]
    assert Reply.from_json({"likely_answer_range": 7}).statements[0].text == "7"
    assert Reply.from_json({}).statements == ()
