"""Drawing problems: any number of them from a seed, evenly over families and levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import chain, count, zip_longest

from cfr.benchmark.constraintbench.families import FAMILIES
from cfr.benchmark.constraintbench.family import Family
from cfr.benchmark.constraintbench.item import LEVELS, TIERS, Item, Level, Tier
from cfr.error import CfrError

__all__ = ["GenerateError", "choose", "generate"]

# A family that repeats itself this often in a row has (all but) nothing new left to say.
_MOST_REPEATS = 400


class GenerateError(CfrError):
    """A wish for problems that cannot be met."""

    exit_code = 2


def generate(
    seed: int,
    n: int,
    *,
    families: Sequence[Family] = (),
    levels: Sequence[Level] = LEVELS,
) -> Iterator[Item]:
    """Draw n problems with different texts; the same arguments always give the same problems.

    Families take turns, tier by tier, and each goes through the levels, so that a prefix of the
    result is as balanced as the whole.
    """
    if n < 1:
        raise GenerateError(f"cannot generate {n} problems; ask for at least 1")
    chosen = _interleave(families or tuple(FAMILIES.values()))
    turns: list[tuple[Family, Level]] = [
        (family, levels[(place + lap) % len(levels)])
        for lap in range(len(levels))
        for place, family in enumerate(chosen)
        if levels[(place + lap) % len(levels)] in family.levels
    ]
    seen: set[str] = set()
    cells = {turn: _different(seen, seed, *turn) for turn in turns}
    return (next(cells[turns[place % len(turns)]]) for place in range(n))


def choose(names: Sequence[str] = (), tiers: Sequence[Tier] = ()) -> tuple[Family, ...]:
    """Find families by name and tier; no names or no tiers means all of them."""
    for name in names:
        if name not in FAMILIES:
            near = get_close_matches(name, FAMILIES, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "`cfr bench show` lists them"
            raise GenerateError(f"no family is called {name!r}; {hint}")
    wanted = [FAMILIES[name] for name in dict.fromkeys(names)] or list(FAMILIES.values())
    found = tuple(family for family in wanted if not tiers or family.tier in tiers)
    if not found:
        raise GenerateError(
            f"none of the families {', '.join(names)} is in tier {' or '.join(tiers)}"
        )
    return found


def _interleave(families: Sequence[Family]) -> list[Family]:
    """Order families so that tiers alternate."""
    rows = [[family for family in families if family.tier == tier] for tier in TIERS]
    return [family for family in chain(*zip_longest(*rows)) if family is not None]


def _different(seen: set[str], seed: int, family: Family, level: Level) -> Iterator[Item]:
    """Draw at index 0, 1, 2, … and pass over texts that have come before, here or elsewhere."""
    given = repeats = 0
    for index in count():
        item = family.make(seed, level, index)
        if item.text not in seen:
            seen.add(item.text)
            given, repeats = given + 1, 0
            yield item
        elif (repeats := repeats + 1) > _MOST_REPEATS:
            raise GenerateError(
                f"family {family.name} at level {level} has only about {given} different "
                "problems to give; ask for fewer, or for more families or levels"
            )
