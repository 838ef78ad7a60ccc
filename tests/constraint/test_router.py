import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.router import (
    FAMILIES,
    PROFILES,
    Cue,
    Profile,
    aime_convention,
    route,
)

Find = Callable[[str], Path]


def problems(path: Path) -> list[str]:
    return [json.loads(line)["problem"] for line in path.read_text(encoding="utf-8").splitlines()]


def by_plain_scan(text: str, profile: Profile) -> tuple[Cue, ...]:
    """What the patterns themselves find: the definition that route() must agree with."""
    found = (
        Cue(p.family, tuple(m.span() for m in p.regex.finditer(text))) for p in PROFILES[profile]
    )
    return tuple(cue for cue in found if cue.spans)


@pytest.mark.parametrize(
    ("name", "reconstructed", "printed"),
    [
        ("aime24", 28, 24),
        ("aime25", 28, 26),
        ("aime26", 27, 27),
        ("gsm8k", 834, 787),
        ("math500", 281, 212),
        ("olympiadbench", 417, 358),
        ("brumo25", 22, 15),
        ("cmimc25", 30, 26),
        ("aimo_amc", 33, 29),
    ],
)
def test_routed_counts(benchmark_file: Find, name: str, reconstructed: int, printed: int) -> None:
    texts = problems(benchmark_file(name))
    assert sum(bool(route(text)) for text in texts) == reconstructed
    assert sum(bool(route(text, "printed")) for text in texts) == printed


def test_families_that_fire_together_on_aime(benchmark_file: Find) -> None:
    texts = [t for year in ("24", "25", "26") for t in problems(benchmark_file(f"aime{year}"))]
    fired = [min(4, len(route(text))) for text in texts]
    assert [fired.count(n) for n in range(5)] == [7, 27, 27, 20, 9]


@pytest.mark.parametrize("profile", get_args(Profile))
@pytest.mark.parametrize("name", ["aime25", "math500", "olympiadbench", "gsm8k"])
def test_short_cut_equals_plain_scan_on_real_problems(
    benchmark_file: Find, name: str, profile: Profile
) -> None:
    for text in problems(benchmark_file(name)):
        assert route(text, profile) == by_plain_scan(text, profile)


# Words that make cues, pieces of them, and characters that are nearly letters.
PIECES = [
    *sorted({o for p in PROFILES["reconstructed"] for o in p.openings}),
    *("find the number", "determine\nthe sum of all", "Find m + n", "find a+b", "$m+n$"),
    *("expressed as", "written as", "pairs", "triples", "integers", "s", "ing", "ly", "es", "\\"),
    *("table", "your answer to the nearest ", "is ", "of the day", "test", "but not "),
    *(" ", "\n", ",", "ſ", "ı", "İ", "K", "é", "\ud800", "n", "X", "least", "eſt", "remaınder"),
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join), st.booleans())
def test_short_cut_equals_plain_scan_on_any_text(text: str, shout: bool) -> None:
    text = text.upper() if shout else text
    for profile in get_args(Profile):
        assert route(text, profile) == by_plain_scan(text, profile)


def test_cues_carry_their_spans() -> None:
    text = "Find the remainder when the least such number is divisible by 7; a remainder."
    cues = route(text)
    assert [cue.family for cue in cues] == ["modular_remainder", "bounds_or_extremal"]
    assert cues[0].phrases(text) == ["remainder", "divisible by", "remainder"]
    assert cues[1].spans == ((28, 33),)


def test_a_cue_in_passing_fires_the_printed_router_only_where_its_pattern_is_wider() -> None:
    passing = "The number of blue cards is twice the number of red cards."
    assert [c.family for c in route(passing, "printed")] == ["final_integer_or_count"]
    assert route(passing) == ()


def test_seven_families_in_both_profiles() -> None:
    assert len(FAMILIES) == 7
    for patterns in PROFILES.values():
        assert tuple(p.family for p in patterns) == FAMILIES


def test_the_aime_convention_reads_names_and_nothing_else() -> None:
    assert aime_convention("aime24")
    assert aime_convention("AIME25")
    assert not aime_convention("math500")
    assert not aime_convention("")
