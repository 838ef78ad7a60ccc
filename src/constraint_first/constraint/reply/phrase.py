"""A predicate over a reply in words, for a person and for a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, cast

from constraint_first.constraint.predicate import Predicate, parts
from constraint_first.constraint.reply.check import BLANK_LINE
from constraint_first.constraint.reply.language import language_name

_Words: TypeAlias = Callable[[Predicate], str]


def describe(predicate: Predicate) -> str:
    """Say what a predicate demands of a reply, in one sentence."""
    said = [_WORDS[str(one["op"])](one) for one in parts(predicate) if one["op"] in _WORDS]
    return f"The reply {' and '.join(said)}." if said else f"The reply satisfies {dict(predicate)}."


def _amount(predicate: Predicate) -> str:
    low, high = predicate.get("low"), predicate.get("high")
    if low == high:
        return f"exactly {low}"
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"from {low} to {high}"


def _counted(one: str, many: str = "") -> _Words:
    """Words for a count of things; the last number that is said decides which form they have."""

    def words(predicate: Predicate) -> str:
        amount = _amount(predicate)
        return f"has {amount} {one if amount.endswith(' 1') else many or one + 's'}"

    return words


def _times(predicate: Predicate, what: str) -> str:
    if predicate.get("high") == 0:
        return f"does not have {what}"
    amount = _amount(predicate)
    return f"has {what} {amount} {'time' if amount.endswith(' 1') else 'times'}"


def _quoted(texts: object) -> str:
    return ", ".join(f"“{text}”" for text in cast("Iterable[str]", texts))


def _paragraphs(predicate: Predicate) -> str:
    mark = predicate.get("separator", BLANK_LINE)
    told = "by empty lines" if mark == BLANK_LINE else f"by {mark}"
    return f"{_counted('paragraph')(predicate)}, separated {told}"


def _case(predicate: Predicate) -> str:
    letters = "capital" if predicate["case"] == "upper" else "small"
    return f"is all in {letters} letters" + (", in English" if "language" in predicate else "")


_WORDS: Final[Mapping[str, _Words]] = {
    "words": _counted("word"),
    "sentences": _counted("sentence"),
    "paragraphs": _paragraphs,
    "paragraph_begins": lambda p: f"begins paragraph {p['nth']} with the word “{p['word']}”",
    "sections": lambda p: f"{_counted('section')(p)}, each headed “{p['mark']} 1” and so on",
    "responses": lambda p: f"{_counted('different part')(p)}, separated by {p['separator']}",
    "bullets": _counted("bullet point"),
    "highlights": _counted("highlighted stretch", "highlighted stretches"),
    "placeholders": _counted("placeholder in square brackets", "placeholders in square brackets"),
    "capital_words": _counted("word in capital letters", "words in capital letters"),
    "occurrences": lambda p: _times(p, f"“{p['word']}”"),
    "letters": lambda p: _times(p, f"the letter “{p['letter']}”"),
    "contains": lambda p: f"has the words {_quoted(p['words'])}",
    "lacks": lambda p: f"does not have the words {_quoted(p['words'])}",
    "contains_any": lambda p: f"has one of {_quoted(p['texts'])}",
    "case": _case,
    "without": lambda p: f"does without {_quoted(p['marks'])}",
    "json": lambda _: "is JSON and nothing else",
    "title": lambda _: "has a title in double angular brackets, like <<title>>",
    "postscript": lambda p: f"has a postscript that begins with {p['mark']}",
    "quoted": lambda _: "stands in double quotation marks as a whole",
    "begins": lambda p: f"begins with “{p['text']}”",
    "ends": lambda p: f"ends with “{p['text']}”",
    "repeats": lambda p: f"begins with the request, word for word: “{p['text']}”",
    "language": lambda p: f"is in {language_name(str(p['language']))}",
}
