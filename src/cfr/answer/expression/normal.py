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
    "∣": "|", "…": r"\ldots ",
    "，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "“": '"', "”": '"', "‘": "'", "’": "'",
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
    r"(?<=\d)(?:\{,\}\s?|,\\!\s?|\\!,\s?|\\[,!;: ]|~|\{\\,\}|,\\,)(?=\d{3}(?!\d))"
)
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,/^_])\d{1,3}(?:[ _]\d{3})+(?![\d/])")
_MIXED = re.compile(r"(?<![\d./^_})])(\d+)\s+(\d+)/(\d+)(?![\d/.^])")
_INVISIBLE = re.compile(
    r"\\(?:[,!;:> ]|q?quad(?![A-Za-z])|(?:left|right|displaystyle|textstyle|limits|nolimits"
    r"|[bB]igg?[lrm]?|phantom\{\}|hfill|rm|bf|it|bm|boldsymbol)(?![A-Za-z]))|~|&nbsp;"
)
_DELIMITERS = re.compile(r"\\[()\[\]](?!\w*pt)")
_HALF_OF_DAY = re.compile(r"\b([ap])\.\s?m\.?(?![a-z])", re.IGNORECASE)
_RUPEES = re.compile(r"\bRs\.?\s*(?=\d)")
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)")
_RATE = re.compile(
    r"(?<=[\d} ])\s*((?:[kcm]?m|ft|mi|k?g|L)\s*/\s*"
    r"(?:s|h|hr|min|sec|L|[kc]?m|ft)(?:\^\{?[23]\}?)?)$"
)
_IN_BASE = re.compile(
    r"(?<=\d)\s*(?:\\text\s*\{)?\s*\(?\s*(?:in\s+)?base[\s-]*(\d{1,2}|[a-z]{3,5})\s*\)?\}?\s*$"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\]]*(?:pt|em|ex)\])?")
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
        text = _SURE_THOUSANDS.sub("", text)
        text = _currency(_INVISIBLE.sub(" ", _DELIMITERS.sub(" ", text)))
    elif "$" in text:
        text = _currency(text)
    if " " in text or "_" in text or "." in text:
        text = _HALF_OF_DAY.sub(r"\1m", _RUPEES.sub("rupee ", text))
        text = _TIMES_TEN.sub("*", text)
        text = _SPACED_THOUSANDS.sub(lambda m: re.sub("[ _]", "", m[0]), text)
        text = _MIXED.sub(_mixed, text)
    if "base" in text:
        text = _IN_BASE.sub(r"_{\1}", text)
    text = _without_end(text.strip())
    return _RATE.sub(r" \\text{\1}", text) if "/" in text and text[-1].isalnum() else text


def _single(text: str) -> str:
    """Undo doubled backslashes; inside an environment a double one ends a row."""
    if r"\\begin" in text or r"\begin" not in text:
        text = text.replace("\\\\", "\\")
    return _ROW_END.sub(r"\\newline ", text)


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
    while text and text[-1] in ".,;:" and not text.endswith("..."):
        text = text[:-1].rstrip()
    return text
