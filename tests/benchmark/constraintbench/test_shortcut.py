from __future__ import annotations

from dataclasses import replace

from constraint_first.benchmark.constraintbench.item import Item, load
from constraint_first.benchmark.constraintbench.make import (
    Shortcut,
    generate,
    numbers_of,
    shortcuts,
    text_without_names,
)

ITEM = load("mini")[0]


def hits(items: list[Item], name: str) -> Shortcut:
    (found,) = [one for one in shortcuts(items) if name in one.name]
    return found


def test_a_fresh_set_has_no_open_shortcut() -> None:
    assert [one.name for one in shortcuts(list(generate(12, 400))) if one.open] == []


def test_a_guess_is_learnt_from_other_problems() -> None:
    items = [replace(ITEM, answer="7", text=f"Find ${n}$.") for n in range(400)]
    assert not hits(items, "of the family among others drawn").open
    old = [replace(item, version=1) for item in items]
    assert hits(old, "guess, the most frequent answer of the family in this set itself").open


def test_the_worst_of_the_large_families_is_named() -> None:
    other = next(item for item in load("mini") if item.family != ITEM.family)
    items = [replace(ITEM, answer=f"{n % 20}") for n in range(300)]
    items += [replace(other, answer=f"{n % 10}") for n in range(300)]
    found = hits(items, f"`{other.family}`")
    assert (found.hits, found.of, found.open) == (30, 300, True)
    assert f"`{ITEM.family}`" not in str(list(shortcuts(items)))


def test_an_answer_that_stands_in_the_text_is_found() -> None:
    items = [replace(ITEM, answer=f"{n}", text=f"From $3$ add ${n}$, $2.5$.") for n in range(9)]
    assert hits(items, "first").hits == 1
    assert hits(items, "last").hits == 0
    assert hits(items, "largest").hits == 6
    assert str(hits(items, "largest")).endswith("number of the text: 6 of 9 (66.7 %)")


def test_a_letter_that_is_right_too_often_is_found() -> None:
    items = [replace(ITEM, answer="ABCDE"[n % 5], form="choice") for n in range(400)]
    assert not hits(items, "letter").open
    assert hits([replace(item, answer="A") for item in items], "letter").open


def test_near_duplicates_are_found() -> None:
    items = [
        replace(ITEM, text="Uma adds $3$ to $45$."),
        replace(ITEM, text="Wen adds $3$ to $45$."),
        replace(ITEM, text="Wen takes $45$ and adds $3$."),
    ]
    assert len({*map(numbers_of, items)}) == 1
    assert len({*map(text_without_names, items)}) == 2
    assert hits(items, "numbers of another").hits == 2
    assert hits(items, "up to names").hits == 1


def test_a_few_problems_are_not_judged() -> None:
    assert not Shortcut("guess", 9, 9).open
    assert Shortcut("guess", 30, 300).open
    assert not Shortcut("guess", 24, 300).open
