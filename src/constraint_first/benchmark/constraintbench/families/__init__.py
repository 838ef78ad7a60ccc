"""All families of ConstraintBench."""

from __future__ import annotations

from constraint_first.benchmark.constraintbench.families import (
    explicit_count,
    explicit_digit,
    explicit_fraction,
    explicit_list,
    explicit_people,
    explicit_total,
    explicit_unit,
    implicit_calendar,
    implicit_contest,
    implicit_count,
    implicit_fact,
    implicit_interval,
    implicit_length,
    implicit_purchase,
    joint_digit,
    joint_factor,
    joint_hard,
    joint_hard_count,
    joint_multiple,
    joint_row,
    joint_story,
    misleading_chance,
    misleading_extreme,
    misleading_measure,
    misleading_remainder,
    misleading_rounding,
)
from constraint_first.benchmark.constraintbench.family import Family

__all__ = ["FAMILIES"]

FAMILIES: dict[str, Family] = {
    family.name: family
    for module in (
        explicit_count,
        explicit_digit,
        explicit_fraction,
        explicit_list,
        explicit_people,
        explicit_total,
        explicit_unit,
        implicit_calendar,
        implicit_contest,
        implicit_count,
        implicit_fact,
        implicit_interval,
        implicit_length,
        implicit_purchase,
        misleading_chance,
        misleading_extreme,
        misleading_measure,
        misleading_remainder,
        misleading_rounding,
        joint_digit,
        joint_factor,
        joint_hard,
        joint_hard_count,
        joint_multiple,
        joint_row,
        joint_story,
    )
    for family in module.FAMILIES
}
