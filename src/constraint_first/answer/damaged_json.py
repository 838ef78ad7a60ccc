"""Answers in JSON, also where the JSON is damaged: fields, whole objects, eaten LaTeX commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, cast

from constraint_first.answer.marks import ANSWER_WORDS
from constraint_first.pattern import lazy_pattern

_LONGEST: Final = 20_000
_START: Final = lazy_pattern(r"^[^\S\n]*\{\s*[\"'}]", re.MULTILINE)
_END: Final = lazy_pattern(r"\}\s*(?:```)?\s*\Z")
_BAD_ESCAPE: Final = lazy_pattern(r"\\(?![\"\\/u])")
_NAMES: Final = (
    *("finalanswer", "correctanswer", "answer", "answers", *ANSWER_WORDS, "答案", "정답", "答え"),
    *"ans final finalresult result results correctoption correctchoice option choice".split(),
    *"selected output value solution response prediction".split(),
)
"""What the field is called, the surest names first."""
_LONGEST_VALUE: Final = 300
_MOST_LAYERS: Final = 4


def find_object_answer(text: str) -> str | None:
    """Find the answer in the JSON object at the end of a reply; None where it has no such field."""
    if _END.search(text, max(0, len(text) - 40)) is None:
        return None
    starts = [match.start() for match in _START.finditer(text)]
    for start in starts[:3]:
        raw = text[start : text.rindex("}") + 1].strip()
        if len(raw) < _LONGEST and isinstance(value := _load(raw), dict):
            return _answer(cast("dict[str, object]", value), _MOST_LAYERS)
    return None


def _load(raw: str) -> object:
    with suppress(ValueError, RecursionError):
        return json.loads(raw)
    with suppress(ValueError, RecursionError):  # LaTeX with its backslashes as they are
        return json.loads(_BAD_ESCAPE.sub(r"\\\\", raw))
    return None


def _answer(fields: dict[str, object], layers: int) -> str | None:
    named = {re.sub(r"[\W_]+", "", key).lower(): value for key, value in fields.items()}
    for name in _NAMES:
        if name in named:
            return _written(named[name], layers)
    return _written(next(iter(fields.values())), layers) if len(fields) == 1 else None


def _written(value: object, layers: int) -> str | None:
    """Write a value as a person would; a list as its items, an object as the answer in it."""
    if isinstance(value, dict):
        return _answer(cast("dict[str, object]", value), layers - 1) if layers else None
    if isinstance(value, list):
        items = [_written(item, 0) for item in cast("list[object]", value)]
        return ", ".join(item for item in items if item)
    if value is None:
        return ""
    if isinstance(value, str):
        return value if len(value) < _LONGEST_VALUE else None
    return json.dumps(value)


# LaTeX commands in JSON, where ``\f``, ``\t`` and ``\n`` are escapes: which is which.
#
# "\frac" written with one backslash is valid JSON, and decodes to a form feed and "rac". A line
# of mathematics has no other use for most of these control characters before a letter; a tab and
# a line break have, and are a command only before the rest of its name.

COMMAND_AFTER_N: Final = r"(?:eq?|u|abla|otin?|eg|mid|less|leq|geq|ewline|ot|cong)(?![a-z])"
r"""How the commands go on that begin with ``\n``."""
COMMAND_AFTER_T: Final = (
    r"(?:anh?|ext(?:bf|it|rm|sf|tt|sc|up|normal|style)?|imes|heta|au|frac|op?|riangle[a-z]*"
    r"|herefore|binom|ilde)(?![a-z])"
)
r"""How the commands go on that begin with ``\t``."""

_AFTER_R = r"(?:ho|ight(?:arrow)?|angle|floor|ceil|vert|brace|brack)(?![a-z])"
# A line break is common in prose, so only what is no word stands for a command here.
_EATEN: Final = lazy_pattern(
    rf"[\a\b\v\f](?=[A-Za-z])|\r(?={_AFTER_R})|\t(?={COMMAND_AFTER_T})"
    r"|\n(?=(?:eq|u|mid|abla|otin)(?![a-z]))"
)
_ESCAPES: Final = {
    "\a": r"\a", "\b": r"\b", "\v": r"\v", "\f": r"\f", "\r": r"\r", "\t": r"\t", "\n": r"\n",
}  # fmt: skip


def restore_commands(text: str) -> str:
    """Give back the LaTeX commands that were decoded into control characters."""
    return text if text.isprintable() else _EATEN.sub(lambda match: _ESCAPES[match[0]], text)


def begins_command(text: str, at: int) -> bool:
    """Say whether the white space at a place is what a decoder left of a command."""
    return text[at] != "\n" and _EATEN.match(text, at) is not None


# The final answer out of a Stage 2 reply: JSON in form, in practice often damaged.
#
# The value is read where its key stands, by a scanner that expects missing quotes, bare LaTeX
# backslashes and a reply that ends in the middle. A whole-document parser would have to repair
# all of the reply to read one field of it.

_PLAIN = "answer"
_FINAL = lazy_pattern(r"final[_ -]?\Z", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "`": "`"}
_NEXT_KEY = lazy_pattern(r"\s*[\"'“]?[A-Za-z_][\w ]{0,30}[\"'”]?\s*:(?!/)")
_LINE_KEY = lazy_pattern(r",?[ \t]*\n\s*[\"'“]?[A-Za-z_][\w ]{0,30}[\"'”]?\s*:(?!/)")
_AFTER_KEY = lazy_pattern(r"\\?[\"'”’`]?\**\s*")
_AFTER_STRING = lazy_pattern(r"\s*(?:[,}\]]|$|//|#|```|[\"'“]|\n)")
_NEWLINE_COMMAND = lazy_pattern(COMMAND_AFTER_N)
_TAB_COMMAND = lazy_pattern(COMMAND_AFTER_T)
_LAYOUT = lazy_pattern(rf"(?<!\\)\\(?:n(?!{COMMAND_AFTER_N})|t(?!{COMMAND_AFTER_T}))")
_BACKSLASHES = lazy_pattern(r"\\+")
_HEX = lazy_pattern(r"[0-9a-fA-F]{4}")
# A character beyond the first 65,536 is written as two escapes side by side.
_UNICODE = lazy_pattern(r"(?:\\u[0-9a-fA-F]{4})+")
_QUOTED_ITEM = lazy_pattern(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|“([^”]*)”)\s*(?:,|\Z)""", re.DOTALL
)
_DOUBLED = lazy_pattern(r"\\\\(?=[A-Za-z]{2}|[%${}])")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_MAX_VALUE = 20_000
_JSON_FIELD_MOST_LAYERS = 8


@dataclass(frozen=True, slots=True)
class Field:
    value: str | None
    """None where the reply ends within it."""
    whole: bool = True
    """False where the reply ends before the value does."""


def find_field(text: str) -> Field | None:
    """Find the last ``final_answer`` of a reply, or else the last ``answer`` of a JSON object."""
    plain = None
    for at, key in _keys(text):
        start = _value_start(text, at, key)
        if start is not None and key != _PLAIN:
            return _value(text, start)
        plain = start if plain is None else plain
    return None if plain is None else _value(text, plain)


def find_content(text: str) -> str:
    """Find the content of an endpoint's message; empty where it has none."""
    with suppress(ValueError, RecursionError, AttributeError):
        content: object = json.loads(text).get("content")
        return content if isinstance(content, str) else ""
    at = text.rfind('"content"') + 1
    start = _value_start(text, at, "content") if at else None
    return (_value(text, start).value or "") if start is not None else ""


def _keys(text: str) -> Iterator[tuple[int, str]]:
    """Yield every place where a key might stand, the last first: one pass over a long text."""
    for stem in ("nswer", "NSWER"):
        end = len(text)
        while (end := text.rfind(stem, 0, end)) > 0:
            before = _FINAL.search(text, max(0, end - 8), end - 1)
            at = before.start() if before else end - 1
            yield at, text[at : end + 5].lower()


def _value_start(text: str, at: int, key: str) -> int | None:
    """Step from a key to its value; None where this is no key but a word in a sentence."""
    before = text[at - 1] if at else "\n"
    after = at + len(key)
    quoted = before in _QUOTES and after < len(text)
    closing = _AFTER_KEY.match(text, after)
    position = closing.end() if closing else after
    marked = text[position : position + 1] in (":", "=")
    if quoted and (marked or (key != _PLAIN and text[position : position + 1] in _QUOTES)):
        return position + marked
    structured = key == "final_answer" or text[at : at + 6] == "finalA"
    if structured and marked and not quoted:
        return position + 1
    return None


def _value(text: str, start: int, layers: int = _JSON_FIELD_MOST_LAYERS) -> Field:
    while start < len(text) and text[start] in " \t\r\n":
        if begins_command(text, start):
            break
        start += 1
    if start >= len(text):
        return Field(None, whole=False)
    escaped = text.startswith('\\"', start)
    mark = text[start + escaped]
    if mark in _QUOTES:
        return _string(text, start + 1 + escaped, _QUOTES[mark], escaped=escaped)
    if mark == "[":
        return _listed(text, start)
    # The first value of an object that stands where a value should.
    if mark == "{" and layers and (key := _NEXT_KEY.match(text, start + 1)):
        return _value(text, key.end(), layers - 1)
    return _unquoted(text, start)


def _string(text: str, start: int, quote: str, *, escaped: bool) -> Field:
    """Read a quoted value, up to a quote behind which the object goes on."""
    at, limit = start, min(len(text), start + _MAX_VALUE)
    next_key = _LINE_KEY.search(text, start, limit)
    while at < limit:
        char = text[at]
        if char == "\\" and not (escaped and text[at + 1 : at + 2] == quote):
            at += 2
            continue
        closes = char == quote or (char in '"”' and quote in '"”')
        if escaped and char == "\\":
            return _closed(text[start:at])
        if closes and _AFTER_STRING.match(text, at + 1):
            return _closed(text[start:at])
        if closes and next_key and next_key.end() <= at + 40:
            break
        at += 1
    if next_key is None:
        return Field(None, whole=False)
    return Field(_unescape(text[start : next_key.start()]).rstrip(" ,"))


def _closed(raw: str) -> Field:
    """Take a quoted value; where its closing quote was forgotten, the next key ends it."""
    if cut := _LINE_KEY.search(raw + '":'):
        raw = raw[: cut.start()]
    elif raw.rstrip().endswith(",") and "\n" in raw:
        raw = raw.rstrip().rstrip(",")
    return Field(_unescape(raw))


def _unescape(raw: str) -> str:
    """Undo JSON escapes, but leave alone the backslashes that begin a LaTeX command.

    Whether the model doubled its backslashes shows in those that it did not: one single backslash
    before a command, and a double one can only be the end of a matrix row.
    """
    if "\\" not in raw:
        return raw
    bare = any(_is_latex(raw, m) for m in _BACKSLASHES.finditer(raw))
    plain = _BACKSLASHES.sub(lambda m: _escape(raw, m, bare=bare), raw)
    plain = _UNICODE.sub(lambda m: json.loads(f'"{m[0]}"'), plain)
    plain = _LAYOUT.sub(" ", plain)
    return _DOUBLED.sub(r"\\", plain) if "\\begin" not in plain else plain


def _is_latex(raw: str, run: re.Match[str]) -> bool:
    """Tell a backslash that begins a command from one that escapes a character."""
    mark, rest = raw[run.end() : run.end() + 1], raw[run.end() + 1 : run.end() + 13]
    if len(run[0]) % 2 == 0 or not mark or mark in "\"'/`":
        return False
    if mark == "n":
        return bool(_NEWLINE_COMMAND.match(rest))
    if mark == "t":
        return bool(_TAB_COMMAND.match(rest))
    return not (mark == "u" and _HEX.match(rest))


def _escape(raw: str, run: re.Match[str], *, bare: bool) -> str:
    """Write out one run of backslashes; what an escape stands for follows in its place."""
    if bare and len(run[0]) % 2 == 0:
        return run[0]
    half = "\\" * (len(run[0]) // 2)
    if len(run[0]) % 2 == 0:
        return half
    mark = raw[run.end() : run.end() + 1]
    if _is_latex(raw, run) or mark in "nut":
        return half + "\\"
    return half


def _listed(text: str, start: int) -> Field:
    """Read [1, 2] as "1, 2"; what closes otherwise is an interval and stays as it is."""
    depth = 0
    for at in range(start, min(len(text), start + _MAX_VALUE)):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if depth == 0:
            items = _split(text[start + 1 : at])
            return Field(", ".join(items))
        if text[at] == "\n" and ":" in text[at : at + 40]:
            break
    return _unquoted(text, start)


def _split(inner: str) -> list[str]:
    items, at = list[str](), 0
    while at < len(inner):
        if quoted := _QUOTED_ITEM.match(inner, at):
            items.append(_unescape(quoted[quoted.lastindex or 0]))
            at = quoted.end()
        else:
            end = _item_end(inner, at)
            item = inner[at:end].strip()
            quote = _QUOTES.get(item[:1])
            items.append(_unescape(item[1:].removesuffix(quote)) if quote else item)
            at = end + 1
    return [item for item in items if item]


def _item_end(inner: str, at: int) -> int:
    """Find the comma outside brackets that ends an item."""
    depth = 0
    for end in range(at, len(inner)):
        depth += _DEPTH.get(inner[end], 0)
        if inner[end] == "," and depth <= 0:
            return end
    return len(inner)


def _unquoted(text: str, start: int) -> Field:
    """Read a value without quotes, up to the comma, brace or line that ends it."""
    depth, at = 0, start
    inside_object = "{" in text[:start]
    limit = min(len(text), start + _MAX_VALUE)
    while at < limit:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char == "\n" or (char == "," and depth == 0 and inside_object):
            break
        if char in '"“' and _NEXT_KEY.match(text, at):
            break
        depth += _DEPTH.get(char, 0)
        if depth < 0 and char == "}":
            break
        at += 1
    ended = at < len(text) or not inside_object
    value = restore_commands(text[start:at]).split("//")[0].strip().rstrip(",").strip()
    return Field(value if ended else None, whole=ended)
