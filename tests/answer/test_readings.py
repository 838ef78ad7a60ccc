"""What the functions below an answer's verdict make of their texts, line by line of a table."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tables import Function, wrong_results

from constraint_first.answer import marks, value
from constraint_first.answer.exact import as_real_set, equal_numbers, rational
from constraint_first.answer.extract import (
    abstains,
    bare,
    corrected,
    extract,
    find_content,
    find_field,
    find_object_answer,
    from_end,
    is_nothing,
    restore_commands,
    without_approximation,
    without_check,
)
from constraint_first.answer.grade import decide, grade
from constraint_first.answer.parse import parse
from constraint_first.answer.symbolic import DIGITS, Evaluator, OutOfReach, is_whole, judge
from constraint_first.answer.syntax import (
    Measure,
    Node,
    Num,
    Op,
    Sym,
    Unreadable,
    clean,
    read_number,
    tokenize,
    unit_name,
)


def shown(node: Node) -> str:
    """Write a tree in one line: ``+(x, 0.5~1)`` is x and a decimal of one significant digit."""
    match node:
        case Num(number, digits):
            return f"{number}" if digits is None else f"{number}~{digits}"
        case Sym(name):
            return name
        case Measure(measured, unit):
            return f"{shown(measured)} [{unit}]"
        case Op(name, args):
            return f"{name}({', '.join(map(shown, args))})"


def parsed(text: str) -> str:
    try:
        return shown(parse(text))
    except Unreadable:
        return "unreadable"


def related(text: str) -> str:
    tree = parse(text)
    assert isinstance(tree, Op)
    assert tree.name == "rel"
    try:
        return shown(value.relation(tree))
    except Unreadable:
        return "unreadable"


def tokens(text: str) -> list[str] | str:
    try:
        return [token.text for token in tokenize(text)]
    except Unreadable:
        return "unreadable"


def answer_value(text: str) -> list[str | int] | None:
    found = value.read_answer(text)
    if found is None:
        return None
    assert (found.number is None) == (found.radicand > 1 or bool(found.letter))
    return [found.letter or str(found.coefficient), found.radicand, found.form]


def evaluated(text: str) -> str:
    try:
        return format(complex(Evaluator(DIGITS)(parse(clean(text)))), ".14g")
    except OutOfReach as error:
        return type(error).__name__


def equal_both_ways(pred: str, digits: int, gold: str) -> bool:
    same = equal_numbers(Fraction(pred), digits, Fraction(gold), None)
    assert equal_numbers(Fraction(gold), None, Fraction(pred), digits) is same
    return same


def same_set(text: str, other: str) -> bool:
    (left,), (right,) = value.interpret(text), value.interpret(other)
    sets = as_real_set(left), as_real_set(right)
    assert None not in sets
    return sets[0] == sets[1]


def ruling(pred: str, gold: str) -> list[Any]:
    found = decide(pred, gold)
    return [found.same, found.why, found.readable]


def outcome(pred: str | None, gold: str) -> list[str]:
    verdict = grade(pred, gold)
    return [verdict.verdict, verdict.tier]


def box(text: str) -> list[Any] | None:
    found = marks.find_box(text)
    return None if found is None else [found.content, found.closed]


FUNCTIONS: dict[str, Function] = {
    "abstains": abstains,
    "bare": bare,
    "corrected": corrected,
    "extract": lambda text: extract(text).answer,
    "find_content": find_content,
    "find_field": find_field,
    "find_object_answer": find_object_answer,
    "from_end": from_end,
    "is_nothing": is_nothing,
    "restore_commands": restore_commands,
    "without_approximation": without_approximation,
    "without_check": without_check,
    "bald": marks.bald,
    "find_box": box,
    "from_choice": marks.from_choice,
    "from_marker": marks.from_marker,
    "leading_letter": marks.leading_letter,
    "lone_letter": marks.lone_letter,
    "absence_verdict": value.absence_verdict,
    "choice_letter": value.choice_letter,
    "choice_verdict": value.choice_verdict,
    "interpret": lambda text: [shown(tree) for tree in value.interpret(text)],
    "read_answer": answer_value,
    "relation": related,
    "scalars": lambda text: [shown(tree) for tree in value.scalars(text)],
    "truth_verdict": value.truth_verdict,
    "words_verdict": value.words_verdict,
    "as_real_set": same_set,
    "equal_numbers": equal_both_ways,
    "rational": lambda text: str(rational(parse(text))),
    "decide": ruling,
    "decide percent": lambda pred, gold, percent: decide(pred, gold, percent=percent).same,
    "grade": outcome,
    "clean": clean,
    "parse": parsed,
    "read_number": read_number,
    "tokenize": tokens,
    "unit_name": unit_name,
    "evaluate": evaluated,
    "is_whole": is_whole,
    "judge": lambda pred, gold: judge(pred, gold).same,
}


def test_each_text_is_read_as_the_table_says() -> None:
    assert wrong_results(Path(__file__).with_name("readings.jsonl"), FUNCTIONS) == {}


CHECK = "It is 6. Check: 3 + 3. " + "We add them up. " * 60
LONG = [
    ("bare", "9" * 6_000, "9" * 6_000),
    ("bare", "x" * 6_000, None),
    ("find_object_answer", '{"text": "' + "long " * 100 + '"}', None),
    ("find_object_answer", '{"a": ' * 5_000 + "}", None),
    ("from_choice", "option A" + " x" * 300, None),
    ("parse", "9" * 4_001, "unreadable"),
    ("parse", r"0.\overline{" + "3" * 4_001 + "}", "unreadable"),
    ("read_answer", "9" * 5_000, None),
    ("read_answer", "9" * 2_000, None),
    ("without_check", CHECK, CHECK),
]


@pytest.mark.parametrize(("function", "text", "result"), LONG, ids=range(len(LONG)))
def test_a_long_text_is_read_so(function: str, text: str, result: str | None) -> None:
    read: Callable[..., Any] = FUNCTIONS[function]
    assert read(text) == result


def test_brackets_that_are_too_deep_leave_a_verdict_open() -> None:
    assert outcome("(" * 2_000 + "5" + ")" * 2_000, "5") == ["undecided", "exact"]
