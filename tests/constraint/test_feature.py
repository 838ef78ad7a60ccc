import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.kind import FEATURES, describe, find_features
from constraint_first.constraint.router import FAMILIES
from constraint_first.constraint.stage1 import KINDS


@pytest.mark.parametrize(
    ("text", "having", "lacking"),
    [
        ("Weng earns $12 an hour and $3 more. How much did she earn?", "asks.amount", "latex"),
        ("How many apples are there?", "asks.integer", "asks.amount"),
        ("Simplify $\\frac{x}{2}$ in terms of $y$.", "asks.expression", "asks.integer"),
        ("Find the probability as a common fraction.", "asks.fraction", "asks.amount"),
        ("Find all values of $x$, separated by commas.", "asks.list", "asks.expression"),
        ("Which is it? (A) 1 (B) 2 (C) 3", "asks.choice", "latex"),
        ("What is $2 + 2$?", "latex", "functions"),
        ("A factory made 3 figures.", "figure", "asks.expression"),
        ("Let $f(x) = x^2$ be a function.", "functions", "geometry"),
        ("The angle $ABC$ is 30 degrees.", "geometry", "functions"),
        ("How many quadrangles?", "asks.integer", "geometry"),
        ("Find the remainder when 7 is divided by 3.", "cue.modular_remainder", "long"),
        ("word " * 61, "long", "stated"),
        ("Write about tea. Do not use any commas.", "demand", "asks.integer"),
        ("Can you write me a poem about tea?", "request", "demand"),
        ("Ann has to write 15 pages. How many are left?", "asks.integer", "request"),
        ("Find the remainder when $7^{10}$ is divided by 13.", "stated.modular", "stated.parity"),
    ],
)
def test_features_of_texts(text: str, having: str, lacking: str) -> None:
    found = find_features(text)
    assert having in found
    assert lacking not in found
    assert found <= set(FEATURES)


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
