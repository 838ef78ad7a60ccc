"""One spelling for one thing: the many ways to type a sign, a space or a separator become one."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clean", "fold"]

_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-",
    "×": "*", "·": "*", "∙": "*", "⋅": "*", "∗": "*", "÷": "/", "⁄": "/", "∕": "/", "∶": ":",
    "π": r"\pi ", "𝜋": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ", "∛": r"\sqrt[3]",
    "∅": r"\emptyset ",
    "≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "≠": "!=", "≈": r"\approx ", "≃": r"\approx ",
    "±": r"\pm ", "∓": r"\mp ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "ℝ": r"\mathbb{R}",
    "°": r"^\circ ", "º": r"^\circ ", "˚": r"^\circ ", "′": "'", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "⌈": r"\lceil ", "⌉": r"\rceil ", "⟨": r"\langle ", "⟩": r"\rangle ", "∠": r"\angle ",
    "∣": "|", "≡": r"\equiv ", "…": r"\ldots ",
    "，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "“": '"', "”": '"', "‘": "'", "’": "'",
    "∖": r"\setminus ", "⊂": r"\subset ", "△": r"\triangle ", "∫": r"\int ", "∑": r"\sum ",
    "亿": "*10^{8}", "万": "*10^{4}", "或": r"\text{ or }", "和": r"\text{ and }", "￥": "¥",
    "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "",
}  # fmt: skip
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΦΨΩ",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
        "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split(),
        strict=True,
    )
)
_FOLDS = str.maketrans(_SIGNS | {letter: f"\\{name} " for letter, name in _GREEK.items()})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")

_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_VULGAR = re.compile("[¼-¾⅐-⅞]")

# Separators that can stand for nothing but thousands: 1{,}000, 1,\!000, 1\,000, 1~000.
_SURE_THOUSANDS = re.compile(
    r"(?<=\d)(?:\{,\}\s?|\\!,\\!\s?|,\\!\s?|\\!,\s?|\\[,!;: ]|~|\{\\,\}|,\\,)(?=\d{3}(?!\d))"
)
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,/^_])\d{1,3}(?:[ _]\d{3})+(?![\d/])")
_MIXED = re.compile(r"(?<![\d./^_})])(\d+)\s+(\d+)/(\d+)(?![\d/.^])")
_INVISIBLE = re.compile(
    r"\\(?:[,!;:> ]|q?quad(?![A-Za-z])|(?:left|right|displaystyle|textstyle|limits|nolimits"
    r"|[bB]igg?[lrm]?|phantom\{\}|hfill|rm|bf|it|bm|boldsymbol|tiny|small|normalsize|[lL]arge"
    r"|LARGE|[hH]uge)(?![A-Za-z]))|~|&nbsp;"
)
_DELIMITERS = re.compile(r"\\[()\[\]](?!\w*pt)")
_HALF_OF_DAY = re.compile(r"\b([ap])\.\s?m\.?(?![a-z])", re.IGNORECASE)
_RUPEES = re.compile(r"\b(?:Rs\b\.?|INR)\s*(?=\d)")
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)")
_RATE = re.compile(
    r"(?<=[\d} ])\s*((?:[kcm]?m|ft|mi|k?g|L)\s*/\s*"
    r"(?:s|h|hr|min|sec|L|[kc]?m|ft)(?:\^\{?[23]\}?)?)$"
)
_INCHES = re.compile(r"(?<=[\d}])\s*(?:in\.?|inch(?:es)?)\s*\^\s*\{?\s*([23])\s*\}?$")
_IN_BASE = re.compile(
    r"(?<=\d)\s*(?:\\text\s*\{)?\s*\(?\s*(?:in\s+)?base[\s-]*(\d{1,2}|[a-z]{3,5})\s*\)?\}?\s*$"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\]]*(?:pt|em|ex)\])?")
_LEAD = re.compile(
    r"(?:(?:the\s+(?=\d))|(?:the\s+)?solutions?(?:\s+set)?\s*"
    r"(?:(?:is|are)\s*:?|[:=])|(?:is\s+)?(?:approximately|approx\.?|about|roughly|around)(?=[\s\d$\\])"
    r"|\\approx(?![a-z])|\\simeq(?![a-z])|\\sim(?![a-z])|plus\s(?:or|/)\sminus\s|(?:minus|negative)\s(?=[\d\\]|infinity))\s*",
    re.IGNORECASE,
)
"""Words in front of a value that say no more than that it is one; "minus" is a sign."""
_ORDINAL = re.compile(
    r"(?<![\d.,])(\d{1,12})\s*(?:\^\s*\{?\s*)?(?:\\(?:text|mathrm|textsuperscript|rm)\s*\{?\s*)?"
    r"(?:st|nd|rd|th)\b[\s}]*$"
)
_ASIDE = re.compile(r"(?<=[\d}%])\s*\(([A-Za-z]{3,}(?: [A-Za-z]+)*\.?)\)\s*$")
_ABBREVIATION = re.compile(r"\b(sq|cu|ft|in|yd|lbs?|oz|hrs?|mins?|secs?|mi|cm|km|kg)\.(?=\s|$|\})")
_FRENCH = re.compile(r"([\[\]])([^\[\]()]*)([\[\]])")
_FRENCH_UNION = re.compile(r"\[[^\[\]]*\[\s*\\cup|\\cup\s*\]")
_REALS_LESS = re.compile(r"(?:\\mathbb\s*\{?\s*R\s*\}?|\\R\b|^R)\s*[-\\]\s*(?=\\?\{)")
_DIGITS_IN_BASE = re.compile(
    r"(?<![\w\\])\(?((?:[0-9A-F]|\\(?:text|mathrm|texttt|mathtt)\s*\{\s*[0-9A-F]+\s*\}){2,40}"
    r"|\\(?:text|mathrm|texttt|mathtt)\s*\{\s*[0-9A-F]{2,40}\s*\}|[0-9a-f]{2,40}(?=\)?_\{?16))\)?"
    r"\s*_\s*\{?\s*(1[1-6])\b\s*\}?"
)
_HEXADECIMAL = re.compile(r"0x([0-9A-Fa-f]{1,40})")
_BRACKETED_DIGITS = re.compile(r"\((\d+)\)\s*(?=_)")
_CHOSEN_BEFORE = re.compile(r"(?:\{\s*\})?\s*[_^]\s*\{?(\d{1,4})\}?\s*([CP])_\s*\{?(\d{1,4})\}?")
_CHOSEN_BEHIND = re.compile(r"(?<![A-Za-z\\])([CPA])_\s*\{?(\d{1,4})\}?\s*\^\s*\{?(\d{1,4})\}?")
_PERIOD = re.compile(r"(-?\d+\.|-?0\.\d+)\((\d+)\)")
_SPACED_LETTERS = re.compile(r"[A-Z](?:\s+[A-Z])+")
_EXCEPT = re.compile(
    r"all\s+real(?:s|\s+numbers|\s+values)?(?:\s+of\s+[a-z])?(?:\s+[a-z])?,?\s+except(?:\s+for)?\s+"
    r"(?:[a-z]\s*=\s*)?(.+)",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\text(?:bf|it|rm|normal)?\s*\{([^{}\\]*\d[^{}\\]*)\}\s*[.,;]?")
_TEMPERATURE = re.compile(
    r"(?:\^\s*\{?\s*\\circ\s*\}?\s*|\s*degrees?\s+)(?:\\(?:text|mathrm|rm)\s*\{?\s*)?"
    r"(?:(C)(?:elsius)?|F(?:ahrenheit)?)\b\s*\}?(?!\s*=)"
)
_OUT_OF = re.compile(r"(\d+)\s+(?:out\s+of|in)\s+(\d+)")
_SHORT_TIME = re.compile(r"(?<=\d)\s*(min|sec)s?$")
_HOURS = re.compile(r"(\d+)\s*h(?:rs?)?\s*(\d+)\s*m(?:ins?)?")
_ANGLED = re.compile(r"<([^<>]*,[^<>]*)>")
_DECIMAL_BRACES = re.compile(r"(?<=\d)\{,\}(?=\d)")
_UNIT_VECTOR = re.compile(
    r"\\(?:mathbf|hat|vec|boldsymbol|widehat)\s*\{\s*\\?(?:math)?([ijk])(?:math)?\s*\}"
)
_DIFFERENTIAL = re.compile(r"\\(?:mathrm|text|rm|operatorname|mathit)\s*\{\s*d\s*\}")
_WRAPPER = re.compile(r"\*\*(?!\*)([^*]+)\*\*|__([^_]+)__|`([^`]+)`")


def fold(text: str) -> str:
    """Write every unicode sign and digit in ASCII or LaTeX."""
    if text.isascii():
        return text
    text = _VULGAR.sub(_vulgar, text)
    text = _RAISED.sub(lambda m: f"^{{{m[0].translate(_SUPERSCRIPTS)}}}", text)
    text = _LOWERED.sub(lambda m: f"_{{{m[0].translate(_SUBSCRIPTS)}}}", text)
    text = unicodedata.normalize("NFKC", text.translate(_FOLDS)).translate(_FOLDS)
    return "".join(str(unicodedata.decimal(c, c)) if c.isdecimal() else c for c in text)


def clean(text: str) -> str:
    """Fold signs, drop what only concerns typesetting, join digits that a separator split."""
    text = fold(text).strip()
    if wrapped := _WRAPPER.fullmatch(text):
        text = wrapped[wrapped.lastindex or 0].strip()
    if "\\\\" in text:
        text = _single(text)
    if "\\" in text or "{," in text or "~" in text:
        text = _DECIMAL_BRACES.sub(".", _SURE_THOUSANDS.sub("", text))
        text = _currency(_INVISIBLE.sub(" ", _DELIMITERS.sub(" ", text)))
    elif "$" in text:
        text = _currency(text)
    if r"\text" in text and (words := _TEXT.fullmatch(text.strip())):
        text = words[1].strip()  # \text{5 hours}
    text = text.strip()
    if text[:1] == "=":
        text = text[1:].lstrip()
    elif text[:1] == "<" and (angled := _ANGLED.fullmatch(text)):
        text = f"({angled[1]})"
    if " & " in text and r"\begin" not in text:
        text = text.replace(" & ", " and ")
    if "]" in text or "[" in text:
        text = _french(text)
    if "(" in text and text[-1] == ")":
        text = _PERIOD.sub(_recurring, _ASIDE.sub(r" \1", text))
    if " " in text or "_" in text or "." in text:
        text = _HALF_OF_DAY.sub(r"\1m", _RUPEES.sub("rupee ", text))
        text = _TIMES_TEN.sub("*", text)
        text = _SPACED_THOUSANDS.sub(lambda m: re.sub("[ _]", "", m[0]), text)
        text = _MIXED.sub(_mixed, text)
    if "base" in text:
        text = _IN_BASE.sub(r"_{\1}", text)
    if "_" in text:
        text = _in_bases(text)
    if text[:2] == "0x" and (digits := _HEXADECIMAL.fullmatch(text)):
        text = rf"\digits{{{digits[1]}}}_{{16}}"
    text = _words(text)
    text = _without_end(text.strip())
    if "^" in text and "in" in text:
        text = _INCHES.sub(r"\\text{ inch}^{\1}", text)
    return _RATE.sub(_rate, text) if "/" in text else text


def _single(text: str) -> str:
    """Undo doubled backslashes; inside an environment a double one ends a row."""
    if r"\\begin" in text or r"\begin" not in text:
        text = text.replace("\\\\", "\\")
    return _ROW_END.sub(r"\\newline ", text)


def _rate(match: re.Match[str]) -> str:
    unit = match[1].replace("{", "").replace("}", "")
    return rf" \text{{{unit}}}"


def _vulgar(match: re.Match[str]) -> str:
    over, _, under = unicodedata.normalize("NFKC", match[0]).partition("⁄")
    return rf"\frac{{{over}}}{{{under or '1'}}}"


def _mixed(match: re.Match[str]) -> str:
    whole, over, under = match.groups()
    proper = len(over) <= len(under) <= 6 and int(over) < int(under)
    return rf"{whole}\frac{{{over}}}{{{under}}}" if proper else match[0]


def _currency(text: str) -> str:
    # A dollar sign is money when it is escaped or stands alone; a pair of them marks mathematics.
    text = text.replace(r"\$", r"\usd ")
    if text.count("$") % 2 and (text[0] == "$" or text[-1] == "$"):
        text = r"\usd " + (text[1:] if text[0] == "$" else text[:-1])
    return text.replace("$", " ")


def _without_end(text: str) -> str:
    while text and text[-1] in ".,;:\\" and not text.endswith("..."):
        text = text[:-1].rstrip()
    return text.removesuffix("/-")  # Rs. 750/-


def _words(text: str) -> str:
    """Read the words around a value: "the solution is", "about", "101st", "1 out of 5"."""
    if text[:1].isalpha() or text[:2] in (r"\a", r"\s"):
        text = _LEAD.sub(_lead, text, count=1) if _LEAD.match(text) else text
        if (less := _EXCEPT.fullmatch(text)) is not None:
            text = rf"x \ne {less[1].replace(' and ', ', ')}"
        if _SPACED_LETTERS.fullmatch(text):
            text = "".join(text.split())
    if "R" in text:
        text = _REALS_LESS.sub(r"\\mathbb{R}\\setminus ", text)
    if ("circ" in text or "degree" in text) and ("C" in text or "F" in text):
        text = _TEMPERATURE.sub(lambda m: r"\text{celsius}" if m[1] else r"\text{fahrenheit}", text)
    if "h" in text and text[-1:] in "mns" and (hours := _HOURS.fullmatch(text)):
        text = f"{hours[1]} hours {hours[2]} minutes"
    if text[-1:] in ("n", "c", "s") and text[:1].isdigit():
        # Behind a number and last, these are units and no functions.
        text = _SHORT_TIME.sub(lambda m: " minutes" if m[1] == "min" else " seconds", text)
    if _has_letter(text):
        text = _ORDINAL.sub(r"\1 ", text)
        if " out " in text or " in " in text:
            text = _OUT_OF.sub(r"\\frac{\1}{\2}", text)
        if "." in text:
            text = _ABBREVIATION.sub(r"\1", text)
        if r"\int" in text:
            text = _DIFFERENTIAL.sub("d ", text)
        elif "j" in text and _UNIT_VECTOR.search(text):
            text = _UNIT_VECTOR.sub(r"\\unitvector{\1}", text)
    return text


def _lead(match: re.Match[str]) -> str:
    first = match[0][:5].lower()
    return "-" if first in ("minus", "negat") else r"\pm " if first == "plus " else ""


def _has_letter(text: str) -> bool:
    return any(map(text.__contains__, _HINTS))


_HINTS = (
    "st", "nd", "rd", "th", " out ", " in ", "sq.", "in.", "ft.", "lb", "hr", "mi", "sec", "cm.",
    "cu", "oz", "yd", "km", "kg", "int", "mathbf", "hat", "vec",
)  # fmt: skip


def _in_bases(text: str) -> str:
    """Read digits with letters among them, and the numbers around C or P, as one thing each."""
    text = _DIGITS_IN_BASE.sub(_digits, text)
    text = _CHOSEN_BEFORE.sub(r"\2(\1,\3)", _BRACKETED_DIGITS.sub(r"\1", text))
    return _CHOSEN_BEHIND.sub(_chosen, text) if "^" in text else text


def _digits(match: re.Match[str]) -> str:
    digits = re.sub(r"\\[a-z]+|[{}\s]", "", match[1])
    return match[0] if digits.isdecimal() else rf"\digits{{{digits.upper()}}}_{{{match[2]}}}"


def _chosen(match: re.Match[str]) -> str:
    letter, whole, part = match[1], int(match[2]), int(match[3])
    return f"{letter.replace('A', 'P')}({whole},{part})" if whole >= part else match[0]


def _recurring(match: re.Match[str]) -> str:
    return rf"{match[1]}\overline{{{match[2]}}}" if match.end() == len(match.string) else match[0]


def _french(text: str) -> str:
    """Write ]1, 2[ with the round brackets that it means."""
    first = text.find("[")
    turned = "]" in text[: first if first >= 0 else len(text)] or text.rstrip()[-1] == "["
    return _FRENCH.sub(_rounded, text) if turned or _FRENCH_UNION.search(text) else text


def _rounded(match: re.Match[str]) -> str:
    opened, inside, closed = match.groups()
    if "," not in inside and ";" not in inside:
        return match[0]
    return ("[" if opened == "[" else "(") + inside + ("]" if closed == "]" else ")")
