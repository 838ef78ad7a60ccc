"""Extraction of the final answer from a reply, or of the fact that it gives none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final, NamedTuple, TypeAlias, cast

from constraint_first.answer import marks
from constraint_first.answer.syntax import MONEY, is_known, unit_name
from constraint_first.answer.value import NUMERALS
from constraint_first.pattern import lazy_pattern
from constraint_first.thinking import without_thinking

_NOTHING: Final = frozenset(
    {"", "n/a", "na", "none", "null", "nil", "no answer", "unknown", "not found", "?", "...", "-"}
    | {"i don't know", "i do not know", "idk", "not available", "no final answer", "undetermined"}
    | {"unclear", "not sure", "tbd", "inconclusive", "…", "—", "___", "_", "??", "???"}
)
_TYPESETTING: Final = lazy_pattern(r"\\text\s*|[{}$*.]")
_NO_ANSWER: Final = lazy_pattern(r"no \w+ answer(?: (?:found|exists|available|possible|given))?")
_LONGEST_WORD: Final = 60
_LAST: Final = 300
"""Characters at the end of a reply in which giving up counts: earlier, it may be temporary."""

_FAILS: Final = (
    r"(?:(?:can|could|did|do|does|was|am|have|will|would)\s?(?:not|n['’]t)|can['’]t|won['’]t|"
    r"unable|not\s+able|failed|fail|impossible|not\s+possible|no\s+way|struggl\w+)"
)
_FINDS: Final = (
    r"(?:determined?|find|found|computed?|give|given|provided?|reach(?:ed)?|arrived?|obtain(?:ed)?"
    r"|derived?|produced?|solved?|know|completed?|finish(?:ed)?|help|concluded?|answer|got|get"
    r"|come\s+up|identify|decided?|figure|say|tell|state|assist|continue)"
)
_WANTED: Final = (
    r"(?:answers?|solution|problem|question|task|result|this|that|it|you|value|computation|rest"
    r"|proof|calculation)"
)
_GAVE_UP: Final = lazy_pattern(
    rf"\b{_FAILS}\s+(?:\w+\s+){{0,3}}?{_FINDS}\b(?:\s+\w+){{0,4}}?\s+{_WANTED}\b"
    rf"|\b(?:answer|solution|result|conclusion)\s+(?:\w+\s+){{0,4}}?{_FAILS}\s+(?:\w+\s+){{0,2}}?"
    rf"{_FINDS}\b"
    r"|\bno\s+(?:\w+\s+)?(?:answer|conclusion)\b(?!\s+choice)"
    r"|\b(?:do\s+not|don['’]t)\s+know\b|\b(?:not\s+sure|unsure|uncertain)\s+(?:\w+\s+){0,3}?"
    r"(?:answer|solution|result)\b|\bran\s+out\s+of\s+(?:time|space|tokens|room|budget)\b"
    r"|\bI\s+(?:give|gave)\s+up\b|\bstuck\b|\bI\s+(?:cannot|can['’]t|can\s+not)\s+(?:solve|answer|help)\b"
    r"|\b(?:without|before)\s+(?:\w+\s+){0,2}?(?:an?|the)\s+(?:\w+\s+)?answer\b",
    re.IGNORECASE,
)


def is_nothing(answer: str) -> bool:
    if len(answer) >= _LONGEST_WORD or answer.isdecimal():
        return False
    word = _TYPESETTING.sub("", answer).strip().lower()
    return word in _NOTHING or _NO_ANSWER.fullmatch(word) is not None


def abstains(text: str) -> bool:
    """Whether the last words of a reply say that it has no answer; "no solution" is one."""
    last = text[-_LAST:].rstrip().rpartition("\n")[2]
    return _GAVE_UP.search(re.split(r"(?<=[.!?])\s+(?=[A-Z])", last)[-1]) is not None


# An exact value with its approximation beside it: "1/6, or about 16.7%" is the answer 1/6.

_HINTS: Final = ("approx", "about", "roughly", "around", "simeq", "≈", "≃")
_LONGEST_VALUE: Final = 80
"""The most characters from the start of an exact value to its approximation."""
_WORDS: Final = r"(?:about|approximately|approx\.?|roughly|around)(?:\s+equal\s+to)?\s"
_NUMBER: Final = (
    r"\s{0,3}\$?\s?[-−]?\d[\d,]{0,20}(?:\.\d{1,20})?(?:\.{3}|…|\s?\\?%)?"
    r"(?:\s?=\s?\d[\d.]{0,20}\s?\\?%)?\$?(?![\d%]|[.,]\d|\s?[-−+*/^=×·]|\s?\\(?:times|cdot|pi)(?![a-z]))"
)
_APPROXIMATION: Final = lazy_pattern(
    rf"(?:\s|\\[,;:! ]|\\q?quad){{0,3}}(?:\\approx|\\simeq|≈|≃){_NUMBER}"
    rf"|\s?\((?:or\s|which\sis\s|i\.e\.,?\s)?(?:{_WORDS}|\$?(?:\\approx|\\simeq|≈|≃)){_NUMBER}"
    r"(?:\s?[a-zA-Z]{1,10}[²³]?){0,2}\)"
    rf"|,?\s(?:or|which\s(?:is|equals)|i\.e\.,?|that\sis,?)\s(?:{_WORDS}|\$?(?:\\approx|≈)){_NUMBER}",
    re.IGNORECASE,
)
# An integer beside a rough number is seldom the same thing: "40 students, or about 10 per class".
_EXACT: Final = lazy_pattern(r"\d\s?/\s?\d|[π√∛^]|\\(?:pi|[dt]?frac|sqrt|ln|log|binom)(?![a-z])")
_CALCULATION: Final = lazy_pattern(r"\d\.\d|[×÷≈]|\\(?:times|div|approx)(?![a-z])")
_ROUNDED: Final = lazy_pattern(r"\bround(?:ed|ing|s)?\b|\bnearest\b|\bdecimal\b", re.IGNORECASE)
_SENTENCE_END: Final = lazy_pattern(r"[.!?](?=\s|\Z)|\n")


def without_approximation(text: str) -> str:
    """Drop the rough numbers that follow their exact values, unless a rounded one is asked for."""
    if not any(map(text.__contains__, _HINTS)):
        return text
    kept, end = list[str](), 0
    for match in _APPROXIMATION.finditer(text):
        if _repeats_exact_value(text, match):
            kept.append(text[end : match.start()])
            # The dollar sign may close a formula that opened before the approximation: keep it.
            end = match.end() - (match[0].endswith("$") and match[0].count("$") == 1)
    return "".join(kept) + text[end:]


def _repeats_exact_value(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _LONGEST_VALUE) : match.start()]
    value = marks.EQUALS.split(marks.WORD.split(before)[-1])[-1]
    is_money = match[0].count("$") == 1 and not match[0].endswith("$")  # rounded to cents
    if is_money or not _EXACT.search(value) or _CALCULATION.search(value):
        return False
    after = text[match.end() : match.end() + _LONGEST_VALUE]
    return not _ROUNDED.search(_SENTENCE_END.split(after, maxsplit=1)[0])


# A reply may verify its answer after stating it; the verification must not be read as the answer.

_LONGEST_CHECK: Final = 600
_CHECK: Final = lazy_pattern(
    r"(?:^|(?<=[.!?*$)]))\s{0,4}[*_#]{0,4}\s?"
    r"(?:(?:let['’]s|let\s(?:me|us)|let|we|you|i|i['’]ll|can|to|now|quick|quickly|just|a|as|for)\s){0,4}"
    r"(?:(?:double|sanity|cross)[- ]?check(?:ing)?|verif(?:y|ication|ying)"
    r"|check(?=[*_]{0,4}[:,]))\b"
    r"(?!\s(?:each|all|every|which|whether|both|these|those|them|the\s(?:cases|candidates|options)))",
    re.IGNORECASE | re.MULTILINE,
)
_STEP: Final = lazy_pattern(r"\n[\s#*]{0,8}(?:step\s)?\d{1,2}[.):][\s*]{0,8}\Z", re.IGNORECASE)
"""The number of the step that is the check: "5. **Verify the answer**"."""
_LONGEST_STEP: Final = 40
# Words in a check that retract the answer or lead to another one.
_TURN: Final = lazy_pattern(
    r"\b(?:wait|actually|hold\son|oops|mistake|wrong|incorrect|but|however|fails?|failed|only"
    r"|instead|remains?|leaves|leaving|not|doesn['’]t)\b",
    re.IGNORECASE,
)
_CONCLUSION: Final = lazy_pattern(
    r"(?:^|(?<=[.!?])\s)[*_]{0,3}(?:so|thus|hence|therefore|in\s(?:total|all)|finally)\b[^\n]{0,200}"
    r"|(?:(?<=[.!?])\s|\n\n)[*_]{0,3}(?-i:[A-Z])[^\n\d]{0,100}\d[^\n]{0,100}",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIRMS: Final = lazy_pattern(
    r"\b(?:works?|holds?|checks?|correct|right|consistent|satisf\w{2,5}|confirm\w{0,3}|indeed"
    r"|verified|match(?:es)?|valid|agrees?)\b|[✓✔✅☑]|\\checkmark",
    re.IGNORECASE,
)


def without_check(text: str) -> str:
    """Remove the check at the end of a reply, unless the check comes to its own conclusion."""
    if "heck" not in text and "erif" not in text:
        return text
    starts = [match.start() for match in _CHECK.finditer(text)]
    near = [start for start in starts if len(text) - start <= _LONGEST_CHECK]
    if not near:
        return text
    check = text[near[0] :].lstrip()
    concludes = any(not _CONFIRMS.search(end[0]) for end in _CONCLUSION.finditer(check))
    if concludes or _TURN.search(check):
        return text
    step = _STEP.search(text, max(0, near[0] - _LONGEST_STEP), near[0])
    return text[: step.start() if step else near[0]]


# Signs before a value: "- 31", "minus 31" and "$-$31" are rewritten to "-31".

JOINING: Final = r"\dA-Za-z_À-ɏͰ-ӿ"
"""Characters after which a hyphen joins a word. Chinese, Japanese, Thai and other scripts are left
out: they have no hyphens, and a minus sign follows their characters without a space."""
_WIDE: Final = str.maketrans("０１２３４５６７８９－﹣＋．％／＝", "0123456789--+.%/=")
# The Japanese long-vowel mark typed as a minus sign: it is one where no kana precedes it.
_LONG: Final = lazy_pattern(r"(?<![ァ-ヿ])ー(?=[^\S\n]?\d)")
_SIGNS: Final = (
    *("- ", "-\t", "-$", "-\\", "-€", "-£", "-\xa0", "−", "–", "负", "負", "マイナス", "마이너스"),
    *("minus", "negativ", "moins", "menos", "meno", "минус"),
)
_DASH: Final = "[-−–]"
_SPACE: Final = r"[^\S\n]"
_NUMERALS: Final = "|".join(NUMERALS)
_VALUE: Final = (
    rf"(?=(?:\\?[$€£]{_SPACE}?|\(|\.)?\d|\\(?:[dt]?frac|sqrt|pi|infty)(?![a-z])|[π√∞]"
    r"|[b-z](?![A-Za-z'’]))"
)
# A dash with a space behind it is a minus sign after a verb, a relation or a bracket. After a noun
# it is punctuation ("Total cost - 31 dollars"), at the beginning of a line a bullet.
_SPACED: Final = lazy_pattern(
    r"((?i:\A|[=:：(\[{<>≤≥≈,;#]|\b(?:is|are|was|were|be|equals?|to|of|at|by|and|or|than|get|gets"
    r"|have|gives?|yields?|obtain|becomes|either|so|thus|hence|therefore|about|approximately|ist|sind|lautet|beträgt|und"
    r"|oder|est|vaut|es|son|è|é|jest|это)|[是为為は等于於得到即が]|[가-힣][은는이가]|\d[;,])"
    rf"[*_$]{{0,3}}{_SPACE}{{0,3}}[*_$]{{0,3}}){_DASH}{_SPACE}{{1,3}}{_VALUE}"
)
_WORD: Final = lazy_pattern(
    r"(?:(?<![\d)}$] )(?<![\w-])(?<!\b[A-Za-z] )(?<!\bor )(?:\\text\s*\{\s*)?"
    rf"(?i:minus|negative|negativ|moins|menos|meno|минус){_SPACE}{{1,2}}|(?:[负負]|マイナス|마이너스){_SPACE}?)"
    rf"(?:\}}\s*(?=\d)|(?=[$\\(]{{0,2}}\d|\\[dt]?frac|(?i:{_NUMERALS})\b(?!\s+[a-z])))"
)
_NUMERAL: Final = lazy_pattern(rf"-({_NUMERALS})\b(?!\s+[a-z])", re.IGNORECASE)
_EITHER: Final = lazy_pattern(r"(?i:\bplus\s+or\s+minus\s+)(?=[$\\(]{0,2}\d)")
_ALONE: Final = lazy_pattern(rf"\$\s?{_DASH}\s?\$\s?(?=[\d(])")
_BEFORE_MONEY: Final = lazy_pattern(
    rf"(?<![{JOINING})}}]){_DASH}{_SPACE}?(\\\$|[€£]){_SPACE}?(?=\d)"
)
_TYPED: Final = lazy_pattern(rf"(?<![{JOINING})}}]){_DASH}(?=[$\\(]?\d)")


# Words of languages that write 1.234,5. A text needs two of them and no English word.
_COMMA_WORDS: Final = lazy_pattern(
    r"\b(?:ist|und|die|der|das|sie|wir|also|insgesamt|daher|somit|lautet|beträgt|antwort|ergebnis|euro"
    r"|kostet|hat|haben|für|pro|sind|es|eine?|macht|zusammen|est|donc|les|une|réponse|sont|respuesta|los|por|lo|risposta|sono)\b",
    re.IGNORECASE,
)
_ENGLISH: Final = lazy_pattern(r"\b(?:the|is|are|of|and|we)\b", re.IGNORECASE)
_THOUSANDS: Final = lazy_pattern(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])")
_DECIMAL: Final = lazy_pattern(r"(?<![\d.,])(\d+),(\d{1,2}|\d{4,})(?![\d,])")


def with_decimal_points(text: str) -> str:
    """Write numbers such as 1.234,5 with a decimal point, in languages with a decimal comma."""
    if not (_THOUSANDS.search(text) or _DECIMAL.search(text)) or _ENGLISH.search(text):
        return text
    if len({word.lower() for word in _COMMA_WORDS.findall(text)}) < 2:
        return text
    text = _THOUSANDS.sub(lambda match: match[0].replace(".", ""), text)
    return _DECIMAL.sub(r"\1.\2", text)


def with_plain_signs(text: str) -> str:
    """Write every minus sign as a hyphen that touches its value; leave other dashes alone."""
    text = text if text.isascii() else _LONG.sub("-", text.translate(_WIDE))
    if not any(map(text.lower().__contains__, _SIGNS)):
        return text
    text = _EITHER.sub(r"\\pm ", _ALONE.sub("-", text))
    # One line that begins with a dash is a value; the first of several lines may be a bullet.
    if "\n" in text and text[:1] in "-−–":
        text = text[:1] + _SPACED.sub(r"\1-", text[1:])
    else:
        text = _SPACED.sub(r"\1-", text)
    text = _NUMERAL.sub(lambda match: f"-{NUMERALS[match[1].lower()]}", _WORD.sub("-", text))
    return _BEFORE_MONEY.sub(r"\1-", _TYPED.sub("-", text))


# Replies that are nothing but an answer, or that end in one; each rule has a name.

Found: TypeAlias = "tuple[str, str] | None"

_SHORT: Final = 200
_MOST_WORDS: Final = 4
_DISPLAY: Final = lazy_pattern(
    r"(?:\\\[((?:(?!\\\[).)+?)\\\]|\$\$([^$]+)\$\$)\s*[.。]?\Z", re.DOTALL
)
_PLEASANTRY: Final = lazy_pattern(
    r"\s*(?:I hope|Hope|Let me know|Feel free|Please let|Is there anything|Would you|Do you"
    r"|Does th|This completes)[^.!?\n]{0,120}[.!?]?\s*\Z"
)
_FLOURISH: Final = lazy_pattern(
    r"(?:\s|[✓✔✅🎉☑∎■□😊]|\n-{3,}|\ufe0f|\$?\\(?:blacksquare|square|qed|checkmark)\$?|Q\.E\.D\.|QED)+\Z"
)
_LAST_WORDS: Final = 300
_BOLD: Final = lazy_pattern(r"(?<![\w)*])\*\*(?=[^\s*])")
# ASCII without the characters of answer marks, emphasis and equations.
_PLAIN: Final = lazy_pattern(r"[!\"$-)+-9;<>-~]+")
_PROSE_NUMBER: Final = lazy_pattern(
    rf"(?:(?<![{JOINING})}}\]])[-−]|±\s?|\\pm\s?)?(?:\\?[$€£]\s?[-−]?)?(?:\d[\d,]*(?:\.\d+)?|(?<!\d)\.\d+)(?:/\d+|(?::\d+)+)?(?:\s?[%万亿]|°(?!\s?[CF]))?"
)
_IRRATIONAL: Final = lazy_pattern(
    rf"[-−]?(?:\(\d{{1,9}}/\d{{1,9}}\)|\d{{1,20}}(?:/\d{{1,9}})?|(?<![{JOINING})]))\s?(?:π|√\d{{1,20}})(?!\w)"
    rf"(?:/\d{{1,9}})?|{_PROSE_NUMBER.pattern}"
)
_MEMBER: Final = r"[-−]?\\?[$€£]?\d+(?:,\d{3})*(?:[./]\d+)?(?:\s?%)?"
_OR: Final = r"(?:and|or|und|oder|y|et|ou)(?:\s+(?:maybe|possibly|perhaps))?"
_BEHIND: Final = r"(?:\s+(?!is\b|are\b|so\b|we\b)[a-z]{1,12}){0,2}\s*[.!]?\Z"
# Numbers at the end of a sentence: after a verb or a colon, or joined by "and", "or", semicolons.
_NUMBERS: Final = lazy_pattern(
    rf"(?:\b(?:are|is|was|were|be|of)|:|=)\s+((?:{_MEMBER}[,;]\s+){{1,12}}{_MEMBER})[.!]?\Z"
    rf"|(?<![\w.,\\])((?:{_MEMBER}[,;]\s+){{0,12}}{_MEMBER}(?:,?\s+{_OR}\s+{_MEMBER}|;\s+{_MEMBER}))"
    rf"{_BEHIND}"
)
# "5 to 2" after a verb is a ratio, "from 2 to 5" a range; "4.7 to 5" may be a rounding.
_RATIO: Final = lazy_pattern(
    r"(?:\b(?:is|are|was|were|be|of|as|to|by|won|lost|equals|exactly)|[:=])\s+"
    rf"((?:from\s+)?{_MEMBER}(?:\s+{marks.TO}\s+{_MEMBER}){{1,3}}|{_MEMBER}(?:\s:\s{_MEMBER}){{1,3}}){_BEHIND}"
    rf"|\b(from\s+{_MEMBER}\s+{marks.TO}\s+{_MEMBER}){_BEHIND}"
)
_NAME: Final = r"[A-Za-z](?:_?\w|_\{\w{1,2}\})?"
_EQUATIONS: Final = lazy_pattern(
    rf"(?<![\w\\])({_NAME}\s?=\s?{_MEMBER}"
    rf"(?:(?:[,;]|[,;]?\s+{_OR})\s+{_NAME}\s?=\s?{_MEMBER}){{1,12}})[.!]?\Z"
)
_RELATION: Final = r"\s?(?:[<>]=?|[≤≥≠]|!=)\s?"
_INEQUALITY: Final = rf"(?:{_MEMBER}{_RELATION})?{_NAME}{_RELATION}{_MEMBER}"
# Chains and unions: "3 < x < 5", "x < 3 or x > 5".
_INEQUALITIES: Final = lazy_pattern(
    rf"(?<![\w\\])({_MEMBER}{_RELATION}{_NAME}{_RELATION}{_MEMBER}"
    rf"|{_INEQUALITY}(?:(?:,|,?\s+(?:and|or))\s+{_INEQUALITY}){{1,6}})[.!]?\Z"
)
_MEASURE: Final = (
    r"(?:hours?|minutes?|seconds?|days?|weeks?|months?|years?|feet|foot|inch(?:es)?|yards?|miles?"
    r"|pounds?|ounces?|dollars?|cents?|euros?|metres?|meters?|centimet(?:re|er)s?|kilomet(?:re|er)s?"
    r"|kg|grams?|litres?|liters?|h|min|ft|in|lbs?|oz|km|cm|m)"
)
# One quantity in two units: "2 hours and 30 minutes", "5 feet 6 inches".
_TWO_UNITS: Final = lazy_pattern(
    rf"({_MEMBER}\s?{_MEASURE},?\s+(?:and\s+)?{_MEMBER}\s?{_MEASURE})(?:\s+[a-z]{{2,12}}){{0,2}}\s*[.!]?\Z"
)
_SHARES: Final = lazy_pattern(
    rf"({_MEMBER}\s+(?:for|if|when)\s+[^.\d]{{1,40}}?\s+(?:and|or)\s+{_MEMBER}\s+(?:for|if|when)\s+"
    r"[^.\d]{1,40})[.!]?\Z"
)
_DIFFERENCE: Final = lazy_pattern(rf"{_MEMBER}\s?[-–—]\s?\Z")
_BRACKETED: Final = (
    r"(?:\\left\s?)?(?:\\?\{|[(\[])(?:[^(){}\[\]\n]|\{[^{}\n]{0,40}\}){1,120}?"
    r"(?:\\right\s?)?(?:\\?\}|[)\]])"
)
# A set, an interval or a point at the end of a sentence: "x ∈ {1, 2}", "the range is [0, 2)".
_SET: Final = lazy_pattern(
    r"(?:(?:∈|\\in(?![a-z]))|\b(?:is|are|get)\b|=)\s*"
    rf"({_BRACKETED}(?:\s?(?:∪|\\cup)\s?{_BRACKETED}){{0,6}})\s*[.!]?\Z"
)
_SET_STATED: Final = lazy_pattern(
    r"(?:\A|\b(?:so|thus|hence|therefore|then|that|means|implies|gives?|get|obtain|have|iff)"
    r"|[,:⇒→⟹]|\\(?:implies|Rightarrow))\s*(?:[A-Za-z]\w?\s*)?\Z",
    re.IGNORECASE,
)
# Letters that are not words of a sentence: LaTeX, formulas, units, a bare yes or no.
_TYPESET: Final = lazy_pattern(
    r"\\(?:begin|end|text|mbox|mathrm|textbf)\s*\{[^{}]*\}|\$[^$]*\$|(?<=\d)[A-Za-z]{1,3}\b|\b(?:and|or)\b"
    r"|\A(?:yes|no|true|false)\.?\Z",
    re.IGNORECASE,
)
_BULLET: Final = lazy_pattern(r"[-•*]\s+(\S[^\n]{0,60})")
_TEXT: Final = lazy_pattern(r"\\text\s*\{([^}]*)\}")
_STATED_LAST: Final = lazy_pattern(r"(?:\b(?:is|are|get|equals)|=|:)\s*\S{1,20}$")
_SENTENCE_WORDS: Final = frozenset(
    "is are was so thus hence therefore we get she he it there they have has must can could "
    "follows i you not would choose".split()
)
# A sentence in a script whose words are not counted above.
_FOREIGN: Final = lazy_pattern(
    r"[一-鿿ぁ-ヿ가-힯]{2,}[是为為は]\s*[-−$\\\d]|[฀-๿]{4,}[^\n]*\d|"
    r"[一-鿿ぁ-ヿ가-힯]{13,}|\A[一-鿿ぁ-ヿ가-힯，、]{2,}[^\n]*[\d$]|(?:[^\x00-ӿ一-鿿ぁ-ヿ가-힯\s]{2,}\s+){5,}"
)
_PHRASE_BEFORE_NUMBER: Final = lazy_pattern(r"[^\W\d_]+(?:['’ ] ?[^\W\d_]+)+ [-−$€£]*\.?\d")
_BETWEEN_NUMBERS: Final = lazy_pattern(r"[A-Za-z]{2,} -?\d[\d.,]* [A-Za-z]{2,} -?\d")
# A dash may stand for the colon: "Total cost - 31 dollars".
_LABEL: Final = lazy_pattern(
    r"\**(?!(?:pi|sin|cos|tan|log|exp|sqrt|theta|alpha|beta)\b)[^\W\d_][^\W\d_]+(?:\s+[^\W\d_]+){0,5}\**"
    r"(?:\s*[:：]\**\s*(?=\S)|(?<=[^\W\d_]{2})\s[-–—]\s(?=[$€£]?\d[^=]*\Z))"
)
_PROSE_VALUE: Final = lazy_pattern(r"\d|\\[A-Za-z]|\A\S+(?:\s\S+)?\Z")
_ARITHMETIC: Final = lazy_pattern(r"\\(?:[dt]?frac|sqrt|cdot|times|div|left|right|[dt]?binom)")
_LEAD_IN: Final = lazy_pattern(
    r"(?:∴|⇒|→|\\therefore|=+>|-+>)\s*|\A(?:≈|\\approx(?![a-z])"
    r"|(?i:about|approximately|approx\.?|roughly|around)\s+(?=[$€£]?\d))\s*"
)
_SPEAKER: Final = lazy_pattern(r"I(?:['’][a-z]{1,2})?\s[a-z']{2,}")
_ASIDE: Final = lazy_pattern(
    r"\s+\((?!(?:\\?mod|\\pmod)\b)(?=[^\W\d_]{2}|[≈~=])[^()\n]{0,80}\)\s*(?=[.!]?\Z)"
)
_BECAUSE: Final = lazy_pattern(r"\s+\((?:since|because|as|given|note)\s[^()\n]{1,80}\)\Z")
_NONE_EXIST: Final = lazy_pattern(
    r"\b(no\s+(?:(?:real|integer|positive|rational|such|valid|possible|common|other)\s+){0,2}"
    r"(?:solutions?|roots?)|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers|does\s+not\s+exist|undefined|DNE"
    r"|(?:con|di)vergent|diverges|converges(?:\s+(?:absolutely|conditionally))?|none\s+of\s+(?:these|the\s+above))"
    r"(?:\s+(?:exists?|in\s+\w+|to\s+th(?:e|is)\s+(?:equation|system|problem|inequality)))?[.!]?\Z",
    re.IGNORECASE,
)
_EXCEPT: Final = lazy_pattern(
    r"\ball\s+real\s+numbers\s+except\s+(?:for\s+)?[^.]{1,60}(?=\.?\Z)", re.IGNORECASE
)
# Subordinate clauses with numbers of their own, cut off before the last number is read:
# "24 apples left after giving away 6", "5 when x = 3".
_MOST_REASONS: Final = 4
_REASON: Final = lazy_pattern(
    r",?\s+(?:as|since|because|given\s+that|rather\s+than|instead\s+of|as\s+opposed\s+to|and\s+not|not"
    r"|unlike)\s|\s+\((?=[^()]*\Z)"
)
_SPLIT_EQUATION: Final = lazy_pattern(r"\$([^$]*=)\s*\$\s*(?=[-−]?\d)")  # "$k =$ 7"
_SUBORDINATE: Final = lazy_pattern(
    r",?\s+(?:after|when|because|since|before|once|attained|achieved|reached|provided|if)\s"
    r"(?!.*\b(?:we|gets?|gives?|then|so|is|are|has|have|becomes?|obtain|equals)\b)"
    r"|(?<=[\d$%])\s+(?:for|on)\s+(?:all\s+|every\s+)?\$?[A-Za-z]\s?(?:∈|\\in(?![a-z]))"
    r"|(?<=\$),?\s+where\s+\$?[A-Za-z]\$?\s+(?:is|denotes)\s+(?:an?|the)\s+[^$\d]*\Z"
    r"|(?<=\$),?\s+for\s+(?:all\s+)?\$(?:\|[a-z]\|\s*<|[a-z]\s*(?:\\neq?(?![a-z])|≠))[^$]*\$"
    r"|,\s+with\s|,\s+which\s+(?:is\s+)?(?:occurs?|happens?|attained|achieved|reached|holds|less"
    r"|more|greater|smaller|larger|fewer)\b"
)
_BROKEN_OFF: Final = lazy_pattern(
    r"(?:[=+*/,(]|\b(?:is|are|the|an?|and|or|of|to|so|which|that|leaves|gives|equals|be|than|with|we))\s*\Z"
)
# A few words that lead to mathematics: "By symmetry, $f'(x) = 2x$", "The angle equals $\\pi$".
_LED_TO: Final = lazy_pattern(
    r"[A-Z][a-z]+(?:[^$\n]|\$[A-Za-z]\$)*?(?:,|\b(?:equals|gives|yields))\s*"
    r"(?:\$[^$]+\$|\\\[.+\\\]|\\\(.+\\\))\s*\.?",
    re.DOTALL,
)
_VERB: Final = lazy_pattern(r"(?:\bis|\bare|\bequals|\bget|=)\s+|[是为為は]\s*")
_RETRACTION: Final = lazy_pattern(
    r"\b(?:wait|actually|hold\s+on|oops|scratch\s+that|that['’]s\s+(?:wrong|not\s+right|incorrect)"
    r"|i\s+made\s+a\s+(?:mistake|slip)|on\s+second\s+thought)\b",
    re.IGNORECASE,
)
_PROSE_CONCLUSION: Final = lazy_pattern(
    r"\b(?:so|thus|hence|therefore|it['’]s|it\s+is|should\s+be|must\s+be|instead|correct|then)\b",
    re.IGNORECASE,
)


def bare(text: str) -> str | None:
    """Return the text where all of it is an answer, else None."""
    if len(text) > marks.LONGEST_ANSWER:
        return text if text.lstrip("+-")[:32].isdigit() and text.lstrip("+-").isdigit() else None
    if "exist" in text and (none := _NONE_EXIST.fullmatch(text)):
        return none[1]
    if _PLAIN.fullmatch(text):
        return marks.lone_letter(text) or marks.bald(text)
    if marks.has_marker(text) or (" " in text and _BOLD.search(text, 1)):
        return None
    words = [word.lower() for word in marks.WORD.findall(_TEXT.sub(r" \1 ", text))]
    if len(words) > _MOST_WORDS or _SENTENCE_WORDS.intersection(words) or _SPEAKER.match(text):
        return None
    if not text.isascii() and _FOREIGN.search(text):
        return None
    if words and "\n" in text and "\\begin" not in text:
        return None
    if "answer" in words or _BETWEEN_NUMBERS.match(text):
        return None
    if _PHRASE_BEFORE_NUMBER.match(text) or _LABEL.match(text) or _LED_TO.fullmatch(text):
        return None
    text = _BECAUSE.sub("", text)
    if letter := marks.lone_letter(text) or marks.leading_letter(text):
        return letter
    if (words or not text.isascii()) and marks.from_choice(text):
        return None
    text = marks.unnamed(_LEAD_IN.sub("", text, count=1))
    if "\\text" in text and any(marks.bounds(plain := _TEXT.sub(r"\1", text), 0, plain.find(" "))):
        return plain
    parts = marks.EQUALS.split(text)
    # "2 + 3 = 5" becomes 5; "3 = x" is kept.
    calculated = len(parts) > 1 and not re.fullmatch(r"\s*[A-Za-z]\s*", parts[-1])
    sums = calculated and not re.search(r"[A-Za-z]", _ARITHMETIC.sub("", "".join(parts[:-1])))
    return marks.quantity(marks.bald(parts[-1] if sums and parts[-1].strip() else text))


def from_end(text: str) -> Found:
    """Read a display formula, emphasis or a number at the very end; never further back."""
    text = _trimmed(text)
    if display := _DISPLAY.search(text):
        return marks.after_equals((display[1] or display[2]).strip()), "display"
    line = text.rstrip().rpartition("\n")[2].strip()
    wordless = line != text.strip() and not marks.WORD.search(_TYPESET.sub(" ", line))
    if wordless and (answer := bare(line)):
        return (", ".join(items) if len(items := _bullets(text)) > 1 else answer), "last line"
    label = _LABEL.match(line)
    value = line[label.end() :] if label else ""
    if _PROSE_VALUE.search(value) and (answer := bare(value)):
        return answer, "label"
    return _from_sentence(re.split(r"(?<=[.!?])\s+(?=[A-Z])", line)[-1], short=len(text) < _SHORT)


def _bullets(text: str) -> list[str]:
    lines = reversed(text[-_LAST_WORDS:].rstrip().split("\n"))
    bullets = takewhile(bool, (_BULLET.fullmatch(line.strip()) for line in lines))
    return [bullet[1] for bullet in bullets if bullet][::-1]


def _trimmed(text: str) -> str:
    start, tail = text[:-_LAST_WORDS], text[-_LAST_WORDS:]
    while (shorter := _PLEASANTRY.sub("", tail)) != tail:
        tail = shorter
    return start + _FLOURISH.sub("", tail)


def _from_sentence(sentence: str, *, short: bool) -> Found:
    """Read the value at the end of a sentence, with its bound; None where the value is denied."""
    sentence = _SPLIT_EQUATION.sub(r"\1 ", sentence)
    for _ in range(_MOST_REASONS):
        if (found := _last_value(sentence, short=short)) is None:
            return None
        if (answer := marks.asserted(sentence, found[0])) == found[0]:
            return found
        # A value bounded or denied in a reason is not the answer: "it is 6, since it cannot be 5".
        reasons = _REASON.finditer(sentence, 0, max(0, sentence.rfind(found[0])))
        if (reason := marks.last_match(reasons)) is None:
            return (answer, found[1]) if answer else None
        sentence, short = sentence[: reason.start()], True
    return None


def _last_value(sentence: str, *, short: bool) -> Found:
    # A short reply may omit the full stop; a long reply without one was cut off.
    finished = short or sentence.endswith((*".。!$*)", "\\)"))
    if aside := _ASIDE.search(sentence):
        before = sentence[: aside.start()]
        if "$" in before or _PROSE_NUMBER.search(sentence, 0, aside.start()):
            sentence = before + sentence[aside.end() :]
    clause = _SUBORDINATE.search(sentence)
    if clause and _PROSE_NUMBER.search(sentence, 0, clause.start()):
        sentence = sentence[: clause.start()]
    if finished and (exception := _EXCEPT.search(sentence)):
        return exception[0].replace("$", ""), "words"
    if finished and (maths := marks.trailing_maths(sentence)):
        return maths
    if several := _several(sentence):
        return several, "last numbers"
    if members := _set(sentence):
        return members, "last set"
    verb = marks.last_match(_VERB.finditer(sentence)) if finished and "\\" in sentence else None
    rest = sentence[verb.end() :] if verb else ""
    if "\\" in rest and not marks.WORD.search(rest) and (latex := marks.bald(rest)):
        return latex, "last value"
    exact = "π" in sentence or "√" in sentence
    number = marks.last_match((_IRRATIONAL if exact else _PROSE_NUMBER).finditer(sentence))
    if number and (finished or _STATED_LAST.search(sentence)) and not _BROKEN_OFF.search(sentence):
        range_ = _DIFFERENCE.search(sentence, 0, number.start())
        start = range_.start() if range_ else number.start()
        return sentence[start : number.end()].strip().rstrip(","), "last number"
    none = _NONE_EXIST.search(sentence)
    return (none[1], "words") if none else None


def _several(sentence: str) -> str:
    """Extract the numbers or equations at the end of a sentence, or a quantity in two units."""
    patterns = (_INEQUALITIES, _EQUATIONS, _TWO_UNITS, _SHARES, _NUMBERS, _RATIO)
    matches = (pattern.search(sentence) for pattern in patterns)
    found = next(filter(None, matches), None)
    return next(filter(None, found.groups())) if found else ""


def _set(sentence: str) -> str:
    """Extract the set or interval at the end of a sentence, unless a number precedes it."""
    found = _SET.search(sentence) if sentence.rstrip(".!")[-1:] in (")", "]", "}") else None
    if found is None or ("," not in found[1] and "{" not in found[1]):
        return ""
    before = sentence[: found.start()]
    return found[1] if _SET_STATED.search(before) or not _PROSE_NUMBER.search(before) else ""


def corrected(text: str, marked: str) -> Found:
    """Read the answer at the end of a reply that retracts the answer stated before."""
    stated = text.rfind(marked)
    retraction = _RETRACTION.search(text, stated + len(marked)) if stated >= 0 else None
    if retraction is None:
        return None
    rest = text[retraction.end() :]
    if instead := _PROSE_NUMBER.fullmatch(rest.strip(" ,.:;!–—$*\n")):
        return instead[0], "correction"
    return concluded(rest)


def concluded(text: str) -> Found:
    """Read the answer of a last sentence that is worded as a conclusion ("so", "therefore")."""
    line = _trimmed(text).rpartition("\n")[2]
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])", line)[-1]
    return _from_sentence(sentence, short=True) if _PROSE_CONCLUSION.search(sentence) else None


# Answers in JSON, valid or damaged: single fields, whole objects, LaTeX commands that JSON
# escapes have corrupted.

_OBJECT_START: Final = lazy_pattern(r"^[^\S\n]*\{\s*[\"'}]", re.MULTILINE)
_OBJECT_END: Final = lazy_pattern(r"\}\s*(?:```)?\s*\Z")
_BAD_ESCAPE: Final = lazy_pattern(r"\\(?![\"\\/u])")
_NAMES: Final = (
    *"finalanswer correctanswer answer answers".split(),
    *marks.ANSWER_WORDS,
    *"答案 정답 答え ans final finalresult result results correctoption correctchoice".split(),
    *"option choice".split(),
    *"selected output value solution response prediction".split(),
)
"""Names of the field with the answer, the most reliable first."""
_LONGEST_FIELD: Final = 300
_MOST_OBJECTS: Final = 4


def find_object_answer(text: str) -> str | None:
    """Find the answer in the JSON object at the end of a reply; None where it has no such field."""
    if _OBJECT_END.search(text, max(0, len(text) - 40)) is None:
        return None
    starts = [match.start() for match in _OBJECT_START.finditer(text)]
    for start in starts[:3]:
        raw = text[start : text.rindex("}") + 1].strip()
        # Models often forget to double the backslashes of LaTeX, so try both readings.
        for json_text in (raw, _BAD_ESCAPE.sub(r"\\\\", raw)) if len(raw) < _MAX_VALUE else ():
            with suppress(ValueError, RecursionError):
                if isinstance(value := json.loads(json_text), dict):
                    return _answer(cast("dict[str, object]", value), _MOST_OBJECTS)
                break
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
        return value if len(value) < _LONGEST_FIELD else None
    return json.dumps(value)


# LaTeX commands in JSON strings, where ``\f``, ``\t`` and ``\n`` are escapes too.
#
# "\frac" written with one backslash is valid JSON, and decodes to a form feed and "rac". Most of
# these control characters never occur in mathematics, so before a letter they are a damaged
# command. Tabs and line breaks do occur: they are one only before the rest of a command's name.

COMMAND_AFTER_N: Final = r"(?:eq?|u|abla|otin?|eg|mid|less|leq|geq|ewline|ot|cong)(?![a-z])"
r"""The rest of the commands that begin with ``\n``."""
COMMAND_AFTER_T: Final = (
    r"(?:anh?|ext(?:bf|it|rm|sf|tt|sc|up|normal|style)?|imes|heta|au|frac|op?|riangle[a-z]*"
    r"|herefore|binom|ilde)(?![a-z])"
)
r"""The rest of the commands that begin with ``\t``."""

_AFTER_R = r"(?:ho|ight(?:arrow)?|angle|floor|ceil|vert|brace|brack)(?![a-z])"
# Line breaks are common in prose, so names that are also words (``\not``, ``\less``) are left out.
_EATEN: Final = lazy_pattern(
    rf"[\a\b\v\f](?=[A-Za-z])|\r(?={_AFTER_R})|\t(?={COMMAND_AFTER_T})"
    r"|\n(?=(?:eq|u|mid|abla|otin)(?![a-z]))"
)
_ESCAPES: Final = {
    "\a": r"\a", "\b": r"\b", "\v": r"\v", "\f": r"\f", "\r": r"\r", "\t": r"\t", "\n": r"\n",
}  # fmt: skip


def restore_commands(text: str) -> str:
    """Restore LaTeX commands that were decoded into control characters."""
    return text if text.isprintable() else _EATEN.sub(lambda match: _ESCAPES[match[0]], text)


# The final answer of a Stage 2 reply, which should be JSON and is often damaged.
#
# A scanner finds the key and reads the value behind it; it copes with missing quotes, bare LaTeX
# backslashes and a reply that ends in the middle. A parser of the whole document would have to
# repair all of the reply to read this one field.

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
# JSON writes a character above U+FFFF as two escapes (a surrogate pair), decoded together.
_UNICODE = lazy_pattern(r"(?:\\u[0-9a-fA-F]{4})+")
_QUOTED_ITEM = lazy_pattern(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|“([^”]*)”)\s*(?:,|\Z)""", re.DOTALL
)
_DOUBLED = lazy_pattern(r"\\\\(?=[A-Za-z]{2}|[%${}])")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_MAX_VALUE = 20_000
_MOST_OBJECTS_INSIDE = 8


class Field(NamedTuple):
    value: str | None
    """None where the reply ends before the value does."""


def find_field(text: str) -> Field | None:
    """Find the last ``final_answer`` of a reply, or else the last ``answer`` of a JSON object."""
    plain = None
    for at, key in _keys(text):
        start = _value_start(text, at, key)
        if start is not None and key != "answer":
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
    """Yield every possible place of a key, the last first, in one pass over a long text."""
    for stem in ("nswer", "NSWER"):
        end = len(text)
        while (end := text.rfind(stem, 0, end)) > 0:
            before = _FINAL.search(text, max(0, end - 8), end - 1)
            at = before.start() if before else end - 1
            yield at, text[at : end + 5].lower()


def _value_start(text: str, at: int, key: str) -> int | None:
    """Return where a key's value starts; None where the match is a word in a sentence."""
    before = text[at - 1] if at else "\n"
    after = at + len(key)
    quoted = before in _QUOTES and after < len(text)
    closing = _AFTER_KEY.match(text, after)
    position = closing.end() if closing else after
    marked = text[position : position + 1] in (":", "=")
    if quoted and (marked or (key != "answer" and text[position : position + 1] in _QUOTES)):
        return position + marked
    structured = key == "final_answer" or text[at : at + 6] == "finalA"
    if structured and marked and not quoted:
        return position + 1
    return None


def _value(text: str, start: int, layers: int = _MOST_OBJECTS_INSIDE) -> Field:
    while start < len(text) and text[start] in " \t\r\n":
        if text[start] != "\n" and _EATEN.match(text, start):
            break  # the first character of a LaTeX command, decoded as an escape
        start += 1
    if start >= len(text):
        return Field(None)
    escaped = text.startswith('\\"', start)
    mark = text[start + escaped]
    if mark in _QUOTES:
        return _string(text, start + 1 + escaped, _QUOTES[mark], escaped=escaped)
    if mark == "[":
        return _listed(text, start)
    # The value is itself an object: read its first value.
    if mark == "{" and layers and (key := _NEXT_KEY.match(text, start + 1)):
        return _value(text, key.end(), layers - 1)
    return _unquoted(text, start)


def _string(text: str, start: int, quote: str, *, escaped: bool) -> Field:
    """Read a quoted value, up to the quote that is followed by the rest of the object."""
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
        return Field(None)
    return Field(_unescape(text[start : next_key.start()]).rstrip(" ,"))


def _closed(raw: str) -> Field:
    """Clean a quoted value; where its closing quote was forgotten, the next key ends it."""
    if cut := _LINE_KEY.search(raw + '":'):
        raw = raw[: cut.start()]
    elif raw.rstrip().endswith(",") and "\n" in raw:
        raw = raw.rstrip().rstrip(",")
    return Field(_unescape(raw))


def _unescape(raw: str) -> str:
    """Undo JSON escapes, but keep the backslashes that begin a LaTeX command.

    A single backslash before any command shows that the model did not escape backslashes; a double
    one then is LaTeX for the end of a row, not an escaped backslash.
    """
    if "\\" not in raw:
        return raw
    bare = any(_is_latex(raw, m) for m in _BACKSLASHES.finditer(raw))
    plain = _BACKSLASHES.sub(lambda m: _escape(raw, m, bare=bare), raw)
    plain = _LAYOUT.sub(" ", _UNICODE.sub(lambda m: json.loads(f'"{m[0]}"'), plain))
    return _DOUBLED.sub(r"\\", plain) if "\\begin" not in plain else plain


def _is_latex(raw: str, run: re.Match[str]) -> bool:
    """Whether a backslash begins a LaTeX command, and does not escape a character."""
    mark, rest = raw[run.end() : run.end() + 1], raw[run.end() + 1 : run.end() + 13]
    if len(run[0]) % 2 == 0 or not mark or mark in "\"'/`":
        return False
    if mark in "nt":
        return bool((_NEWLINE_COMMAND if mark == "n" else _TAB_COMMAND).match(rest))
    return not (mark == "u" and _HEX.match(rest))


def _escape(raw: str, run: re.Match[str], *, bare: bool) -> str:
    """Unescape one run of backslashes; ``_unescape`` then resolves the escapes n, t and u."""
    half = "\\" * (len(run[0]) // 2)
    if len(run[0]) % 2 == 0:
        return run[0] if bare else half
    begins = _is_latex(raw, run) or raw[run.end() : run.end() + 1] in "nut"
    return half + "\\" if begins else half


def _listed(text: str, start: int) -> Field:
    """Read [1, 2] as "1, 2"; with another closing bracket it is an interval and is kept."""
    depth = 0
    for at in range(start, min(len(text), start + _MAX_VALUE)):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if depth == 0:
            return Field(", ".join(_split(text[start + 1 : at])))
        if text[at] == "\n" and ":" in text[at : at + 40]:
            break
    return _unquoted(text, start)


def _split(inner: str) -> list[str]:
    items, at = list[str](), 0
    while at < len(inner):
        if quoted := _QUOTED_ITEM.match(inner, at):
            items.append(_unescape(quoted[quoted.lastindex or 0]))
            at = quoted.end()
            continue
        end, depth = at, 0
        while end < len(inner) and not (inner[end] == "," and depth <= 0):
            depth += _DEPTH.get(inner[end], 0)
            end += 1
        item = inner[at:end].strip()
        quote = _QUOTES.get(item[:1])
        items.append(_unescape(item[1:].removesuffix(quote)) if quote else item)
        at = end + 1
    return [item for item in items if item]


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
    if at >= len(text) and inside_object:
        return Field(None)
    return Field(restore_commands(text[start:at]).split("//")[0].strip().rstrip(",").strip())


# The final answer of a completion.
#
# Rules are tried from the most to the least explicit, each from the end of the text, so that a long
# reply costs no more than a short one. A value in the middle of an unfinished reply is never its
# answer. Text enclosed by a mark is extracted from again, so that an answer is never a whole
# sentence that contains it.


@dataclass(frozen=True, slots=True)
class Extracted:
    """A final answer and the rule that found it."""

    answer: str | None
    """The answer as the model wrote it; None where there is none."""
    how: str
    """The rule that found it, or why there is none."""


_TAIL = 3000
"""Characters at the end of a reply that the rules for prose search."""
_ORNAMENT = lazy_pattern(
    r"</?(?:b|strong|em|i|u|code|p|div|span|center)>|[\U0001f300-\U0001faff✅✓✔☑✨]\ufe0f?",
    re.IGNORECASE,
)
_SPACES = lazy_pattern(r"\s{4,}")
_LONGEST_TAG = 200
_MOST_DENIED = 4
_STATES = lazy_pattern(
    r"(?:\b(?:is|are|be|was|were|equals)(?:\s+[a-z]+){2,4}|[<>=≤≥⩽⩾≠]|\\(?:[lg]eq?(?:slant)?|neq?|gt|lt))\Z",
    re.IGNORECASE,
)
_MOST_LAYERS = 8
"""How often extraction is repeated on its result: \\boxed{**2 + 3 = 5**} has three layers."""

_FINAL_CHANNEL = "<|channel|>final<|message|>"
_TURN_ENDS = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<|end|>", "<|user|>",
    "<|observation|>", "<|return|>", "<|eom_id|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
)  # fmt: skip
_TURN_MARKS = ("<|", "</s>", "<end_of_turn>", "<｜")
_TAG = lazy_pattern(r"(?<![<\[])[<\[](/?)(final[_ -]?answer|answer|ans|result)[>\]]", re.IGNORECASE)
# Most answers are numbers, names or simple fractions: no need to extract from them again.
_EXTRACT_PLAIN = lazy_pattern(r"[-−]?[^\W_]\w*(?:[.,/^]\w+)*|-?\\[dt]?frac\{\w+\}\{\w+\}", re.ASCII)


def extract(text: str, *, truncated: bool = False) -> Extracted:
    """Extract the final answer of a reply; in a truncated one only explicit marks count.

    Extracting from an answer again gives the same answer, or nothing: words in a box, for example,
    are an answer only because of the box.
    """
    found = _read(text, truncated=truncated)
    for _ in range(_MOST_LAYERS):
        if found.answer is None or found.answer == text or _EXTRACT_PLAIN.fullmatch(found.answer):
            break
        text = found.answer
        inner = _read(text, truncated=False).answer
        found = found if inner is None else Extracted(inner, found.how)
    return found


def _read(text: str, *, truncated: bool) -> Extracted:
    text = _reply(text, truncated=truncated)
    if not text:
        return Extracted(None, "empty")
    explicit = _from_json(text) or _from_box(text) or _from_tag(text, truncated=truncated)
    if explicit is not None:
        return explicit
    text = marks.EMPTY_BOX.sub("", text).strip() if "box" in text else text
    end = text[-marks.LONGEST_ANSWER :]
    end = end if end.isascii() and "<" not in end else _ORNAMENT.sub("", end)
    # Patterns would backtrack over every position of a long run of white space.
    end = _SPACES.sub(lambda run: "\n\n" if "\n" in run[0] else " ", end)
    end = without_approximation(with_plain_signs(with_decimal_points(end)))
    if not truncated:
        whole = bare(end if len(text) <= marks.LONGEST_ANSWER else text)
        if whole is not None:
            return _found(whole, "bare")
    return _from_prose(end[-_TAIL:], truncated=truncated)


def _from_prose(tail: str, *, truncated: bool) -> Extracted:
    marked = marks.from_marker(tail)
    if marked is not None and marked[0]:
        return _found(*((not truncated and corrected(tail, marked[0])) or marked))
    if truncated or marked is not None:
        return Extracted(None, "none" if marked is None else "no answer")
    if abstains(tail):
        return Extracted(None, "no answer")
    before = without_check(tail)
    checked = (marks.from_choice(before) or from_end(before)) if len(before) < len(tail) else None
    found = checked or marks.from_choice(tail) or from_end(tail)
    return _found(*found) if found else Extracted(None, "none")


def _found(answer: str, how: str) -> Extracted:
    answer = restore_commands(answer).strip()
    # "None" is an answer only where a mark introduces it.
    is_none = how in ("marker", "boxed") and _TYPESETTING.sub("", answer).strip() == "none"
    if is_nothing(answer) and not is_none:
        return Extracted(None, "no answer")
    return Extracted(answer, how)


def _reply(text: str, *, truncated: bool) -> str:
    """Drop the thinking before the reply and the turns after it."""
    text = without_thinking(text)
    if "<" in text and any(mark in text for mark in _TURN_MARKS):
        text = marks.latex_boxes(text.rpartition(_FINAL_CHANNEL)[2], truncated=truncated)
        for mark in _TURN_ENDS:
            text = text[: end if (end := text.find(mark)) > 0 else None]
    if text[:1] == "{" and '"reasoning_content"' in text:
        text = find_content(text)  # the whole message object of an endpoint, dumped as JSON
    if "\b" in text:
        text = text.replace("\boxed", "\\boxed")  # JSON decoded \b to a backspace
    return text.strip()


def _from_json(text: str) -> Extracted | None:
    field = find_field(text)
    if field is None:
        if text[:200].lstrip("`json \n").startswith("{") and "certificate_type" in text[:200]:
            return Extracted(None, "no final_answer")
        value = find_object_answer(text) if text[-1] in "}`" else None
        return None if value is None else _finish(restore_commands(value), "json")
    if field.value is None:
        return Extracted(None, "json, unfinished")
    return _finish(restore_commands(field.value), "json")


def _finish(value: str, how: str) -> Extracted:
    """Unwrap a value that contains marks of an answer itself, such as a box."""
    if (box := marks.find_box(value)) is not None and box.content is not None:
        return _found(box.content, how)
    return _found(marks.unmarked(value), how)


def _from_box(text: str) -> Extracted | None:
    """Read the last box that the reply does not deny."""
    denied = 0
    while (box := marks.find_box(text)) is not None and denied < _MOST_DENIED:
        if box.content is None:
            # A closed box without content is ignored, like no box at all.
            return None if box.closed else Extracted(None, "unterminated box")
        supposed = marks.is_supposed(text[: box.start])
        if not supposed and not marks.is_rejected(text, box.start, box.end):
            return _found(_with_bounds(text, box.content, box.start, box.end), "boxed")
        # The reply rejects the boxed value; the correct one may follow.
        rest = with_plain_signs(text[box.end :][-_TAIL:])
        marked = marks.from_marker(rest)
        if instead := marked if marked and marked[0] else concluded(rest):
            return _found(*instead)
        text, denied = text[: box.start], denied + 1
    if not denied:
        return None
    stated = marks.from_marker(text[-_TAIL:])
    return _found(*stated) if stated and stated[0] else Extracted(None, "no answer")


def _with_bounds(text: str, content: str, start: int, end: int) -> str:
    """Add the words around a box that bound its value: "x is at least", but not "we need"."""
    before, behind = marks.bounds(text, start, end)
    near = text[max(0, start - _LONGEST_TAG) : start].rstrip(" $*(\\") if before else ""
    return content.join((before if _STATES.search(near) else "", behind))


def _from_tag(text: str, *, truncated: bool) -> Extracted | None:
    """Read the text in the last pair of tags, or behind an unclosed tag near the end."""
    tags = list(_TAG.finditer(text))
    for opens, closes in reversed([*pairwise(tags)]):
        if closes[1] and not opens[1]:
            return _finish(text[opens.end() : closes.start()], "tag")
    if tags and not tags[-1][1] and not truncated:
        rest = text[tags[-1].end() :]
        return _finish(rest, "tag") if len(rest) < _LONGEST_TAG else None
    return None


# The unit or the name of a value, read from the words around it.

_COMMAND: Final = lazy_pattern(r"\\[A-Za-z]+")
_LETTER: Final = lazy_pattern(r"[^\W\d_]|[%°$€£¥₹¢]")
_WRAPPER: Final = lazy_pattern(r"\\(?:text|mathrm|mbox|rm|operatorname)\b|[{}~]|\\[ ,;:!]")
# Currency signs precede a value, degree signs follow it.
_SIGNED: Final = lazy_pattern(r"\\\$|[€£¥₹¢°]|\\(?:circ|degree)(?![a-z])|\$\s?\d[\d.,]*\Z")
_POWER: Final = r"(?:\s?\^\s?\{?[23]\}?|[²³]|\s(?:squared|cubed)\b)?"
_UNIT: Final = lazy_pattern(
    rf"((?:(?:square|cubic|sq|cu)\.?\s)?([A-Za-z]+){_POWER})"
    rf"(?:(?:\s?/\s?|\s(?:per|an?|each|every)\s)([A-Za-z]+{_POWER}))?"
)
_TIME: Final = lazy_pattern(r"([AaPp])\.?\s?[Mm]\b\.?")
_BETWEEN: Final = lazy_pattern(
    r"[\s$*_)}\]]*(?:\\[ ,;:!)]|~)*\s*\$?(?:\\(?:text|mathrm|mbox|rm)\s*\{?\s*)?"
)
# Words after a number that are not its unit: 5 in total, 5 units, 5 percent.
_NO_UNIT: Final = frozenset({"in", "unit", "percent", "am", "pm"})
_RATES: Final = frozenset({"mph", "kmh", "mpg"})
_TEMPERATURE: Final = lazy_pattern(r"degrees?\s+(?:[CF]\b|celsius|fahrenheit)", re.IGNORECASE)
_NAMED: Final = lazy_pattern(r"\s*(?:\$\s*)?([A-Za-z])\s*=[^=]+")
_NAME_BEFORE: Final = lazy_pattern(r"(?<![\w\\'^}])([A-Za-z])\s*=\s*(?:[^=$\n]{1,60}=\s*)?\Z")
_VARIABLE: Final = lazy_pattern(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|(?<=\d)[a-z]")
# A name or a value of a function: y, f(x), f'(x), f^{-1}(x), dy/dx.
_FUNCTION: Final = lazy_pattern(
    r"[A-Za-z](?:_\{?\w\}?)?(?:'|\^\{[^{}]*\})*(?:\s?\([A-Za-z, ]*\))?|\\[dt]?frac\{d.*|\\int.*",
    re.DOTALL,
)
_NEAR: Final = 100


def in_context(text: str, answer: str, gold: str) -> str:
    """Add to an answer the unit, am or pm, or name that the reply gives it.

    A value without them counts as right too, so they are read only where the gold answer has some.
    """
    if "=" in gold and len(set(_VARIABLE.findall(_COMMAND.sub("", gold)))) > 1:
        return _equation(text[-marks.LONGEST_ANSWER :], answer)
    named, half_day, wanted = _NAMED.fullmatch(gold), _TIME.search(gold), _gold_unit(gold)
    if not (named or half_day or wanted) or len(answer) > _NEAR:
        return answer
    if _LETTER.search(_COMMAND.sub("", answer)) or "\\circ" in answer:
        return answer
    text = text[-marks.LONGEST_ANSWER :]
    places = list(re.finditer(rf"(?<![\w.,]){re.escape(answer)}(?!\w|[.,:/]\d)", text))
    if not places:
        return answer
    start, end = places[-1].span()
    if named and (name := _NAME_BEFORE.search(text[max(0, start - _NEAR) : start])):
        return answer if name[1].lower() == named[1].lower() else f"{name[1]} = {answer}"
    between = _BETWEEN.match(text, end)
    rest = text[between.end() if between else end :][:_NEAR]
    if (half := _TIME.match(rest)) and half_day:
        return f"{answer} {half[1].upper()}M"
    unit = _unit(rest)
    if unit is None or wanted is None:
        return answer
    if unit.per and wanted.per:
        return f"{answer} {unit.name}" + (f"/{unit.per}" if unit.per != unit.name else "")
    # Where only one side is a rate, no unit is added: "60 miles an hour" may be the 60 miles asked
    # for. Money keeps its unit: 15 cents each are never 15 dollars.
    is_told = unit.is_money or not (unit.per or wanted.per)
    return f"{answer} {unit.name}" if is_told else answer


def _equation(text: str, answer: str) -> str:
    """Return the whole equation of a curve, x + y = 12, where only the 12 was extracted."""
    whole = marks.last_value(text).rstrip(".,")
    sides = [side.strip() for side in marks.EQUALS.split(whole)]
    is_curve = len(sides) == 2 and sides[1] == answer and not _FUNCTION.fullmatch(sides[0])
    return whole if is_curve else answer


class _Unit(NamedTuple):
    name: str
    per: str = ""
    """The unit after "per", as in miles an hour."""
    is_money: bool = False


def _unit(rest: str) -> _Unit | None:
    found = _UNIT.match(rest)
    if found is None or found[2].lower() in _NO_UNIT or _TEMPERATURE.match(rest):
        return None
    name = unit_name(found[2])
    if not is_known(name) or name in _NO_UNIT:
        return None
    return _Unit(found[1], found[1] if name in _RATES else found[3] or "", name in MONEY)


def _gold_unit(gold: str) -> _Unit | None:
    if signed := _SIGNED.search(gold):
        return _Unit(signed[0])
    for word in re.finditer(r"(?<=[\d\s).])[A-Za-z].*", _WRAPPER.sub(" ", gold[:_NEAR])):
        if (unit := _unit(word[0])) is not None:
            return unit
    return None
