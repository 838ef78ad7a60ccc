"""All families of ConstraintBench."""

from __future__ import annotations

from cfr.benchmark.constraintbench.families import (
    explicit_code,
    explicit_form,
    explicit_number,
    implicit_number,
    implicit_value,
    joint_digit,
    joint_factor,
    joint_hard,
    joint_hard_count,
    joint_multiple,
    joint_remainder,
    joint_row,
    joint_story,
    misleading_chance,
    misleading_extreme,
    misleading_measure,
    misleading_remainder,
    misleading_rounding,
)
from cfr.benchmark.constraintbench.family import Family

__all__ = ["FAMILIES"]

FAMILIES: dict[str, Family] = {
    family.name: family
    for module in (
        explicit_number,
        explicit_code,
        explicit_form,
        implicit_number,
        implicit_value,
        misleading_remainder,
        misleading_rounding,
        misleading_measure,
        misleading_chance,
        misleading_extreme,
        joint_remainder,
        joint_row,
        joint_multiple,
        joint_digit,
        joint_factor,
        joint_story,
        joint_hard,
        joint_hard_count,
    )
    for family in module.FAMILIES
}
