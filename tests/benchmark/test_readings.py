"""What is read from problems, golds and files of them, line by line of a table."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from tables import Function, wrong_results

from constraint_first.benchmark.registry import (
    AnswerRule,
    Entry,
    check,
    final_part,
    load,
    names_file,
    parse_instructions,
    read_gold,
    read_problems,
)
from constraint_first.error import InputError
from constraint_first.problem import Json, Problem


def error_of(read: Callable[[], object]) -> str:
    try:
        read()
    except InputError as error:
        return str(error)
    raise AssertionError("no error")


def error_of_file(name: str, text: str) -> str:
    """The error of a file, which the message names without its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return error_of(lambda: load(str(path))).replace(f"{folder}/", "")


def error_of_set(problems: list[list[str]], counts: Sequence[int], unit: str) -> str:
    """The error of problems (text, gold answer, id) that stand in even lines."""
    placed = [
        (2 * n, Problem(text, name, gold)) for n, (text, gold, name) in enumerate(problems, 1)
    ]
    return error_of(lambda: check("x.jsonl", placed, counts, unit))


def gold_of(value: Json, rule: str) -> str:
    return Entry("x", "X", "d", "s", answer_rule=cast("AnswerRule", rule)).read_answer(value)


def error_of_instructions(value: Json, arguments: Json) -> str:
    return error_of(lambda: parse_instructions(value, arguments, "x"))


def error_of_gold(value: Json) -> str:
    return error_of(lambda: read_gold(value, "gold"))


def texts(source: str) -> list[Any]:
    return [one.text for one in read_problems(source).problems]


FUNCTIONS: dict[str, Function] = {
    "names_file": names_file,
    "read_gold": read_gold,
    "read_gold, error": error_of_gold,
    "read_problems": texts,
    "final_part": final_part,
    "load, error": error_of_file,
    "read_answer": gold_of,
    "check, error": error_of_set,
    "parse_instructions, error": error_of_instructions,
}


def test_each_value_is_read_as_the_table_says() -> None:
    assert wrong_results(Path(__file__).with_name("readings.jsonl"), FUNCTIONS) == {}


def test_a_long_text_is_no_file_and_a_long_cell_is_refused() -> None:
    assert not names_file("x" * 5_000)
    said = error_of_file("m.csv", f"problem,answer\n{'x' * 17_000_000},1\n")
    assert re.search("field larger.*; shorten it or write", said)
