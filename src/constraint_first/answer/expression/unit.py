"""Units of measure and money, each known by one name. A unit may be missing, never wrong."""

from __future__ import annotations

import re
from fractions import Fraction

from constraint_first.answer.expression.syntax import Measure, Num, Op

__all__ = [
    "MONEY",
    "MULTIPLES",
    "UNIT_LETTERS",
    "compatible",
    "is_known",
    "is_unit",
    "joined",
    "ratio_of",
    "unit_name",
]

# One line for each unit: the name it is known by, then its other spellings.
_SPELLINGS = """
mm millimeter millimetre
cm centimeter centimetre
dm decimeter decimetre
metre meter
km kilometer kilometre
inch inches
foot ft feet
yard yd
mile mi
mg milligram
gram gm
kg kilogram kilo
tonne
ton
pound lb lbs
ounce oz
second sec secs
minute min mins
hour hr hrs
day
week wk
month
year yr yrs
ml milliliter millilitre
liter litre
gallon gal
quart qt
pint
cup
degree deg degrees
radian rad radians
dollar usd dollars bucks buck
cent cents
euro eur euros
gbp quid
yen jpy
rupee rs rupees inr
mph
mpg
kmh kph
hz hertz
joule
newton
watt
kw kilowatt
volt
ohm
mol mole
celsius centigrade
fahrenheit
percent pct percentage
unit units
am
pm
"""
_NAMES: dict[str, str] = {}
for _line in _SPELLINGS.split("\n"):
    for _spelling in _line.split():
        _NAMES[_spelling] = _line.split()[0]

MULTIPLES = {
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
"""Words behind a number that are part of it."""
_SIGNS = {"€": "euro", "£": "gbp", "¥": "yen", "₹": "rupee", "¢": "cent"}
# Single letters are units only inside \text{…} or a quotient such as m/s; bare, they are variables.
UNIT_LETTERS = {"m": "metre", "g": "gram", "s": "second", "h": "hour", "l": "liter", "L": "liter"}
_POWERS = {"square": "^2", "sq": "^2", "squared": "^2", "cubic": "^3", "cu": "^3", "cubed": "^3"}
_FILLERS = frozenset("of the a an in total each old".split())
_PER = re.compile(r"\bper\b|(?<=\w )an?\b(?= \w)")
_INCH = re.compile(r"\bin\b(?=\s*(?:$|\^|/|squared|cubed))")
_WORD = re.compile(r"[A-Za-z€£¥₹¢]+|\^\s*\{?\s*(-?\d)\s*\}?|/")


def is_unit(word: str) -> bool:
    """Whether a word of two letters or more is the name of a unit."""
    return len(word) > 1 and _lookup(word) is not None and word not in ("sec", "min")


def is_known(unit: str) -> bool:
    """Whether a unit in its one spelling begins with a unit of the table."""
    return unit.lstrip("/").split("/")[0].split("^")[0] in _NAMES


def _lookup(word: str) -> str | None:
    low = word.lower()
    return _NAMES.get(low) or (_NAMES.get(low[:-1]) if low.endswith("s") and len(low) > 3 else None)


def unit_name(text: str) -> str:
    """Bring a unit phrase to one spelling: ``square inches`` and ``in^2`` alike are ``inch^2``."""
    words: list[str] = []
    power = ""
    for match in _WORD.finditer(_INCH.sub("inch", _PER.sub("/", text))):
        word = match[0]
        if word[0] == "^":
            words.append(f"^{match[1]}")
        elif word.lower() in _POWERS:
            if word.lower() in ("squared", "cubed"):
                words.append(_POWERS[word.lower()])
            else:
                power = _POWERS[word.lower()]
        elif word.lower() not in _FILLERS:
            words.append(_one(word) + (power if word != "/" else ""))
            power = power if word == "/" else ""
    return _COMPOUND.get("".join(words), "".join(words))


def _one(word: str) -> str:
    known = _SIGNS.get(word) or UNIT_LETTERS.get(word) or _lookup(word)
    return known or (word.lower().removesuffix("s") if len(word) > 3 else word.lower())


_COMPOUND = {"mile/hour": "mph", "km/hour": "kmh", "mile/gallon": "mpg"}

MONEY = frozenset({"dollar", "euro", "gbp", "yen", "rupee", "cent"})
# How much of a base unit each unit is, where that is exact by definition.
_SIZES: dict[str, tuple[str, Fraction]] = {
    name: (base, Fraction(size))
    for base, sizes in {
        "metre": "mm 1/1000 cm 1/100 dm 1/10 metre 1 km 1000",
        "foot": "inch 1/12 foot 1 yard 3 mile 5280",
        "gram": "mg 1/1000 gram 1 kg 1000 tonne 1000000",
        "pound": "ounce 1/16 pound 1",
        "second": "second 1 minute 60 hour 3600 day 86400 week 604800",
        "year": "month 1/12 year 1",
        "liter": "ml 1/1000 liter 1",
        "gallon": "cup 1/16 pint 1/8 quart 1/4 gallon 1",
        "dollar": "cent 1/100 dollar 1",
        "watt": "watt 1 kw 1000",
    }.items()
    for name, size in zip(sizes.split()[::2], sizes.split()[1::2], strict=True)
}
_FACTOR = re.compile(r"(/?)([a-z]+)(?:\^(-?\d))?")
_ALIKE = {"pound", "gbp"}
"""A pound may be of weight or of money."""


def ratio_of(unit: str, other: str) -> Fraction | None:
    """Say how many of the other unit one unit is; None where they measure different things."""
    first, second = _measured(unit), _measured(other)
    if first is None or second is None or first[0] != second[0]:
        return None
    return first[1] / second[1]


def _measured(unit: str) -> tuple[dict[str, int], Fraction] | None:
    """Take a unit apart: the powers of its base units, and its size in them."""
    unit = _EXPANDED.get(unit, unit)
    powers, size, end = dict[str, int](), Fraction(1), 0
    for match in _FACTOR.finditer(unit):
        known = _SIZES.get(match[2])
        if known is None or match.start() != end:
            return None
        end = match.end()
        power = int(match[3] or 1) * (-1 if match[1] else 1)
        powers[known[0]] = powers.get(known[0], 0) + power
        size *= known[1] ** power
    return (powers, size) if end == len(unit) and powers else None


_EXPANDED = {short: long for long, short in _COMPOUND.items()}


def compatible(unit: str, other: str) -> bool:
    """Whether two units say the same: one may be missing, or say less of a price."""
    if unit == other or not unit or not other or "unit" in (unit, other):
        return True
    if unit.startswith("unit^") or other.startswith("unit^"):
        return unit[-2:] == other[-2:]
    if {unit, other} == _ALIKE:
        return True
    money, _, per = unit.partition("/")
    known, _, rate = other.partition("/")
    return money == known and money in MONEY and not (per and rate)


def joined(first: Measure, second: Measure) -> Measure | None:
    """Add two parts of one quantity, the larger unit first: 2 hours 30 minutes.

    The sum is in the larger unit: like 2.5 hours, it is not the number 150 that a gold without a
    unit has where minutes were asked for.
    """
    ratio = ratio_of(first.unit, second.unit)
    if ratio is None or ratio <= 1:
        return None
    value = Op("+", (first.value, Op("/", (second.value, Num(ratio)))))
    return Measure(value, first.unit)
