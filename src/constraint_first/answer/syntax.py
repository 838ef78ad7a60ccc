"""Expression trees, and the text of an answer cleaned and split into tokens.

Both tiers compare trees; neither ever evaluates text of a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from constraint_first.pattern import lazy_pattern

BRACKETS = frozenset({"()", "[]", "[)", "(]", "{}", "list"})
"""Operators with several items; all but the last two can be intervals."""

SYNTAX_CONSTANTS = frozenset({"pi", "e", "i", "oo"})
BINDERS = frozenset({"sum", "prod", "int"})
"""Operators with a body, the variable that it binds, and the two ends of its range."""


@dataclass(frozen=True, slots=True)
class Num:
    """A number as written."""

    value: Fraction
    digits: int | None = None
    """Significant digits of a decimal; None for an integer, which is exact."""


@dataclass(frozen=True, slots=True)
class Sym:
    name: str


@dataclass(frozen=True, slots=True)
class Op:
    """An operator, function, bracket or relation with its arguments."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """An expression with a unit behind it (or a currency before it)."""

    value: Node
    unit: str


Node: TypeAlias = Num | Sym | Op | Measure


INFINITE = (Sym("oo"), Op("neg", (Sym("oo"),)))
"""The two ends of the line, the upper one first."""


def is_op(node: Node, *names: str) -> TypeGuard[Op]:
    return isinstance(node, Op) and node.name in names


def walk(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Op):
        for arg in node.args:
            yield from walk(arg)
    elif isinstance(node, Measure):
        yield from walk(node.value)


def symbols(node: Node) -> frozenset[str]:
    """Return the names of the free variables of an expression."""
    found = {n.name for n in walk(node) if isinstance(n, Sym) and n.name not in SYNTAX_CONSTANTS}
    bound = {n.args[1] for n in walk(node) if isinstance(n, Op) and n.name in BINDERS}
    return frozenset(found - {n.name for n in bound if isinstance(n, Sym)} if bound else found)


def substitute(node: Node, name: str, value: Node) -> Node:
    """Substitute a value for a free variable."""
    if isinstance(node, Sym):
        return value if node.name == name else node
    if isinstance(node, Op):
        if node.name in BINDERS and node.args[1] == Sym(name):
            ends = (substitute(arg, name, value) for arg in node.args[2:])
            return Op(node.name, (*node.args[:2], *ends))
        return Op(node.name, tuple(substitute(arg, name, value) for arg in node.args))
    return node


# Units of measure and money, each under one name. An answer may omit a unit, never give another.

# For each unit its name here, then its other spellings.
_SPELLINGS = """
mm millimeter millimetre, cm centimeter centimetre, dm decimeter decimetre, metre meter,
km kilometer kilometre, inch inches, foot ft feet, yard yd, mile mi, mg milligram, gram gm,
kg kilogram kilo, tonne, ton, pound lb lbs, ounce oz, second sec secs, minute min mins,
hour hr hrs, day, week wk, month, year yr yrs, ml milliliter millilitre, liter litre, gallon gal,
quart qt, pint, cup, degree deg degrees, radian rad radians, dollar usd dollars bucks buck,
cent cents, euro eur euros, gbp quid, yen jpy, rupee rs rupees inr, mph, mpg, kmh kph, hz hertz,
joule, newton, watt, kw kilowatt, volt, ohm, mol mole, celsius centigrade, fahrenheit,
percent pct percentage, unit units, am, pm
"""
_NAMES = {word: unit.split()[0] for unit in _SPELLINGS.split(",") for word in unit.split()}

MULTIPLES = {
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
"""Words after a number that are part of it."""
_SIGNS = {"€": "euro", "£": "gbp", "¥": "yen", "₹": "rupee", "¢": "cent"}
# Single letters are units only inside \text{…} or a quotient such as m/s; bare, they are variables.
UNIT_LETTERS = {"m": "metre", "g": "gram", "s": "second", "h": "hour", "l": "liter", "L": "liter"}
_POWERS = {"square": "^2", "sq": "^2", "squared": "^2", "cubic": "^3", "cu": "^3", "cubed": "^3"}
_FILLERS = frozenset("of the a an in total each old".split())
_PER = lazy_pattern(r"\bper\b|(?<=\w )an?\b(?= \w)")
_INCH = lazy_pattern(r"\bin\b(?=\s*(?:$|\^|/|squared|cubed))")
_WORD = lazy_pattern(r"[A-Za-z€£¥₹¢]+|\^\s*\{?\s*(-?\d)\s*\}?|/")


def is_unit(word: str) -> bool:
    """Whether a word of two letters or more is the name of a unit."""
    return len(word) > 1 and _lookup(word) is not None and word not in ("sec", "min")


def is_known(unit: str) -> bool:
    """Whether a unit, as ``unit_name`` spells it, begins with a unit of the table."""
    return unit.lstrip("/").split("/")[0].split("^")[0] in _NAMES


def _lookup(word: str) -> str | None:
    low = word.lower()
    return _NAMES.get(low) or (_NAMES.get(low[:-1]) if low.endswith("s") and len(low) > 3 else None)


def unit_name(text: str) -> str:
    """Bring a unit phrase to one spelling: ``square inches`` and ``in^2`` alike are ``inch^2``."""
    words: list[str] = []
    power = ""
    for match in _WORD.finditer(_INCH.sub("inch", _PER.sub("/", text))):
        word, low = match[0], match[0].lower()
        if word[0] == "^":
            words.append(f"^{match[1]}")
        elif low in ("squared", "cubed"):
            words.append(_POWERS[low])
        elif low in _POWERS:
            power = _POWERS[low]
        elif low not in _FILLERS:
            known = _SIGNS.get(word) or UNIT_LETTERS.get(word) or _lookup(word)
            name = known or (low.removesuffix("s") if len(word) > 3 else low)
            words.append(name + (power if word != "/" else ""))
            power = power if word == "/" else ""
    return _COMPOUND.get("".join(words), "".join(words))


_COMPOUND = {"mile/hour": "mph", "km/hour": "kmh", "mile/gallon": "mpg"}

MONEY = frozenset({"dollar", "euro", "gbp", "yen", "rupee", "cent"})
# Conversion factors to base units, where they are exact by definition.
_SIZES: dict[str, tuple[str, Fraction]] = {
    name: (base, Fraction(size))
    for base, sizes in {
        "metre": "mm 1/1000 cm 1/100 dm 1/10 metre 1 km 1000",
        "foot": "inch 1/12 foot 1 yard 3 mile 5280",
        "gram": "mg 1/1000 gram 1 kg 1000 tonne 1000000",
        "pound": "ounce 1/16 pound 1",
        "second": "second 1 minute 60 hour 3600 day 86400 week 604800",
        "year": "month 1/12 year 1",
        "liter": "ml 1/1000 liter 1",
        "gallon": "cup 1/16 pint 1/8 quart 1/4 gallon 1",
        "dollar": "cent 1/100 dollar 1",
        "watt": "watt 1 kw 1000",
    }.items()
    for name, size in zip(sizes.split()[::2], sizes.split()[1::2], strict=True)
}
_FACTOR = lazy_pattern(r"(/?)([a-z]+)(?:\^(-?\d))?")
_ALIKE = {"pound", "gbp"}
"""Units with the same name: a pound may be a weight or money."""


def ratio_of(unit: str, other: str) -> Fraction | None:
    """Return the conversion factor of two units; None where they measure different quantities."""
    first, second = _measured(unit), _measured(other)
    if first is None or second is None or first[0] != second[0]:
        return None
    return first[1] / second[1]


def _measured(unit: str) -> tuple[dict[str, int], Fraction] | None:
    """Split a unit into the powers of its base units and its size in them."""
    unit = _EXPANDED.get(unit, unit)
    powers, size, end = dict[str, int](), Fraction(1), 0
    for match in _FACTOR.finditer(unit):
        known = _SIZES.get(match[2])
        if known is None or match.start() != end:
            return None
        end = match.end()
        power = int(match[3] or 1) * (-1 if match[1] else 1)
        powers[known[0]] = powers.get(known[0], 0) + power
        size *= known[1] ** power
    return (powers, size) if end == len(unit) and powers else None


_EXPANDED = {short: long for long, short in _COMPOUND.items()}


def compatible(unit: str, other: str) -> bool:
    """Whether two units can mean the same: one may be missing, or a price less specific."""
    if unit == other or not unit or not other or "unit" in (unit, other):
        return True
    if unit.startswith("unit^") or other.startswith("unit^"):
        return unit[-2:] == other[-2:]
    if {unit, other} == _ALIKE:
        return True
    money, _, per = unit.partition("/")
    known, _, rate = other.partition("/")
    return money == known and money in MONEY and not (per and rate)


def joined(first: Measure, second: Measure) -> Measure | None:
    """Add two parts of one quantity, the larger unit first: 2 hours 30 minutes are 2.5 hours.

    A gold of 150 without a unit, where minutes were asked for, then does not match.
    """
    ratio = ratio_of(first.unit, second.unit)
    if ratio is None or ratio <= 1:
        return None
    value = Op("+", (first.value, Op("/", (second.value, Num(ratio)))))
    return Measure(value, first.unit)


# The vocabulary of the grammar: all names and LaTeX commands.

FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot asin acos atan sinh cosh tanh coth sech "
    "csch ln log lg exp sqrt cbrt abs floor ceil ceiling max min gcd lcm factorial binomial "
    "binom sign sgn signum cis".split()
)
ALIASES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "ceiling": "ceil", "tg": "tan",
    "ctg": "cot", "cosec": "csc", "binomial": "binom", "dbinom": "binom", "tbinom": "binom",
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "geq": "ge", "geqslant": "ge", "leq": "le",
    "leqslant": "le", "gt": ">", "lt": "<", "neq": "ne", "cdot": "*", "times": "*", "ast": "*",
    "div": "/", "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "vert": "|",
    "lvert": "|", "rvert": "|", "mid": "|", "colon": ":", "land": "and", "wedge": "and",
    "lor": "or", "vee": "or", "varnothing": "emptyset", "dots": "ldots", "cdots": "ldots",
    "simeq": "approx", "sim": "approx", "degree": "circ", "pm": "±", "mp": "∓", "varphi": "phi",
    "varepsilon": "epsilon", "to": "to", "lparen": "(", "rparen": ")",
    "backslash": "setminus", "smallsetminus": "setminus", "sgn": "sign", "signum": "sign",
    "mod": "mod", "oslash": "emptyset",
}  # fmt: skip
"""Other spellings. ± keeps its sign as a name, because "pm" is also half of a day."""
GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell".split()
)
CONSTANTS = {
    **dict.fromkeys(("pi", "PI", "Pi"), "pi"),
    **dict.fromkeys(("oo", "inf", "infty", "infinity", "Infinity"), "oo"),
}
COMMANDS = frozenset(
    "frac sqrt binom overline dot bar ± ∓ cup cap in notin emptyset circ over begin end langle "
    "rangle lfloor rfloor lceil rceil ge le ne approx usd setminus ldots angle mathbb equiv pmod "
    "bmod mod choose int sum prod digits triangle unitvector".split()
)
DECORATIONS = frozenset(
    "vec hat widehat tilde overrightarrow mathring underline displaylines boxed fbox".split()
)
"""Commands whose argument means the same without them."""
ATTACHED = (
    "arcsin arccos arctan sqrt sinh cosh tanh sin cos tan log exp ln pi".split()
)  # longest first
"""Names that are recognised where they touch a letter, as in ``sinx`` and ``2pir``."""


# The tokenizer. LaTeX and ASCII mathematics share one set of tokens; nothing is ever executed.

MAX_TOKENS = 1500


class Unreadable(Exception):
    """The text is not mathematics that this grammar covers."""


class Token(NamedTuple):
    """A piece of text and its kind: num, sym, fun, text, cmd or op."""

    kind: str
    text: str
    spaced: bool
    """Whether white space precedes it."""


_TOKEN = lazy_pattern(
    r"\s*(?:(?P<num>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?)"
    r"|(?P<text>\\(?:text[a-z]{0,6}|mbox|hbox|math(?:rm|bf|it|sf|tt|cal|normal)|operatorname"
    r"|boldsymbol)\*?\s*\{(?P<inner>[^{}]*)\})"
    r"|(?P<cmd>\\[A-Za-z]+|\\.)|(?P<name>[A-Za-z]+)"
    r"|(?P<op>\*\*|<=|>=|!=|<>|==|\.\.\.|[^\s\\A-Za-z\d]))"
)
_OPERATORS = {
    "**": "^", "==": "=", "...": "ldots", "<>": "ne", "!=": "ne", "<=": "le", ">=": "ge",
}  # fmt: skip
_START = Token("", "", False)
_WORDS = frozenset(
    "or and to per sq old no on not yes all any odd the of is are for but off red".split()
)
_AFTER_VALUES = frozenset({"an", "in", "out"})
"""Words only after a value; elsewhere they are letters: "an" is a times n."""
_PAIR = lazy_pattern("[a-z]{2}")
_LABEL = lazy_pattern("[A-Z]{2,}")
_SYMBOLIC = lazy_pattern(r"[^A-Za-z]*(?:[A-Za-z](?:_\w)?[^A-Za-z]*)?")


def tokenize(text: str) -> list[Token]:
    tokens: list[Token] = []
    end = len(text.rstrip())
    position = 0
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) > MAX_TOKENS:
            raise Unreadable("too long" if match else "a character with no meaning here")
        _add(tokens, match, spaced=text[position].isspace())
        position = match.end()
    return tokens


def _add(tokens: list[Token], match: re.Match[str], *, spaced: bool) -> None:
    kind = match.lastgroup
    if kind == "num":
        tokens.append(Token("num", match["num"], spaced))
    elif kind == "op":
        text = _OPERATORS.get(match["op"], match["op"])
        tokens.append(Token("cmd" if text.isalpha() else "op", text, spaced))
    elif kind == "name":
        tokens.extend(_from_name(match["name"], spaced, tokens[-1] if tokens else _START))
    elif kind == "text":
        tokens.extend(_from_text(match["inner"], spaced, tokens[-1] if tokens else _START))
    elif match["cmd"][1:] not in DECORATIONS:
        tokens.append(_from_command(match["cmd"][1:], spaced))


def _from_text(inner: str, spaced: bool, after: Token) -> list[Token]:
    words = inner.strip()
    behind_value = after.kind in ("num", "sym") or (after.text != "" and after.text in ")}")
    # Units here; elsewhere these are functions and variables.
    unit = words in UNIT_LETTERS or words in ("am", "pm")
    if words in ("min", "sec") or (unit and behind_value):
        return [Token("text", words, spaced)]
    if words in FUNCTIONS or words in CONSTANTS or words in ALIASES:
        return [_from_command(words, spaced)]
    if _SYMBOLIC.fullmatch(words) and not is_unit(words):
        return tokenize(words)
    if _PAIR.fullmatch(words) and not behind_value and not is_unit(words) and words not in _WORDS:
        return [Token("sym", letter, spaced and not i) for i, letter in enumerate(words)]
    if _LABEL.fullmatch(words) and not (behind_value and is_unit(words)):
        return [Token("sym", words, spaced)]
    return [Token("text", words, spaced)]


def _from_command(name: str, spaced: bool) -> Token:
    name = ALIASES.get(name, name)
    if name in CONSTANTS or name in GREEK:
        return Token("sym", CONSTANTS.get(name, name), spaced)
    if name in FUNCTIONS and name not in ("sqrt", "binom"):
        return Token("fun", "log10" if name in ("log", "lg") else name, spaced)
    if name == "newline" or not name[:1].isalpha():
        return Token("op", "\\" + name if name in "{}" else name, spaced)
    if name in ("and", "or", "to"):
        return Token("text", name, spaced)
    if name in COMMANDS:
        return Token("cmd", name, spaced)
    raise Unreadable(f"\\{name} is not known here")


def _from_name(name: str, spaced: bool, after: Token) -> list[Token]:
    if name in CONSTANTS or name in GREEK:
        return [Token("sym", CONSTANTS.get(name, name), spaced)]
    if name == "I" and after.text == "*":
        return [Token("sym", "i", spaced)]
    low = name.lower() if name[1:].islower() or len(name) == 1 else name
    if (len(low) > 1 and low in FUNCTIONS) or (low in ALIASES and ALIASES[low] in FUNCTIONS):
        known = ALIASES.get(low, low)
        return [Token("cmd" if known in ("sqrt", "binom") else "fun", known, spaced)]
    if len(name) == 1:
        return [Token("sym", name, spaced)]
    if name == "mod":
        return [Token("cmd", name, spaced)]
    behind_value = name in _AFTER_VALUES and after.kind in ("num", "text")
    if behind_value or name.lower() in _WORDS or is_unit(name):
        return [Token("text", name, spaced)]
    if _LABEL.fullmatch(name) or name in ("nCr", "nPr"):
        # HTH, IX or AB: a sequence of letters, a numeral or a label, not a product.
        return [Token("sym", name, spaced)]
    if split := _split(name):
        head, tail = split
        first = _from_name(head, spaced, after)
        return first + (_from_name(tail, False, first[-1]) if tail else [])
    if len(name) <= 3:
        return [Token("sym", letter, spaced and not i) for i, letter in enumerate(name)]
    return [Token("text", name, spaced)]


def _split(name: str) -> tuple[str, str] | None:
    """Split ``sinx`` or ``xsin`` or ``pir`` where a known name touches one or two letters."""
    for known in ATTACHED:
        if name.startswith(known) and 0 < len(name) - len(known) <= (2 if len(known) > 2 else 1):
            return known, name[len(known) :]
        if name.endswith(known) and 0 < len(name) - len(known) <= 1:
            return name[: -len(known)], known
    return None


# Normalisation: the many ways to type a sign, a space or a separator become one.

_NORMAL_SIGNS = {
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
_FOLDS = str.maketrans(_NORMAL_SIGNS | {letter: f"\\{name} " for letter, name in _GREEK.items()})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")

_RAISED = lazy_pattern("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_LOWERED = lazy_pattern("[₀₁₂₃₄₅₆₇₈₉]+")
_VULGAR = lazy_pattern("[¼-¾⅐-⅞]")

# Separators that can only be for thousands: 1{,}000, 1,\!000, 1\,000, 1~000.
_SURE_THOUSANDS = lazy_pattern(
    r"(?<=\d)(?:\{,\}\s?|\\!,\\!\s?|,\\!\s?|\\!,\s?|\\[,!;: ]|~|\{\\,\}|,\\,)(?=\d{3}(?!\d))"
)
_SPACED_THOUSANDS = lazy_pattern(r"(?<![\d.,/^_])\d{1,3}(?:[ _]\d{3})+(?![\d/])")
_MIXED = lazy_pattern(r"(?<![\d./^_})])(\d+)\s+(\d+)/(\d+)(?![\d/.^])")
_INVISIBLE = lazy_pattern(
    r"\\(?:[,!;:> ]|q?quad(?![A-Za-z])|(?:left|right|displaystyle|textstyle|limits|nolimits"
    r"|[bB]igg?[lrm]?|phantom\{\}|hfill|rm|bf|it|bm|boldsymbol|tiny|small|normalsize|[lL]arge"
    r"|LARGE|[hH]uge)(?![A-Za-z]))|~|&nbsp;"
)
_DELIMITERS = lazy_pattern(r"\\[()\[\]](?!\w*pt)")
_HALF_OF_DAY = lazy_pattern(r"\b([ap])\.\s?m\.?(?![a-z])", re.IGNORECASE)
_RUPEES = lazy_pattern(r"\b(?:Rs\b\.?|INR)\s*(?=\d)")
_TIMES_TEN = lazy_pattern(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)")
_RATE = lazy_pattern(
    r"(?<=[\d} ])\s*((?:[kcm]?m|ft|mi|k?g|L)\s*/\s*"
    r"(?:s|h|hr|min|sec|L|[kc]?m|ft)(?:\^\{?[23]\}?)?)$"
)
_INCHES = lazy_pattern(r"(?<=[\d}])\s*(?:in\.?|inch(?:es)?)\s*\^\s*\{?\s*([23])\s*\}?$")
_IN_BASE = lazy_pattern(
    r"(?<=\d)\s*(?:\\text\s*\{)?\s*\(?\s*(?:in\s+)?base[\s-]*(\d{1,2}|[a-z]{3,5})\s*\)?\}?\s*$"
)
_ROW_END = lazy_pattern(r"\\\\(?:\[[^\]]*(?:pt|em|ex)\])?")
_LEAD = lazy_pattern(
    r"(?:(?:the\s+(?=\d))|(?:the\s+)?solutions?(?:\s+set)?\s*"
    r"(?:(?:is|are)\s*:?|[:=])|(?:is\s+)?(?:approximately|approx\.?|about|roughly|around)(?=[\s\d$\\])"
    r"|\\approx(?![a-z])|\\simeq(?![a-z])|\\sim(?![a-z])|plus\s(?:or|/)\sminus\s|(?:minus|negative)\s(?=[\d\\]|infinity))\s*",
    re.IGNORECASE,
)
"""Words before a value that can be dropped; "minus" is a sign."""
_ORDINAL = lazy_pattern(
    r"(?<![\d.,])(\d{1,12})\s*(?:\^\s*\{?\s*)?(?:\\(?:text|mathrm|textsuperscript|rm)\s*\{?\s*)?"
    r"(?:st|nd|rd|th)\b[\s}]*$"
)
_ASIDE = lazy_pattern(r"(?<=[\d}%])\s*\(([A-Za-z]{3,}(?: [A-Za-z]+)*\.?)\)\s*$")
_ABBREVIATION = lazy_pattern(
    r"\b(sq|cu|ft|in|yd|lbs?|oz|hrs?|mins?|secs?|mi|cm|km|kg)\.(?=\s|$|\})"
)
_FRENCH = lazy_pattern(r"([\[\]])([^\[\]()]*)([\[\]])")
_FRENCH_UNION = lazy_pattern(r"\[[^\[\]]*\[\s*\\cup|\\cup\s*\]")
_REALS_LESS = lazy_pattern(r"(?:\\mathbb\s*\{?\s*R\s*\}?|\\R\b|^R)\s*[-\\]\s*(?=\\?\{)")
_DIGITS_IN_BASE = lazy_pattern(
    r"(?<![\w\\])\(?((?:[0-9A-F]|\\(?:text|mathrm|texttt|mathtt)\s*\{\s*[0-9A-F]+\s*\}){2,40}"
    r"|\\(?:text|mathrm|texttt|mathtt)\s*\{\s*[0-9A-F]{2,40}\s*\}|[0-9a-f]{2,40}(?=\)?_\{?16))\)?"
    r"\s*_\s*\{?\s*(1[1-6])\b\s*\}?"
)
_HEXADECIMAL = lazy_pattern(r"0x([0-9A-Fa-f]{1,40})")
_BRACKETED_DIGITS = lazy_pattern(r"\((\d+)\)\s*(?=_)")
_CHOSEN_BEFORE = lazy_pattern(r"(?:\{\s*\})?\s*[_^]\s*\{?(\d{1,4})\}?\s*([CP])_\s*\{?(\d{1,4})\}?")
_CHOSEN_BEHIND = lazy_pattern(r"(?<![A-Za-z\\])([CPA])_\s*\{?(\d{1,4})\}?\s*\^\s*\{?(\d{1,4})\}?")
_PERIOD = lazy_pattern(r"(-?\d+\.|-?0\.\d+)\((\d+)\)\Z")
_SPACED_LETTERS = lazy_pattern(r"[A-Z](?:\s+[A-Z])+")
_EXCEPT = lazy_pattern(
    r"all\s+real(?:s|\s+numbers|\s+values)?(?:\s+of\s+[a-z])?(?:\s+[a-z])?,?\s+except(?:\s+for)?\s+"
    r"(?:[a-z]\s*=\s*)?(.+)",
    re.IGNORECASE,
)
_TEXT = lazy_pattern(r"\\text(?:bf|it|rm|normal)?\s*\{([^{}\\]*\d[^{}\\]*)\}\s*[.,;]?")
_TEMPERATURE = lazy_pattern(
    r"(?:\^\s*\{?\s*\\circ\s*\}?\s*|\s*degrees?\s+)(?:\\(?:text|mathrm|rm)\s*\{?\s*)?"
    r"(?:(C)(?:elsius)?|F(?:ahrenheit)?)\b\s*\}?(?!\s*=)"
)
_OUT_OF = lazy_pattern(r"(\d+)\s+(?:out\s+of|in)\s+(\d+)")
_SHORT_TIME = lazy_pattern(r"(?<=\d)\s*(min|sec)s?$")
_HOURS = lazy_pattern(r"(\d+)\s*h(?:rs?)?\s*(\d+)\s*m(?:ins?)?")
_ANGLED = lazy_pattern(r"<([^<>]*,[^<>]*)>")
_DECIMAL_BRACES = lazy_pattern(r"(?<=\d)\{,\}(?=\d)")
_UNIT_VECTOR = lazy_pattern(
    r"\\(?:mathbf|hat|vec|boldsymbol|widehat)\s*\{\s*\\?(?:math)?([ijk])(?:math)?\s*\}"
)
_DIFFERENTIAL = lazy_pattern(r"\\(?:mathrm|text|rm|operatorname|mathit)\s*\{\s*d\s*\}")
_WRAPPER = lazy_pattern(r"\*\*(?!\*)([^*]+)\*\*|__([^_]+)__|`([^`]+)`")


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
    """Normalise signs, drop typesetting commands, join digits around thousands separators."""
    text = fold(text).strip()
    if wrapped := _WRAPPER.fullmatch(text):
        text = wrapped[wrapped.lastindex or 0].strip()
    if "\\\\" in text:
        # Undo doubled backslashes, except in an environment, where ``\\`` ends a row.
        if r"\\begin" in text or r"\begin" not in text:
            text = text.replace("\\\\", "\\")
        text = _ROW_END.sub(r"\\newline ", text)
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
        text = _PERIOD.sub(r"\1\\overline{\2}", _ASIDE.sub(r" \1", text))
    if " " in text or "_" in text or "." in text:
        text = _HALF_OF_DAY.sub(r"\1m", _RUPEES.sub("rupee ", text))
        text = _TIMES_TEN.sub("*", text)
        text = _SPACED_THOUSANDS.sub(lambda m: re.sub("[ _]", "", m[0]), text)
        text = _MIXED.sub(_mixed, text)
    if "base" in text:
        text = _IN_BASE.sub(r"_{\1}", text)
    if "_" in text:
        # Digits in a base above ten, and forms such as _{10}C_3, become one expression each.
        text = _DIGITS_IN_BASE.sub(_digits, text)
        text = _CHOSEN_BEFORE.sub(r"\2(\1,\3)", _BRACKETED_DIGITS.sub(r"\1", text))
        text = _CHOSEN_BEHIND.sub(_chosen, text) if "^" in text else text
    if text[:2] == "0x" and (digits := _HEXADECIMAL.fullmatch(text)):
        text = rf"\digits{{{digits[1]}}}_{{16}}"
    text = _words(text).strip()
    while text and text[-1] in ".,;:\\" and not text.endswith("..."):
        text = text[:-1].rstrip()
    text = text.removesuffix("/-")  # Rs. 750/-
    if "^" in text and "in" in text:
        text = _INCHES.sub(r"\\text{ inch}^{\1}", text)
    if "/" in text:
        text = _RATE.sub(lambda m: rf" \text{{{re.sub('[{}]', '', m[1])}}}", text)
    return text


def _vulgar(match: re.Match[str]) -> str:
    over, _, under = unicodedata.normalize("NFKC", match[0]).partition("⁄")
    return rf"\frac{{{over}}}{{{under or '1'}}}"


def _mixed(match: re.Match[str]) -> str:
    whole, over, under = match.groups()
    proper = len(over) <= len(under) <= 6 and int(over) < int(under)
    return rf"{whole}\frac{{{over}}}{{{under}}}" if proper else match[0]


def _currency(text: str) -> str:
    # A dollar sign is money when it is escaped or unpaired; a pair of them encloses mathematics.
    text = text.replace(r"\$", r"\usd ")
    if text.count("$") % 2 and (text[0] == "$" or text[-1] == "$"):
        text = r"\usd " + (text[1:] if text[0] == "$" else text[:-1])
    return text.replace("$", " ")


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
        # At the end after a number, these are units and not functions.
        text = _SHORT_TIME.sub(lambda m: " minutes" if m[1] == "min" else " seconds", text)
    if any(map(text.__contains__, _HINTS)):
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


_HINTS = (
    "st", "nd", "rd", "th", " out ", " in ", "sq.", "in.", "ft.", "lb", "hr", "mi", "sec", "cm.",
    "cu", "oz", "yd", "km", "kg", "int", "mathbf", "hat", "vec",
)  # fmt: skip


def _digits(match: re.Match[str]) -> str:
    digits = re.sub(r"\\[a-z]+|[{}\s]", "", match[1])
    return match[0] if digits.isdecimal() else rf"\digits{{{digits.upper()}}}_{{{match[2]}}}"


def _chosen(match: re.Match[str]) -> str:
    letter, whole, part = match[1], int(match[2]), int(match[3])
    return f"{letter.replace('A', 'P')}({whole},{part})" if whole >= part else match[0]


def _french(text: str) -> str:
    """Write the open interval ]1, 2[ as (1, 2)."""
    turned = "]" in text.partition("[")[0] or text.rstrip()[-1] == "["
    return _FRENCH.sub(_rounded, text) if turned or _FRENCH_UNION.search(text) else text


def _rounded(match: re.Match[str]) -> str:
    opened, inside, closed = match.groups()
    if "," not in inside and ";" not in inside:
        return match[0]
    return ("[" if opened == "[" else "(") + inside + ("]" if closed == "]" else ")")


# Numbers that are written in words: twenty-one, two thirds, the hundred and first.

_UP_TO_NINETEEN: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen".split()
)
SMALL_NUMBERS: Final = {word: value for value, word in enumerate(_UP_TO_NINETEEN)}
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
TENS: Final = {word: 10 * ten for ten, word in enumerate(_TENS, start=2)}
_LARGE: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "twentieth": 20,
    "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70,
    "eightieth": 80, "ninetieth": 90, "hundredth": 100, "thousandth": 1000, "millionth": 10**6,
} | {f"{word}th": value for word, value in SMALL_NUMBERS.items() if value > 12}  # fmt: skip
_PARTS: Final = {word: value for word, value in _ORDINALS.items() if value > 2} | {
    "half": 2, "halve": 2, "quarter": 4,
}  # fmt: skip
_NUMBERS: Final = frozenset({*SMALL_NUMBERS, *TENS, *_LARGE, "hundred", "point"})
_CONTINUING: Final = frozenset({*SMALL_NUMBERS, *TENS})
_MOST_WORDS: Final = 16


def read_number(text: str) -> tuple[str, str] | None:
    """Read the number that a text begins with, in digits, and the words that follow it."""
    words = text.lower().replace("-", " ").split()
    if not words or len(words) > _MOST_WORDS:
        return None
    sign = "-" if words[0] in ("minus", "negative") else ""
    words = words[1:] if sign else words
    found = _mixed_spelling(words)
    if found is None:
        return None
    number, used = found
    if any(word in _NUMBERS or word.removesuffix("s") in _PARTS for word in words[used:]):
        return None  # "ten five" is not a number
    return sign + number, " ".join(words[used:])


def _mixed_spelling(words: list[str]) -> tuple[str, int] | None:
    """Read a whole number, a fraction, or both with "and" between them."""
    if fraction := _fraction(words):
        return fraction
    if (whole := _whole(words)) is None:
        return _ordinal(words, 0, 0)
    value, used = whole
    rest = words[used:]
    if rest[:1] == ["and"] and (part := _fraction(rest[1:])) is not None:
        return rf"({value}+{part[0]})", used + 1 + part[1]
    if rest[:1] == ["point"] and (digits := [SMALL_NUMBERS.get(word, 10) for word in rest[1:]]):
        exact = max(digits) < 10
        return (f"{value}.{''.join(map(str, digits))}", len(words)) if exact else None
    return _ordinal(rest, value, used) or (str(value), used)


def _fraction(words: list[str]) -> tuple[str, int] | None:
    over, used = (1, 1) if words[:1] in (["a"], ["an"]) else _whole(words) or (1, 0)
    part = words[used].removesuffix("s") if used < len(words) else ""
    part = "half" if part == "halve" else part
    if part not in _PARTS or (not used and part not in ("half", "quarter")):
        return None
    plural = words[used].endswith("s")
    if (over == 1) == plural or (over > 1 and not plural and part != "half"):
        return None
    return rf"\frac{{{over}}}{{{_PARTS[part]}}}", used + 1


def _ordinal(rest: list[str], value: int, used: int) -> tuple[str, int] | None:
    """Read "first" or the last word of "twenty first"; nothing may follow it."""
    if len(rest) != 1 or rest[0] not in _ORDINALS:
        return None
    last = _ORDINALS[rest[0]]
    if used and not (value % 10 == 0 and last < 10) and not (value % 100 == 0 and last < 100):
        return None
    return str(value + last), used + 1


def _whole(words: list[str]) -> tuple[int, int] | None:
    """Read a whole number: its value, and how many words it takes."""
    total = group = at = 0
    last = ""
    for at, word in enumerate([*words, ""]):
        small = SMALL_NUMBERS.get(word, -1)
        if small >= 0 and last != "small" and (last != "ten" or 0 < small < 10):
            group, last = group + small, "small"
        elif word in TENS and last not in ("small", "ten"):
            group, last = group + TENS[word], "ten"
        elif word == "hundred" and 0 < (group or (last == "a")) < 10:
            group, last = (group or 1) * 100, "hundred"
        elif word in _LARGE and (group or last == "a"):
            total, group, last = total + (group or 1) * _LARGE[word], 0, "large"
        elif word == "dozen" and not total and (group or last == "a"):
            return (group or 1) * 12, at + 1
        elif word in ("a", "an") and not last:
            last = "a"
        elif (
            word != "and"
            or last not in ("hundred", "large")
            or (_CONTINUING.isdisjoint(words[at + 1 : at + 2]))
        ):
            break
    if last in ("", "a"):
        return None
    return total + group, at
