"""Demands that no reply can meet together: *at least 300 words* and *at most 100 words*.

Only plain contradictions between two demands are found. What is not found here is not thereby
possible: whoever asks a model again must stop by count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Final, TypeAlias

from constraint_first.constraint.predicate import Predicate, parts
from constraint_first.constraint.reply.check import REPLY
from constraint_first.constraint.stated.statement import Stated

Conflict: TypeAlias = tuple[Stated, Stated]

_MOST: Final = 60
"""Demands of a request that are compared with each other."""


def find_conflicts(demands: Sequence[Stated]) -> tuple[Conflict, ...]:
    """Find the pairs of demands that contradict each other, in the request's order."""
    of_reply = [one for one in demands if all(part["op"] in REPLY for part in parts(one.predicate))]
    return tuple(
        (one, other)
        for one, other in combinations(of_reply[:_MOST], 2)
        if any(_clash(a, b) for a in parts(one.predicate) for b in parts(other.predicate))
    )


def tell_conflict(conflict: Conflict) -> str:
    """Say in a sentence that two demands contradict each other."""
    first, second = (one.sentence.rstrip(".") for one in conflict)
    return f"No reply can meet both: {first}; {second[:1].lower()}{second[1:]}."


def _clash(one: Predicate, other: Predicate) -> bool:
    if one["op"] == other["op"]:
        rule = _SAME.get(str(one["op"]), _no_overlap)
        return rule(one, other)
    return any(rule(a, b) for a, b in permutations((one, other)) for rule in _DIFFERENT)


# --- Two demands of one kind.


def _ends_of(predicate: Predicate) -> tuple[int, float]:
    low, high = predicate.get("low"), predicate.get("high")
    return low if isinstance(low, int) else 0, high if isinstance(high, int) else float("inf")


def _no_overlap(one: Predicate, other: Predicate) -> bool:
    """Whether the same things are counted, and no number of them fits both."""
    if "low" not in {*one, *other} or not _counted(one) or _counted(one) != _counted(other):
        return False
    (low, high), (lower, higher) = _ends_of(one), _ends_of(other)
    return max(low, lower) > min(high, higher)


def _counted(predicate: Predicate) -> dict[str, object]:
    counts = "low" in predicate or "high" in predicate
    return {k: v for k, v in predicate.items() if k not in ("low", "high")} if counts else {}


def _differ_in(name: str) -> Callable[[Predicate, Predicate], bool]:
    return lambda one, other: one[name] != other[name]


def _other_text(one: Predicate, other: Predicate) -> bool:
    """Whether two beginnings, or two ends, are no parts of each other."""
    first, second = (str(p["text"]).casefold() for p in (one, other))
    if one["op"] == "ends":
        first, second = first[::-1], second[::-1]
    return not (first.startswith(second) or second.startswith(first))


def _other_first_word(one: Predicate, other: Predicate) -> bool:
    return one["nth"] == other["nth"] and one["word"] != other["word"]


_SAME: Final[Mapping[str, Callable[[Predicate, Predicate], bool]]] = {
    "case": _differ_in("case"),
    "language": _differ_in("language"),
    "begins": _other_text,
    "ends": _other_text,
    "repeats": _other_text,
    "paragraph_begins": _other_first_word,
}


# --- Demands of two kinds, in one order of the two.


def _texts(predicate: Predicate) -> list[str]:
    """The texts that a reply must have, as they are written."""
    op = predicate["op"]
    if op in ("begins", "ends", "repeats"):
        return [str(predicate["text"])]
    if op == "contains":
        words = predicate["words"]
        return [str(one) for one in words] if isinstance(words, list) else []
    wanted = op == "occurrences" and _ends_of(predicate)[0] > 0
    return [str(predicate["word"])] if wanted else []


def _has_unwanted_mark(one: Predicate, other: Predicate) -> bool:
    marks = other.get("marks") if other["op"] == "without" else None
    listed = [str(mark) for mark in marks] if isinstance(marks, list) else []
    return any(mark in text for mark in listed for text in _texts(one))


def _has_unwanted_letter(one: Predicate, other: Predicate) -> bool:
    if other["op"] != "letters" or _ends_of(other)[1] > 0:
        return False
    return any(str(other["letter"]).casefold() in text.casefold() for text in _texts(one))


def _is_unwanted_word(one: Predicate, other: Predicate) -> bool:
    words = other.get("words") if other["op"] == "lacks" else None
    unwanted = {str(word).casefold() for word in words} if isinstance(words, list) else set[str]()
    return any(text.casefold() in unwanted for text in _texts(one))


def _needs_more_words(one: Predicate, other: Predicate) -> bool:
    """Whether so many sentences or parts, each with a word, are more than the words allowed."""
    divided = one["op"] in ("sentences", "paragraphs", "bullets", "highlights", "responses")
    return divided and other["op"] == "words" and _ends_of(one)[0] > _ends_of(other)[1]


_DIFFERENT: Final[Iterable[Callable[[Predicate, Predicate], bool]]] = (
    _has_unwanted_mark,
    _has_unwanted_letter,
    _is_unwanted_word,
    _needs_more_words,
)
