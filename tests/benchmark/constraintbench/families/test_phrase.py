from __future__ import annotations

from random import Random

import pytest

from constraint_first.benchmark.constraintbench.family import listed, plural, stages, tell


def test_fills_slots_and_finds_spans() -> None:
    told = tell(Random(1), (r"Let $x^{<k>}$. Find «mod:it modulo $<m>$».",), k=2, m=7)
    assert told.text == r"Let $x^{2}$. Find it modulo $7$."
    assert told.span("mod") == "it modulo $7$"
    assert told.span("range") is None


def test_a_span_may_hold_a_slot_that_holds_words() -> None:
    told = tell(Random(1), ("«who:<name> asks»: <what>?",), name="Uma", what="which")
    assert (told.text, told.span("who")) == ("Uma asks: which?", "Uma asks")


def test_every_wording_is_used() -> None:
    rng = Random(1)
    assert {tell(rng, ("one", "two", "three")).text for _ in range(50)} == {"one", "two", "three"}


def test_a_slot_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="missing"):
        tell(Random(1), ("<missing>",))


def test_lists_and_plurals() -> None:
    assert listed([3]) == "$3$"
    assert listed([3, 5, 8]) == "$3$, $5$ and $8$"
    assert (plural(1, "pen"), plural(2, "pen")) == ("$1$ pen", "$2$ pens")
    assert plural(2, "brush", "brushes") == "$2$ brushes"


def test_a_story_is_told_as_far_as_it_goes_and_then_asks() -> None:
    story = ("It rains.", "It stops.", "It rains.", "How often did it rain?")
    assert stages([story], 2) == ["It rains. It stops. How often did it rain?"]
    assert stages([("What is it? It rains.", "It stops.", "")], 1) == ["What is it? It rains."]
