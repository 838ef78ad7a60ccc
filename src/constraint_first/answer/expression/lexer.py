"""Text into tokens. LaTeX and ASCII mathematics share one alphabet; nothing is ever executed."""

from __future__ import annotations

import re
from typing import NamedTuple

from constraint_first.answer.expression.unit import UNIT_LETTERS, is_unit
from constraint_first.answer.expression.vocabulary import (
    ALIASES,
    ATTACHED,
    COMMANDS,
    CONSTANTS,
    DECORATIONS,
    FUNCTIONS,
    GREEK,
)

__all__ = ["Token", "Unreadable", "tokenize"]

MAX_TOKENS = 1500


class Unreadable(Exception):
    """The text is not mathematics that this grammar knows."""


class Token(NamedTuple):
    """A piece of text and what it is: num, sym, fun, text, cmd or op."""

    kind: str
    text: str
    spaced: bool
    """Whether white space stands before it."""


_TOKEN = re.compile(
    r"\s*(?:(?P<num>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?)"
    r"|(?P<text>\\(?:text[a-z]{0,6}|mbox|hbox|math(?:rm|bf|it|sf|tt|cal|normal)|operatorname"
    r"|boldsymbol)\*?\s*\{(?P<inner>[^{}]*)\})"
    r"|(?P<cmd>\\[A-Za-z]+|\\.)|(?P<name>[A-Za-z]+)"
    r"|(?P<op>\*\*|<=|>=|!=|<>|==|\.\.\.|[^\s\\A-Za-z\d]))"
)
_OPERATORS = {
    "**": "^", "==": "=", "...": "ldots", "<>": "ne", "!=": "ne", "<=": "le", ">=": "ge",
}  # fmt: skip
_START = Token("", "", False)
_WORDS = frozenset(
    "or and to per sq old no on not yes all any odd the of is are for but off red".split()
)
_AFTER_VALUES = frozenset({"an", "in", "out"})
"""Words that are letters elsewhere: an angle is a times n as well."""
_PAIR = re.compile("[a-z]{2}")
_LABEL = re.compile("[A-Z]{2,}")
_SYMBOLIC = re.compile(r"[^A-Za-z]*(?:[A-Za-z](?:_\w)?[^A-Za-z]*)?")


def tokenize(text: str) -> list[Token]:
    """Split cleaned text into tokens, or say that it cannot be read."""
    tokens: list[Token] = []
    end = len(text.rstrip())
    position = 0
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) > MAX_TOKENS:
            raise Unreadable("too long" if match else "a character with no meaning here")
        _add(tokens, match, spaced=text[position].isspace())
        position = match.end()
    return tokens


def _add(tokens: list[Token], match: re.Match[str], *, spaced: bool) -> None:
    kind = match.lastgroup
    if kind == "num":
        tokens.append(Token("num", match["num"], spaced))
    elif kind == "op":
        text = _OPERATORS.get(match["op"], match["op"])
        tokens.append(Token("cmd" if text.isalpha() else "op", text, spaced))
    elif kind == "name":
        tokens.extend(_from_name(match["name"], spaced, tokens[-1] if tokens else _START))
    elif kind == "text":
        tokens.extend(_from_text(match["inner"], spaced, tokens[-1] if tokens else _START))
    elif match["cmd"][1:] not in DECORATIONS:
        tokens.append(_from_command(match["cmd"][1:], spaced))


def _from_text(inner: str, spaced: bool, after: Token) -> list[Token]:
    words = inner.strip()
    behind_value = after.kind in ("num", "sym") or (after.text != "" and after.text in ")}")
    # Units here; elsewhere these are functions and variables.
    unit = words in UNIT_LETTERS or words in ("am", "pm")
    if words in ("min", "sec") or (unit and behind_value):
        return [Token("text", words, spaced)]
    if words in FUNCTIONS or words in CONSTANTS or words in ALIASES:
        return [_from_command(words, spaced)]
    if _SYMBOLIC.fullmatch(words) and not is_unit(words):
        return tokenize(words)
    if _PAIR.fullmatch(words) and not behind_value and not is_unit(words) and words not in _WORDS:
        return [Token("sym", letter, spaced and not i) for i, letter in enumerate(words)]
    if _LABEL.fullmatch(words) and not (behind_value and is_unit(words)):
        return [Token("sym", words, spaced)]
    return [Token("text", words, spaced)]


def _from_command(name: str, spaced: bool) -> Token:
    name = ALIASES.get(name, name)
    if name in CONSTANTS:
        return Token("sym", CONSTANTS[name], spaced)
    if name in GREEK:
        return Token("sym", name, spaced)
    if name in FUNCTIONS and name not in ("sqrt", "binom"):
        return Token("fun", "log10" if name in ("log", "lg") else name, spaced)
    if name == "newline" or not name[:1].isalpha():
        return Token("op", "\\" + name if name in "{}" else name, spaced)
    if name in ("and", "or", "to"):
        return Token("text", name, spaced)
    if name in COMMANDS:
        return Token("cmd", name, spaced)
    raise Unreadable(f"\\{name} is not known here")


def _from_name(name: str, spaced: bool, after: Token) -> list[Token]:
    if name in CONSTANTS:
        return [Token("sym", CONSTANTS[name], spaced)]
    if name == "I" and after.text == "*":
        return [Token("sym", "i", spaced)]
    if name in GREEK:
        return [Token("sym", name, spaced)]
    low = name.lower() if name[1:].islower() or len(name) == 1 else name
    if (len(low) > 1 and low in FUNCTIONS) or (low in ALIASES and ALIASES[low] in FUNCTIONS):
        known = ALIASES.get(low, low)
        return [Token("cmd" if known in ("sqrt", "binom") else "fun", known, spaced)]
    if len(name) == 1:
        return [Token("sym", name, spaced)]
    if name == "mod":
        return [Token("cmd", name, spaced)]
    if (
        name.lower() in _WORDS
        or (name in _AFTER_VALUES and after.kind in ("num", "text"))
        or is_unit(name)
    ):
        return [Token("text", name, spaced)]
    if _LABEL.fullmatch(name) or name in ("nCr", "nPr"):
        # HTH, IX or AB: letters in an order of their own, and no product of them.
        return [Token("sym", name, spaced)]
    if split := _split(name):
        head, tail = split
        first = _from_name(head, spaced, after)
        return first + (_from_name(tail, False, first[-1]) if tail else [])
    if len(name) <= 3:
        return [Token("sym", letter, spaced and not i) for i, letter in enumerate(name)]
    return [Token("text", name, spaced)]


def _split(name: str) -> tuple[str, str] | None:
    """Split ``sinx`` or ``xsin`` or ``pir`` where a known name touches one or two letters."""
    for known in ATTACHED:
        if name.startswith(known) and 0 < len(name) - len(known) <= (2 if len(known) > 2 else 1):
            return known, name[len(known) :]
        if name.endswith(known) and 0 < len(name) - len(known) <= 1:
            return name[: -len(known)], known
    return None
