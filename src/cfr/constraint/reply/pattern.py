"""Patterns of English phrases, written as lists of phrases."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["PRODUCT", "either"]

PRODUCT: Final = (
    r"(?:response|answer|reply|output|result|text|message|email|e-mail|letter|story|poem|essay"
    r"|article|post|song|rap|blog|summary|itinerary|proposal|document|tweet|description|speech"
    r"|review|advertisement|ad|joke|riddle|haiku|limerick|dialogue|conversation|script|pitch|report"
    r"|resume|cv|note|paragraph|explanation|completion|writing|work|piece|template|rubric|list"
    r"|lyrics|plan|rant|quiz|biography|content|slogan|guide|outline|critique|play"
    r"|monologue|novel|advice|reasoning|rewrite|version|caption|thread|composition|entry|memo"
    r"|announcement|statement|analysis|recipe|screenplay|sonnet|ballad|fable|tale)"
)
"""The pattern of a word for what is to be written."""


def either(phrases: str) -> str:
    """The pattern of any of some phrases, given with commas between; ``(s)`` may be left out."""
    listed = (one.strip() for one in phrases.split(","))
    parts = sorted((one for one in listed if one), key=len, reverse=True)
    return f"(?:{'|'.join(map(_pattern, parts))})"


def _pattern(phrase: str) -> str:
    escaped = re.sub(r"\\\((\w+)\\\)", r"(?:\1)?", re.escape(phrase))
    return re.sub(r"(?:\\ )+", r"\\s+", escaped)
