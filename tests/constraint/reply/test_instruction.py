import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.reply.instruction import (
    INSTRUCTIONS,
    instruction_predicate,
    is_followed,
    loose_truth,
)
from constraint_first.constraint.reply.language import can_tell_language


def test_instructions_become_predicates() -> None:
    assert len(INSTRUCTIONS) == 25
    words = {"relation": "less than", "num_words": 30}
    assert instruction_predicate("length_constraints:number_words", words) == {
        "op": "words",
        "high": 29,
    }
    first = {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "so"}
    predicate = instruction_predicate("length_constraints:nth_paragraph_first_word", first)
    assert predicate
    assert truth_of(predicate, "a\n\nSo b\n\nc") == "holds"
    assert truth_of(predicate, "a\n\nSo b") == "violated"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no:such", {}),
        ("length_constraints:number_words", {}),
        ("length_constraints:number_words", {"relation": "around", "num_words": 3}),
        ("length_constraints:number_words", {"relation": "at least", "num_words": "three"}),
        ("keywords:existence", {"keywords": []}),
        ("keywords:letter_frequency", {"letter": None, "let_relation": "at least"}),
    ],
)
def test_what_is_not_known_is_none(name: str, arguments: dict[str, Any]) -> None:
    assert instruction_predicate(name, arguments) is None


def test_loose_judging_forgives_what_stands_around() -> None:
    quoted = {"op": "quoted"}
    reply = 'Sure, here it is:\n"**Hello.**"\nAnything else?'
    assert truth_of(quoted, reply) == "violated"
    assert loose_truth(quoted, reply) == "holds"
    assert loose_truth({"op": "ends", "text": "hello."}, '"*Hello*."') == "holds"
    assert loose_truth({"op": "without", "marks": [","]}, "a, b") == "violated"
    assert loose_truth({"op": "json"}, "[" * 100_000) == "undecided"
    assert is_followed(quoted, reply) is False
    assert is_followed(quoted, reply, loose=True) is True
    assert is_followed({"op": "json"}, "[" * 100_000) is None


# Each difference from the verdicts of lm-evaluation-harness 0.4.13 on 990 replies; docs/demands.md
# explains them. Its detector takes short texts, lists of names and texts in capitals for other
# languages than English, one reply in Hindi and one in Korean with English words for another; and
# it replaces a "letter" that is no letter by a random one.
LANGUAGE = {
    *((f"ifeval-{name}", run) for name, run in ((1779, 1), (24, 1), (2416, 1), (279, 0), (279, 1))),
    *((f"ifeval-{name}", 0) for name in (2225, 2464, 3456, 3617)),
}
NO_LETTER = {("ifeval-1122", 0), ("ifeval-1122", 1), ("ifeval-1129", 1)}


def test_verdicts_beside_those_of_the_public_harness(
    benchmark_file: Callable[[str], Path],
) -> None:
    requests = benchmark_file("ifeval")
    replies = requests.with_name("ifeval-replies.jsonl.gz")
    if not replies.is_file() or not can_tell_language():
        pytest.skip(f"{replies} is not here, or py3langid is not installed")
    instructions = {
        row["id"]: [instruction_predicate(one["id"], one["kwargs"]) for one in row["instructions"]]
        for row in map(json.loads, requests.read_text().splitlines())
    }
    different: list[tuple[str, int]] = []
    count = 0
    with gzip.open(replies, "rt") as file:
        for row in map(json.loads, file):
            for predicate, followed in zip(instructions[row["id"]], row["followed"], strict=True):
                assert predicate
                count += 1
                if is_followed(predicate, row["text"]) is not followed:
                    different.append((row["id"], row["run"]))
    assert count == 1_488
    assert {*different} == LANGUAGE | NO_LETTER
    assert 1 - len(different) / count > 0.991
