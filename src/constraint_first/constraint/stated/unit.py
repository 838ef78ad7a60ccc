"""Units of one measure: how many of the asked unit another one makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from constraint_first.constraint.stated.quantity import stem


def _sizes(**units: int) -> Mapping[str, int]:
    """Name the units of a measure, spelled in several ways, each in the smallest of them."""
    return {stem(name): size for names, size in units.items() for name in names.split("_")}


_MEASURES: Final = (
    _sizes(
        mm_millimetre_millimeter=1,
        cm_centimetre_centimeter=10,
        m_metre_meter=1_000,
        km_kilometre_kilometer=1_000_000,
    ),
    _sizes(inch_inches=1, foot_feet_ft=12, yard=36, mile=63_360),
    _sizes(mg_milligram=1, g_gram=1_000, kg_kilogram=1_000_000, ton_tonne=1_000_000_000),
    _sizes(ounce_oz=1, pound_lb_lbs=16, ton=32_000),
    _sizes(ml_millilitre_milliliter=1, l_litre_liter=1_000),
    _sizes(ounce_oz=1, cup=8, pint=16, quart=32, gallon=128),
    _sizes(cent_cents=1, dollar=100),
    _sizes(penny_pence=1, pound=100),
)
_TIME: Final = _sizes(second=1, minute=60, hour=3_600, day=86_400, week=604_800)
_MEASURED: Final = frozenset(unit for measure in (*_MEASURES, _TIME) for unit in measure)


def read_scale(unit: str, words: Iterable[str]) -> dict[str, int] | None:
    """Say how many of a unit each unit of a text makes; None where one makes less than a whole.

    Lengths of time are left as they are: a week may mean the five days on which somebody works.
    """
    scale = {unit: 1}
    if unit not in _MEASURED:
        return scale
    told = {stem(word) for word in words}
    if unit in _TIME and any(size < _TIME[unit] for name, size in _TIME.items() if name in told):
        return None
    for measure in _MEASURES:
        own = measure.get(unit, 0)
        for name in told & measure.keys() if own else ():
            if measure[name] < own:
                return None
            scale[name] = measure[name] // own
    return scale
