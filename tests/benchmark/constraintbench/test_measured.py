from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from constraint_first.benchmark.constraintbench import make as verify
from constraint_first.benchmark.constraintbench.item import load
from constraint_first.benchmark.constraintbench.make import (
    FAMILIES,
    LevelCheck,
    MeasuredLevels,
    check_levels,
    measured_levels,
)

MEASURED = MeasuredLevels(
    "a model",
    "Direct CoT",
    "2026-11-15",
    9,
    {"falls": (9, 5, 1), "ends": (5, 7, 2), "no": (3, 2, 3)},
)


def test_families_are_counted_by_how_their_levels_were_solved() -> None:
    check = LevelCheck(MEASURED, ("falls", "ends", "no"))
    assert (check.harder, check.falling) == (("falls", "ends"), ("falls",))
    assert "2 of 3 families, falling at each: 1 (Direct CoT, a model, 2026-11-15)" in str(check)


def test_nine_of_ten_must_become_harder() -> None:
    assert not LevelCheck(MEASURED, ("falls",) * 8 + ("no",)).passed
    assert LevelCheck(MEASURED, ("falls",) * 9 + ("no",)).passed


def test_every_family_with_three_levels_was_measured() -> None:
    usual = [name for name, family in FAMILIES.items() if len(family.levels) == 3]
    assert list(measured_levels().correct) == usual
    assert all(len(counts) == 3 for counts in measured_levels().correct.values())


def test_only_what_occurs_and_was_measured_is_checked() -> None:
    (item, *_) = load("public")
    check = check_levels([item])
    assert check
    assert check.families == (item.family,)
    assert check_levels(load("hard")) is None
    assert check_levels(load("public@1")) is None


def test_levels_that_do_not_order_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    (item, *_) = load("public")
    flat = LevelCheck(MEASURED, ("no",))
    monkeypatch.setattr(verify, "check_levels", MagicMock(return_value=flat))
    (fault,) = verify.check_items({1: item}).faults
    assert "0 of 1 families" in fault.message
