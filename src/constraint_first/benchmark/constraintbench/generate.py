"""Drawing problems: any number of them from a seed, evenly over families and levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, count, zip_longest

from constraint_first.benchmark.constraintbench.families import FAMILIES
from constraint_first.benchmark.constraintbench.family import Family
from constraint_first.benchmark.constraintbench.item import TIERS, USUAL_LEVELS, Item, Level, Tier
from constraint_first.benchmark.constraintbench.shortcut import numbers_of, text_without_names
from constraint_first.error import CfrError

__all__ = ["GenerateError", "choose", "generate"]

# A family that repeats itself this often in a row has (all but) nothing new left to say.
_MOST_REPEATS = 400
# One whose numbers have all come up this often in a row may use them again in another wording.
_MOST_OLD_NUMBERS = 40


class GenerateError(CfrError):
    """A wish for problems that cannot be met."""

    exit_code = 2


def generate(
    seed: int,
    n: int,
    *,
    families: Sequence[Family] = (),
    levels: Sequence[Level] = USUAL_LEVELS,
) -> Iterator[Item]:
    """Draw n problems with different texts; the same arguments always give the same problems.

    Families take turns, tier by tier, and each goes through the levels, so that a prefix of the
    result is as balanced as the whole. Families that have none of the levels are passed over.
    """
    if n < 1:
        raise GenerateError(f"cannot generate {n} problems; ask for at least 1")
    asked = families or tuple(FAMILIES.values())
    chosen = _interleave([family for family in asked if {*family.levels} & {*levels}])
    if not chosen:
        raise GenerateError(
            f"no problems of level {' or '.join(map(str, levels))} in {asked[0].name}; "
            f"it has level {' and '.join(map(str, asked[0].levels))}"
        )
    turns: list[tuple[Family, Level]] = [
        (family, levels[(place + lap) % len(levels)])
        for lap in range(len(levels))
        for place, family in enumerate(chosen)
        if levels[(place + lap) % len(levels)] in family.levels
    ]
    seen = _Seen(set(), set())
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


@dataclass(frozen=True, slots=True)
class _Seen:
    """What has been drawn so far."""

    texts: set[str]
    numbers: set[tuple[str, ...]]

    def has(self, item: Item, *, lenient: bool) -> bool:
        """Say whether a problem is one that has been drawn, up to the names in it.

        It also is where only its wording is new, unless its family has run out of new numbers.
        """
        return text_without_names(item) in self.texts or (
            not lenient and numbers_of(item) in self.numbers
        )

    def add(self, item: Item) -> None:
        """Remember a problem."""
        self.texts.add(text_without_names(item))
        self.numbers.add(numbers_of(item))


def _different(seen: _Seen, seed: int, family: Family, level: Level) -> Iterator[Item]:
    """Draw at index 0, 1, 2, … and pass over what has come before, here or elsewhere."""
    given = repeats = 0
    lenient = False
    for index in count():
        item = family.make(seed, level, index)
        if not seen.has(item, lenient=lenient):
            seen.add(item)
            given, repeats = given + 1, 0
            yield item
            continue
        repeats += 1
        lenient = lenient or repeats > _MOST_OLD_NUMBERS
        if repeats > _MOST_REPEATS:
            raise GenerateError(
                f"family {family.name} at level {level} has only about {given} different "
                "problems to give; ask for fewer, or for more families or levels"
            )
