"""Features of a problem's text: what a policy may know of a problem before it chooses a method.

Few, and each readable by a person: the cue families of the router, the kinds of the constraints
that the text states, what is asked for as far as the words tell, the subject, and the look of the
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from ahocorasick_rs import AhoCorasick

from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.router import FAMILIES, route
from constraint_first.constraint.spec import KINDS
from constraint_first.constraint.stated.read import read_stated

__all__ = ["FEATURES", "describe", "find_features"]

_LONG: Final = 60
"""Words of a text that is no longer short; one in ten of MATH-500 and one in five of GSM8K is."""

# A letter, several values or an expression: what a program that prints one number cannot give.
_OPTIONS: Final = re.compile(
    r"(?<![\w$])(?:\\(?:text|mathrm|textbf|mathbf)\s?\{\s?)*[(\[]?\s?([A-Ea-e])\s?[)\]]"
    r"|(?:^|\n|\s)([A-E])\s?[.:]\s",
)
_CHOICE: Final = re.compile(
    r"\banswer choices\b|\bwhich (?:one )?of (?:the following|these|those)\b"
    r"|\bwhich (?:option|statement|answer|choice)\b|\btrue or false\b|\bfalse or true\b",
    re.IGNORECASE,
)
# One number after all: how many of them there are, or what they add up to.
_COUNTED: Final = re.compile(
    r"\b(?:how many|number of|sum of|product of|value of|average of)\s+(?:the\s+|all\s+)?"
    r"(?:[\w$-]+\s+){0,3}?(?:ordered\s+\w+|coordinates|solutions|roots|values|pairs|triples)\b"
    r"|\$?[xyz]\$?-coordinates?\b",
    re.IGNORECASE,
)
_LIST: Final = re.compile(
    r"\bordered (?:pair|triple|list|quadruple)|\bcoordinates\b|\bseparated by commas"
    r"|\ball (?:the )?(?:real |possible |integer |complex |positive integer )?"
    r"(?:solutions|roots|values|pairs|triples|zeros|functions|polynomials|primes|integers|numbers"
    r"|positive integers|real numbers)\b(?! (?:less|between|from|greater|that are less))"
    r"|\b(?:possible|these|those) values\b|\bpairs of (?:positive )?(?:integers|numbers)\b"
    r"|\bsystems? of (?:linear )?equations?\b|\bsolution set\b|\bas (?:an? )?(?:\w+ )?list\b"
    r"|\bin a list\b|\bfind (?:the|their|these|both|two) (?:\w+ )?"
    r"(?:numbers|ages|points?|dimensions|sides|intercepts|zeros|roots|solutions|integers|angles)\b"
    r"|\bmidpoint of\b|\bhow (?:long|much|old|many) \w+ (?:the (?:pieces|parts|two)|each\b)"
    r"|\bwhat are the (?!odds|chances)|\beigenvalues\b|\\(?:cap|cup)\b"
    r"|\bsolve\b[^.?!]{0,20}(?:\$|\\\[|:|for\b|the (?:following )?(?:equation|proportion))",
    re.IGNORECASE,
)
_EXPRESSION: Final = re.compile(
    r"\bin terms of (?:\$|\w\b|the)|\bradical form|\binterval notation|\bsimplif(?:y|ied)\b"
    r"|\bfactor(?:ed|i[sz]e|ing)?\b(?=\s*(?:\$|:|\\|the (?:poly|expr|following|quad|tri)|form|over"
    r"|completely|\d|[a-z]\^|out))|\bfactori[sz]ation\b|\bexpand(?:ed)?\b(?=\s*(?:\$|:|and|the (?:"
    r"expr|product|foll)|\\|form))|\bequations? (?:of|for)\b|\bexact (?:value|form|answer)"
    r"|\bprove\b|\bshow that\b|\bin real numbers|\bclosed form|\bdistribute:|\bcombine like"
    r"|\b(?:divide|multiply|add|subtract|integrate|differentiate)\s*[:$]"
    r"|\bfind the square:|\b(?:range|set|interval) of (?:all )?(?:possible )?(?:values|\$|the|x)"
    r"|\b(?:domain|range|inverse) of (?:the|\$|f\b)|\binequalit(?:y|ies)\b[^?]{0,80}\bis\b"
    r"|\bsolve[^.?!]{0,40}inequalit|\b(?:general|particular) solution|\b(?:anti)?derivative\b"
    r"|\bdifferentiate\b|\bindefinite integral|\bintegral\b(?! value)|\bas a function of\b"
    r"|\bformula for\b|\bmeaningful\b|\brelationship between\b|\bdescribe\b|\bexplain\b"
    r"|\b(?:in|to) base[ $]|\bbase (?:two|three|four|five|six|seven|eight|nine)\b[^?.]*\?"
    r"|\bexpress (?!your|the (?:answer|probability|result)|as\b)"
    r"|\bwrite (?:an|the) (?:equation|expr)"
    r"|\bwhich expression\b|\bestimator\b|\bvectors?\b|\bmatri(?:x|ces)\b|\+\s?\d*i\b",
    re.IGNORECASE,
)
# Openings of words and phrases, in lower case. Of what is asked for, the first that is there
# counts, in this order.
_OPENINGS: Final[dict[str, tuple[str, ...]]] = {
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
    return (found - {*asked}) | {*[*_no_number(text), *asked][:1]}


def _no_number(text: str) -> Iterator[str]:
    """Say which form is asked for where it is no single number."""
    letters = {(one[1] or one[2]).upper() for one in _OPTIONS.finditer(text)}
    if _CHOICE.search(text) or {"A", "B", "C"} <= letters:
        yield "asks.choice"
    if _LIST.search(_COUNTED.sub(" ", text)):
        yield "asks.list"
    if _EXPRESSION.search(text):
        yield "asks.expression"


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
