from __future__ import annotations

from dataclasses import dataclass

from cfr.benchmark.reply import Reply, Statement


@dataclass(frozen=True)
class Constraint:
    id: str
    type: str
    description: str


@dataclass(frozen=True)
class Spec:
    raw_constraints: tuple[Constraint, ...]
    propagated_constraints: tuple[Constraint, ...] = ()
    likely_answer_range: str = ""
    answer_format: str = ""


EXPECTED = (
    Statement("the answer is even", "parity"),
    Statement("0 to 9", "bound", about_answer=True),
    Statement("integer", "format", about_answer=True),
)


def test_reads_a_specification() -> None:
    spec = Spec((Constraint("C1", "parity", "the answer is even"),), (), "0 to 9", "integer")
    assert Reply.of(spec).statements == EXPECTED


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
