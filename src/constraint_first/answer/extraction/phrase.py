"""The words around a value: what is trimmed from an answer, and where its phrase ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.answer.extraction.assertion import asserted

__all__ = [
    "EQUALS",
    "LONGEST_ANSWER",
    "TO",
    "WORD",
    "after_equals",
    "bald",
    "last_match",
    "last_value",
    "quantity",
    "read_phrase",
    "trailing_maths",
    "unnamed",
]

LONGEST_ANSWER: Final = 5000
WORD: Final = re.compile(r"(?<![\\A-Za-zÀ-ɏͰ-ӿ])[A-Za-zÀ-ɏͰ-ӿ]{2,}(?![A-Za-zÀ-ɏͰ-ӿ]*\()")
EQUALS: Final = re.compile(r"(?<![<>!\\=])=(?!=)")
TO: Final = r"to(?!\s+\$?\d+\$?\s+(?:decimal|significant|sig|d\.?\s?p|s\.?\s?f|place|digit|figure))"
"""The word between the sides of a ratio; "4.25 to 2 decimal places" is none."""

# What goes on with a list behind a semicolon: "80; 82; 84", not "80; 2 of them are red".
_NEXT_VALUE: Final = (
    r"\s*(?:\$?[A-Za-z]\w{0,2}\s?=\s?)?(?:[-−]?\$?[-−]?\d[\d.,/]*|\$[^$\n]{1,80}\$)\$?"
    r"(?:\s?(?:%|°|[a-z]{1,3}))?\s*(?:[;,.*]|\Z|\n|and\b|or\b)"
)
_STOP: Final = re.compile(
    r"(?<!\bRs)(?<!\bca)(?<!\bapprox)\.(?=\s|$)|[。।！]|\n"
    rf"|[;；؛](?=\s|$)(?!{_NEXT_VALUE})|\s+(?:because|since|which|where|so\s+that|weil|denn|car"
    r"|puisque|porque|perché|poiché|pois|так\s+как|потому\s+что"
    r"|rather\s+than|instead\s+of|as\s+opposed\s+to|and\s+not)\b|[,;]\s+(?:so|since|as|because|i\.e"
    r"|that\s+is|not|but|it|this|that|there|with|for|given|giving|thus|hence|meaning|when|if"
    r"|after|and\s+(?:we|the|so|this|it|not)|the|we|namely|obtained|found|rounded|or\s+(?:about"
    r"|approximately|equivalently|simply)|which|where|making|leaving|plus)\b"
    r"|\s+[–—]+\s+(?:not|because|since|as|so|the|this|it|we|that|which)\b|[，,](?=[一-鿿ぁ-ヿ])"
    r"|\s+\((?:we|since|because|as|where|note|check|this|that|the|or(?!\s+-?\d+\))|i\.e|see|which|about|approx)\b"
    r"|\s*<\||\s+(?:✓|✅|🎉|\\checkmark)"
)
_MATHS: Final = re.compile(
    r"(?<!\\)\$\$(.+?)\$\$|\\\[(.+?)\\\]|(?<!\\)\$((?:\\\$|[^$\n])+?)(?<!\\)\$|\\\((.+?)\\\)"
    r"|(?<![\w)*])\*\*([^*\n]+?)\*\*",
    re.DOTALL,
)
_AND: Final = r"(?:[,;]\s*(?:and\b|or\b|und\b|oder\b)?|and\b|or\b|und\b|oder\b)"
_JOINT: Final = re.compile(rf"\s*{_AND}\s*\Z")
_MORE_MATHS: Final = re.compile(rf"\s*{_AND}\s*(?:\$|\\\()")
_EQUATION: Final = re.compile(r"[A-Za-z]\w{0,2}(?:_\{?\w{1,2}\}?)?\s*=[^=]+")
# "1/2, or 0.5" says one value twice.
_OTHER_FORM: Final = re.compile(
    r",?\s+or\s+(?=\$?[-−]?\d*\.\d+\$?\s*\Z|\$?[-−]?[\d.]+\s?\\?%\$?\s*\Z)"
)
_EXACT: Final = re.compile(r"\d\s?/\s?\d|\\[dt]?frac|\\sqrt|[√π]")
# "12 for the first and 7 for the second", "$18$ dollars and $50$ cents".
_PAIRED: Final = re.compile(
    rf"\A\S+?(?:\s+[A-Za-z.]+){{0,2}},?\s+(?:and|or|{TO})\s+(?:(?:maybe|possibly|perhaps)\s+)?(?:[-−$]|\\\()*\d"
    + r"|\s(?:for|in|to|if|when)\s[^.\d]{1,40}?\s(?:and|or)\s+(?:[-−$]|\\\()*\d"
)
_STATED_RATIO: Final = re.compile(
    r"(?:\b(?:is|are|was|were|be|of|as|equals|exactly)|[:=])\s+\Z|(\bfrom\s+)\Z"
)
_SEVERAL: Final = re.compile(r"(?:\bare|\beither|:|=)\s*(?:then\s*)?\Z")
_ADVERB: Final = re.compile(
    r"(?:either|also|therefore|thus|hence|then|simply|just|exactly|approximately|about|roughly|indeed|clearly"
    r"|equal\s+to|of\s+course|naturally|in\s+fact|again|as\s+expected|somit|daher|folglich|donc"
    r"|alors|quindi|dunque|portanto|entonces"
    r"|(?:l['’]|(?:la|le|el|die|der|das)\s+)?(?:option|opción|opzione|opção|вариант)\s+"
    r"(?=[(\[*]*[A-J]\b)|(?:la|le|el|die|der|das)\s+(?=[(\[*]*[A-J]\b)|≈|\\approx),?\s*",
    re.IGNORECASE,
)
_BEGIN: Final = re.compile(r"(?:[ \t:：\n},，、;→⇒_]|[-=]*=>|->|=(?![<=]))+")
_RULE: Final = re.compile(r"(?:[-=_]{3,}|•)\s+")
_BULLET: Final = re.compile(r"(?:[-=_]{3,}|[-•>])\s+")
_ITEM: Final = re.compile(r"[^\S\n]*[-•*]\s+(.{1,80}?)[.,;]?[^\S\n]*(?:\n|\Z)")
_GLOSS: Final = re.compile(r"(?<=\d)\s*\([A-Za-z][A-Za-z -]+\)\Z")  # 5 (five)
_SPELT: Final = re.compile(
    r"[a-z]+(?:[ -][a-z]+){0,4}\s*\(\s*\$?([-−]?\d[\d,.]*)\$?\s*\)\Z", re.IGNORECASE
)
_QUANTITY: Final = re.compile(
    r"((\$?[-−]?\$?\d[\d,]*(?:\.\d+)?(?:\s?\\?%)?)(?:\s+[^\W\d_]+)?)(?:\s+(?:in\s+(?:total|all)|altogether|overall|left(?:\s+over)?|remaining|each|total|combined)"
    r"|,?\s+(?:(?:rounded|correct)\s+)?to\s+(?:the\s+nearest\s+[a-z]+|(?:\d+|[a-z]+)\s+"
    r"(?:decimal\s+places?|decimals|significant\s+(?:figures|digits)|d\.?p\.?|s\.?f\.?))"
    r"|\s+of\s+(?:the|her|his|their|all|its)\s+[a-z]+(?:\s[a-z]+)?"
    r"|(?<=[^\W\d_])\s*\([^()\d]{2,40}\)|,\s+\d+\s+of\s+(?:them|these|which|whom)\b[^\d]*)?"
)
_JOINED_ELSEWHERE: Final = re.compile(r"(?<=[\d$)])\s+(und|oder|et|ou|y|o)\s+(?=[-−$\\]{0,2}\d|\$)")
_JOINTS: Final = {
    "und": " and ", "et": " and ", "y": " and ", "oder": " or ", "ou": " or ", "o": " or ",
}  # fmt: skip
_IS_VALUE: Final = re.compile(r"\bis\s+(?=[-$\\(]*\d|\$|\\\()")
_NAMED_VALUE: Final = re.compile(
    r"\\text\s*\{[^{}]*\}\s*=\s*(?=\S)|(?!(?:sin|cos|tan|log|exp|max|min|gcd|lcm|sec|csc|cot|arc|sqrt"
    r"|all real)\b)"
    r"[A-Za-z][a-z]{2,}(?: [A-Za-z]{1,12}){0,5}\s*=\s*(?=\S)"
)
_NUMBER: Final = re.compile(r"[-−]?(?:[$€£]\s?)?(?:\d[\d,]*(?:\.\d+)?|(?<!\d)\.\d+)(?:/\d+)?\s?%?")
_COPULA: Final = re.compile(
    r"(?:['’]|\s*)(?:です|である|だ|となります|になります|입니다|이다|이에요|예요|है|हैं|dir|dır|dur|dür|tir|tır)\Z"
)
_IDEOGRAPH: Final = re.compile("[一-鿿ぁ-ヿ가-힯]")
_IDEOGRAPHIC_LIST: Final = re.compile("[或和、，]|또는|または")
_MOST_WORDS: Final = 4
_PROSE: Final = re.compile(r"[A-Za-z]{2,}\s+(?:\d+\s+)?[A-Za-z]{2,}")
_NUMBER_BEFORE: Final = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?\s?\Z")
_UNIT: Final = re.compile(
    r"(?:\\(?:text|mathrm|mbox|rm)\s*\{?\s*[A-Za-z]{1,6}\s*\}?|[a-z]{1,3})(?:\^\{?[23]\}?)?"
)
_YES_NO: Final = re.compile(r"(?i:yes|no|true|false)(?=,\s)")
_WRAPPERS: Final = (
    ("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ('"', '"'), ("“", "”"), ("__", "__"),
    ("*", "*"), ("「", "」"), ("<<", ">>"),
)  # fmt: skip


def bald(answer: str) -> str:
    """Strip quotation marks, emphasis, a last comma and the dollar signs around mathematics."""
    answer = answer.strip().strip("`").strip()
    if answer[:2] == "**" and answer[-2:] == "**" and len(answer) > 4:
        answer = answer[2:-2].strip()
    elif answer.endswith("**") and answer.count("**") == 1:
        answer = answer[:-2].strip()  # the emphasis began before the answer
    elif answer.endswith("*") and answer.count("*") == 1:
        answer = answer[:-1].strip()
    answer = _without_comma(answer).removesuffix("/-")
    for left, right in _WRAPPERS:
        inner = answer[len(left) : -len(right)]
        if inner and answer.startswith(left) and answer.endswith(right) and left not in inner:
            answer = inner.strip()
    ended = answer.endswith((".", "。", "।")) and not answer.endswith("..")
    return _without_comma(answer[:-1].rstrip() if ended else answer)


def _without_comma(answer: str) -> str:
    while answer[-1:] in (",", ";", "，", "；", "、") and answer[-2:-1] != "\\":
        answer = answer[:-1].rstrip()
    return answer


def last_match(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    """Return the last of several matches."""
    found = None
    for match in matches:
        found = match
    return found


def _inside(maths: re.Match[str]) -> str:
    return next(part for part in maths.groups() if part is not None).strip()


def read_phrase(rest: str) -> str:
    """Take what a marker introduces: its mathematics, or its words up to the end of the clause."""
    begin = _BEGIN.match(rest)
    leading, rest = (begin[0], rest[begin.end() :]) if begin else ("", rest)
    if "\n" in leading and len(items := _items(rest)) > 1:
        return ", ".join(items)
    # On a line of its own a dash is a bullet, behind a mark it is a sign.
    bullet = _BULLET.match(rest) if "\n" in leading else _RULE.match(rest)
    start = bullet.end() if bullet else 0
    while adverb := _ADVERB.match(rest, start):
        start = adverb.end()
    rest = rest[start:]
    maths = _MATHS.match(rest)
    stop = _STOP.search(rest, maths.end() if maths else 0)
    phrase = rest[: stop.start()] if stop else rest
    if (other := _OTHER_FORM.search(phrase)) and _EXACT.search(phrase, 0, other.start()):
        phrase = phrase[: other.start()]
    paired = _PAIRED.search(phrase) is not None
    if maths and not _MORE_MATHS.match(rest, maths.end()) and not paired:
        return _inside(maths)
    if inner := _IS_VALUE.search(phrase):
        phrase = phrase[inner.end() :]
    if answer := _YES_NO.match(phrase):
        return answer[0]
    if len(WORD.findall(phrase)) > _MOST_WORDS or _is_ideographic(phrase):
        value = "" if paired else last_value(phrase)
        phrase = (asserted(phrase, value) if value else None) or phrase
    phrase = _COPULA.sub("", _GLOSS.sub("", phrase.strip()))
    phrase = quantity(_JOINED_ELSEWHERE.sub(lambda match: _JOINTS[match[1]], phrase))
    if spelt := _SPELT.fullmatch(phrase):
        return spelt[1]
    return unnamed(phrase)


def quantity(phrase: str) -> str:
    """Drop what is said of a number and its unit behind them: "18 apples in total"."""
    if not (whole := _QUANTITY.fullmatch(phrase)):
        return phrase
    return whole[1] if whole[1].isascii() else whole[2]


def _items(rest: str) -> list[str]:
    """List what the bulleted lines at the beginning of a text hold."""
    items, at = list[str](), 0
    while item := _ITEM.match(rest, at):
        items.append(item[1])
        at = item.end()
    return items


def unnamed(phrase: str) -> str:
    """Drop the words in front of an equals sign: "Total = 45"; a variable keeps its name."""
    named = _NAMED_VALUE.match(phrase)
    return phrase[named.end() :] if named else phrase


def _is_ideographic(phrase: str) -> bool:
    """Whether a phrase is a sentence without spaces, and not a list."""
    return bool(_IDEOGRAPH.search(phrase)) and not _IDEOGRAPHIC_LIST.search(phrase)


def last_value(phrase: str) -> str:
    """Take the last mathematics or number out of a sentence."""
    if maths := last_match(_MATHS.finditer(phrase)):
        return _inside(maths)
    numbers = _NUMBER.findall(phrase)
    return numbers[-1].strip().rstrip(",") if numbers else ""


def trailing_maths(sentence: str) -> tuple[str, str] | None:
    """Take the last mathematics or emphasis of a sentence, or several side by side, with its rule.

    "The roots are $1$ and $2$" names two; in "from $1$ we get $2$" only the last counts.
    """
    every = [maths for maths in _MATHS.finditer(sentence) if not _is_money(maths)]
    if not every:
        return None
    first = len(every) - 1
    while first and _JOINT.fullmatch(sentence, every[first - 1].end(), every[first].start()):
        first -= 1
    if ratio := _ratio(sentence, every):
        return ratio, "inline"
    before = sentence[max(0, every[first].start() - 12) : every[first].start()]
    how = "bold" if every[-1][5] else "inline"
    parts = [_inside(part) for part in every[first:]]
    if len(parts) > 1 and (_SEVERAL.search(before) or all(map(_EQUATION.fullmatch, parts))):
        return ", ".join(parts), how
    number = _NUMBER_BEFORE.search(sentence[: every[-1].start()])
    if number and _UNIT.fullmatch(parts[-1]):
        return number[0] + parts[-1], how
    return after_equals(_inside(every[-1])), how


def _ratio(sentence: str, every: list[re.Match[str]]) -> str:
    """Take "$5$ to $2$" behind a verb as a ratio, and "from $2$ to $5$" as a range."""
    if len(every) < 2 or not re.fullmatch(
        rf"\s+{TO}\s+", sentence[every[-2].end() : every[-1].start()]
    ):
        return ""
    stated = _STATED_RATIO.search(sentence[: every[-2].start()])
    return f"{stated[1] or ''}{_inside(every[-2])} to {_inside(every[-1])}" if stated else ""


def _is_money(maths: re.Match[str]) -> bool:
    """Whether two dollar signs stand for money: "3 pens are $12, so 1 pen is $4"."""
    return maths[3] is not None and "\\" not in maths[3] and bool(_PROSE.search(maths[3]))


def after_equals(maths: str) -> str:
    """Take the value at the end of a chain of equations."""
    if "\\begin" in maths:
        return maths
    maths = re.split(r"\\implies|\\Rightarrow|\\approx", maths)[-1]
    return EQUALS.split(maths)[-1].strip().rstrip(".,") or maths
