"""Signs in front of a value: one spelling for "- 31", "minus 31", "$-$31" and their like."""

from __future__ import annotations

import re
from typing import Final

from constraint_first.answer.expression.words import NUMERALS

__all__ = ["JOINING", "with_decimal_points", "with_plain_signs"]

JOINING: Final = r"\dA-Za-z_À-ɏͰ-ӿ"
"""What makes a hyphen behind it a part of a word. Chinese, Japanese, Thai and other scripts write
no space before a sign, and no hyphens."""
_WIDE: Final = str.maketrans("０１２３４５６７８９－﹣＋．％／＝", "0123456789--+.%/=")
# The mark of a long vowel, typed for a sign: it lengthens nothing where no kana is before it.
_LONG: Final = re.compile(r"(?<![ァ-ヿ])ー(?=[^\S\n]?\d)")
_SIGNS: Final = (
    "- ",
    "-\t",
    "-$",
    "-\\",
    "-€",
    "-£",
    "-\xa0",
    "−",
    "–",
    "负",
    "負",
    "マイナス",
    "마이너스",
)
_WORDS: Final = ("minus", "negativ", "moins", "menos", "meno", "минус")
_DASH: Final = "[-−–]"
_SPACE: Final = r"[^\S\n]"
_NUMERALS: Final = "|".join(NUMERALS)
_VALUE: Final = (
    rf"(?=(?:\\?[$€£]{_SPACE}?|\(|\.)?\d|\\(?:[dt]?frac|sqrt|pi|infty)(?![a-z])|[π√∞]"
    r"|[b-z](?![A-Za-z'’]))"
)
# A dash with a space behind it is a sign after a verb, a relation or a bracket. After a noun it is
# a dash ("Total cost - 31 dollars"), at the beginning of a line a bullet.
_SPACED: Final = re.compile(
    r"((?i:\A|[=:：(\[{<>≤≥≈,;#]|\b(?:is|are|was|were|be|equals?|to|of|at|by|and|or|than|get|gets"
    r"|have|gives?|yields?|obtain|becomes|either|so|thus|hence|therefore|about|approximately|ist|sind|lautet|beträgt|und"
    r"|oder|est|vaut|es|son|è|é|jest|это)|[是为為は等于於得到即が]|[가-힣][은는이가]|\d[;,])"
    rf"[*_$]{{0,3}}{_SPACE}{{0,3}}[*_$]{{0,3}}){_DASH}{_SPACE}{{1,3}}{_VALUE}"
)
_WORD: Final = re.compile(
    r"(?:(?<![\d)}$] )(?<![\w-])(?<!\b[A-Za-z] )(?<!\bor )(?:\\text\s*\{\s*)?"
    rf"(?i:minus|negative|negativ|moins|menos|meno|минус){_SPACE}{{1,2}}|(?:[负負]|マイナス|마이너스){_SPACE}?)"
    rf"(?:\}}\s*(?=\d)|(?=[$\\(]{{0,2}}\d|\\[dt]?frac|(?i:{_NUMERALS})\b(?!\s+[a-z])))"
)
_NUMERAL: Final = re.compile(rf"-({_NUMERALS})\b(?!\s+[a-z])", re.IGNORECASE)
_EITHER: Final = re.compile(r"(?i:\bplus\s+or\s+minus\s+)(?=[$\\(]{0,2}\d)")
_ALONE: Final = re.compile(rf"\$\s?{_DASH}\s?\$\s?(?=[\d(])")
_BEFORE_MONEY: Final = re.compile(rf"(?<![{JOINING})}}]){_DASH}{_SPACE}?(\\\$|[€£]){_SPACE}?(?=\d)")
_TYPED: Final = re.compile(rf"(?<![{JOINING})}}]){_DASH}(?=[$\\(]?\d)")


# Words of languages that write 1.234,5: two of them, and none of English.
_COMMA_WORDS: Final = re.compile(
    r"\b(?:ist|und|die|der|das|sie|wir|also|insgesamt|daher|somit|lautet|beträgt|antwort|ergebnis|euro"
    r"|kostet|hat|haben|für|pro|sind|es|eine?|macht|zusammen|est|donc|les|une|réponse|sont|respuesta|los|por|lo|risposta|sono)\b",
    re.IGNORECASE,
)
_ENGLISH: Final = re.compile(r"\b(?:the|is|are|of|and|we)\b", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])")
_DECIMAL: Final = re.compile(r"(?<![\d.,])(\d+),(\d{1,2}|\d{4,})(?![\d,])")


def with_decimal_points(text: str) -> str:
    """Write the numbers of a reply in German and its like with a decimal point."""
    if not (_THOUSANDS.search(text) or _DECIMAL.search(text)) or _ENGLISH.search(text):
        return text
    if len({word.lower() for word in _COMMA_WORDS.findall(text)}) < 2:
        return text
    text = _THOUSANDS.sub(lambda match: match[0].replace(".", ""), text)
    return _DECIMAL.sub(r"\1.\2", text)


def with_plain_signs(text: str) -> str:
    """Write every sign of a value as a hyphen with nothing behind it; leave other dashes alone."""
    text = text if text.isascii() else _LONG.sub("-", text.translate(_WIDE))
    if not any(map(text.__contains__, _SIGNS)) and not any(map(text.lower().__contains__, _WORDS)):
        return text
    text = _EITHER.sub(r"\\pm ", _ALONE.sub("-", text))
    # One line that begins with a dash is a value; the first of several lines may be a bullet.
    if "\n" in text and text[:1] in "-−–":
        text = text[:1] + _SPACED.sub(r"\1-", text[1:])
    else:
        text = _SPACED.sub(r"\1-", text)
    text = _NUMERAL.sub(lambda match: f"-{NUMERALS[match[1].lower()]}", _WORD.sub("-", text))
    return _BEFORE_MONEY.sub(r"\1-", _TYPED.sub("-", text))
