"""Units of measure and money, each known by one name. A unit may be missing, never wrong."""

from __future__ import annotations

import re

__all__ = ["MULTIPLES", "UNIT_LETTERS", "is_unit", "unit_name"]

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
tonne ton
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
dollar usd dollars bucks
cent cents
euro eur euros
gbp quid
yen jpy
rupee rs rupees
mph
kmh kph
hz hertz
joule
newton
watt kw
volt
ohm
mol mole
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
_SIGNS = {"€": "euro", "£": "gbp", "¥": "yen"}
# Single letters are units only inside \text{…} or a quotient such as m/s; bare, they are variables.
UNIT_LETTERS = {"m": "metre", "g": "gram", "s": "second", "h": "hour", "l": "liter", "L": "liter"}
_POWERS = {"square": "^2", "sq": "^2", "squared": "^2", "cubic": "^3", "cu": "^3", "cubed": "^3"}
_FILLERS = frozenset("of the a an in total each old".split())
_PER = re.compile(r"\bper\b")
_WORD = re.compile(r"[A-Za-z€£¥]+|\^\s*\{?\s*(-?\d)\s*\}?|/")


def is_unit(word: str) -> bool:
    """Whether a word of two letters or more is the name of a unit."""
    return len(word) > 1 and _lookup(word) is not None and word not in ("sec", "min")


def _lookup(word: str) -> str | None:
    low = word.lower()
    return _NAMES.get(low) or (_NAMES.get(low[:-1]) if low.endswith("s") and len(low) > 3 else None)


def unit_name(text: str) -> str:
    """Bring a unit phrase to one spelling: ``square inches`` and ``in^2`` alike are ``inch^2``."""
    words: list[str] = []
    power = ""
    for match in _WORD.finditer(_PER.sub("/", text)):
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


_COMPOUND = {"mile/hour": "mph", "km/hour": "kmh", "unit^2": "unit", "unit^3": "unit"}
