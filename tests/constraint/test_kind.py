import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.kind import FEATURES, describe, find_features, read_kind, tell_kind
from constraint_first.constraint.router import FAMILIES
from constraint_first.constraint.stage1 import KINDS

# --- kind


def test_a_demand_on_the_reply_comes_first() -> None:
    kind = read_kind("What is 15% of 80? Answer without commas.")
    assert kind.what == "demand"
    assert "without commas" in kind.why


def test_problems_in_other_languages_are_told_apart() -> None:
    assert read_kind("What is 15% of 80?").english
    assert not read_kind("Tom hat 5 Äpfel und kauft 3 dazu. Wie viele Äpfel hat er?").english


@given(st.text(max_size=300))
def test_any_text_is_something(text: str) -> None:
    assert tell_kind(text).startswith("auto ")


@pytest.mark.parametrize(
    "text", ["$" * 4_000, "what is " * 500, "1 + " * 1_000, "\\(" * 1_999, "a\n" * 1_999]
)
def test_no_text_takes_long(text: str) -> None:
    # Backtracking without end would show as a test that never ends.
    assert read_kind(text).why


# --- feature


def test_the_features_are_few_and_each_has_words() -> None:
    assert len(FEATURES) == len(set(FEATURES)) < 40
    assert {f"cue.{family}" for family in FAMILIES} < set(FEATURES)
    assert {f"stated.{kind}" for kind in KINDS} < set(FEATURES)
    for feature in FEATURES:
        assert describe(feature) != describe(feature, present=False)
        assert not describe(feature).endswith((" ", "."))


@given(st.text())
def test_any_text_has_features(text: str) -> None:
    found = find_features(text)
    assert found <= set(FEATURES)
    assert sum(name.startswith("asks.") for name in found) <= 1
    assert ("cue" in found) == any(name.startswith("cue.") for name in found)
    assert find_features(text) == found


def test_half_a_surrogate_pair_and_a_long_text_are_texts() -> None:
    assert "asks.integer" in find_features("\ud800 How many?")
    assert "long" in find_features("$a " * 100_000)
