from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from constraint_first.benchmark.constraintbench.item import load
from constraint_first.constraint.stage1 import ConstraintSpec
from constraint_first.error import InputError
from constraint_first.report.exhibit.gold import (
    STATEMENTS,
    Audit,
    Labelled,
    agreement,
    audit,
    read_labelled,
    report,
)
from constraint_first.report.statistics import kappa

CARD = Path(__file__).parents[4] / "docs" / "constraintbench.md"
LABELS = CARD.parent / "results" / "stage1-labels.jsonl"
ITEM = next(item for item in load("mini@1") if item.family == "remainder_of_sum")
REPLY = {"raw_constraints": [{"type": "domain", "description": "the answer is an integer"}]}


def test_rates_leave_the_undecided_out() -> None:
    counted = report(
        [
            Audit(("stated", "undecided"), ("valid", "undecided", "hallucinated")),
            Audit(("not_stated",), ("valid", "unsupported")),
        ]
    )
    assert counted.gold.completeness == pytest.approx(1 / 2)
    assert counted.constraints.validity == pytest.approx(2 / 4)
    assert counted.constraints.hallucination == pytest.approx(1 / 4)
    assert counted.constraints.undecided == pytest.approx(1 / 5)


def test_the_range_and_the_format_of_the_answer_are_counted_apart() -> None:
    counted = report(
        [
            Audit(("stated",), ("valid",), "hallucinated", "undecided"),
            Audit(("stated",), ("valid",), None, "valid"),
        ]
    )
    assert counted.constraints.validity == 1
    assert counted.answer_range.validity == 0
    assert counted.answer_range.hallucination == 1
    assert (counted.answer_format.validity, counted.answer_format.undecided) == (1, 0.5)


def test_without_replies_there_are_no_rates() -> None:
    empty = report([])
    assert empty.gold.completeness is None
    assert (empty.constraints.validity, empty.answer_range.hallucination) == (None, None)


def labelled(gold: str, stated: str) -> Labelled:
    labels = Audit((gold,), (stated,))  # pyright: ignore[reportArgumentType]
    return Labelled(ITEM, ConstraintSpec.from_mapping(REPLY), labels)


def test_agreement_counts_and_corrects_for_chance() -> None:
    assert audit(ITEM, ConstraintSpec.from_mapping(REPLY)) == Audit(("not_stated",), ("valid",))
    found = agreement([labelled("not_stated", "valid"), labelled("stated", "valid")])
    assert (found["gold"].n, found["gold"].agree) == (2, 1)
    assert found["gold"].kappa == pytest.approx(0)
    assert (found["stated"].agree, found["stated"].kappa) == (2, None)
    assert agreement([])["gold"].n == 0


def test_kappa_of_a_hand_worked_table() -> None:
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    assert kappa(pairs) == pytest.approx(0.4)


def write(path: Path, **changes: object) -> Path:
    row = {
        "item_id": ITEM.id,
        "reply": REPLY,
        "labels": {"gold": ["not_stated"], "stated": ["valid"]},
        **changes,
    }
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def test_reads_labels(tmp_path: Path) -> None:
    (one,) = read_labelled(write(tmp_path / "l.jsonl"), load("public@1"))
    assert one.labels == Audit(("not_stated",), ("valid",))


@pytest.mark.parametrize(
    "changes",
    [
        {"item_id": "nobody"},
        {"reply": "text"},
        {"labels": {"gold": ["not_stated"], "stated": []}},
        {"labels": {"gold": ["perhaps"], "stated": ["valid"]}},
    ],
)
def test_a_bad_row_names_its_line(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(InputError, match="line 1: needs"):
        list(read_labelled(write(tmp_path / "l.jsonl", **changes), load("public@1")))


def test_the_example_of_the_data_card_can_be_read(tmp_path: Path) -> None:
    example = CARD.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    path = tmp_path / "card.jsonl"
    path.write_text(example, encoding="utf-8")
    found = agreement(read_labelled(path, load("public@1")))
    assert (found["gold"].agree, found["stated"].agree) == (1, 2)


MEASURED = list(read_labelled(LABELS, load("public@1")))
HALVES = {"all 64": MEASURED, "tune 32": MEASURED[::2], "held 32": MEASURED[1::2]}


def statement_pairs(replies: Sequence[Labelled]) -> list[tuple[str, str]]:
    """Give the annotator's and the audit's word on each statement."""
    return [
        pair
        for one in replies
        for pair in zip(one.labels.statements, audit(one.item, one.reply).statements, strict=True)
    ]


def test_the_labels_are_two_replies_of_each_family() -> None:
    assert len({one.item.id for one in MEASURED}) == 64
    families = [one.item.family for one in MEASURED]
    assert families[::2] == families[1::2] == sorted(set(families))
    assert len(set(families)) == 32


@pytest.mark.parametrize("name", HALVES)
def test_the_data_card_tells_the_agreement(name: str) -> None:
    rows = CARD.read_text(encoding="utf-8").splitlines()
    for what, found in agreement(HALVES[name]).items():
        assert found.kappa is not None
        (row,) = (row for row in rows if row.startswith(f"| {name} | {what} | {found.n} |"))
        assert row.endswith(f"| {found.agree} | {found.kappa:.2f} |")


def test_the_data_card_tells_the_confusion() -> None:
    card, counted = CARD.read_text(encoding="utf-8"), Counter(statement_pairs(MEASURED))
    for label in STATEMENTS:
        cells = " | ".join(str(counted[label, status]) for status in STATEMENTS)
        assert f"\n| {label} | {cells} |\n" in card
    for replies, words in ((MEASURED, "{} of {} statements"), (HALVES["held 32"], "{} of {}")):
        decided = [pair for pair in statement_pairs(replies) if "undecided" not in pair]
        agreed = words.format(sum(one == other for one, other in decided), len(decided))
        assert f"on {agreed} (kappa {kappa(decided):.2f})" in card


@pytest.mark.parametrize("name", ["all 64", "held 32"])
def test_the_data_card_tells_the_rates(name: str) -> None:
    replies = HALVES[name]
    for who, found in (
        ("annotator", report(one.labels for one in replies)),
        ("audit", report(audit(one.item, one.reply) for one in replies)),
    ):
        listed, complete = found.constraints, found.gold.completeness
        rates = (complete, listed.validity, listed.hallucination, listed.undecided)
        cells = " | ".join(f"{rate:.1%}" for rate in rates if rate is not None)
        assert f"| {who}, {name} | {cells} |" in CARD.read_text(encoding="utf-8")


def test_the_data_card_tells_what_is_apart() -> None:
    for who, found in (
        ("annotator", report(one.labels for one in MEASURED)),
        ("audit", report(audit(one.item, one.reply) for one in MEASURED)),
    ):
        for field, counted in (("range", found.answer_range), ("format", found.answer_format)):
            rates = (counted.validity, counted.hallucination, counted.undecided)
            cells = " | ".join(f"{rate:.1%}" for rate in rates if rate is not None)
            assert f"| {who}, answer {field} | | {cells} |" in CARD.read_text(encoding="utf-8")
