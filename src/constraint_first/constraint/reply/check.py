"""Predicates over a whole reply: what each op means.

The language is that of ``constraint.predicate``: an ``op`` and its arguments, with ``low`` and
``high`` for the ends of a count, both included. Each check says True, False, or None where it
cannot tell. A reply without a word meets no demand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from constraint_first.constraint.reply.language import is_language
from constraint_first.constraint.reply.measure import (
    count_bullets,
    count_capital_words,
    count_highlights,
    count_letter,
    count_phrase,
    count_placeholders,
    count_sections,
    count_sentences,
    count_words,
    first_word,
    has_title,
    has_word,
    split_by,
    split_paragraphs,
)
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

BLANK_LINE: Final = "\n\n"
"""What separates paragraphs unless a request names another mark."""

_Args: TypeAlias = Mapping[str, Json]
_Check: TypeAlias = Callable[[_Args, str], "bool | None"]


def _of_reply(check: _Check) -> _Check:
    """A check on a reply that says something; an empty one fails it."""
    return lambda args, reply: check(args, reply) if reply.strip() else False


def _of_count(count: Callable[[_Args, str], int]) -> _Check:
    return lambda args, reply: _is_within(args, count(args, reply))


def _is_within(args: _Args, count: int) -> bool:
    low, high = args.get("low"), args.get("high")
    if low is None and high is None:
        raise ValueError("neither 'low' nor 'high' is there")
    return (low is None or count >= _whole(low)) and (high is None or count <= _whole(high))


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _text(args: _Args, name: str) -> str:
    value = args[name]
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{name!r} must be a text, not {value!r}")
    return value.strip()


def _texts(args: _Args, name: str) -> list[str]:
    values = args[name]
    if not isinstance(values, list) or not values:
        raise TypeError(f"{name!r} must be a list of texts")
    return [_text({name: one}, name) for one in values]


# --- Parts.


def _paragraphs(args: _Args, reply: str) -> bool | None:
    mark = args.get("separator", BLANK_LINE)
    parts = split_paragraphs(reply) if mark == BLANK_LINE else split_by(reply, str(mark))
    return False if parts is None else _is_within(args, len(parts))


def _paragraph_begins(args: _Args, reply: str) -> bool:
    paragraphs, nth = split_paragraphs(reply), _whole(args["nth"])
    if not 1 <= nth <= len(paragraphs):
        return False
    return first_word(paragraphs[nth - 1]) == _text(args, "word").lower()


def _responses(args: _Args, reply: str) -> bool:
    parts = split_by(reply, _text(args, "separator"))
    return parts is not None and len({*parts}) == len(parts) and _is_within(args, len(parts))


# --- Words.


def _case(args: _Args, reply: str) -> bool | None:
    """Look at the case, and at the language only as far as it is certain."""
    fits = {"upper": str.isupper, "lower": str.islower}[_text(args, "case")]
    if not fits(reply):
        return False
    return "language" not in args or is_language(reply, _text(args, "language")) is not False


def _lacks(args: _Args, reply: str) -> bool:
    return not any(has_word(reply, word) for word in _texts(args, "words"))


def _contains(args: _Args, reply: str) -> bool:
    low = reply.lower()
    return all(word.lower() in low for word in _texts(args, "words"))


# --- The form of the whole.

_FENCE: Final = lazy_pattern(r"```(?:json)?", re.IGNORECASE)


def _json(args: _Args, reply: str) -> bool | None:  # noqa: ARG001
    text = reply.strip()
    if fence := _FENCE.match(text):
        text = text[fence.end() :]
    try:
        # Numbers stay texts: one of a million digits is JSON too, and takes hours to convert.
        json.loads(text.removesuffix("```"), parse_int=str, parse_float=str)
    except ValueError:
        return False
    except RecursionError:
        return None
    return True


def _postscript(args: _Args, reply: str) -> bool:
    mark = _text(args, "mark").lower().rstrip(".")
    pattern = {"p.s": r"p\.\s?s\.", "p.p.s": r"p\.\s?p\.\s?s"}.get(mark, re.escape(mark))
    return bool(re.search(pattern, reply.lower()))


def _quoted(args: _Args, reply: str) -> bool:  # noqa: ARG001
    text = reply.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def _begins(args: _Args, reply: str) -> bool:
    return reply.strip().lower().startswith(_text(args, "text").lower())


def _ends(args: _Args, reply: str) -> bool:
    return reply.strip().strip('"').lower().endswith(_text(args, "text").lower())


def _contains_any(args: _Args, reply: str) -> bool:
    return any(text in reply for text in _texts(args, "texts"))


_CHECKS: Final[Mapping[str, _Check]] = {
    "words": _of_count(lambda _, reply: count_words(reply)),
    "sentences": _of_count(lambda _, reply: count_sentences(reply)),
    "paragraphs": _paragraphs,
    "paragraph_begins": _paragraph_begins,
    "sections": _of_count(lambda args, reply: count_sections(reply, _text(args, "mark"))),
    "responses": _responses,
    "bullets": _of_count(lambda _, reply: count_bullets(reply)),
    "highlights": _of_count(lambda _, reply: count_highlights(reply)),
    "placeholders": _of_count(lambda _, reply: count_placeholders(reply)),
    "capital_words": _of_count(lambda _, reply: count_capital_words(reply)),
    "occurrences": _of_count(lambda args, reply: count_phrase(reply, _text(args, "word"))),
    "letters": _of_count(lambda args, reply: count_letter(reply, _text(args, "letter"))),
    "contains": _contains,
    "lacks": _lacks,
    "contains_any": _contains_any,
    "case": _case,
    "without": lambda args, reply: not any(one in reply for one in _texts(args, "marks")),
    "json": _json,
    "title": lambda _, reply: has_title(reply),
    "postscript": _postscript,
    "quoted": _quoted,
    "begins": _begins,
    "ends": _ends,
    "repeats": _begins,
    "language": lambda args, reply: is_language(reply, _text(args, "language")),
}

REPLY: Final[Mapping[str, _Check]] = {name: _of_reply(check) for name, check in _CHECKS.items()}
"""What each op over a whole reply means."""
