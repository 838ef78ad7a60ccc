"""All families of ConstraintBench, at least eight in each tier."""

from __future__ import annotations

from cfr.benchmark.constraintbench.families import (
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
    implicit_seat,
    joint_factor,
    joint_form,
    joint_integer,
    misleading_number,
    misleading_value,
)
from cfr.benchmark.constraintbench.family import Family

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
        implicit_seat,
        misleading_value,
        misleading_number,
        joint_integer,
        joint_factor,
        joint_form,
    )
    for family in module.FAMILIES
}
