"""All families of ConstraintBench, eight in each tier."""

from __future__ import annotations

from cfr.benchmark.constraintbench.families import (
    explicit_code,
    explicit_form,
    explicit_number,
    implicit_number,
    implicit_value,
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
        explicit_number,
        explicit_code,
        explicit_form,
        implicit_number,
        implicit_value,
        misleading_value,
        misleading_number,
        joint_integer,
        joint_factor,
        joint_form,
    )
    for family in module.FAMILIES
}
