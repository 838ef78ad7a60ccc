"""What a problem asks for: a letter of given options, an expression, a set, a name, a number.

The form decides what a printed value has to be to count as an answer, and policies choose methods
by it. A text is read without a model, so it may say nothing of the form; then any value counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from constraint_first.answer.alike import is_alike, is_number
from constraint_first.answer.value import plain_words
from constraint_first.pattern import lazy_pattern

Form: TypeAlias = Literal["choice", "list", "expression", "fraction", "integer", "amount", ""]
Need: TypeAlias = Literal["", "variable", "set", "words", "truth"]


class Option(NamedTuple):
    letter: str
    text: str
    start: int
    """Where its mark begins in the problem."""


class Asked(NamedTuple):
    """The form of the answer that a text asks for."""

    form: Form = ""
    options: tuple[Option, ...] = ()
    need: Need = ""
    """What an answer must have: a variable, the bounds of a set, words, or yes or no."""

    @property
    def letters(self) -> str:
        return "".join(one.letter for one in self.options)

    def choose(self, answer: str) -> str | None:
        """Return the letter of the one option that an answer is; None for none or several."""
        letters = _LETTERS.fullmatch(_STYLE.sub(" ", answer).strip())
        if letters and (capitals := re.findall("[A-J]", letters[1])):
            return self._chosen(capitals)
        words = plain_words(answer)
        same = [
            one.letter
            for one, bare in zip(self.options, self._without_unit(), strict=True)
            if (words and plain_words(one.text) in (words, _YES_FOR.get(words)))
            or is_alike(answer, one.text)
            or (bare and is_alike(answer, bare))
        ]
        if letters and not same:  # after the texts: a small letter may also be a variable
            return self._chosen(re.findall(r"\b[A-J]\b", letters[1].upper()))
        return same[0] if len(same) == 1 else None

    def _without_unit(self) -> list[str]:
        """List the options without their unit if that is one letter, which reads as a variable."""
        found = [_SHORT_UNIT.fullmatch(one.text) for one in self.options]
        same = len({one and one[2] for one in found}) == 1
        return [one[1] if one and same else "" for one in found]

    def _chosen(self, letters: list[str]) -> str | None:
        return ", ".join(dict.fromkeys(letters)) if {*letters} <= {*self.letters} else None

    def admit(self, printed: str) -> str | None:
        """Return what a program printed as the answer; None where it cannot be what is asked."""
        if _NO_ANSWER.search(printed):
            return None
        if self.options:
            return self.choose(printed)
        if _TRUTH.fullmatch(plain_words(printed)):
            return printed if self.need == "truth" else None
        bare = self.need in ("variable", "set", "words") and is_number(printed)
        named = self.need == "variable" and "=" in printed  # y = 3 is the equation of a line
        return None if bare and not named else printed


@lru_cache(maxsize=2_048)  # a series goes through all problems once per run
def read_asked(text: str) -> Asked:
    """Read the form of the answer that a text asks for."""
    options = tuple(_options(text))
    if options:
        return Asked("choice", () if _goes_on(text, options[-1]) else options)
    return Asked(_form(text), (), _need(text))


# --- Options: (A) 6 (B) 7, or A. and B. at the beginnings of lines.

_LEFT: Final = r"(?:\$?\\(?:text|mathrm|textbf|mathbf|rm|bf)\s?\{\s?)?"
_MARK: Final = lazy_pattern(
    rf"{_LEFT}[(\[]\s?(?P<round>[A-J])\s?[)\]]\}}?\$?[.:]?"
    r"|(?:(?<=[\s'\"\[,])|^)(?P<half>[A-J])\)"
    r"|(?:^|(?<=\n)|(?<=ptions:)|(?<=hoices:))[ \t]*(?P<line>[A-J])[.:](?=\s|\$)"
    r"|(?:(?<=\s)|^)(?P<dot>[A-J])\.(?=\s)"
    r"|(?:(?<=[\s,;])|^)\(?\s?(?P<small>[a-j])\s?\)"
    r"|(?:(?<=[\s,;])|^)(?P<tiny>[a-j])\.(?=\s)"
    r"|(?<=\n)(?P<bare>[A-J])[ \t]+(?=\S)"
)
_NO_MARKS: Final[list[re.Match[str]]] = []
_FEWEST: Final = 3
_TRUTHS: Final = ({"yes", "no"}, {"true", "false"})
"""The only lists of two options; two marks may be anything else."""
_LONGEST: Final = 500
_REST: Final = 200
"""The most characters after the last option: a hint on how to answer, but no further text."""
_FIGURE: Final = lazy_pattern(
    r"\[asy\].*?\[/asy\]|\\begin\{(tikzpicture|center)\}.*?\\end\{\1\}", re.DOTALL
)
_LINE: Final = lazy_pattern(r"\s*[^\n]*")
_CHOOSES: Final = lazy_pattern(
    r"(?:[?_]|\b(?:options|choices|following|below)\s*:|\b(?:is|are|equals?)\b)\W*$", re.IGNORECASE
)
_QUOTE: Final = lazy_pattern(r"['\"]\s*[,\]]?\s*\]?\s*['\"]?$")
_COUNTS: Final = lazy_pattern(r"\bhow many of\b", re.IGNORECASE)
_ASKS_PART: Final = lazy_pattern(
    r"\?|^\s*(?:find|determine|show|prove|compute|calculate|what|how|write|explain|give|sketch"
    r"|solve|evaluate|state|describe|use|graph)\b",
    re.IGNORECASE,
)
_OTHERS: Final = lazy_pattern(
    r"\S\s+(?:or\s+)?(?:none|all|both|neither)\s+of\s+(?:these|the)\b|\s(?:\.\.\.|…)|\band so on\b"
    r"|\s[B-J]:\s",
    re.IGNORECASE,
)
_SHORT_UNIT: Final = lazy_pattern(r"([\d.,/ ]+)[ ]([a-zA-Z])")
_YES_FOR: Final = {"true": "yes", "false": "no"}
"""What Python prints for the answer to a question with the options Yes and No."""
_STYLE: Final = lazy_pattern(r"\\(?:text|mathrm|textbf|mathbf|boxed)\b|[{}$]|\\[,;: ]")
_LETTERS: Final = lazy_pattern(
    r"(?:(?:option|choice|answer)s?\W{0,3})?"
    r"(\(?[A-J]\)?(?:(?:\s*(?:,|and|&)\s*|\s+)\(?[A-J]\)?)*)(?:[).:]+\s?.*|\.)?",
    re.IGNORECASE | re.DOTALL,
)


def _options(text: str) -> Iterator[Option]:
    """Find the longest run of marks A, B, C… in one style that ends the text, each with words."""
    text = _FIGURE.sub(lambda figure: " " * len(figure[0]), text)
    marks: dict[str, list[re.Match[str]]] = {}
    for mark in _MARK.finditer(text):
        marks.setdefault(mark.lastgroup or "", []).append(mark)
    for style in {"small", "tiny"} & {*marks}:
        if _COUNTS.search(text) or not _CHOOSES.search(text, 0, marks[style][0].start()):
            marks.pop(style)  # parts of a question, or statements to be counted
    runs = [run for found in marks.values() for run in _runs(found)]
    # Of equally long runs the last: P(A) and P(B) before the options are no marks.
    run = max(runs, key=lambda one: (len(one), one[0].start()), default=_NO_MARKS)
    if len(run) < 2:
        return
    end = _LINE.match(text, run[-1].end())
    ends = [*(one.start() for one in run[1:]), end.end() if end else len(text)]
    texts = [text[one.end() : end] for one, end in zip(run, ends, strict=True)]
    if len(text) - ends[-1] > _REST or any(map(_is_no_option, texts)):
        return
    if text[run[0].start() - 1 : run[0].start()] in ("'", '"'):  # a list in Python's notation
        texts = [_QUOTE.sub("", one) for one in texts]
    texts = [_trimmed(one) for one in texts]
    if len(run) < _FEWEST and {*map(plain_words, texts)} not in _TRUTHS:
        return
    for mark, said in zip(run, texts, strict=True):
        yield Option(_letter(mark), said, mark.start())


def _goes_on(text: str, last: Option) -> bool:
    """Whether further options follow the last one that was found, in another notation."""
    further = _MARK.finditer(text, last.start + len(last.letter) + 1)
    return any(_letter(one) > last.letter for one in further) or bool(_OTHERS.search(last.text))


def _letter(mark: re.Match[str]) -> str:
    return mark[mark.lastgroup or 0].upper()


def _is_no_option(text: str) -> bool:
    return len(text) > _LONGEST or not text.strip() or bool(_ASKS_PART.search(text))


def _runs(marks: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Yield, for each mark A, the marks B, C… that follow it."""
    for at, first in enumerate(marks):
        if _letter(first) == "A":
            run: list[re.Match[str]] = []
            for mark in marks[at:]:
                if _letter(mark) == "ABCDEFGHIJ"[len(run) : len(run) + 1]:
                    run.append(mark)
            yield run


def _trimmed(text: str) -> str:
    text = re.sub(r"\\q?quad\b|\\\\$", " ", text).strip()
    text = re.sub(r"^(?:\\[ ,;:~]|[~&}])+|(?:\\[ ,;:~]|[&;,.])+$", "", text).strip()
    return text if text.count("$") % 2 == 0 else text.replace("$", "")


# --- Forms, of which a text has the first that matches.

_CHOICE: Final = lazy_pattern(
    r"\banswer choices\b|\bwhich (?:one )?of (?:the following|these|those)\b"
    r"|\bwhich (?:option|statement|answer|choice)\b|\btrue or false\b|\bfalse or true\b",
    re.IGNORECASE,
)
# Several values of which only the count, sum or product is asked for: one number after all.
_COUNTED: Final = lazy_pattern(
    r"\b(?:how many|number of|sum of|product of|value of|average of)\s+(?:the\s+|all\s+)?"
    r"(?:[\w$-]+\s+){0,3}?(?:ordered\s+\w+|coordinates|solutions|roots|values|pairs|triples)\b"
    r"|\$?[xyz]\$?-coordinates?\b",
    re.IGNORECASE,
)
_LIST: Final = lazy_pattern(
    r"\bordered (?:pair|triple|list|quadruple)|\bcoordinates\b|\bseparated by commas"
    r"|\ball (?:the )?(?:real |possible |integer |complex |positive integer )?"
    r"(?:solutions|roots|values|pairs|triples|zeros|functions|polynomials|primes|integers|numbers"
    r"|positive integers|real numbers)\b(?! (?:less|between|from|greater|that are less))"
    r"|\b(?:possible|these|those) values\b|\bpairs of (?:positive )?(?:integers|numbers)\b"
    r"|\bsystems? of (?:linear )?equations?\b|\bsolution set\b|\bas (?:an? )?(?:\w+ )?list\b"
    r"|\bin a list\b|\bfind (?:the|their|these|both|two) (?:\w+ )?"
    r"(?:numbers|ages|points?|dimensions|sides|intercepts|zeros|roots|solutions|integers|angles)\b"
    r"|\bmidpoint of\b|\bhow (?:long|much|old|many) \w+ (?:the (?:pieces|parts|two)|each\b)"
    r"|\bwhat are the (?!odds|chances)|\beigenvalues\b|\\(?:cap|cup)\b"
    r"|\bsolve\b[^.?!]{0,20}(?:\$|\\\[|:|for\b|the (?:following )?(?:equation|proportion))",
    re.IGNORECASE,
)
_EXPRESSION: Final = lazy_pattern(
    r"\bin terms of (?:\$|\w\b|the)|\bradical form|\binterval notation|\bsimplif(?:y|ied)\b"
    r"|\bfactor(?:ed|i[sz]e|ing)?\b(?=\s*(?:\$|:|\\|the (?:poly|expr|following|quad|tri)|form|over"
    r"|completely|\d|[a-z]\^|out))|\bfactori[sz]ation\b|\bexpand(?:ed)?\b(?=\s*(?:\$|:|and|the (?:"
    r"expr|product|foll)|\\|form))|\bequations? (?:of|for)\b|\bexact (?:value|form|answer)"
    r"|\bprove\b|\bshow that\b|\bin real numbers|\bclosed form|\bdistribute:|\bcombine like"
    r"|\b(?:divide|multiply|add|subtract|integrate|differentiate)\s*[:$]"
    r"|\bfind the square:|\b(?:range|set|interval) of (?:all )?(?:possible )?(?:values|\$|the|x)"
    r"|\b(?:domain|range|inverse) of (?:the|\$|f\b)|\binequalit(?:y|ies)\b[^?]{0,80}\bis\b"
    r"|\bsolve[^.?!]{0,40}inequalit|\b(?:general|particular) solution|\b(?:anti)?derivative\b"
    r"|\bdifferentiate\b|\bindefinite integral|\bintegral\b(?! value)|\bas a function of\b"
    r"|\bformula for\b|\bmeaningful\b|\brelationship between\b|\bdescribe\b|\bexplain\b"
    r"|\b(?:in|to) base[ $]|\bbase (?:two|three|four|five|six|seven|eight|nine)\b[^?.]*\?"
    r"|\bexpress (?!your|the (?:answer|probability|result)|as\b)"
    r"|\bwrite (?:an|the) (?:equation|expr)"
    r"|\bwhich expression\b|\bestimator\b|\bvectors?\b|\bmatri(?:x|ces)\b|\+\s?\d*i\b",
    re.IGNORECASE,
)
_WORDED: Final[dict[Form, re.Pattern[str]]] = {
    "fraction": lazy_pattern(
        r"(?<![a-z])(?:common fraction|reduced fraction|improper fraction|mixed number"
        r"|as a fraction|lowest terms|simplest form|probability)",
        re.IGNORECASE,
    ),
    "integer": lazy_pattern(
        r"(?<![a-z])(?:how many|number of|remainder|modulo|digit|an integer|whole number"
        r"|positive integer|(?:largest|smallest|greatest|least|nearest) integer)",
        re.IGNORECASE,
    ),
    "amount": lazy_pattern(
        r"(?<![a-z])(?:how (?:much|long|far|old|tall|fast|big|large)|percent|total|average|cost)",
        re.IGNORECASE,
    ),
}


def _form(text: str) -> Form:
    if _CHOICE.search(text):
        return "choice"
    if _LIST.search(_COUNTED.sub(" ", text)):
        return "list"
    if _EXPRESSION.search(text):
        return "expression"
    for form, pattern in _WORDED.items():
        if pattern.search(text):
            return form
    return ""


# --- Needs: what an answer must have. Each is read where the words leave no doubt.

_VARIABLE: Final = lazy_pattern(
    r"\b(?:express(?:ed)?|write|give|state|answer|find)\b(?![^.?!]*\bequation)[^.?!]{0,200}?"
    r"\b(?:in terms of|as a function of)\s+(?:the\s+(?:variables?|constants?)\s+"
    r"|(?:its|the)\s+[a-z]+\s+)?\$?(?:\{ ?)?[a-zA-Z](?:_\w)?\b(?!\w)"
    r"|\bas a polynomial in \$?[a-zA-Z]\b"
    r"|\b(?:antiderivative|indefinite integral|general solution) (?:of|for|to)\b(?![^.?!]*\bat\b)"
    r"|(?:^|[.:?]\s+)(?:find|compute|determine|calculate|what is) the (?:first )?derivative of\b"
    r"(?=[^?!]*(?:\^|\*\*|\b(?:sin|cos|tan|ln|log|exp|sqrt)\b))"
    r"(?![^?!]*(?:\bat\b|\bwhen\b|\bvalue\b|=\s*-?\d+\b\s*[$.?]))"
    r"|(?:^|[.:?]\s+)(?:find|write|give|determine|state|what is|what's) (?:the |an? )?"
    r"(?:(?!number)\w+[ -]){0,3}equation (?:of|for) (?:the|an?|this|each)\b"
    r"|^\W*(?:completely )?factor(?:ize|ise)?\b(?! of)",
    re.IGNORECASE | re.MULTILINE,
)
_SET: Final = lazy_pattern(
    r"\binterval notation\b"
    r"|(?:^|[.:]\s+)solve (?:the |each |this )?(?:following )?(?:\w+ )?inequalit(?:y|ies)",
    re.IGNORECASE,
)
_WORDS: Final = lazy_pattern(
    r"(?:^|[.?!]\s+)(?:who|whose)\b[^.?!]*\?\s*$"
    r"|\b(?:what|which|on (?:what|which)) day of the week\b[^.?!]*\?\s*$"
    r"|\bwhich (?:\w+ )?(?:person|student|child|boy|girl|team|month|season|city|country|planet)\b"
    r"[^.?!]*\?\s*$",
    re.IGNORECASE,
)
_YES_OR_NO: Final = lazy_pattern(
    r"\btrue or false\b|\bfalse or true\b|\byes or no\b|\b(?:true|yes) ?/ ?(?:false|no)\b"
    r"|\b(?:determine|decide|state|say|check|find(?: out)?|tell|answer) (?:whether|if)\b"
    r"|\bwhether (?:the|this|it|or not)\b"
    r"|(?:^|[.?!,:;]\s+|\bthen\s+)(?:is|are|was|were|does|do|did|can|could|will|would|has|have|must"
    r"|should)\b[^.?!]*\?",
    re.IGNORECASE,
)
_VALUE: Final = lazy_pattern(
    r"\b(?:find|what|how|which|evaluate|compute|calculate|solve|simplify|write|give|express)\b"
    r"|_{2,}|=\W*$|\bis\W*$",
    re.IGNORECASE,
)
# Python's own words for objects, and expressions that sympy could not evaluate.
_NO_ANSWER: Final = lazy_pattern(
    r"<[a-z_]+(?: |\.)[^>]*>|\bobject at 0x|^\W*(?:nan|none|zoo)\W*$"
    r"|\\(?:int|mathtt|tilde)(?![a-z])|\b(?:RootOf|Derivative|Integral|ConditionSet|Symbol|NotImplemented|Traceback)\b"
    r"|\\frac\{d\}",
    re.IGNORECASE,
)
_TRUTH: Final = lazy_pattern(r"true|false", re.IGNORECASE)


def _need(text: str) -> Need:
    if _YES_OR_NO.search(text):
        return "truth"
    if _WORDS.search(text.strip()):
        return "words"
    if _SET.search(text):
        return "set"
    if _VARIABLE.search(text):
        return "variable"
    return "" if _VALUE.search(text) else "truth"
