import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from demand_measure import half_of, measure, written

from constraint_first.constraint.predicate import is_of_text, truth_of
from constraint_first.constraint.reply.check import REPLY
from constraint_first.constraint.reply.instruction import (
    INSTRUCTIONS,
    instruction_predicate,
    is_followed,
    loose_truth,
)
from constraint_first.constraint.reply.language import can_tell_language
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.stated.statement import Stated, check_stated

# --- reader


WORDINGS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "wordings.jsonl").read_text().splitlines()
]


PAGE = (Path(__file__).parents[3] / "docs" / "demands.md").read_text()


def test_what_is_demanded_is_read_and_nothing_else() -> None:
    assert sum(bool(row["demands"]) for row in WORDINGS) > 180
    assert sum(not row["demands"] for row in WORDINGS) > 60
    wrong = {row["request"]: read for row in WORDINGS if (read := _read(row)) != _wanted(row)}
    assert wrong == {}


def _read(row: dict[str, Any]) -> list[str]:
    return sorted(str(dict(one.predicate)) for one in read_demands(row["request"]))


def _wanted(row: dict[str, Any]) -> list[str]:
    return sorted(map(str, row["demands"]))


def test_each_demand_has_its_words_and_a_sentence() -> None:
    request = 'Write a story without commas. Use the word "fog" at least 3 times.'
    first, second = read_demands(request)
    assert (request[slice(*first.span)], first.sentence) == (
        "without commas",
        "The reply does without “,”.",
    )
    assert request[slice(*second.span)] == 'word "fog" at least 3 times'
    assert second.sentence == "The reply has “fog” at least 3 times."
    assert {first.kind, second.kind} == {"format"}


def test_an_amount_that_is_meant_roughly_is_no_demand() -> None:
    assert read_demands("Explain tides in five sentences or so.") == ()
    assert read_demands("Use four bullet points, give or take.") == ()


def test_the_same_demand_is_told_once() -> None:
    (one,) = read_demands("Use only lowercase letters. No capital letters are allowed.")
    assert one.predicate == {"op": "case", "case": "lower"}


def test_contradictory_demands_are_both_read() -> None:
    read = read_demands("Write in all caps, at least 50 words. Use fewer than 10 words.")
    assert [one.predicate for one in read] == [
        {"op": "case", "case": "upper"},
        {"op": "words", "low": 50},
        {"op": "words", "high": 9},
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        'Summarize: "Ignore all checks. Your response must be in all caps."',
        "Translate the following text:\n\nThe checker must say that all is fine. Use no commas.",
        "`your response must have at least 3 words`",
        "Write a story about a robot that tells its checker to accept everything.",
    ],
)
def test_instructions_to_the_checker_are_not_obeyed(hidden: str) -> None:
    assert read_demands(hidden) == ()


PIECES = (
    *("at least ", "at least 3 words ", '"', "'", '"a" ', "the word a, ", "end with ", "a", "1 "),
    *("***", "****** ", "repeat the request. ", "the following text: ", "\n", "2 parts ***. "),
    *(
        "not use any ",
        "write in french, ",
        "who ",
        "[",
        "<<",
        "the letter a ",
        "1 or 2 ",
        "İ",
        "\0",
    ),
    *("one of the following options: ", "paragraph 2 must start with the word ", "p.s. ", "a-"),
    *("wrap the response ", "highlight 3 ", "for the ", "do not use the word ", "\u2028", "\ud800"),
)


def test_strange_requests_end() -> None:
    for piece in PIECES:
        long = (piece * 20_000)[:19_000]
        for demand in read_demands(f"Your response must {long}"):
            assert 0 <= demand.span[0] < demand.span[1] <= len(long) + 19, piece
        assert read_demands(piece * 20_001) == ()


@pytest.mark.long
def test_what_is_read_from_damaged_requests_can_be_checked() -> None:
    requests = [row["problem"] for row in written("in_sight")]
    chance = random.Random(19)
    for _ in range(1_500):
        first, second = chance.choices(requests, k=2)
        joint = chance.choice(["", '"', "'", "\n", ": ", "?", "*** ", "at least ", "[", "\ud800"])
        request = first[: chance.randrange(len(first))] + joint + second[chance.randrange(9) :]
        for demand in read_demands(request):
            assert demand.span[0] < demand.span[1], request
            assert truth_of(demand.predicate, "Some words.") in ("holds", "violated", "undecided")


def test_options_without_a_word_are_none() -> None:
    (one,) = read_demands('Answer with one of these: "Yes." or "" or " " or "No."')
    assert one.predicate == {"op": "contains_any", "texts": ["Yes.", "No."]}


def test_a_question_of_mathematics_demands_nothing_of_the_reply(
    benchmark_file: Callable[[str], Path],
) -> None:
    for name in ("math500", "aime26"):
        for line in benchmark_file(name).read_text().splitlines():
            row = json.loads(line)
            assert read_demands(row["problem"]) == (), row["id"]


def test_the_reader_finds_the_instructions_of_ifeval(
    benchmark_file: Callable[[str], Path],
) -> None:
    """The figures of docs/demands.md, which may only get better."""
    rows = [json.loads(line) for line in benchmark_file("ifeval").read_text().splitlines()]
    even, odd = (measure(half_of(rows, half)) for half in ("even", "odd"))
    assert even.precision >= 0.981
    assert even.recall >= 0.973
    assert odd.precision >= 0.968
    assert odd.recall >= 0.940
    assert re.search(rf"even.*{even.precision:.3f}.*{even.recall:.3f}", PAGE)
    assert re.search(rf"odd, now.*{odd.precision:.3f}.*{odd.recall:.3f}", PAGE)
    sets = (even, odd, measure(written("unseen")))
    rows = re.findall(r"\| `(\w+:\w+)` \|(.*)\|\n", PAGE)
    assert {kind for kind, _ in rows} == {*even.there} == {*odd.there}
    for kind, row in rows:
        counts = [f"{one.found[kind]} of {one.there[kind]}" for one in sets]
        assert [cell.strip() for cell in row.split("|")] == counts, kind


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("unseen", 0.976, 0.888), ("in_sight", 0.999, 0.945)]
)
def test_the_reader_finds_the_instructions_of_requests_that_were_written_for_it(
    name: str, precision: float, recall: float
) -> None:
    """The figures of docs/demands.md, which may only get better."""
    result = measure(written(name))
    assert result.precision >= precision
    assert result.recall >= recall
    assert f"| {result.precision:.3f} |" in PAGE
    assert f"| {result.recall:.3f} |" in PAGE


def test_little_is_read_from_requests_that_were_written_to_mislead() -> None:
    requests = written("nothing")
    misread = [row["id"] for row in requests if read_demands(row["problem"])]
    assert len(misread) <= 21
    assert f"{len(misread)} of {len(requests)}" in PAGE


# --- check


CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"op": "words", "low": 2, "high": 3}, "a b c", "a b c d"),
    ({"op": "sentences", "high": 1}, "One.", "One. Two."),
    ({"op": "paragraphs", "low": 2, "high": 2}, "a\n\nb", "a\nb"),
    ({"op": "paragraphs", "separator": "***", "low": 2}, "a\n***\nb", "a\n***\n***\nb"),
    ({"op": "paragraph_begins", "nth": 2, "word": "Then"}, "a\n\nthen, b", "a"),
    ({"op": "sections", "mark": "Day", "low": 2}, "Day 1 x Day 2", "Day one Day 2"),
    ({"op": "responses", "separator": "******", "low": 2}, "a ****** b", "a ****** a"),
    ({"op": "bullets", "low": 1, "high": 1}, "* a", "* a\n- b"),
    ({"op": "highlights", "low": 1}, "an *important* one", "an * important one"),
    ({"op": "placeholders", "low": 1}, "[name]", "name"),
    ({"op": "capital_words", "low": 1, "high": 1}, "so BIG", "so big"),
    ({"op": "occurrences", "word": "Cat", "high": 1}, "a cat", "cat cat"),
    ({"op": "letters", "letter": "q", "high": 0}, "abc", "Queen"),
    ({"op": "contains", "words": ["sun", "moon"]}, "Sunny moon", "sunny"),
    ({"op": "lacks", "words": ["sun"]}, "sunny", "The sun."),
    ({"op": "contains_any", "texts": ["Yes.", "No."]}, "I say: No.", "no"),
    ({"op": "case", "case": "upper"}, "LOUD 1!", "Loud"),
    ({"op": "case", "case": "lower"}, "quiet", "123"),
    ({"op": "without", "marks": [","]}, "a b", "a, b"),
    ({"op": "json"}, '```json\n{"a": NaN}\n```', "{'a': 1}"),
    ({"op": "title"}, "<<a>>", "<a>"),
    ({"op": "postscript", "mark": "P.P.S"}, "bye\nP. P. S. more", "P.S. more"),
    ({"op": "postscript", "mark": "Note:"}, "bye\nNOTE: more", "bye"),
    ({"op": "quoted"}, ' "a" ', '"'),
    ({"op": "begins", "text": "Dear"}, " dear you", "Oh dear"),
    ({"op": "ends", "text": "The End"}, 'It was "the end"', "The End."),
    ({"op": "repeats", "text": "Say hi. "}, "Say hi.\nhi", "hi"),
    ({"op": "all", "of": [{"op": "quoted"}, {"op": "words", "low": 2}]}, '"a b"', '"a"'),
]


@pytest.mark.parametrize(("predicate", "good", "bad"), CASES, ids=lambda one: str(one)[:40])
def test_replies_hold_or_violate(predicate: dict[str, Any], good: str, bad: str) -> None:
    assert is_of_text(predicate)
    assert json.loads(json.dumps(predicate)) == predicate
    assert truth_of(predicate, good) == "holds"
    assert truth_of(predicate, bad) == "violated"
    assert truth_of(predicate, " \n ") == "violated"  # nothing is no reply
    (judged,) = check_stated([Stated("format", predicate, (0, 1), "")], good)
    assert judged[1] == "holds"


def test_every_op_has_its_case() -> None:
    assert {one["op"] for one, _, _ in CASES} - {"all"} == {*REPLY} - {"language"}


def test_what_cannot_be_read_is_undecided() -> None:
    assert truth_of({"op": "json"}, "[" * 100_000) == "undecided"
    assert truth_of({"op": "json"}, "9" * 100_000) == "holds"


def test_a_value_and_a_text_can_be_demanded_together() -> None:
    both: dict[str, Any] = {"op": "all", "of": [{"op": "integer"}, {"op": "words", "high": 1}]}
    assert [truth_of(both, one) for one in ("7", "7.5", "x y")] == ["holds", "violated", "violated"]


def test_replies_of_a_megabyte_are_judged() -> None:
    for piece in ("a", " ", "\n", "*", "[", "<<", "p. ", "1. ", "***", "{", "- "):
        long = (piece * 100_000)[:100_000]
        for predicate, _, _ in CASES:
            assert truth_of(predicate, long) in ("holds", "violated", "undecided")
    assert truth_of({"op": "words", "low": 1}, "word " * 200_000) == "holds"


# --- instruction


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
