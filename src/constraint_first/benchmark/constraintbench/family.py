"""A family: one idea for a problem, with a draw that turns dice into a finished problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Final, TypeAlias, TypeVar

from constraint_first.answer.value import Form, read_answer, same, show
from constraint_first.benchmark.constraintbench.item import (
    USUAL_LEVELS,
    ErrorType,
    GoldConstraint,
    Item,
    Level,
    Tempting,
    Tier,
)
from constraint_first.constraint.predicate import holds, parts, truth_of
from constraint_first.constraint.stage1 import KINDS, Kind
from constraint_first.error import CfrError
from constraint_first.pattern import lazy_pattern

T = TypeVar("T")
Value: TypeAlias = "int | Fraction | str"
"""An answer before it is written."""
Lures: TypeAlias = "list[tuple[Value, ErrorType]]"
"""Wrong answers and the errors they would show."""

# Each answer is compared with several others and with every constraint: it is read once.
_read = lru_cache(maxsize=256)(read_answer)

# A draw whose numbers happen to make a lure equal to the answer is thrown away and drawn again.
# Families are built so that this is rare; one that needs this many tries is broken.
_MOST_TRIES = 1000


class FamilyError(CfrError):
    """A family that cannot give what it promises."""


class DisagreementError(CfrError):
    """Two computations of one answer that came out different."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a family's draw returns: a problem that does not know its family, level and seed yet."""

    told: Told
    answer: Value
    constraints: Sequence[GoldConstraint]
    """Their spans are labels of spans that the wording marked."""
    lures: Lures
    form: Form = "integer"


Draw: TypeAlias = Callable[[Random, Level], "Draft | None"]
"""Draws a problem; None where the numbers drawn do not make one."""


@dataclass(frozen=True, slots=True)
class Family:
    """A named kind of problem."""

    name: str
    tier: Tier
    kinds: tuple[Kind, ...]
    about: str
    draw: Draw
    levels: tuple[Level, ...] = USUAL_LEVELS

    def make(self, seed: int, level: Level, index: int) -> Item:
        """Draw the problem that stands at this place; the same place always gives the same one."""
        # String seeds go through SHA-512, and randrange, choice, sample and shuffle are the same on
        # every supported Python, so a problem can be drawn again anywhere.
        if level not in self.levels:
            raise FamilyError(f"family {self.name} has no problems of level {level}")
        rng = Random(f"ConstraintBench/{seed}/{self.name}/{level}/{index}")  # noqa: S311
        try:
            drafts = (self.draw(rng, level) for _ in range(_MOST_TRIES))
            for draft in drafts:
                if draft is not None and (item := self._finish(draft, seed, level, index)):
                    return item
        except DisagreementError as error:
            raise DisagreementError(
                f"family {self.name}, seed {seed}, level {level}, index {index}: {error}"
            ) from None
        raise FamilyError(f"family {self.name}, level {level}: {_MOST_TRIES} draws gave no problem")

    def _finish(self, draft: Draft, seed: int, level: Level, index: int) -> Item | None:
        answer = show(draft.answer)
        spans = draft.told.spans
        constraints = tuple(replace(c, span=spans.get(c.span or "")) for c in draft.constraints)
        lures = tuple(
            replace(lure, error=true_label(lure, answer, constraints))
            for lure in _distinct(answer, draft.lures)
        )
        if all(constraint.pins for constraint in constraints):
            raise FamilyError(f"family {self.name}: no constraint can be known without solving")
        for constraint in constraints:
            if truth_of(constraint.predicate, answer) != "holds":
                raise DisagreementError(f"the answer {answer} breaks {constraint.description!r}")
            if all(truth_of(constraint.predicate, one.answer) != "violated" for one in lures):
                return None
        return Item(
            text=draft.told.text,
            answer=answer,
            form=draft.form,
            constraints=constraints,
            tempting=lures,
            tier=self.tier,
            family=self.name,
            level=level,
            seed=seed,
            index=index,
        )


def family(
    tier: Tier, kinds: tuple[Kind, ...], about: str, *, levels: tuple[Level, ...] = USUAL_LEVELS
) -> Callable[[Draw], Family]:
    in_order: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind in kinds)

    def make(draw: Draw) -> Family:
        return Family(draw.__name__, tier, in_order, about, draw, levels)

    return make


gold: Final = GoldConstraint


def wrong(error: ErrorType, *values: Value) -> Lures:
    return [(value, error) for value in values]


def agree(first: T, second: T) -> T:
    """Give the answer that two independent computations found; an error where they differ."""
    if first != second:
        raise DisagreementError(f"one computation gives {first}, the other {second}")
    return first


_BOUNDS: Final = frozenset({"between", "above", "below", "least_residue", "measured"})


def true_label(lure: Tempting, answer: str, constraints: Sequence[GoldConstraint]) -> ErrorType:
    """Give a lure's label; where its numbers do not bear that out, the one that they do.

    An answer out of range must break a bound, one that is not an integer must be none, and one that
    forgot a reduction must be the right one before the reduction that the problem asks for.
    """
    value, right = _read(lure.answer), _read(answer)
    if value is None or value.number is None or right is None or right.number is None:
        return lure.error
    predicates = [part for one in constraints for part in parts(one.predicate)]
    broken = {str(one["op"]) for one in predicates if holds(one, value) == "violated"}
    moduli = [one.get("modulus") for one in predicates if one["op"] in ("least_residue", "encoded")]
    gap = value.number - right.number
    borne_out = {
        "out_of_range": bool(broken & _BOUNDS),
        "not_an_integer": value.number.denominator > 1,
        "forgot_modular_reduction": any(
            isinstance(modulus, int) and modulus and gap % modulus == 0 for modulus in moduli
        ),
    }
    if borne_out.get(lure.error, True):
        return lure.error
    return "broken_condition" if broken else "arithmetic"


def _distinct(answer: str, lures: Lures) -> tuple[Tempting, ...]:
    """Drop the lures that equal the answer in value and form, or an earlier lure."""
    kept: list[Tempting] = []
    for value, error in lures:
        text = show(value)
        if not any(alike(text, known) for known in (answer, *(one.answer for one in kept))):
            kept.append(Tempting(text, error))
    return tuple(kept)


def alike(first: str, second: str) -> bool:
    """Say whether two answers are one: the same value, and both or neither in lowest terms."""
    left, right = _read(first), _read(second)
    if left is None or right is None:
        return first == second
    # An unreduced fraction is another answer than the reduced one: "lowest terms" rejects it.
    return same(left, right) and left.reduced == right.reduced


def lowest_terms(above: int, below: int) -> tuple[int, int]:
    """Reduce a fraction by trying every common divisor, without Euclid."""
    common = max(d for d in range(1, above + 1) if above % d == 0 and below % d == 0)
    return above // common, below // common


# Putting numbers and names into wordings, and finding the span that states a constraint.
#
# A wording is a text with slots ``<name>`` and marked spans ``«label:…»``. Neither mark occurs in
# LaTeX, so mathematics is written as it is.

_SLOT = lazy_pattern(r"<([A-Za-z]\w*)>")
_SPAN = lazy_pattern(r"«(\w+):([^«»]*)»")

NAMES = (
    "Amara", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Gustav", "Hana", "Imani", "Jonas",
    "Keiko", "Leandro", "Mireille", "Noor", "Oskar", "Priya", "Quentin", "Rosa", "Soren", "Tamsin",
    "Uma", "Viktor", "Wen", "Ximena", "Yusuf", "Zofia",
)  # fmt: skip
COUNT_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
"""Small numbers as a text says them."""


@dataclass(frozen=True, slots=True)
class Told:
    """A problem text and the spans that its wording marked."""

    text: str
    spans: Mapping[str, str]


def tell(rng: Random, wordings: Sequence[str], **values: object) -> Told:
    """Choose a wording, fill its slots, take the span marks out; draw a name if one is needed.

    The name is drawn before the wording: another order would draw other problems.
    """
    if "name" not in values and any("<name>" in wording for wording in wordings):
        values["name"] = rng.choice(NAMES)
    filled = _SLOT.sub(lambda slot: str(values[slot[1]]), rng.choice(wordings))
    spans = {match[1]: match[2] for match in _SPAN.finditer(filled)}
    return Told(_SPAN.sub(r"\2", filled), spans)


def listed(values: Sequence[object]) -> str:
    """Join values as a sentence does: ``$3$, $5$ and $8$``."""
    return joined([f"${value}$" for value in values])


def joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun: ``$1$ pen``, ``$2$ pens``."""
    return f"${count}$ {one if count == 1 else many or one + 's'}"


def stages(stories: Sequence[tuple[str, ...]], count: int) -> list[str]:
    """Tell the first ``count`` parts of each story, and then its last part, the question."""
    return [" ".join((*story[:count], story[-1])).strip() for story in stories]
