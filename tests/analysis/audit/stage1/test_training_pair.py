import json
from pathlib import Path
from typing import Any

import pytest

from constraint_first.benchmark.constraintbench import family as split
from constraint_first.constraint.stage1 import ConstraintSpec, extract_constraints, read_spec
from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import Judged, Label, Mark, unmarked
from constraint_first.report.exhibit.stage1 import PairRules, collect_pairs, pair_rows

REMAINDER = "Find the remainder when $3^5$ is divided by 7."
MEASURED = Path(__file__).parents[4] / "docs" / "results" / "constraintbench-mini.jsonl"
GOOD = "The answer is an integer from 0 to 6."


def listing(*descriptions: str) -> dict[str, Any]:
    """What a method notes of a Stage 1 reply that lists constraints."""
    raw = [
        {"id": f"C{number}", "type": "modular", "description": words}
        for number, words in enumerate(descriptions, 1)
    ]
    return {"rung": "parsed", "constraints": {"raw_constraints": raw}}


def attempt(problem: str = "p0", text: str = REMAINDER, **more: Any) -> dict[str, Any]:
    key = {"benchmark": "mine", "method": "cfr", "model": "m", "decoding": "{}", "run": 0}
    ended = {"verdict": "correct", "gold": "5", "details": listing(GOOD)}
    return key | ended | {"problem": problem, "problem_text": text} | more


def marked(row: dict[str, Any], mark: Mark, missing: tuple[str, ...] = ()) -> Label:
    key = tuple(
        row[name] for name in ("benchmark", "method", "model", "decoding", "problem", "run")
    )
    spec = ConstraintSpec.from_mapping(row["details"]["constraints"])
    begun = unmarked("ada", key, spec)  # pyright: ignore[reportArgumentType]
    judged = tuple(Judged(one.id, one.stage, mark, one.digest) for one in begun.constraints)
    return Label("ada", begun.key, judged, missing)


def test_a_pair_is_what_an_extractor_is_asked_and_what_it_should_reply() -> None:
    (pair,) = collect_pairs([attempt()], PairRules(), "x").kept
    asked, reply = pair.messages("stage1")
    (sent,) = extract_constraints(REMAINDER, 1).messages
    assert (asked["role"], asked["content"]) == ("user", sent.content)
    assert reply["role"] == "assistant"
    read = read_spec(str(reply["content"]))
    assert (read.rung, read.spec) == ("parsed", pair.spec)
    assert pair.messages("problem")[0]["content"] == REMAINDER


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (attempt(details=listing(GOOD) | {"rung": "repaired"}), "damaged"),
        (attempt(details=listing(GOOD) | {"rung": "fallback"}), "damaged"),
        (attempt(details=listing()), "lists nothing"),
        (attempt(text=""), "text is not on record"),
        (attempt(details=listing("The answer is even.")), "false of the gold answer"),
        (
            attempt(details=listing("The answer is at least 9."), gold=None),
            "contradicts the problem's text",
        ),
        (attempt(details=listing(*[GOOD] * 7), method="cfr-brief"), "more than the prompt allows"),
    ],
)
def test_what_speaks_against_a_pair_drops_it(row: dict[str, Any], reason: str) -> None:
    found = collect_pairs([row, attempt("p1")], PairRules(), "x")
    assert [pair.key[4] for pair in found.kept] == ["p1"]
    ((said, count),) = found.dropped.items()
    assert count == 1
    assert reason in said


def test_a_long_list_is_fine_where_no_prompt_forbids_it() -> None:
    row = attempt(details=listing(*[GOOD] * 7), method="cfr-brief")
    assert len(collect_pairs([row], PairRules(prompt="problem"), "x").kept) == 1
    papers = attempt(details=listing(*[GOOD] * 7))
    assert len(collect_pairs([papers], PairRules(), "x").kept) == 1


def test_a_wrong_answer_drops_a_pair_only_where_that_is_asked_for() -> None:
    rows = [attempt(verdict="incorrect"), attempt("p1", verdict=None)]
    assert len(collect_pairs(rows, PairRules(), "x").kept) == 1  # they are the same
    found = collect_pairs(rows, PairRules(right=True), "x")
    assert (found.kept, dict(found.dropped)) == ([], {"the attempt did not end right": 2})


@pytest.mark.parametrize(
    ("mark", "missing", "reason"),
    [
        ("entailed", (), ""),
        ("not_entailed", (), "not entailed or vague"),
        ("vague", (), "not entailed or vague"),
        ("entailed", ("it is positive",), "found a constraint missing"),
    ],
)
def test_marks_of_people_count_for_what_they_judged(
    mark: Mark, missing: tuple[str, ...], reason: str
) -> None:
    other = attempt("p1", text=f"{REMAINDER} Again.")
    rules = PairRules([marked(attempt(), mark, missing)])
    found = collect_pairs([attempt(), other], rules, "x")
    assert found.marked == 1
    assert [pair.key[4] for pair in found.kept] == (["p1"] if reason else ["p0", "p1"])
    assert all(reason in said for said in found.dropped)


def test_marks_of_other_words_are_refused() -> None:
    rules = PairRules([marked(attempt(), "entailed")])
    with pytest.raises(InputError, match="other words in C1"):
        collect_pairs([attempt(details=listing("The answer is odd."))], rules, "x")


def test_gold_constraints_judge_a_problem_of_constraintbench() -> None:
    item = next(one for one in split.load("mini") if one.answer.isdecimal())
    key = {"benchmark": "constraintbench-mini", "problem": item.id, "text": item.text}
    wrong = listing(f"The final answer is greater than {item.answer}.")
    right = listing("The final answer is an integer.")
    rows = [attempt(**key, details=wrong, gold=None), attempt(**key, details=right, run=1)]
    found = collect_pairs(rows, PairRules(), "x")
    assert [pair.key[5] for pair in found.kept] == [1]
    assert "false of the gold answer" in next(iter(found.dropped))


def test_the_order_of_attempts_changes_nothing_and_the_same_pair_is_there_once() -> None:
    rows = [attempt(name, text=f"{REMAINDER} {name}") for name in ("b", "a", "c")]
    rows += [attempt("a", text=f"{REMAINDER} a", run=1)]
    found, turned = (collect_pairs(one, PairRules(), "x") for one in (rows, rows[::-1]))
    assert found.kept == turned.kept
    assert [pair.key[4] for pair in found.kept] == ["a", "b", "c"]
    assert dict(found.dropped) == {"the same pair is there already": 1}


def test_attempts_without_a_stage_1_are_no_candidates() -> None:
    found = collect_pairs([attempt(details={"how": "boxed"})], PairRules(), "x")
    assert (found.kept, found.dropped.total()) == ([], 0)


@pytest.mark.parametrize("garbage", [None, 5, "x", [1], {"raw_constraints": 5}])
def test_garbage_in_a_store_lists_nothing(garbage: Any) -> None:
    row = attempt(details={"rung": "parsed", "constraints": garbage})
    assert "lists nothing" in next(iter(collect_pairs([row], PairRules(), "x").dropped))


def test_measured_attempts_give_pairs_that_the_gold_does_not_break() -> None:
    found = collect_pairs(pair_rows(str(MEASURED)), PairRules(), str(MEASURED))
    assert len(found.kept) == 18
    assert dict(found.dropped) == {"a constraint is false of the gold answer": 48}
    assert found.benchmarks == {"constraintbench-mini@1": 18}
    lines = [json.dumps(pair.messages("stage1")) for pair in found.kept]
    assert len(set(lines)) == 18
