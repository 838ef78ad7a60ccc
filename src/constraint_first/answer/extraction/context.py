"""What a sentence says beside a value that the value alone does not: its unit, or its name."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from constraint_first.answer.expression.unit import MONEY, is_known, unit_name
from constraint_first.answer.extraction.phrase import EQUALS, LONGEST_ANSWER, last_value

__all__ = ["in_context"]

_COMMAND: Final = re.compile(r"\\[A-Za-z]+")
_LETTER: Final = re.compile(r"[^\W\d_]|[%°$€£¥₹¢]")
_WRAPPER: Final = re.compile(r"\\(?:text|mathrm|mbox|rm|operatorname)\b|[{}~]|\\[ ,;:!]")
# Money is signed in front, an angle behind.
_SIGNED: Final = re.compile(r"\\\$|[€£¥₹¢°]|\\(?:circ|degree)(?![a-z])|\$\s?\d[\d.,]*\Z")
_POWER: Final = r"(?:\s?\^\s?\{?[23]\}?|[²³]|\s(?:squared|cubed)\b)?"
_UNIT: Final = re.compile(
    rf"((?:(?:square|cubic|sq|cu)\.?\s)?([A-Za-z]+){_POWER})"
    rf"(?:(?:\s?/\s?|\s(?:per|an?|each|every)\s)([A-Za-z]+{_POWER}))?"
)
_TIME: Final = re.compile(r"([AaPp])\.?\s?[Mm]\b\.?")
_BETWEEN: Final = re.compile(
    r"[\s$*_)}\]]*(?:\\[ ,;:!)]|~)*\s*\$?(?:\\(?:text|mathrm|mbox|rm)\s*\{?\s*)?"
)
# Words that are no unit where they stand behind a number: 5 in total, 5 units, 5 percent.
_NO_UNIT: Final = frozenset({"in", "unit", "percent", "am", "pm"})
_RATES: Final = frozenset({"mph", "kmh", "mpg"})
_TEMPERATURE: Final = re.compile(r"degrees?\s+(?:[CF]\b|celsius|fahrenheit)", re.IGNORECASE)
_NAMED: Final = re.compile(r"\s*\$?\s*([A-Za-z])\s*=[^=]+")
_NAME_BEFORE: Final = re.compile(r"(?<![\w\\'^}])([A-Za-z])\s*=\s*(?:[^=$\n]{1,60}=\s*)?\Z")
_VARIABLE: Final = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|(?<=\d)[a-z]")
# A name or a value of a function: y, f(x), f'(x), f^{-1}(x), dy/dx.
_FUNCTION: Final = re.compile(
    r"[A-Za-z](?:_\{?\w\}?)?(?:'|\^\{[^{}]*\})*(?:\s?\([A-Za-z, ]*\))?|\\[dt]?frac\{d.*|\\int.*",
    re.DOTALL,
)
_NEAR: Final = 100


def in_context(text: str, answer: str, gold: str) -> str:
    """Put the unit, the half of the day or the name back that a reply gives its value.

    A value without them is the answer too, so they are read only where the gold has others.
    """
    if "=" in gold and len(set(_VARIABLE.findall(_COMMAND.sub("", gold)))) > 1:
        return _equation(text[-LONGEST_ANSWER:], answer)
    named, half_day, wanted = _NAMED.fullmatch(gold), _TIME.search(gold), _gold_unit(gold)
    if not (named or half_day or wanted) or len(answer) > _NEAR:
        return answer
    if _LETTER.search(_COMMAND.sub("", answer)) or "\\circ" in answer:
        return answer
    text = text[-LONGEST_ANSWER:]
    places = list(re.finditer(rf"(?<![\w.,]){re.escape(answer)}(?!\w|[.,:/]\d)", text))
    if not places:
        return answer
    start, end = places[-1].span()
    if named and (name := _NAME_BEFORE.search(text[max(0, start - _NEAR) : start])):
        return answer if name[1].lower() == named[1].lower() else f"{name[1]} = {answer}"
    between = _BETWEEN.match(text, end)
    rest = text[between.end() if between else end :][:_NEAR]
    if (half := _TIME.match(rest)) and half_day:
        return f"{answer} {half[1].upper()}M"
    unit = _unit(rest)
    if unit is None or wanted is None:
        return answer
    if unit.per and wanted.per:
        return f"{answer} {unit.name}" + (f"/{unit.per}" if unit.per != unit.name else "")
    # "60 miles an hour" may be the 60 miles asked for; 15 cents each are never 15 dollars.
    is_told = unit.is_money or not (unit.per or wanted.per)
    return f"{answer} {unit.name}" if is_told else answer


def _equation(text: str, answer: str) -> str:
    """Give the whole equation of a curve of which only the right side was read.

    x + y = 12 is 12 where a number is asked for, and the line itself where the gold is one.
    """
    whole = last_value(text).rstrip(".,")
    sides = [side.strip() for side in EQUALS.split(whole)]
    is_curve = len(sides) == 2 and sides[1] == answer and not _FUNCTION.fullmatch(sides[0])
    return whole if is_curve else answer


class _Unit(NamedTuple):
    name: str
    per: str = ""
    """What it is counted by, as in miles an hour."""
    is_money: bool = False


def _unit(rest: str) -> _Unit | None:
    """Read the unit that a text begins with."""
    found = _UNIT.match(rest)
    if found is None or found[2].lower() in _NO_UNIT or _TEMPERATURE.match(rest):
        return None
    name = unit_name(found[2])
    if not is_known(name) or name in _NO_UNIT:
        return None
    return _Unit(found[1], found[1] if name in _RATES else found[3] or "", name in MONEY)


def _gold_unit(gold: str) -> _Unit | None:
    if signed := _SIGNED.search(gold):
        return _Unit(signed[0])
    for word in re.finditer(r"(?<=[\d\s).])[A-Za-z].*", _WRAPPER.sub(" ", gold[:_NEAR])):
        if (unit := _unit(word[0])) is not None:
            return unit
    return None
