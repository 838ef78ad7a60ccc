"""Decoding settings in words: what tells several apart, and all of one in a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from constraint_first.analysis.study.decoding import read_decoding

__all__ = ["describe_decoding", "shorten", "tell_apart"]

_LABELS: Final = {
    "temperature": "Temperature",
    "top_p": "Top-p",
    "seed": "Seed",
    "system": "System prompt",
}
_LONGEST_PROMPT: Final = 40


def tell_apart(decodings: Sequence[str]) -> dict[str, str]:
    """Name each decoding by the settings in which they differ: ``Temperature 0.2``."""
    read = {decoding: read_decoding(decoding) for decoding in decodings}
    names = dict.fromkeys(name for one in read.values() for name in one)
    differing = [n for n in names if len({json.dumps(one.get(n)) for one in read.values()}) > 1]
    return {
        decoding: ", ".join(_named(n, one[n]) for n in differing if one.get(n) is not None)
        or ", ".join(_named(n, None) for n in differing)
        for decoding, one in read.items()
    }


def describe_decoding(decoding: str) -> str:
    """Name all settings of a decoding, in a sentence."""
    known = {name: value for name, value in read_decoding(decoding).items() if value is not None}
    return ", ".join(_named(n, value, lower=True) for n, value in known.items())


def shorten(value: object) -> str:
    """Write a setting; a text is quoted, and cut where it is long."""
    text = " ".join(str(value).split())
    if not isinstance(value, str):
        return text
    return f"“{text[:_LONGEST_PROMPT]}…”" if len(text) > _LONGEST_PROMPT else f"“{text}”"


def _named(name: str, value: object, *, lower: bool = False) -> str:
    label = _LABELS.get(name, name)
    if value is None:
        return f"{'no' if lower else 'No'} {label.lower()}"
    return f"{label.lower() if lower else label} {shorten(value)}"
