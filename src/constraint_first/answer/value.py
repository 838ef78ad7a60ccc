"""The meaning of an answer: its trees in canonical form, and its value where it has one.

A value is a rational number, a·√b or an option letter. The grader's own parser reads it, so that
values and grading never disagree. A list, an expression in x, a sentence or a number of thousands
of digits has no value: it is None, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from math import gcd, isqrt
from typing import Literal, TypeAlias, get_args

from constraint_first.answer import syntax
from constraint_first.answer.exact import REALS, as_real_set, as_tree, nearly, rational
from constraint_first.answer.parse import literal, parse
from constraint_first.answer.syntax import Measure, Node, Num, Op, Sym, is_op, symbols, walk
from constraint_first.pattern import lazy_pattern

_RISING = frozenset({"<", "le"})
_FALLING = frozenset({">", "ge"})
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_TURNED = {">": "<", "ge": "le"}


def relation(node: Op) -> Node:
    """Bring a chain of relations to canonical form: a definition, an interval or an equation."""
    count = len(node.args) // 2 + 1
    parts = list(node.args[:count])
    signs = [sign.name for sign in node.args[count:] if isinstance(sign, Sym)]
    if "equiv" in signs:  # mod names the modulus of a congruence here, and not a remainder
        parts = [Op("residue", part.args) if is_op(part, "mod") else part for part in parts]
    if "approx" in signs:
        at = signs.index("approx")
        # x = 1/3 ≈ 0.33 means 1/3; x ≈ 5 means 5.
        parts, signs = (parts[:2], ["="]) if at == 0 else (parts[: at + 1], signs[:at])
    if set(signs) <= {"=", "equiv"}:
        return _equation(parts)
    if signs[-1] == "in":
        return _define(parts[-2], canonical(parts[-1]))
    one_way = set(signs) <= _RISING or set(signs) <= _FALLING
    if len(signs) == 2 and one_way:
        return _between(parts, signs)
    if len(signs) == 1 and one_way:
        return _inequality(parts, signs[0])
    if signs == ["ne"]:
        return _unequal(parts[0], canonical(parts[1]))
    raise syntax.Unreadable("a chain of relations")


def _unequal(left: Node, right: Node) -> Node:
    """Read x ≠ 2 as the union of the rays on either side of 2."""
    if name_of(left) and is_op(right, "list"):
        holes = as_real_set(Op("minus", (REALS, Op("{}", right.args))))
        if holes is not None:
            return _define(left, as_tree(holes))
    if name_of(left) and not symbols(right):
        return _define(left, _without(right))
    return Op("ne", (left, right))


def _equation(parts: list[Node]) -> Node:
    first, last = parts[0], parts[-1]
    if name_of(first) is not None:
        return _define(first, _in_order(first, canonical(last)))
    if not symbols(first) and isinstance(last, Sym):
        return _define(last, canonical(first))
    if len(parts) > 2 or (not symbols(last) and not symbols(first)):
        return canonical(last)
    return Op("=", (first, last))


def _in_order(names: Node, value: Node) -> Node:
    """Reorder (y, x) = (1, 2) alphabetically, if its letters are adjacent in the alphabet."""
    if is_op(names, "()") and is_op(value, "()") and len(names.args) == len(value.args):
        letters = [letter.name for letter in names.args if isinstance(letter, Sym)]
        if "".join(sorted(letters)) in _ALPHABET:
            pairs = sorted(zip(letters, value.args, strict=True), key=lambda pair: pair[0])
            return Op("()", tuple(pair[1] for pair in pairs))
    return value


def name_of(node: Node) -> str | None:
    """Return the left side of an equation as a name; None where it is an expression."""
    match node:
        case Sym(name=name) if name not in ("pi", "e", "i", "oo"):
            return name
        case Op("call", (Sym(name=name), Sym(name=variable))):
            return f"{name}({variable})"
        case Op(
            "call", (Sym(name="f" | "g" | "h" | "F" | "G" | "H" | "p" | "q" as name), Num(value))
        ):
            return f"{name}({value})"
        case Op("call", (Sym(name="P" | "E" | "V" | "D" as name), event)):
            return f"{name}({event!r})"
        case Op("/", (Op("*", (Sym(name="d"), Sym(name=value))), Op("*", (Sym(name="d"), Sym())))):
            return f"{value}'"
        case Op("*", (Op("^", (Sym(name=name), Num(value=Fraction(numerator=-1)))), Sym())):
            return f"{name}^-1"
        case Op("()" | "{}", args) if args and all(isinstance(arg, Sym) for arg in args):
            return ""
        case Op("abs", (inner,)) if (inside := name_of(inner)) is not None:
            return inside if inside.isupper() else f"|{inside}|"
        case Op("sin" | "cos" | "tan" | "cot" | "sec" | "csc" as name, (Sym(name=variable),)) if (
            variable.isupper() or variable in syntax.GREEK or variable.startswith("angle ")
        ):
            return f"{name} {variable}"
        case Op("*", args):
            names = [arg.name for arg in args if isinstance(arg, Sym)]
            deep = names if len(names) == len(args) else [name_of(arg) or "?" for arg in args]
            letters = "".join(deep)
            return letters if letters.isupper() and letters.isalpha() else None
        case _:
            return None


def _define(left: Node, value: Node) -> Node:
    name = name_of(left)
    if name is None:
        raise syntax.Unreadable("a value for something that is not a name")
    value = value.args[1] if is_op(value, "def") else value
    return Op("def", (Sym(name), value)) if name else value


def _inequality(parts: list[Node], sign: str) -> Node:
    small, big = parts if sign in _RISING else parts[::-1]
    closed = sign in ("le", "ge")
    if (bounded := _bounded(small, big, sign)) is not None:
        return bounded
    if name_of(small) and not symbols(big):
        return _define(small, Op("(]" if closed else "()", (syntax.INFINITE[1], big)))
    if name_of(big) and not symbols(small):
        return _define(big, Op("[)" if closed else "()", (small, syntax.INFINITE[0])))
    if (bound := _solve(small, big)) is not None:
        name, value, rising = bound
        ends = (Num(value), syntax.INFINITE[0]) if rising else (syntax.INFINITE[1], Num(value))
        kind = ("[)" if rising else "(]") if closed else "()"
        return _define(Sym(name), Op(kind, ends))
    return Op("<=" if closed else "<", (small, big))


def _bounded(small: Node, big: Node, sign: str) -> Node | None:
    """Read |x - 2| < 3 as the interval that it is, and |x| > 3 as two rays."""
    sign = _TURNED.get(sign, sign)
    match small, big:
        case Op("abs", (inner,)), bound if not symbols(bound):
            name, pairs = "intersect", ([Op("neg", (bound,)), inner], [inner, bound])
        case bound, Op("abs", (inner,)) if not symbols(bound):
            name, pairs = "union", ([inner, Op("neg", (bound,))], [bound, inner])
        case _:
            return None
    sides = (_inequality(pair, sign) for pair in pairs)
    definitions = [side for side in sides if is_op(side, "def")]
    if len(definitions) < 2:
        return None
    pieces = as_real_set(Op(name, tuple(side.args[1] for side in definitions)))
    return None if pieces is None else Op("def", (definitions[0].args[0], as_tree(pieces)))


def _solve(small: Node, big: Node) -> tuple[str, Fraction, bool] | None:
    """Solve a linear inequality in one variable: its bound, and whether the variable exceeds it."""
    names = symbols(small) | symbols(big)
    if len(names) != 1:
        return None
    (name,) = names
    gap = Op("+", (big, Op("neg", (small,))))
    values = [rational(syntax.substitute(gap, name, Num(Fraction(at)))) for at in range(4)]
    if any(value is None for value in values):
        return None
    start, *rest = (value for value in values if value is not None)
    slope = rest[0] - start
    if not slope or any(value != start + slope * (at + 1) for at, value in enumerate(rest)):
        return None
    return name, -start / slope, slope > 0


def _between(parts: list[Node], signs: list[str]) -> Node:
    if signs[0] in _FALLING:
        parts, signs = parts[::-1], [_TURNED[sign] for sign in signs[::-1]]
    low, middle, high = parts
    if name_of(middle) is None:  # 1 < 2x + 1 < 5
        sides = [_inequality([low, middle], signs[0]), _inequality([middle, high], signs[1])]
        bounds = [side for side in sides if is_op(side, "def")]
        values = tuple(side.args[1] for side in bounds)
        pieces = as_real_set(Op("intersect", values)) if len(values) == 2 else None
        if pieces is not None:
            return Op("def", (bounds[0].args[0], as_tree(pieces)))
    kind = ("[" if signs[0] in ("le", "ge") else "(") + ("]" if signs[1] in ("le", "ge") else ")")
    return _define(middle, Op(kind, (low, high)))


# Answers in words: a choice letter, yes or no, a name.

_LONGEST_PHRASE = 3000
_STYLE = lazy_pattern(r"\\(?:text[a-z]*|mbox|math[a-z]+|operatorname|bf|rm)\s*|[{}$*`\\]")
_CAPITAL = lazy_pattern("[A-J]")
_GOLD_CHOICE = lazy_pattern(r"\(?([A-J])\)?[.:]?|\(([A-J])\)\s.+", re.DOTALL)
_CHOICE = lazy_pattern(
    r"(?:(?:option|choice|answer)\s*:?\s*)?(?:\(([A-Ja-j])\)|([A-Ja-j])(?=$|[.:)]))[.:)]*(\s.*)?",
    re.IGNORECASE | re.DOTALL,
)
_LETTERS = lazy_pattern(r"\(?[A-J]\)?(?:(?:\s*(?:,|;|and|&)\s*|\s*)\(?[A-J]\)?)+")
_WORD = lazy_pattern(r"[^\W\d_]+")
_ARTICLES = frozenset({"a", "an", "the", "is", "it", "its"})
_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no", "是": "yes", "否": "no"}
_TRUTH_LETTERS = {"Y": "yes", "N": "no", "T": "yes", "F": "no"}
_TRUE_OR_NOT = lazy_pattern(r"\W*(?:text\s*\{)?\s*(yes|true|no|false|是|否)\W*", re.IGNORECASE)
_MONTHS = {
    name: at + 1
    for at, month in enumerate(
        "january february march april may june july august september october november "
        "december".split()
    )
    for name in (month, month[:3])
} | {"sept": 9}
_DATE = lazy_pattern(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)|([a-z]+) (?:the )?(\d{1,2})(?:st|nd|rd|th)?)"
    r"(?: (\d{3,4}))?|(\d{4})-(\d\d)-(\d\d)"
)
_NO_SOLUTION = lazy_pattern(r"(?:there (?:are )?)?no (?:([a-z]+) )?solutions?(?: exists?)?")
_SUBJECT = lazy_pattern(
    r"^(?:limit|series|sequence|integral|function|derivative|slope|expression|value|it)\s+(?:is\s+)?"
)
_VERBS = lazy_pattern(r"\b(converge|diverge)(?:s|nt)?\b")
_SAME = {
    way: meaning
    for meaning, ways in {
        "does not exist": "dne, doesn't exist, undefined, not defined, nonexistent, not exist",
        "infinitely many": "infinitely many solutions, infinite solutions, infinite number of "
        "solutions, infinite, infinitely many solution, there are infinitely many solutions, "
        "there are infinitely many",
    }.items()
    for way in ways.split(", ")
}
NUMERALS = {word: str(value) for word, value in syntax.SMALL_NUMBERS.items() if value < 13}


def plain_words(text: str) -> str:
    """Strip an answer of its typesetting, case and articles."""
    if len(text) > _LONGEST_PHRASE:
        return ""
    low = _STYLE.sub(" ", syntax.clean(text)).lower()
    kept = [word for word in low.split() if word not in _ARTICLES]
    return " ".join(kept).strip(" .,;:!?\"'()")


def _plainly(text: str) -> str:
    return _STYLE.sub(" ", text).strip().rstrip(".")


def choice_letter(text: str) -> str | None:
    """Read the letter of a chosen option; a lower-case letter alone is a variable."""
    chosen = _CHOICE.fullmatch(_plainly(text))
    if chosen is None:
        return None
    letter = chosen[1] or chosen[2]
    marked = letter.isupper() or (chosen[0] != letter and not chosen[3])
    return letter.upper() if marked else None


def choice_verdict(pred: str, gold: str) -> bool | None:
    """Compare with a choice letter; None where the gold answer is not one."""
    if not _CAPITAL.search(gold):
        return None
    letters = _STYLE.sub(" ", gold).strip()
    if match := _GOLD_CHOICE.fullmatch(letters):
        option = _CHOICE.fullmatch(_plainly(pred))
        return (option[1] or option[2]).upper() == (match[1] or match[2]) if option else None
    said = _plainly(pred)
    if _LETTERS.fullmatch(letters) and _LETTERS.fullmatch(said):
        wanted, chosen = (re.findall("[A-J]", text) for text in (letters, said))
        if _is_word(letters, wanted) or _is_word(said, chosen):
            return wanted == chosen  # DCBA is a word or an order, not four choices
        return set(wanted) == set(chosen)
    return None


def _is_word(text: str, letters: list[str]) -> bool:
    """Whether letters form a word: without separators, and not sorted like choices (ABD)."""
    return text.isalpha() and (letters != sorted(set(letters)) or len(letters) < 2)


def truth_verdict(pred: str, gold: str) -> bool | None:
    """Compare with yes or no, true or false; None where the gold answer is neither."""
    if gold in _TRUTH_LETTERS:  # these are variables too, unless the answer is yes or no
        said = _TRUTH.get(plain_words(pred))
        return None if said is None else said == _TRUTH_LETTERS[gold]
    wanted = _TRUE_OR_NOT.fullmatch(gold)
    if wanted is None:
        return None
    return _TRUTH.get(plain_words(pred)) == _TRUTH[wanted[1].lower()]


def date_of(text: str) -> tuple[int, int, int] | None:
    """Read a date that names its month as year, month and day."""
    words = _STYLE.sub(" ", text).lower().replace(",", " ").replace(".", " ")
    words = " ".join(words.removeprefix("the ").split())
    found = _DATE.fullmatch(words) if len(text) < 60 else None
    if found is None:
        return None
    if found[6]:
        return int(found[6]), int(found[7]), int(found[8])
    month = _MONTHS.get(found[2] or found[3])
    return (int(found[5] or 0), month, int(found[1] or found[4])) if month else None


def absence_verdict(pred: str, gold: str) -> bool | None:
    """Whether both say that there is no solution, or no real one; None otherwise."""
    if "olution" not in gold or "olution" not in pred:
        return None
    wanted, said = (_NO_SOLUTION.fullmatch(plain_words(text)) for text in (gold, pred))
    return True if wanted and said and wanted[1] == said[1] else None


def words_verdict(pred: str, gold: str) -> bool | None:
    """Compare with a gold answer in words; None where it is not in words."""
    # Drop the subject: "the limit does not exist", "the series diverges".
    bare = (_SUBJECT.sub("", plain_words(text)) for text in (gold, pred))
    wanted, said = (_SAME.get(text, text) for text in (_VERBS.sub(r"\1", one) for one in bare))
    if said in NUMERALS or wanted in NUMERALS:
        return NUMERALS.get(said, said) == NUMERALS.get(wanted, wanted)
    words = _WORD.findall(wanted)
    prose = max(map(len, words), default=0) > 2 and not re.search(r"[\d^=+/<>_]", wanted)
    return wanted == said if prose else None


# The canonical form of a parsed answer, so that different notations give one tree:
#
# ``x > 3`` and ``(3, oo)``, ``x = 1 or x = 2`` and ``{1, 2}``, ``±3`` and ``3, -3``.

SIMPLE = lazy_pattern(
    r"([-−]?)(?:([0-9]{1,40})(?:\.([0-9]{1,40})|/([1-9][0-9]{0,40}))?"
    r"|\\[dt]?frac\{([0-9]{1,40})\}\{([1-9][0-9]{0,40})\})"
)
"""The commonest forms. Groups: sign, whole part, decimals, denominator; or those of a \\frac."""
# 1,234,567 and, in India, 12,34,567.
_THOUSANDS = lazy_pattern(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+|(?:,\d\d)+,\d{3})(?![\d,])")
# 1'234 in Switzerland; 1.234,5 and 1.234.567 in much of Europe.
_APOSTROPHES = lazy_pattern(r"(?<![\d.,'])\d{1,3}(?:'\d{3})+(?![\d'])")
_POINTS = lazy_pattern(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d+)(?![\d,.])|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d,.])"
)
_DECIMAL_COMMA = lazy_pattern(r"-?(?:0,\d+|\d+,(?:\d\d|\d{4,}))")
# "m + n = 17" is an equation, but where m + n was asked for the answer is 17.
_NAMED_SUM = lazy_pattern(r"[A-Za-z](?:\s*\+\s*[A-Za-z])+\s*=\s*(?=[-+]?\d)")
_WORDED = lazy_pattern(r"(?:\\(?:text|mathrm)\s*\{)?\s*-?[A-Za-z][A-Za-z' -]+[.!]?\}?")
_NAME = lazy_pattern(
    r"(?!.*\b(?:not|no|never|isn't|cannot|if|unless|when|than|false|wrong|incorrect|untrue|doubt)\b)"
    r"[^,;\n]{1,60}(?<!\. )",
    re.IGNORECASE,
)
_TWICE = lazy_pattern(r"([^()]{1,60}\S)\s+\(([^()]{1,60})\)")
_EQUALS = lazy_pattern(r"(?<![<>!\\=])=(?!=)")
_IN_WORDS = NUMERALS | {
    words: signs
    for signs, ways in {
        r"\emptyset": "no solution, no solutions, no real solution, no real solutions, empty set, "
        "no solution exists, no solutions exist, there no solution, none, null set, no real roots, "
        "no roots",
        r"\mathbb{R}": "all real numbers, all reals, any real number, every real number, "
        "any real numbers, real numbers",
        r"\infty": "infinity, positive infinity, plus infinity",
        r"-\infty": "negative infinity, minus infinity, -infinity, -inf",
        "12:00 pm": "noon",
        "12:00 am": "midnight",
    }.items()
    for words in ways.split(", ")
}
_MAX_SIGNS = 4
_VECTORS = ("()", "[]", "matrix")
_LINEAR = ("+", "neg", "*", "/", "root", "^")


@lru_cache(4096)  # gold answers and predictions both recur
def interpret(text: str) -> tuple[Node, ...]:
    """Read an answer as trees, one for each meaning of its commas; none where it is not maths."""
    if simple := SIMPLE.fullmatch(text):
        return (_simple(simple),)
    cleaned = syntax.clean(text)
    if _WORDED.fullmatch(cleaned):
        cleaned = _from_words(cleaned)
    spellings = [cleaned]
    if "=" in cleaned and (asked := _NAMED_SUM.match(cleaned)):
        spellings.append(cleaned[asked.end() :])
    if "," in cleaned:
        if _THOUSANDS.search(cleaned) and not (cleaned[:1] in "([{" or cleaned.startswith("\\{")):
            spellings.insert(0, _THOUSANDS.sub(lambda m: m[0].replace(",", ""), cleaned))
        if _DECIMAL_COMMA.fullmatch(cleaned):
            spellings.append(cleaned.replace(",", "."))
    if "'" in cleaned:
        spellings[0] = _APOSTROPHES.sub(lambda m: m[0].replace("'", ""), cleaned)
    if cleaned.count(".") + ("," in cleaned) > 1 and _POINTS.search(cleaned):
        spellings[0] = _POINTS.sub(
            lambda m: (m[1] or m[0]).replace(".", "") + (f".{m[2]}" if m[2] else ""), cleaned
        )
    trees = tuple(tree for spelling in spellings if (tree := _read(spelling)) is not None)
    if not trees and (twice := _TWICE.fullmatch(cleaned)):
        worded = _WORDED.fullmatch(twice[1]) is not None
        first = _read(_from_words(twice[1]) if worded else twice[1])
        second = _read(twice[2])
        return (first,) if first and second and _repeats(first, second, worded=worded) else ()
    if not trees and "=" in cleaned:
        # The name cannot be parsed, its value can: "P-value = 0.527".
        name, *values = _EQUALS.split(cleaned)
        value = _read(values[0]) if len(values) == 1 and _NAME.fullmatch(name) else None
        return (value,) if value is not None and not symbols(value) else ()
    return trees


def _repeats(first: Node, second: Node, *, worded: bool) -> bool:
    """Whether two quantities are one amount: 75 pounds (£75), fifteen (15)."""
    units = [node.unit if isinstance(node, Measure) else "" for node in (first, second)]
    amount = rational(first) if worded or any(units) else None
    return amount is not None and syntax.compatible(*units) and amount == rational(second)


def _from_words(text: str) -> str:
    """Write words as mathematics: twenty-one, one half, no solution, infinity."""
    words = plain_words(text)
    if (known := _IN_WORDS.get(words)) is not None:
        return known
    bare = re.sub(r"\\(?:text|mathrm)\s*|[{}]", "", text).strip(" .!")
    found = syntax.read_number(bare)
    if found is None:
        return text
    number, rest = found
    return rf"{number} \text{{{rest}}}" if rest else number


def scalars(text: str) -> Iterator[Node]:
    """Yield an answer's trees without the name, the unit or the per cent sign of its value."""
    for node in interpret(text.strip()):
        while True:
            if isinstance(node, Measure):
                node = node.value
            elif is_op(node, "def", "%"):
                node = node.args[-1]
            else:
                break
        yield node


def _simple(match: re.Match[str]) -> Num:
    sign, whole, part, below, over, under = match.groups()
    value = Fraction(int(whole or over), int(below or under or 1))
    number = Num(value) if part is None else literal(f"{whole}.{part}")
    return Num(-number.value, number.digits) if sign else number


def _read(text: str) -> Node | None:
    try:
        return canonical(parse(text))
    except (syntax.Unreadable, RecursionError):
        return None


def canonical(node: Node) -> Node:
    if isinstance(node, Measure):
        inner = canonical(node.value)
        return inner if isinstance(inner, Measure) else Measure(inner, node.unit)
    if not isinstance(node, Op):
        return node
    if node.name == "rel":
        return relation(node)
    if node.name in syntax.BRACKETS or node.name in ("and", "or"):
        return _several(node)
    if node.name == "deg":
        return Measure(canonical(node.args[0]), "degree")
    if node.name in ("union", "intersect", "minus"):
        return _set_operation(node)
    if counted := _counted(node):
        return counted
    if node.name == "^" and node.args[1] == Sym("T") and _is_vector(node.args[0]):
        return canonical(node.args[0])  # a column written as a row
    if any(isinstance(n, Sym) and n.name.startswith("unit ") for n in walk(node)):
        return _components(node)
    if node.name in (":", "time"):
        unit = next((arg.unit for arg in node.args if isinstance(arg, Measure)), "")
        parts = tuple(arg.value if isinstance(arg, Measure) else arg for arg in node.args)
        plain = Op("time" if unit in ("am", "pm") else node.name, parts)
        return Measure(plain, unit) if unit else plain
    if node.name in ("neg", "*", "/") and (scaled := _scaled(node)):
        return scaled
    if any(is_op(n, "±", "∓") for n in walk(node)):
        return Op("list", (_resolve(node, up=True), _resolve(node, up=False)))
    return node


# A number times a vector or a matrix.


def _scaled(node: Op) -> Node | None:
    """Multiply a vector or a matrix by the other factor, unless that is a vector or matrix too."""
    if node.name == "neg":
        return _each(node.args[0], lambda cell: Op("neg", (cell,)))
    left, right = node.args
    if _is_vector(left) and not _is_vector(right):
        return _each(left, lambda cell: Op(node.name, (cell, right)))
    if node.name == "*" and _is_vector(right) and not _is_vector(left):
        return _each(right, lambda cell: Op("*", (left, cell)))
    return None


def _is_vector(node: Node) -> bool:
    """Whether a node is a vector or a matrix, itself or times a number."""
    scaled = is_op(node, "neg", "*", "/") and any(map(_is_vector, node.args))
    return scaled or (is_op(node, *_VECTORS) and bool(node.args))


def _each(node: Node, change: Callable[[Node], Node]) -> Node | None:
    whole = canonical(node) if _is_vector(node) else node
    if not is_op(whole, *_VECTORS):
        return None
    if whole.name != "matrix":
        return Op(whole.name, tuple(change(cell) for cell in whole.args))
    rows = [row.args for row in whole.args if isinstance(row, Op)]
    return Op("matrix", tuple(Op("row", tuple(change(cell) for cell in row)) for row in rows))


def _united(node: Node) -> list[Node]:
    if is_op(node, "union"):
        return [part for arg in node.args for part in _united(arg)]
    return [canonical(node)]


def _set_operation(node: Op) -> Node:
    """Evaluate unions, intersections and differences of intervals and finite sets of numbers."""
    parts = _united(node) if node.name == "union" else [canonical(a) for a in node.args]
    parts = [part.args[1] if is_op(part, "def") else part for part in parts]
    if node.name != "union":
        # \\setminus {0}: braces that only group in LaTeX are meant as a set here.
        parts = [parts[0], *(_as_set(part) for part in parts[1:])]
    whole = Op(node.name, tuple(parts))
    if (pieces := as_real_set(whole)) is not None:
        return as_tree(pieces)
    sets = [part.args for part in parts if is_op(part, "{}")]
    if node.name == "union" and len(sets) == len(parts):
        return Op("{}", tuple(chain.from_iterable(sets)))
    return whole


def _as_set(node: Node) -> Node:
    if is_op(node, "list"):
        return Op("{}", node.args)
    return node if is_op(node, "union", *syntax.BRACKETS) else Op("{}", (node,))


def _counted(node: Op) -> Node | None:
    """Read C(10, 3) as a binomial coefficient and P(10, 3) as a number of arrangements."""
    match node:
        case Op("call", (Sym(name="C" | "nCr"), whole, part)):
            return Op("binom", (whole, part))
        case Op("call", (Sym(name=name) as point, *args)) if (
            len(args) > 1 and len(name) == 1 and name.isupper() and name != "P"
        ):
            return Op("def", (point, Op("()", tuple(canonical(arg) for arg in args))))
        case Op("call", (Sym(name="P" | "nPr"), whole, part)):
            most, least = rational(whole), rational(part)
            if most is None or least is None or not 0 <= least <= most:
                return None
            rest = Op("+", (whole, Op("neg", (part,))))
            return Op("/", (Op("!", (whole,)), Op("!", (rest,))))
        case _:
            return None


def _components(node: Node) -> Node:
    """Write a sum of the unit vectors i, j and k as a tuple."""
    names = ["unit i", "unit j", "unit k"]
    used = names if Sym("unit k") in walk(node) else names[:2]
    if any(isinstance(n, Op) and n.name not in _LINEAR for n in walk(node)):
        raise syntax.Unreadable("unit vectors in something else than a sum")
    parts: list[Node] = []
    for chosen in used:
        part = node
        for name in names:
            part = syntax.substitute(part, name, Num(Fraction(int(name == chosen))))
        parts.append(part)
    return Op("()", tuple(parts))


# Answers of several parts.


def _several(node: Op) -> Node:
    name = "list" if node.name in ("and", "or") else node.name
    items = [canonical(arg) for arg in node.args]
    if name in ("list", "{}"):
        items = _assignments([part for item in _assignments(items) for part in _flat(item)])
        if node.name == "or" and _all_defined(items) and len(set(_defined(items))) > 1:
            raise syntax.Unreadable("one or another thing has a value")  # x = 1 or y = 0
        parts = [item for item in items if isinstance(item, Measure)]
        both = node.name == "and" and len(parts) == len(items) == 2
        if both and (total := syntax.joined(*parts)):
            return total  # 3 hours and 20 minutes
        items = _without_parameters(_spread_inequality(items))
        if len(items) == 1 and (name == "list" or _is_interval_definition(items[0])):
            return items[0]
        if len(items) > 1 and all(_is_interval_definition(item) for item in items):
            return _joined(items, node.name)
        return Op(name, tuple(items))
    if name == "[]" and (rows := _rows(items)):
        return Op("matrix", rows)
    if name in ("[]", "()") and _all_defined(items):
        return Op("list", tuple(items))  # [x = 2, y = 4]
    return _spread_tuple(Op(name, tuple(items)))


def _assignments(items: list[Node]) -> list[Node]:
    """Write each of several solutions, x = 1, y = 0 or x = 0, y = 1, as a point."""
    groups = [item.args if is_op(item, "list") else () for item in items]
    groups = [group if _all_defined(group) else () for group in groups]
    if len(items) > 1 and _all_defined(items):
        names = _defined(items)
        period = len(set(names))
        groups = [tuple(items[at : at + period]) for at in range(0, len(items), period)]
    names = [_defined(group) for group in groups]
    width = len(names[0]) if len(names) > 1 else 0
    alike = all(len(name) == width and set(name) == set(names[0]) for name in names)
    if width < 2 or len(set(names[0])) < width or not alike:
        return items
    order = sorted(names[0])
    values = [
        {name: item.args[1] for name, item in zip(named, group, strict=True) if is_op(item, "def")}
        for named, group in zip(names, groups, strict=True)
    ]
    return [Op("()", tuple(point[key] for key in order)) for point in values]


def _all_defined(items: Sequence[Node]) -> bool:
    return all(is_op(item, "def") for item in items)


def _defined(items: Sequence[Node]) -> list[str]:
    named = (item.args[0] for item in items if isinstance(item, Op))
    return [name.name for name in named if isinstance(name, Sym)]


def _flat(item: Node) -> tuple[Node, ...]:
    if is_op(item, "list"):
        return item.args
    if is_op(item, "def") and is_op(item.args[1], "list"):
        return tuple(Op("def", (item.args[0], part)) for part in item.args[1].args)
    return (item,)


def _spread_inequality(items: list[Node]) -> list[Node]:
    """Read x ≠ 1, 2 as x ≠ 1 and x ≠ 2."""
    first = items[0] if len(items) > 1 else None
    if first is None or not is_op(first, "def") or any(nearly(item) is None for item in items[1:]):
        return items
    union = first.args[1]
    if not is_op(union, "union") or len(union.args) != 2:
        return items
    hole = union.args[0].args[1] if isinstance(union.args[0], Op) else None
    if hole is None or as_real_set(union) != as_real_set(_without(hole)):
        return items
    return [first, *(Op("def", (first.args[0], _without(item))) for item in items[1:])]


def _without_parameters(items: list[Node]) -> list[Node]:
    """Read x = kπ, k ∈ Z as one statement about a whole number of any name."""
    for item in items:
        match item:
            case Op("def", (Sym(name), Sym("set Z" | "set N" as numbers))):
                others = [other for other in items if other is not item]
                if others and all(name in symbols(other) for other in others):
                    whole = Sym(f"any of {numbers}")
                    return [syntax.substitute(other, name, whole) for other in others]
            case _:
                pass
    return items


def _without(hole: Node) -> Node:
    return Op("union", (Op("()", (syntax.INFINITE[1], hole)), Op("()", (hole, syntax.INFINITE[0]))))


def _rows(items: list[Node]) -> tuple[Node, ...]:
    rows = [Op("row", item.args) for item in items if is_op(item, "[]")]
    same = len(rows) == len(items) and len({len(row.args) for row in rows}) == 1
    return tuple(rows) if same else ()


def _is_interval_definition(node: Node) -> bool:
    value = node.args[1] if is_op(node, "def") else node
    interval = is_op(value, "()", "[]", "[)", "(]") and len(value.args) == 2
    return value is not node and (interval or is_op(value, "union"))


def _joined(items: list[Node], how: str) -> Node:
    """Join inequalities: "and" intersects, "or" unites; a comma may be either."""
    definitions = [item.args for item in items if isinstance(item, Op)]
    (name, *others), values = zip(*definitions, strict=True)
    if {name} != {name, *others}:
        return Op("list", tuple(items))
    union, common = (as_real_set(Op(joint, values)) for joint in ("union", "intersect"))
    if union is None or common is None:
        return Op("def", (name, Op("union", values)))
    both = how == "and" or (how != "or" and as_tree(union) == REALS)
    return Op("def", (name, as_tree(common if both else union)))


# ± and ∓, which stand for two signs.


def _spread_tuple(node: Op) -> Node:
    """Expand (±1, ±2) to every choice of signs."""
    choices = [item.args if is_op(item, "list") else (item,) for item in node.args]
    if (signs := sum(len(choice) > 1 for choice in choices)) > _MAX_SIGNS:
        raise syntax.Unreadable("too many signs")
    if not signs:
        return node
    return Op("list", tuple(Op(node.name, tuple(items)) for items in product(*choices)))


def _resolve(node: Node, *, up: bool) -> Node:
    if not isinstance(node, Op):
        return node
    if node.name in ("±", "∓"):
        inner = _resolve(node.args[0], up=up)
        if (node.name == "±") == up:
            return inner
        return Num(-inner.value, inner.digits) if isinstance(inner, Num) else Op("neg", (inner,))
    return Op(node.name, tuple(_resolve(arg, up=up) for arg in node.args))


# The value of an answer, and the form in which it is written.

Form: TypeAlias = Literal["integer", "fraction", "decimal", "surd", "choice"]
"""How an answer is written."""

FORMS: tuple[Form, ...] = get_args(Form)
_LONGEST = 1_000  # characters; nothing longer is meant as a value
_MOST_BITS = 14_000  # just fewer digits than Python refuses to write
_POINT = lazy_pattern(r"\.\\?[\da-z]")
_TWO = Num(Fraction(2))


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """An exact value ``coefficient`` times the root of ``radicand``, or an option letter."""

    coefficient: Fraction
    radicand: int = 1
    form: Form = "integer"
    letter: str = ""
    written: tuple[int, int] | None = None
    """Numerator and denominator as written, before any reduction."""

    @property
    def number(self) -> Fraction | None:
        return self.coefficient if self.radicand == 1 and not self.letter else None

    @property
    def reduced(self) -> bool:
        return self.written is None or gcd(*self.written) == 1

    @property
    def signed_square(self) -> Fraction:
        """The square with the sign of the value: it orders values without computing a root."""
        return self.coefficient * abs(self.coefficient) * self.radicand


def read_answer(text: str) -> AnswerValue | None:
    """Read the value of an answer without its name or unit; 5 % is read as 5."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if simple := SIMPLE.fullmatch(text):
        return _simple_value(simple)
    if letter := choice_letter(text):
        return AnswerValue(Fraction(0), form="choice", letter=letter)
    try:
        values = (_value(node, text) for node in scalars(text))
        return next((value for value in values if value is not None), None)
    except RecursionError:  # a product of hundreds of factors
        return None


def _simple_value(match: re.Match[str]) -> AnswerValue:
    sign, whole, part, below, over, under = match.groups()
    factor = -1 if sign else 1
    if part is not None:
        return AnswerValue(factor * Fraction(f"{whole}.{part}"), form="decimal")
    if not (denominator := below or under):
        return AnswerValue(Fraction(factor * int(whole)))
    written = int(whole or over), int(denominator)
    return AnswerValue(factor * Fraction(*written), form="fraction", written=written)


def _value(node: Node, text: str) -> AnswerValue | None:
    value = _surd(node)
    if value is None:
        return None
    while is_op(node, "neg"):
        node = node.args[0]
    form, written = _form(node, text, value[0])
    return AnswerValue(*value, form, written=written)


def _form(node: Node, text: str, value: Fraction) -> tuple[Form, tuple[int, int] | None]:
    if written := _parts_of_quotient(node):
        return "fraction", written
    parts = list(walk(node))
    if any(is_op(part, "root") for part in parts):
        return "surd", None
    if any(isinstance(part, Num) and part.digits is not None for part in parts):
        return "decimal", None
    if value.denominator == 1:
        return "integer", None
    if _POINT.search(text):  # digits that recur
        return "decimal", None
    return "fraction", (abs(value.numerator), value.denominator)  # a mixed number, most likely


def _parts_of_quotient(node: Node) -> tuple[int, int] | None:
    """Give the two parts of a fraction of whole numbers, without their signs."""
    if not is_op(node, "/"):
        return None
    over, under = map(rational, node.args)
    if over is None or under is None or over.denominator != 1 or under.denominator != 1:
        return None
    return abs(over.numerator), abs(under.numerator)


def _surd(node: Node) -> tuple[Fraction, int] | None:
    """Evaluate to a rational number times the root of a whole number."""
    if (value := rational(node)) is not None:
        return _moderate(value, 1)
    match node:
        case Op("neg", (inner,)):
            root = _surd(inner)
            return None if root is None else (-root[0], root[1])
        case Op("root", (inner, index)) if index == _TWO:
            square = rational(inner)
            if square is None or square < 0:
                return None
            return _moderate(Fraction(1, square.denominator), square.numerator * square.denominator)
        case Op("*" | "/" as name, (first, second)):
            left, right = _surd(first), _surd(second)
            if left is None or right is None or not (name == "*" or right[0]):
                return None
            factor = right[0] if name == "*" else 1 / (right[0] * right[1])
            return _moderate(left[0] * factor, left[1] * right[1])
        case _:
            return None


def _moderate(coefficient: Fraction, radicand: int) -> tuple[Fraction, int] | None:
    """Return a value small enough to compute with, else None; take a root of a perfect square."""
    sizes = coefficient.numerator, coefficient.denominator, radicand
    if max(size.bit_length() for size in sizes) > _MOST_BITS:
        return None
    root = isqrt(radicand)
    return (coefficient * root, 1) if root * root == radicand else (coefficient, radicand)


def same(first: AnswerValue, second: AnswerValue) -> bool:
    if first.letter or second.letter:
        return first.letter == second.letter
    if first.radicand == second.radicand == 1:
        return first.coefficient == second.coefficient
    # Signed squares are equal for 2√3 and √12, as they should be.
    return first.signed_square == second.signed_square


def decimal(value: Fraction | int, places: int) -> str:
    """Write a value with a fixed number of decimals; an error where it needs more."""
    scaled = Fraction(value) * 10**places
    if scaled.denominator != 1:
        raise ValueError(f"{value} has more than {places} decimals")
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
