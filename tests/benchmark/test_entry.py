import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instructed import NO_COMMA

from constraint_first.benchmark.registry import Entry, entries
from constraint_first.benchmark.source import write_instructions
from constraint_first.problem import Json

PLAIN = Entry("x", "X", "d", "s")
WHOLE = Entry("x", "X", "d", "s", answer_rule="integer")
HASHES = Entry("x", "X", "d", "s", answer_rule="after-hashes")
ALL = {
    "aime24", "aime25", "aime26", "cmimc25", "brumo25", "aimo_amc", "olympiadbench", "math500",
    "gsm8k", "hmmt25", "amc23", "ifeval",
}  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "value", "answer"),
    [
        (PLAIN, "025", "025"),
        (PLAIN, " 7 ", "7"),
        (PLAIN, 7, "7"),
        (PLAIN, None, ""),
        (PLAIN, [1, 2], "1, 2"),
        (PLAIN, [["$a$"], None], "$a$, "),
        (PLAIN, "so #### 4", "so #### 4"),
        (WHOLE, "025", "25"),
        (WHOLE, "000", "0"),
        (WHOLE, "25.00", "25"),
        (WHOLE, -3.0, "-3"),
        (WHOLE, "1/2", "1/2"),
        (WHOLE, "0.5", "0.5"),
        (WHOLE, "1 000", "1 000"),
        (WHOLE, ["01", "02"], "1, 2"),
        (HASHES, "2 + 2 = 4\n#### 4", "4"),
        (HASHES, "#### 1\n#### 1,234", "1234"),
        (HASHES, "1,234", "1,234"),
    ],
)
def test_a_gold_answer_as_text(entry: Entry, value: Json, answer: str) -> None:
    assert entry.read_answer(value) == answer


@given(st.integers(), st.integers(0, 5), st.integers(0, 3))
def test_padding_changes_no_whole_number(value: int, zeros: int, decimals: int) -> None:
    sign = "-" if value < 0 else ""
    padded = f"{sign}{'0' * zeros}{abs(value)}" + ("." + "0" * decimals if decimals else "")
    assert WHOLE.read_answer(padded) == str(value)


def test_gold_is_an_answer_or_instructions() -> None:
    assert HASHES.read_gold({"answer": "so #### 4"}) == "4"
    entry = Entry("x", "X", "d", "s", instructions="kinds", arguments="given")
    row: dict[str, Json] = {"kinds": [NO_COMMA.kind], "given": [{"n": None}], "answer": "7"}
    assert entry.gold_fields == ("kinds", "given")
    assert entry.read_gold(row) == write_instructions([NO_COMMA])
    assert entry.read_gold(row | {"kinds": None}) == ""


def test_ids_come_from_a_field() -> None:
    entry = Entry("aime24", "", "", "train", id="url", id_pattern=r"AIME_(I+)_.*Problem_(\d+)")
    urls: list[Json] = [f"a.org/2024_AIME_{part}_Problems/Problem_3" for part in ("I", "II")]
    assert entry.make_ids(urls) == ["aime24-I-3", "aime24-II-3"]
    assert entry.make_ids(["other", urls[0]]) == ["aime24-other", "aime24-I-3"]


def test_ids_are_places_where_there_is_no_field_or_it_repeats() -> None:
    numbered = ["x-test-0", "x-test-1", "x-test-2"]
    assert Entry("x", "", "", "test").make_ids([None] * 3) == numbered
    assert Entry("x", "", "", "test", id="n").make_ids([1, 2, 1]) == numbered
    cut = Entry("x", "", "", "test", id="n", id_pattern=r"(\d+)")
    assert cut.make_ids(["a1", "b1", "c2"]) == numbered
    assert cut.make_ids([]) == []


@given(st.lists(st.integers() | st.text() | st.none(), max_size=6), st.sampled_from(["", "n"]))
def test_no_two_problems_share_an_id(values: list[Json], field: str) -> None:
    ids = Entry("x", "", "", "s", id=field).make_ids(values)
    assert len(set(ids)) == len(values)


def test_the_public_benchmarks() -> None:
    known = entries()
    assert set(known) == ALL
    assert {entry.name for entry in known.values()} == ALL
    assert len({entry.label for entry in known.values()}) == len(ALL)
    assert known["aime24"].counts == (30,)
    assert known["aimo_amc"].counts == (83, 43)


def test_the_papers_characteristics() -> None:
    known = entries()
    strengths = {name: known[name].strength for name in ("aime26", "olympiadbench", "gsm8k")}
    assert strengths == {"aime26": "Tight", "olympiadbench": "Weak", "gsm8k": ""}


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_can_be_fetched_read_and_checked(name: str) -> None:
    entry = entries()[name]
    assert re.fullmatch(r"[\w-]+/[\w-]+", entry.dataset)
    assert entry.split in ("train", "test")
    assert re.compile(entry.id_pattern).groups >= 1
    assert "?" not in entry.id_pattern, "a group that may be absent has no text to join"
    assert entry.counts
    assert entry.file == f"{name}.jsonl"
    assert entry.system_prompt == "", "what goes ahead of a prompt is the user's to set"
