"""Families of methods: all variants of one method, whatever their options.

``cfr``, ``cfr(reply=json)`` and ``CFR (always-on)`` are one family. Where a table needs one method
of a family and a study has several variants, one stands for it: the one that was chosen, otherwise
the bare name, otherwise the one with most judged attempts, and of equals the first stored.
Where variants stand side by side, their short names have the options that tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Final

from constraint_first.analysis.study.study import Arm, Study, StudyError
from constraint_first.method.registry import METHODS

__all__ = [
    "CFR",
    "CFR_BRIEF",
    "CONSTRAINED",
    "ROUTED_CFR",
    "ROUTED_CFR_BRIEF",
    "SELF_CONSISTENCY",
    "check_variants",
    "family_label",
    "family_named",
    "family_of",
    "find_variant",
    "name_notes",
    "short_method_names",
    "short_names",
    "variant_notes",
    "variants",
    "with_short_names",
]

CFR: Final = "cfr"
ROUTED_CFR: Final = "routed-cfr"
CFR_BRIEF: Final = "cfr-brief"
ROUTED_CFR_BRIEF: Final = "routed-cfr-brief"
CONSTRAINED: Final = (ROUTED_CFR, CFR, ROUTED_CFR_BRIEF, CFR_BRIEF)
"""What tables look at closely where nothing is named: the first of these that is there. The
paper's protocol comes first; our variant is another method and goes by its own name."""
SELF_CONSISTENCY: Final = "self-consistency"
_MOST_OPTIONS: Final = 10
"""Methods with more options than this keep them all in their names."""


def family_of(arm: Arm) -> str:
    """Name the family of an arm's method: the registered name, without options.

    A method that was made in Python, or that another program names by the paper's label, is known
    by its label.
    """
    return _family(arm.method, arm.label)


@cache
def _family(method: str, label: str) -> str:
    bare = method.partition("(")[0].strip()
    return bare if bare in METHODS else _by_label().get(label.casefold(), bare)


@cache
def _by_label() -> dict[str, str]:
    return {family_label(name).casefold(): name for name in METHODS}


def family_label(family: str) -> str:
    """Name a family as the paper prints it."""
    return METHODS[family]().label if family in METHODS else family


def family_named(study: Study, name: str) -> str:
    """Find the family that a bare name or a label means in a study; empty where there is none."""
    wanted = name.casefold()
    found = (
        family_of(arm) for arm in study.arms if wanted in (family_of(arm), arm.label.casefold())
    )
    return next(found, "")


def variants(study: Study, family: str) -> list[str]:
    """List the methods of a family that a study has, in order."""
    return list(dict.fromkeys(arm.method for arm in study.arms if family_of(arm) == family))


def find_variant(study: Study, family: str, chosen: Iterable[str] = ()) -> str | None:
    """Find the method that stands for a family, by the rule above; None where it has none."""
    found = variants(study, family)
    if named := next((name for name in chosen if name in found), None):
        return named
    judged = {name: _judged(study, name) for name in found}
    if judged.get(family):
        return family
    return max(judged, key=judged.__getitem__, default=None)  # the first of several that are equal


def _judged(study: Study, method: str) -> int:
    return sum(runs for arm in study.select(method=method) for _, runs in arm.scores.values())


def check_variants(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    """Refuse a choice of variants that the study cannot give: unknown ones, two of a family."""
    chosen: dict[str, str] = {}
    families = {arm.method: family_of(arm) for arm in study.arms}
    for name in names:
        if name not in families:
            known = ", ".join(families)
            raise StudyError(f"{study.source}: has no variant {name!r}; it has {known}")
        other = chosen.setdefault(families[name], name)
        if other != name:
            raise StudyError(f"variants {other} and {name} are of one family; choose one of them")
    return tuple(chosen.values())


def variant_notes(
    study: Study, methods: Iterable[str | None], option: str = "--variant"
) -> tuple[str, ...]:
    """Say which variant is meant wherever a study has others of the same family."""
    families = {arm.method: family_of(arm) for arm in study.arms}
    notes: list[str] = []
    for method in dict.fromkeys(methods):
        family = families.get(method or "")
        others = [name for name in variants(study, family) if name != method] if family else []
        if family and others:
            notes.append(
                f"{family_label(family)} is {method} here; in these data are also "
                f"{', '.join(others)} ({option} chooses)."
            )
    return tuple(notes)


def with_short_names(study: Study) -> Study:
    """Give each method of a study the shortest name that tells it from the others."""
    names = short_names(study)
    return replace(study, arms=tuple(replace(a, short_name=names[a.method]) for a in study.arms))


def short_names(study: Study) -> dict[str, str]:
    """Name each method by its label, with those options alone that tell it from its variants.

    Of several choices of options that would do, it is the one that takes the least room.
    """
    return _short_names({arm.method: arm.label for arm in study.arms})


def short_method_names(methods: Iterable[str]) -> dict[str, str]:
    """Name each method by its registered name, likewise: ``vote [check=off]``.

    A name is left as it is where it would not become shorter.
    """
    names = _short_names({method: method.partition("(")[0].strip() for method in methods})
    return {name: short if len(short) < len(name) else name for name, short in names.items()}


def _short_names(labels: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for label in dict.fromkeys(labels.values()):
        alike = {name: _options(name) for name, own in labels.items() if own == label}
        told = _told_apart(alike) if len(alike) > 1 else dict.fromkeys(alike, "")
        names |= {
            name: f"{label} [{options}]" if options else label for name, options in told.items()
        }
    return names


def name_notes(study: Study) -> tuple[str, ...]:
    """Say in full what short names stand for, where they leave options out."""
    told = {
        arm.name: arm.method
        for arm in study.arms
        if arm.name != replace(arm, short_name="").name.replace(",", ", ")
    }
    said = "; ".join(f"{name} is {method}" for name, method in told.items())
    return (f"Names have the options that tell variants apart. In full: {said}.",) if told else ()


def _told_apart(alike: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Write the options that tell methods apart; their full names where options do not."""
    keys = list(dict.fromkeys(key for options in alike.values() for key in options))
    choices = (
        {
            name: ", ".join(f"{k}={options[k]}" for k in chosen if k in options)
            for name, options in alike.items()
        }
        for size in range(1, len(keys) + 1 if len(keys) <= _MOST_OPTIONS else 1)
        for chosen in combinations(keys, size)
    )
    distinct = (told for told in choices if len({*told.values()}) == len(alike))
    return min(
        distinct, key=lambda told: sum(map(len, told.values())), default={n: n for n in alike}
    )


def _options(method: str) -> dict[str, str]:
    """Split ``name(a=1,b=c(d=2))`` into its own options, in order; inner ones stay whole."""
    options, depth = [""], 0
    for character in method.partition("(")[2].removesuffix(")"):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            options.append("")
        else:
            options[-1] += character
    pairs = (option.strip().partition("=") for option in options if option.strip())
    return {key: value for key, _, value in pairs}
