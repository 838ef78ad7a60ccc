"""The kind of a text: a problem whose answer is a value, a text with demands, or neither.

``auto`` and policies act on the first two alone; every other text goes to the model untouched. So
a problem needs positive evidence: the text must ask for a value, and contain the mathematics from
which the value follows. In doubt, a text is not a problem.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias

from ahocorasick_rs import AhoCorasick

from constraint_first.constraint.asked import read_asked
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.router import FAMILIES, route
from constraint_first.constraint.stage1 import KINDS
from constraint_first.constraint.stated.read import read_stated
from constraint_first.pattern import lazy_pattern

TextKind: TypeAlias = Literal["problem", "demand", "other"]


class Kind(NamedTuple):
    """The kind of a text, and the reason, in words that complete "this text …"."""

    what: TextKind
    why: str
    english: bool = True


def read_kind(text: str) -> Kind:
    """Return the kind of a text; demands on the reply take precedence."""
    if demands := read_demands(text):
        quoted = " ".join(text[slice(*demands[0].span)].split())
        return Kind("demand", f"demands something of its reply (“{_short(quoted)}”)")
    return _read_problem(text)


def tell_kind(text: str) -> str:
    """Describe what ``auto`` does with a text, and why."""
    kind = read_kind(text)
    done = {
        "problem": "auto solves it as a problem",
        "demand": "auto checks the reply",
        "other": "auto passes it to the model untouched",
    }
    return f"{done[kind.what]}: it {kind.why}"


_LONGEST: Final = 4_000
_MOST_WORDS: Final = 200
_MOST_LINES: Final = 6
"""The most lines outside formulas. A longer text is a document or a conversation."""
_BLANK: Final = lazy_pattern(r"(\s{8})\s+")
"""Long white space, cut short because patterns would backtrack over it in quadratic time."""


def _read_problem(text: str) -> Kind:
    if len(text) > _LONGEST:
        return Kind("other", f"has more than {_LONGEST:,} characters, as problems seldom have")
    text = _FIGURE.sub(" ", _BLANK.sub(r"\1", text))
    words = _FORMULA.sub(" ", text)
    latex = _FORMULA.search(text)
    if len(words.split()) > (most := 2 * _MOST_WORDS if latex else _MOST_WORDS):
        return Kind("other", f"has more than {most} words, as problems seldom have")
    if not latex and len([*filter(None, map(str.strip, text.splitlines()))]) > _MOST_LINES:
        return Kind("other", f"has more than {_MOST_LINES} lines, as problems seldom have")
    for why, pattern in _OTHER.items():
        if found := pattern.search(words):
            return Kind("other", f"{why} (“{_short(found[0])}”)")
    formula = latex or _PLAIN_FORMULA.search(text)
    if not formula and (found := _LISTING.search(words)):
        return Kind("other", f"asks for a text (“{_short(found[0])}”)")
    return _read_question(text, formula[0] if formula else "", is_latex=bool(latex))


def _read_question(text: str, formula: str, *, is_latex: bool) -> Kind:
    asked = _ASKED.search(text)
    if asked is None and is_latex:
        asked = _ASKED_OF_FORMULA.search(text)
    if asked is None:
        return Kind("other", "has no question or order for a value")
    numbers = [one for one in _NUMBER.findall(text) if not _YEAR.fullmatch(one)]
    given, noun = formula, _NOUN.search(text)
    if not given and noun and numbers:
        given = noun[0]
    elif not given and len(numbers) > 1 and _is_scene(text):
        given = " … ".join(numbers[:2])
    if not given:
        return Kind("other", f"asks (“{_short(asked[0])}”) but gives too little to compute from")
    why = f"asks for a value (“{_short(asked[0])}”) and gives “{_short(given)}”"
    return Kind("problem", why, english=not _FOREIGN.fullmatch(asked[0]))


def _is_scene(text: str) -> bool:
    """Whether there are numbers outside the question, or the question has a condition."""
    asking = _ASKED.search(text)
    if asking is None:
        return False
    before = max(text.rfind(mark, 0, asking.start()) for mark in ".?!;。？！")
    after = re.search(r"[.?!。？！](?=\s|$)", text[asking.end() :])
    rest = text[: max(before, 0)] + (text[asking.end() + after.end() :] if after else "")
    return bool(_NUMBER.search(rest) or _CONDITION.search(text))


def _short(words: str) -> str:
    plain = " ".join(words.split())
    return plain if len(plain) <= 40 else f"{plain[:39]}…"


def _any(words: str) -> str:
    return f"(?:{words})"


# --- Mathematics: formulas, numbers, and words that stand for either.

_FIGURE: Final = lazy_pattern(r"\[asy\].{0,3000}?\[/asy\]", re.DOTALL)
_FORMULA: Final = lazy_pattern(
    # Between dollar signs: an operator, a command, or no word. Text between two prices has words.
    r"\$\$[^$]{1,600}\$\$|\$(?=[^$\n]{0,400}[\\^_])[^$\n]{1,400}\$"
    r"|\$(?:[^$A-Za-z\n]|(?<![A-Za-z])[A-Za-z]{1,2}(?![A-Za-z])|[A-Z]{3,5}){1,80}(?<!\s)\$(?!\d)"
    r"|\\\(.{1,400}?\\\)|\\\[.{1,600}?\\\]|\\begin\{((?:align|cases|array|gather|equation|[pbv]?matrix|split)\w*\*?)\}.{1,800}?\\end\{\1\}"
    r"|\\(?:[dt]?frac|sqrt|int|sum|lim|log|ln|sin|cos|tan|pi|cdot|times|leq?|geq?|mathbb|infty)"
    r"(?![A-Za-z])",
    re.DOTALL,
)
_PLAIN_FORMULA: Final = lazy_pattern(
    r"(?<![\w.])\d{0,6}[a-z)]\s?\^\s?[({]?-?[a-z\d]|(?<![\w.])\d{1,9}\s?\^\s?\(?-?\d"  # x^2, 7^100
    r"|(?<![\w.-])\d[\d,.]*\s?[+*×÷·=]\s?\(?-?\d|(?<![\w.-])\d[\d,.]*\s[x/-]\s\(?-?\d"  # 3 + 4
    r"|(?<![\w'’])\d{0,4}[a-zA-Z](?:\(\w\))?\s?[=<>≤≥]\s?-?[\d(√]"  # f(x) = 2, x > 3
    r"|(?<![\w'’])\d{0,4}[a-z]\s?[+*]\s?\d{0,4}[a-z](?!\w)"  # 2x + y
    r"|[√∫∑π∠]|\[\[-?\d|(?<![\w.,])\d+!(?=\s*[*/)+-]|\s*\?)"
    r"|\d\s?(?:%|/\s?\d+)\s+of\s+[$€£]?\d|\bpercent of \d"
)
_WORD_NUMBERS: Final = (
    r"zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,5}teen|twenty|thirty"
    "|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|half|twice|doubled?|dozen"
    "|(?:an?|one|two|three)[ -](?:third|fourth|fifth|quarter)|tripled?|thrice|zwei|drei|vier|fünf"
    "|sechs|sieben|acht|neun|zehn|halb|hälfte|doppelt|drittel|viertel"
    "|(?:zwei|drei|vier|fünf)(?:mal|fache)"
)
_NUMBER: Final = lazy_pattern(
    r"(?<![A-Za-z\d.,/-])[$€£]?\d[\d,]*(?:\.\d+)?"
    rf"|\b{_any(_WORD_NUMBERS)}s?\b|[两半二三四五六七八九十百千]+(?=[^年月\s])",
    re.IGNORECASE,
)
_YEAR: Final = lazy_pattern(r"(?:1[5-9]|20)\d\d")
_NOUN: Final = lazy_pattern(
    r"\b"
    + _any(
        "sum of|product of|quotient|remainder|divided by|multiplied by|multiples? of|plus|minus"
        "|divisible by|divisors?|factors of|factorial|prime (?:numbers?|factors?)|primes"
        "|digits? of|-digit|(?:positive|negative)|consecutive|integers?|whole numbers?"
        "|real numbers?|common fraction|square root|cube root|squared|cubed"
        "|perfect (?:square|cube)s?|triangle|rectang(?:le|ular)|hypotenuse|circumference|polygon"
        "|perimeter|standard deviation|greatest common|least common|arithmetic sequence"
        "|geometric (?:sequence|series)|in base|modulo|probability that"
        "|ways (?:can|are there|to (?:arrange|choose|select|order|seat))|permutations|radius"
        "|diagonals|fair (?:coins?|dice|die)|trapezoid|quadratic|square of|diameter|shakes? hands"
        "|compounded"
    )
    + r"(?!\w)|-digit\b|[\d.]+\s?%",
    re.IGNORECASE,
)
_CONDITION: Final = lazy_pattern(
    r"\b(?:if|when|each|per|every|after|then|than|left|altogether|in all|in total|given|assum\w+"
    r"|suppose|wenn|jede[rsn]?|pro)\b|如果|每|共",
    re.IGNORECASE,
)

# --- Questions and imperatives that ask for a value.

_VALUE: Final = _any(
    "values?|sum|product|numbers?|total|difference|ratio|probability|area|volume|perimeter|length"
    "|width|height|radius|diameter|circumference|distance|speed|velocity|average|(?<=the )mean"
    "|median|variance|slope|percent(?:age)?|fraction|remainder|quotient|cost|price|profit|amount"
    "|interest|measure|degree|angles?|ages?|weight|rates?|(?:units? )?digit|integers?|solutions?"
    "|roots?|coefficient|derivative|integral|limit|equation|domain|range|inverse|maximum|minimum"
    "|greatest|least|largest|smallest|square|cube root|factorial|expected|salary|coordinates?"
    "|intercepts?|vertex|period|amplitude|determinant|eigenvalues?|entropy|balance|gain|loss"
    "|chance|odds|lcm|gcd|hcf|result|energy|force|pressure|temperature|resistance|wavelength"
    "|polynomial|depth|dimensions?|side|term|score|power|magnification|geometric mean"
    "|arithmetic mean|ordered (?:pair|triple)|worth|distances"
)
_SYMBOL: Final = (
    r"\s+(?:the\s+)?(?:\$|\\|[b-hj-zB-HJ-Z]\b|\(|\d|all\s+\w+\s"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|half|twice)\b)"
)
_OBJECT: Final = rf"(?:[^.?!\n]{{0,120}}?\b{_VALUE}\b|{_SYMBOL})"
_QUANTITIES: Final = _any(
    "many|much|long|far|old|tall|fast|big|large|wide|deep|high|heavy|few|late|thick|often"
)
_FOREIGN: Final = lazy_pattern(
    r"\bwie\s?(?:vielen?|viele?|lange?|alt|weit|hoch|groß|schnell|teuer|schwer|tief|oft)\b"
    r"|\b(?:berechnen?|bestimmen?|ermitteln?)\b"
    r"|多少|几[个只本天岁次张块元名位支朵条颗包]|求|计算|多[大长高远深久重快]",
    re.IGNORECASE,
)
"""Simple questions in German and Chinese; no other languages are recognised."""
_ASKED: Final = lazy_pattern(
    rf"\bhow\s+{_QUANTITIES}\b|\bhow\s+(?:\w+\s+){{0,3}}(?:more|fewer|less)\b"
    r"|\bwhat(?:\s+(?:is|are|was|were|will|would|must|can|could|does|did)\b|['’]?s\b)"
    rf"{_OBJECT}"
    rf"|\b(?:what|which)\s+(?:\w+\s+){{0,2}}{_VALUE}\b|\b(?:is|be|are)\s+what\s*\?"
    r"|\bwhich\s+of\s+the\s+following\b|\banswer\s+choices\s*:"
    r"|\b(?:find|compute|calculate|evaluate|determine|solve|simplify|factor(?:i[sz]e)?|expand"
    rf"|differentiate|integrate|approximate|estimate|express|obtain|enter|round)\b{_OBJECT}"
    r"|\b(?:solve|simplify|evaluate|compute|calculate|factor|expand|differentiate|integrate)\s*"
    r"(?:(?:the\s+)?following|for\b|:|\()"
    r"|^[\s\d+*/^().,×÷%!-]{1,80}=?\s*\??\s*\Z"  # nothing but arithmetic
    r"|=\s*\?|=\s*_{2,}|\b(?:is|equals|to)\s*(?:_{2,}|\?)|\bin\s+what\s+ratio\b"
    r"|\b(?:at\s+)?what\s+time\b"
    rf"|{_FOREIGN.pattern}",
    re.IGNORECASE,
)
_ASKED_OF_FORMULA: Final = lazy_pattern(
    r"\b(?:what|which|find|determine|solve|simplify|evaluate|compute|calculate|list|factor|expand"
    r"|use|perform|convert|express|add|subtract|multiply|divide|give|write|state|identify|is"
    r"|reduce|combine|enter|distribute|specify|sum|rationalize|approximate|differentiate)\b"
    r"|[:?=]\s*$|\bthen\b[^.?!]*$",
    re.IGNORECASE,
)

# --- Other texts, even if they ask for a value: the reason, and the words that show it.

_ORDERED: Final = (
    r"(?:^|[.!?:\n,]\s*|\b(?:please|can you|could you|would you|you to|you will|want to|help me"
    r"|let's|lets|me to|you should|you must|i'd like to|and)\s+)"
)
_LISTING: Final = lazy_pattern(
    _ORDERED
    + _any(
        r"write|rewrite|describe|give (?:me|an?|\d)|make (?:up|a|an|me|it)|provide|compare"
        "|identify|list|name|convert|format|complete|choose|continue|extract|construct|build|plan"
        "|rate|answer the|think of|design|propose|classify|predict|tell"
    )
    + r"\b",
    re.IGNORECASE,
)
"""Imperatives that occur in problems with formulas, too ("Write $0.5$ as a fraction.")."""
_OTHER: Final = {
    "asks for a text": lazy_pattern(
        _ORDERED
        + _any(
            "compose|draft|summari[sz]e|translate|paraphrase|brainstorm|critique|recommend"
            "|elaborate|create|generate|tell me|explain|come up|rephrase|proofread|edit|outline"
            "|pitch|imagine|pretend|act (?:as|like)|roast|advise|suggest|analy[sz]e|discuss"
            "|implement|develop|review|categori[sz]e|craft|produce|illustrate|refactor"
            r"|write (?:me )?(?:an?|some|the|about|code)\s+(?!equation|expression|inequality"
            r"|polynomial|number|fraction|formula|function that|decimal|ratio|sum|product)\w+"
        )
        + r"\b|\btell me (?:about|how|why|what)\b|\bprove (?:that|the|it)\b|\bshow (?:that|how)\b"
        r"|\bdefine\b(?! )|\bproof\b",
        re.IGNORECASE,
    ),
    "is about code or software": lazy_pattern(
        r"```|\bdef \w+\(|#include|\bimport \w+|\bfrom \w+ import\b|\bSELECT\b.{1,200}\bFROM\b"
        r"|</?(?:div|p|a|html|body|script|span|table|td|li|br)\b[^>]{0,100}>|\bconsole\.log"
        r"|\bprintf?\(|\bpublic (?:class|static|void)\b|\breturn [\w.]+;|\b[a-z_]+\.[a-z_]+\("
        r"|\b[a-z]{2,}_[a-z_]+\b|;\s*\n\s*\w+\s?[=(.]"
        r"|(?<![\w.-])(?:python|javascript|typescript|java|c\+\+|c#|golang|sql|html|css|excel|vba"
        r"|bash|powershell|matlab|django|node\.?js|pytorch|numpy|linux|docker|regex|json|csv|api"
        r"|kubernetes|php|haskell|vhdl|github|ubuntu|windows \d+|macos|android|tensorflow|llms?"
        r"|chatgpt|gpt-?\d\w*|\d+gb|vram)(?!\w)"
        r"|\b(?:pseudocode|codebase|source code|time complexity|datasets?|algorithms?)\b",
        re.IGNORECASE,
    ),
    "asks for advice, an opinion or an explanation": lazy_pattern(
        r"\bhow (?:do|can|should|could|would|to|does|did)\b(?! many| much)"
        r"|\bshould (?:I|we|my|you|one)\b|\bwhat should\b|\bdo you (?:think|know|like|recommend)\b"
        r"|\byour (?:opinion|thoughts|favou?rite|advice)\b|\bhelp me\b|\bI (?:want|need) you\b"
        r"|\bdo I need\b|\bwould I need\b|\bbest (?:way|one|option)\b|\bpros and cons\b"
        r"|\bwhat do you\b|\bwhy\b|\bwhat does\b[^?]{0,60}\bmean\b|\bwhat (?:kind|type|sort)s? of\b"
        r"|\brecommend|\bis it (?:ok|okay|safe|worth|true|possible|better)\b|(?:^|[.?!]\s+)who\b"
        r"|\b(?:in )?(?:what|which) (?:year|country|city|state|company|movie|book|person)\b",
        re.IGNORECASE,
    ),
    "gives the model a part to play": lazy_pattern(
        r"\b(?:you are|you're|act as|imagine you|role of) (?:a|an|my|the|going|now)\b",
        re.IGNORECASE,
    ),
    "goes on from what was said before": lazy_pattern(
        r"^\s*(?:and|but|what about|how about|what if|now|same|also|okay|ok|so|thanks|thank you"
        r"|in addition|wait|hmm|no|yes|why)\b"
        r"|\b(?:above|previous|earlier) (?:\w+ )?(?:response|answer|question|text|code|story)\b"
        r"|\b(?:the|your) (?:answer|response|text|question) (?:above|before)\b",
        re.IGNORECASE,
    ),
    "is about a document": lazy_pattern(
        r"\b(?:this|following|above|given|attached|below) (?:text|data|paragraph|log|tweet|review"
        r"|story|essay|news|resume|receipt|conversation|message|letter|email|article|report|list"
        r"|sentence)\b"
        r"|\b(?:the|this|following|given|attached) (?:passage|document|excerpt|transcript|invoice"
        r"|spreadsheet|contract|summary)s?\b"
        r"|\b(?:according to|based on) (?:this|the (?:text|article|report|author|email|news))\b",
        re.IGNORECASE,
    ),
    "speaks of the form of its reply": lazy_pattern(
        r"\byour (?:entire |whole )?(?:response|reply|output)\b|\bbullet points?\b|\beli5\b"
        r"|\byour answer (?:must|should) (?:begin|start|end)\b|\bin (?:one|\d+) words?\b"
        r"|\byour answer (?:must|should) (?:contain|have|include) (?:at least|exactly|\d)"
        r"|\b(?:\d+|one|two|three|few) (?:sentences?|paragraphs?)\b|\btask description\b",
        re.IGNORECASE,
    ),
}


# Features of a problem's text, by which a policy chooses a method.
#
# They are few, so that people can read a policy: the cue families of the router, the kinds of the
# stated constraints, the form of the answer asked for, the subject, and the layout of the text.

_LONG: Final = 60
"""Above so many words a text is long, as one in ten of MATH-500 and one in five of GSM8K are."""

# Beginnings of words and phrases, in lower case.
_OPENINGS: Final[dict[str, list[str]]] = {
    feature: openings.split("|")
    for feature, openings in {
        "geometry": "triang|circle|circumf|polygon|angle|parallelogram|trapezoi|quadrilateral"
        "|hypotenuse|radius|diameter|perpendicular|parabola|ellips|sphere|cylind|pyramid|tangent"
        r"|hexagon|pentagon|octagon|\angle|\triangle|^\circ",
        "functions": "function|polynomial|quadratic|roots of|root of|complex number|real number"
        "|matrix|matrices|vector|graph|asymptote|coefficient|expression|inverse|sequence|series"
        r"|f(|g(|p(|\sin|\cos|\tan|\sec|\csc|\cot|\log|\ln|\sum|\int|\infty|\begin{",
        "figure": r"[asy]|\includegraphics|diagram|figure",
    }.items()
}
_COMMAND: Final = lazy_pattern(r"\\[A-Za-z(\[]")
_BETWEEN_DOLLARS: Final = lazy_pattern(r"\$([^$\n]{1,400})\$")
_OPERATOR: Final = lazy_pattern(r"[\^_=+*<>-]")

_FORMS: Final = {
    "choice": "one of several options",
    "list": "several values",
    "expression": "an expression",
    "fraction": "a fraction or a probability",
    "integer": "a whole number",
    "amount": "an amount",
}

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "cue": ("with a restrictive cue", "without a restrictive cue"),
    **{
        f"cue.{family}": (f"with a cue of {words}", f"without a cue of {words}")
        for family in FAMILIES
        for words in (family.replace("_", " "),)
    },
    "stated": ("that state a constraint", "that state no constraint"),
    **{
        f"stated.{kind}": (f"that state a {kind} constraint", f"that state no {kind} constraint")
        for kind in KINDS
    },
    **{
        f"asks.{form}": (f"that ask for {words}", f"that do not ask for {words}")
        for form, words in _FORMS.items()
    },
    "geometry": ("of geometry", "not of geometry"),
    "functions": ("of functions or algebra", "not of functions or algebra"),
    "latex": ("with LaTeX", "without LaTeX"),
    "figure": ("with a figure", "without a figure"),
    "long": (f"of more than {_LONG} words", f"of at most {_LONG} words"),
    "demand": ("that demand something of the reply", "that demand nothing of the reply"),
    "request": ("that ask for a text", "that do not ask for a text"),
}
"""Words for problems that have a feature, and for those that lack it."""

FEATURES: Final[tuple[str, ...]] = tuple(_WORDS)
"""All features, in a fixed order."""


def find_features(text: str) -> frozenset[str]:
    found = {f"cue.{cue.family}" for cue in route(text)}
    found |= {f"stated.{one.kind}" for one in read_stated(text)}
    found |= {name.partition(".")[0] for name in found}
    found |= _opened(text)
    if form := read_asked(text).form:
        found.add(f"asks.{form}")
    if read_demands(text):
        found.add("demand")
    # A request to write about numbers has few digits; a word problem has many, or LaTeX.
    few = sum(1 for _ in islice(_FEATURE_NUMBER.finditer(text), _MOST_NUMBERS + 1)) <= _MOST_NUMBERS
    latex = _has_latex(text)
    asks = {"asks.integer", "asks.amount"} & found
    if few and not latex and not asks and _WRITING.search(text):
        found.add("request")
    if latex:
        found.add("latex")
    if len(text.split()) > _LONG:
        found.add("long")
    return frozenset(found)


def describe(feature: str, *, present: bool = True) -> str:
    return _WORDS[feature][0 if present else 1]


_KEYS: Final = [(word, name) for name, words in _OPENINGS.items() for word in words]


@cache
def _automaton() -> AhoCorasick:
    return AhoCorasick([word for word, _ in _KEYS])


def _opened(text: str) -> set[str]:
    """Find the features that follow from words."""
    # The automaton requires UTF-8: a question mark replaces each lone surrogate.
    lower = text.encode("utf-8", "replace").decode().lower()
    return {
        _KEYS[at][1]
        for at, start, _ in _automaton().find_matches_as_indexes(lower, overlapping=True)
        if not (lower[start].isalpha() and lower[max(start - 1, 0) : start].isalpha())
    }


_WRITING: Final = lazy_pattern(
    r"(?:^|[.!?:\n,]\s*|\b(?:please|can you|could you|you to|want to|help me|let's|to)\s+)"
    r"(?:write|rewrite|compose|draft|summari[sz]e|translate|paraphrase|describe|brainstorm|critique"
    r"|recommend|elaborate|create|generate|tell me|give me|explain|come up|make up|rephrase"
    r"|proofread|edit|outline|pitch|imagine|pretend|act as|roast|advise)\b",
    re.IGNORECASE,
)
_FEATURE_NUMBER: Final = lazy_pattern(r"\d")
_MOST_NUMBERS: Final = 12
"""The most digits in a request for a text."""


def _has_latex(text: str) -> bool:
    """Whether a text has LaTeX; two prices in dollars are not a formula."""
    between = (found[1] for found in _BETWEEN_DOLLARS.finditer(text))
    return bool(_COMMAND.search(text)) or any(map(_OPERATOR.search, between))
