from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from cfr.benchmark.constraintbench.family import Draft, Family, gold
from cfr.benchmark.constraintbench.generate import GenerateError, choose, generate
from cfr.benchmark.constraintbench.item import LEVELS, TIERS, Level, encode
from cfr.benchmark.constraintbench.verify import check_file
from cfr.constraint.demand import integer


def test_the_same_seed_gives_the_same_problems() -> None:
    assert encode(generate(7, 64)) == encode(generate(7, 64))
    assert encode(generate(7, 64)) != encode(generate(8, 64))


def test_more_problems_begin_with_the_same_ones() -> None:
    assert list(generate(3, 40))[:10] == list(generate(3, 10))


def test_families_tiers_and_levels_are_balanced() -> None:
    items = list(generate(5, 192))
    assert set(Counter(item.tier for item in items).values()) == {192 // len(TIERS)}
    assert set(Counter(item.level for item in items).values()) == {192 // len(LEVELS)}
    assert set(Counter((item.family, item.level) for item in items).values()) == {2}


def test_no_two_problems_share_their_text() -> None:
    texts = [item.text for item in generate(2, 1000)]
    assert len(set(texts)) == len(texts)


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
    assert (report.count, report.faults) == (10_000, ())
