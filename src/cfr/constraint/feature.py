"""Features of a problem's text: what a policy may know of a problem before it chooses a method.

Few, and each readable by a person: the cue families of the router, the kinds of the constraints
that the text states, what is asked for as far as the words tell, the subject, and the look of the
text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from typing import Final, Literal, TypeAlias

from ahocorasick_rs import AhoCorasick

from cfr.constraint.reply.reader import read_demands
from cfr.constraint.router import FAMILIES, route
from cfr.constraint.spec import KINDS
from cfr.constraint.stated.read import read_stated

__all__ = ["FEATURES", "TextKind", "describe", "find_features", "kind_of"]

TextKind: TypeAlias = Literal["problem", "request", "demand"]
"""What a text is: a problem to solve, a request for a text, or one that demands something of it."""

_LONG: Final = 60
"""Words of a text that is no longer short; one in ten of MATH-500 and one in five of GSM8K is."""

# Openings of words and phrases, in lower case. Of what is asked for, the first that is there
# counts, in this order.
_OPENINGS: Final[dict[str, tuple[str, ...]]] = {
    "asks.list": (
        *("ordered pair", "ordered triple", "ordered list", "ordered quadruple", "coordinates of"),
        *("separated by commas", "all solutions", "all the solutions", "all roots", "all values"),
        *("all real values", "all possible values"),
    ),
    "asks.expression": (
        *("in terms of", "radical form", "interval notation", "simplif", "factored", "factorize"),
        *("factor the", "expand", "equation of", "exact value", "exact form", "prove that"),
        *("solve the equation", "in real numbers", "closed form"),
    ),
    "asks.fraction": (
        *("common fraction", "reduced fraction", "improper fraction", "mixed number"),
        *("as a fraction", "lowest terms", "simplest form", "probability"),
    ),
    "asks.integer": (
        *("how many", "number of", "remainder", "modulo", "digit", "an integer", "whole number"),
        *("positive integer", "largest integer", "smallest integer", "greatest integer"),
        *("least integer", "nearest integer"),
    ),
    "asks.amount": (
        *("how much", "how long", "how far", "how old", "how tall", "how fast", "how big"),
        *("how large", "percent", "total", "average", "cost"),
    ),
    "geometry": (
        *("triang", "circle", "circumf", "polygon", "angle", "parallelogram", "trapezoi"),
        *("quadrilateral", "hypotenuse", "radius", "diameter", "perpendicular", "parabola"),
        *("ellips", "sphere", "cylind", "pyramid", "tangent", "hexagon", "pentagon", "octagon"),
        *("\\angle", "\\triangle", "^\\circ"),
    ),
    "functions": (
        *("function", "polynomial", "quadratic", "roots of", "root of", "complex number"),
        *("real number", "matrix", "matrices", "vector", "graph", "asymptote", "coefficient"),
        *("expression", "inverse", "sequence", "series", "f(", "g(", "p("),
        *("\\sin", "\\cos", "\\tan", "\\sec", "\\csc", "\\cot", "\\log", "\\ln", "\\sum", "\\int"),
        *("\\infty", "\\begin{"),
    ),
    "figure": ("[asy]", "\\includegraphics", "diagram", "figure"),
}
_OPTION: Final = re.compile(r"\b[ABC]\)")
_COMMAND: Final = re.compile(r"\\[A-Za-z(\[]")
_BETWEEN_DOLLARS: Final = re.compile(r"\$([^$\n]{1,400})\$")
_OPERATOR: Final = re.compile(r"[\^_=+*<>-]")

_FORMS: Final = {
    "choice": "one of several options",
    "list": "several values",
    "expression": "an expression",
    "fraction": "a fraction or a probability",
    "integer": "a whole number",
    "amount": "an amount",
}

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "cue": ("with a restrictive cue", "without a restrictive cue"),
    **{
        f"cue.{family}": (f"with a cue of {words}", f"without a cue of {words}")
        for family in FAMILIES
        for words in (family.replace("_", " "),)
    },
    "stated": ("that state a constraint", "that state no constraint"),
    **{
        f"stated.{kind}": (f"that state a {kind} constraint", f"that state no {kind} constraint")
        for kind in KINDS
    },
    **{
        f"asks.{form}": (f"that ask for {words}", f"that do not ask for {words}")
        for form, words in _FORMS.items()
    },
    "geometry": ("of geometry", "not of geometry"),
    "functions": ("of functions or algebra", "not of functions or algebra"),
    "latex": ("with LaTeX", "without LaTeX"),
    "figure": ("with a figure", "without a figure"),
    "long": (f"of more than {_LONG} words", f"of at most {_LONG} words"),
    "demand": ("that demand something of the reply", "that demand nothing of the reply"),
    "request": ("that ask for a text", "that do not ask for a text"),
}
"""What is said of problems that have a feature, and of those that lack it."""

FEATURES: Final[tuple[str, ...]] = tuple(_WORDS)
"""All features, in one order."""


def find_features(text: str) -> frozenset[str]:
    """Find the features that a text has."""
    found = {f"cue.{cue.family}" for cue in route(text)}
    found |= {f"stated.{one.kind}" for one in read_stated(text)}
    found |= {name.partition(".")[0] for name in found}
    found |= _opened(text)
    if read_demands(text):
        found.add("demand")
    if _is_request(text) and not {"asks.integer", "asks.amount"} & found:
        found.add("request")
    if _has_latex(text):
        found.add("latex")
    if len(text.split()) > _LONG:
        found.add("long")
    return frozenset(found)


def kind_of(features: Collection[str]) -> TextKind:
    """Say what a text with some features is."""
    if "demand" in features:
        return "demand"
    return "request" if "request" in features else "problem"


def describe(feature: str, *, present: bool = True) -> str:
    """Say which problems have a feature, or lack it."""
    return _WORDS[feature][0 if present else 1]


_KEYS: Final = [(word, name) for name, words in _OPENINGS.items() for word in words]
_AUTOMATON: Final = AhoCorasick([word for word, _ in _KEYS])


def _opened(text: str) -> set[str]:
    """Find the features that words tell; of what is asked for, one."""
    # A lone surrogate cannot enter the automaton; a question mark holds its place.
    lower = text.encode("utf-8", "replace").decode().lower()
    found = {
        _KEYS[at][1]
        for at, start, _ in _AUTOMATON.find_matches_as_indexes(lower, overlapping=True)
        if not (lower[start].isalpha() and lower[max(start - 1, 0) : start].isalpha())
    }
    asked = [name for name in _OPENINGS if name.startswith("asks.") and name in found]
    if len(set(_OPTION.findall(text))) == 3:
        asked.insert(0, "asks.choice")
    return (found - {*asked}) | {*asked[:1]}


_WRITING: Final = re.compile(
    r"(?:^|[.!?:\n,]\s*|\b(?:please|can you|could you|you to|want to|help me|let's|to)\s+)"
    r"(?:write|rewrite|compose|draft|summari[sz]e|translate|paraphrase|describe|brainstorm|critique"
    r"|recommend|elaborate|create|generate|tell me|give me|explain|come up|make up|rephrase"
    r"|proofread|edit|outline|pitch|imagine|pretend|act as|roast|advise)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d")
_MOST_NUMBERS: Final = 12
"""Digits in a request for a text; a problem in words about numbers has more, or LaTeX."""


def _is_request(text: str) -> bool:
    """Say whether a text is to be written, and no value found."""
    few = sum(1 for _ in islice(_NUMBER.finditer(text), _MOST_NUMBERS + 1)) <= _MOST_NUMBERS
    return few and bool(_WRITING.search(text)) and not _has_latex(text)


def _has_latex(text: str) -> bool:
    """Say whether there is mathematics in LaTeX; two prices in dollars are none."""
    between = (found[1] for found in _BETWEEN_DOLLARS.finditer(text))
    return bool(_COMMAND.search(text)) or any(map(_OPERATOR.search, between))
