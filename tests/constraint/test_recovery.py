import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.stage1 import DEFERRED, RUNGS, WELL_FORMED, read_object, read_spec
from constraint_first.thinking import without_thinking

CORPUS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__)
    .with_name("stage1_replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["note"])
def test_each_reply_lands_on_its_rung(case: dict[str, Any]) -> None:
    recovered = read_spec(case["reply"])
    assert recovered.rung == case["rung"]
    assert recovered.defers == (case["rung"] in DEFERRED)
    assert recovered.spec.restricts != recovered.defers
    if "format" in case:
        assert recovered.spec.answer_format == case["format"]
    if "kind" in case:
        assert [one.type for one in recovered.spec.raw_constraints] == [case["kind"]]


def test_the_corpus_covers_every_rung() -> None:
    rungs = Counter(case["rung"] for case in CORPUS)
    assert len(CORPUS) >= 110
    assert set(rungs) == set(RUNGS)
    assert min(rungs.values()) >= 8


def test_a_repaired_reply_keeps_all_it_said() -> None:
    whole = next(case["reply"] for case in CORPUS if case["note"] == "as asked")
    fenced = read_spec(f"Here you are:\n```json\n{whole}\n```\nGood luck!")
    assert fenced.spec == read_spec(whole).spec
    assert len(fenced.spec.raw_constraints) == 2


def test_a_reply_cut_off_by_its_budget_keeps_what_came_before() -> None:
    whole = next(case["reply"] for case in CORPUS if case["note"] == "as asked")
    cut = read_spec(whole[: whole.index('"likely_answer_range"')]).spec
    assert cut.raw_constraints == read_spec(whole).spec.raw_constraints
    assert not cut.likely_answer_range


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["note"])
def test_a_reply_is_well_formed_where_json_reads_it(case: dict[str, Any]) -> None:
    try:
        value: object = json.loads(without_thinking(case["reply"]))
    except ValueError:
        try:
            value = json.loads(case["reply"])
        except ValueError:
            value = None
    well_formed = isinstance(value, dict | list)
    assert (read_spec(case["reply"]).rung in WELL_FORMED) == well_formed


def test_what_is_malformed_yields_two_fields_or_none() -> None:
    whole = next(case["reply"] for case in CORPUS if case["note"] == "as asked")
    for length in range(len(whole)):
        recovered = read_spec(whole[:length])
        assert recovered.defers or len(recovered.spec.restricting) >= 2


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert read_spec(text).rung in RUNGS


@given(st.integers(0, 600), st.sampled_from([c["reply"] for c in CORPUS if c["reply"]]))
def test_a_reply_cut_anywhere_is_answered(length: int, reply: str) -> None:
    assert read_spec(reply[:length]).rung in RUNGS


def test_objects_are_read_from_other_replies_too() -> None:
    assert read_object('```json\n{"final_answer": 7}\n```') == {"final_answer": 7}
    assert read_object('<think>{"final_answer": 6}?</think>{"final_answer": 7}') == {
        "final_answer": 7
    }
    assert read_object("nothing here") is None
