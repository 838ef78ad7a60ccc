from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import cast

import pytest

from cfr.benchmark.constraintbench import split
from cfr.benchmark.constraintbench.generate import generate
from cfr.benchmark.constraintbench.item import LEVELS, TIERS, encode
from cfr.benchmark.constraintbench.split import (
    PUBLIC_SEED,
    PUBLIC_SIZE,
    Split,
    SplitError,
    load,
    public_bytes,
)
from cfr.constraint.router import route


def test_the_generator_reproduces_the_shipped_file_byte_for_byte() -> None:
    assert encode(generate(PUBLIC_SEED, PUBLIC_SIZE)) == public_bytes()


def test_public_has_120_problems_in_each_tier() -> None:
    items = load("public")
    assert Counter(item.tier for item in items) == dict.fromkeys(TIERS, 120)
    assert set(Counter((item.family, item.level) for item in items).values()) == {5}
    assert len({item.text for item in items}) == PUBLIC_SIZE


def test_mini_has_six_families_of_each_tier() -> None:
    items = load("mini")
    assert Counter(item.tier for item in items) == dict.fromkeys(TIERS, 6)
    assert Counter(item.level for item in items) == dict.fromkeys(LEVELS, 8)
    assert len({item.family for item in items}) == 24
    assert {item.id for item in items} <= {item.id for item in load("public")}


def test_no_letter_is_always_right() -> None:
    letters = Counter(item.answer for item in load("public") if item.form == "choice")
    assert len(letters) >= 4
    assert max(letters.values()) <= 7


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(SplitError, match="no split is called 'hidden'; there are public and mini"):
        load(cast("Split", "hidden"))


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "PUBLIC_SHA256", "0" * 64)
    with pytest.raises(SplitError, match="not the released file"):
        public_bytes()


def test_a_lost_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def elsewhere(_package: str) -> Path:
        return tmp_path

    monkeypatch.setattr("cfr.benchmark.constraintbench.split.resources.files", elsewhere)
    with pytest.raises(SplitError, match="has lost its"):
        public_bytes()


def test_misleading_problems_fire_cues_and_implicit_ones_slip_past() -> None:
    fired = Counter(item.tier for item in load("public") if route(item.text))
    assert fired["misleading"] >= 100
    assert fired["implicit"] <= 70
    card = (Path(__file__).parents[3] / "docs" / "constraintbench.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(str(fired[tier]) for tier in TIERS)} |" in card
