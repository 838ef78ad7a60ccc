from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from constraint_first.benchmark.constraintbench.family import Draft, Family, gold
from constraint_first.benchmark.constraintbench.item import USUAL_LEVELS, Level, encode
from constraint_first.benchmark.constraintbench.make import (
    FAMILIES,
    GenerateError,
    check_file,
    choose,
    generate,
)
from constraint_first.constraint.predicate import integer


def test_the_same_seed_gives_the_same_problems() -> None:
    assert encode(generate(7, 64)) == encode(generate(7, 64))
    assert encode(generate(7, 64)) != encode(generate(8, 64))


def test_more_problems_begin_with_the_same_ones() -> None:
    assert list(generate(3, 40))[:10] == list(generate(3, 10))


def test_families_and_levels_are_balanced() -> None:
    usual = [family for family in FAMILIES.values() if 1 in family.levels]
    count = 2 * len(USUAL_LEVELS) * len(usual)
    items = list(generate(5, count))
    assert set(Counter(item.level for item in items).values()) == {count // len(USUAL_LEVELS)}
    assert set(Counter((item.family, item.level) for item in items).values()) == {2}
    assert set(Counter(item.tier for item in items[:12]).values()) == {3}


def test_level_4_has_families_of_its_own() -> None:
    items = list(generate(5, 16, levels=(4,)))
    assert {item.level for item in items} == {4}
    (hard,) = choose([items[0].family])
    with pytest.raises(GenerateError, match=f"no problems of level 1 or 2 or 3 in {hard.name}"):
        generate(5, 16, families=[hard])


def test_no_two_problems_share_their_text() -> None:
    texts = [item.text for item in generate(2, 1000)]
    assert len(set(texts)) == len(texts)


def test_numbers_come_again_only_where_a_family_has_no_others() -> None:
    def draw(rng: Random, level: Level) -> Draft:
        half = rng.randrange(1, 5)
        wording = rng.choice(("What is twice", "Double"))
        rule = gold("domain", "the answer is a whole number", integer())
        text = f"{wording} ${half}$?"
        return Draft(text, 2 * half, [rule], [("0.5", "not_an_integer")])

    small = Family("twice", "explicit", ("domain",), "twice a small number", draw)
    texts = [item.text for item in generate(1, 8, families=[small], levels=(1,))]
    assert len(set(texts)) == 8
    assert len({text.split()[-1] for text in texts[:4]}) == 4


def test_only_what_was_asked_for() -> None:
    items = list(generate(1, 6, families=choose(["minute_display"]), levels=(2,)))
    assert {(item.family, item.level) for item in items} == {("minute_display", 2)}
    assert {family.tier for family in choose(tiers=["joint"])} == {"joint"}


@pytest.mark.parametrize("n", [0, -3])
def test_fewer_than_one_is_refused(n: int) -> None:
    with pytest.raises(GenerateError, match="at least 1"):
        generate(1, n)


def test_an_unknown_family_suggests_a_near_one() -> None:
    with pytest.raises(GenerateError, match="did you mean minute_display"):
        choose(["minut_display"])
    with pytest.raises(GenerateError, match="cfr bench show"):
        choose(["zzzz"])


def test_a_family_outside_the_tier_is_refused() -> None:
    with pytest.raises(GenerateError, match="minute_display is in tier joint"):
        choose(["minute_display"], ["joint"])


def test_more_than_a_family_can_give_is_refused() -> None:
    def draw(rng: Random, level: Level) -> Draft:
        half = rng.randrange(1, 4 + level)
        rule = gold("domain", "the answer is a whole number", integer())
        return Draft(f"What is twice ${half}$?", 2 * half, [rule], [("0.5", "not_an_integer")])

    small = Family("twice", "explicit", ("domain",), "twice a small number", draw)
    with pytest.raises(GenerateError, match="twice at level 1 has only about 4"):
        list(generate(1, 5, families=[small], levels=(1,)))


@pytest.mark.slow
def test_ten_thousand_problems_pass_the_check(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(encode(generate(7, 10_000)))
    report = check_file(path)
    assert (report.count, report.faults, report.not_drawn) == (10_000, (), 0)
