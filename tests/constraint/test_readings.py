"""What the readers of texts and replies find, line by line of a table."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from tables import Function, wrong_results

from constraint_first.constraint import predicate
from constraint_first.constraint.claim import (
    contradicts,
    names_of_answer,
    plain,
    read_claims,
    read_predicates,
)
from constraint_first.constraint.kind import find_features, read_kind
from constraint_first.constraint.predicate import Predicate, PredicateError, truth_of
from constraint_first.constraint.reply.bound import amounts
from constraint_first.constraint.reply.conflict import find_conflicts, tell_conflict
from constraint_first.constraint.reply.content import is_demand
from constraint_first.constraint.reply.instruction import instruction_predicate
from constraint_first.constraint.reply.measure import count_sentences
from constraint_first.constraint.reply.number import NUMBER, to_number
from constraint_first.constraint.reply.permission import is_permitted
from constraint_first.constraint.reply.polarity import is_refused
from constraint_first.constraint.reply.protected import protected_spans
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.reply.request import prepare
from constraint_first.constraint.router import route
from constraint_first.constraint.stage1 import ConstraintSpec, read_limit
from constraint_first.constraint.stated.property import read_properties
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.reading import INTEGER, Reading, plain_text
from constraint_first.constraint.stated.statement import Stated, repair


def subjects(text: str, names: list[str]) -> list[str]:
    return sorted({claim.subject for claim in read_claims(text, frozenset(names))})


def truth(predicate: Predicate, answer: str) -> str:
    try:
        return truth_of(predicate, answer)
    except PredicateError as error:
        return f"error: {error}"


def build(name: str, args: list[Any], options: dict[str, Any]) -> Predicate:
    """Call a builder; a text such as 1/2 is a number, and a list a tuple."""
    values = (Fraction(one) if re.fullmatch(r"-?\d+/\d+", str(one)) else one for one in args)
    given = (tuple(cast("list[Any]", one)) if isinstance(one, list) else one for one in values)
    return getattr(predicate, name)(*given, **options)


def limit(text: str) -> list[int] | str | None:
    try:
        found = read_limit(text)
    except ValueError as error:
        return f"error: {error}"
    return None if found is None else [*found]


def constraints(value: Any) -> list[list[Any]]:
    spec = ConstraintSpec.from_mapping({"raw_constraints": value})
    return [[one.id, one.type, one.description, one.known] for one in spec.raw_constraints]


def amount(text: str) -> list[list[int | None]]:
    return [[one.low, one.high] for one in amounts(text)]


def at_mark(told: str) -> tuple[str, int, int]:
    """Take the text apart that has ``<`` before the words in question, and ``>`` behind them."""
    start, plain_told = told.index("<"), told.replace("<", "").replace(">", "")
    return plain_told, start, told.index(">") - 1 if ">" in told else start


def reading(text: str) -> Reading:
    return Reading(text, plain_text(text))


def question(text: str) -> str | None:
    found = reading(text).question
    return None if found is None else text[slice(*found)].strip()


def conflicts(request: str) -> list[str]:
    return [tell_conflict(one) for one in find_conflicts(read_demands(request))]


def number(text: str) -> int:
    assert re.fullmatch(NUMBER, text)
    return to_number(text)


def repaired(demand: Predicate, reply: str) -> str:
    assert truth_of(demand, reply) == "violated"
    return repair_reply([Stated("format", demand, (0, 0), "")], reply)


FUNCTIONS: dict[str, Function] = {
    "subjects": subjects,
    "names_of_answer": lambda text: sorted(names_of_answer(text)),
    "read_predicates": lambda text: [*read_predicates(plain(text))],
    "contradicts": lambda text, said: contradicts(read_stated(text), said, text),
    "read_kind": lambda text: read_kind(text).what,
    "find_features": lambda text: sorted(find_features(text)),
    "build": build,
    "truth_of": truth,
    "route": lambda text: [cue.family for cue in route(text)],
    "raw_constraints": constraints,
    "likely_answer_range": lambda value: (
        ConstraintSpec.from_mapping({"likely_answer_range": value}).likely_answer_range
    ),
    "restricting": lambda said: (
        ConstraintSpec(likely_answer_range=said, answer_format=said, danger_note=said).restricting
    ),
    "answer_format": lambda said: ConstraintSpec(answer_format=said).restricts,
    "read_limit": limit,
    "amounts": amount,
    "find_conflicts": conflicts,
    "count_sentences": count_sentences,
    "to_number": number,
    "is_permitted": lambda told: is_permitted(*at_mark(told)[:2]),
    "is_refused": lambda told: is_refused(*at_mark(told)),
    "readable": lambda text: [one.readable for one in prepare(text).sentences],
    "is_demand": lambda told: is_demand(*at_mark(told)[:2]),
    "instruction_predicate": instruction_predicate,
    "repair_reply": repaired,
    "protected_spans": lambda reply: [
        reply[one.start : one.end].strip("\n") for one in protected_spans(reply)
    ],
    "question": question,
    "heads": lambda text: len(reading(text).heads),
    "recoded": lambda text: reading(text).recoded,
    "repair": lambda text, answer: repair(read_stated(text), answer),
    "read_properties": lambda text: [
        one.sentence for one in read_properties(text, 0, len(text))[0]
    ],
    "starts with an integer": lambda text: re.match(INTEGER, text) is not None,
    "read_stated": lambda text: [one.sentence for one in read_stated(text)],
}


def test_each_text_is_read_as_the_table_says() -> None:
    assert wrong_results(Path(__file__).with_name("readings.jsonl"), FUNCTIONS) == {}
