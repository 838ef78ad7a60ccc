"""Answers that are not mathematics: a choice letter, yes or no, a name."""

from __future__ import annotations

import re

from constraint_first.answer.expression.normal import clean

__all__ = [
    "NUMERALS",
    "absence_verdict",
    "choice_letter",
    "choice_verdict",
    "date_verdict",
    "plain_words",
    "truth_verdict",
    "words_verdict",
]

_LONGEST_PHRASE = 3000
_STYLE = re.compile(r"\\(?:text[a-z]*|mbox|math[a-z]+|operatorname|bf|rm)\s*|[{}$*`\\]")
_CAPITAL = re.compile("[A-J]")
_GOLD_CHOICE = re.compile(r"\(?([A-J])\)?[.:]?|\(([A-J])\)\s.+", re.DOTALL)
_CHOICE = re.compile(
    r"(?:(?:option|choice|answer)\s*:?\s*)?(?:\(([A-Ja-j])\)|([A-Ja-j])(?=$|[.:)]))[.:)]*(\s.*)?",
    re.IGNORECASE | re.DOTALL,
)
_LETTERS = re.compile(r"\(?[A-J]\)?(?:(?:\s*(?:,|;|and|&)\s*|\s*)\(?[A-J]\)?)+")
_WORD = re.compile(r"[^\W\d_]+")
_ARTICLES = frozenset({"a", "an", "the", "is", "it", "its"})
_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no", "是": "yes", "否": "no"}
_TRUTH_LETTERS = {"Y": "yes", "N": "no", "T": "yes", "F": "no"}
_TRUE_OR_NOT = re.compile(r"\W*(?:text\s*\{)?\s*(yes|true|no|false|是|否)\W*", re.IGNORECASE)
_MONTHS = {
    name: at + 1
    for at, month in enumerate(
        "january february march april may june july august september october november "
        "december".split()
    )
    for name in (month, month[:3])
} | {"sept": 9}
_DATE = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)|([a-z]+) (?:the )?(\d{1,2})(?:st|nd|rd|th)?)"
    r"(?: (\d{3,4}))?|(\d{4})-(\d\d)-(\d\d)"
)
_NO_SOLUTION = re.compile(r"(?:there (?:are )?)?no (?:([a-z]+) )?solutions?(?: exists?)?")
_SUBJECT = re.compile(
    r"^(?:limit|series|sequence|integral|function|derivative|slope|expression|value|it)\s+(?:is\s+)?"
)
_VERBS = re.compile(r"\b(converge|diverge)(?:s|nt)?\b")
# Ways to say the same.
_SAME = {
    **dict.fromkeys(
        ("dne", "doesn't exist", "undefined", "not defined", "nonexistent", "not exist"),
        "does not exist",
    ),
    **dict.fromkeys(
        ("infinitely many solutions", "infinite solutions", "infinite number of solutions",
         "infinite", "infinitely many solution", "there are infinitely many solutions",
         "there are infinitely many"),
        "infinitely many",
    ),
}  # fmt: skip
NUMERALS: dict[str, str] = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve".split(),
        map(str, range(13)),
        strict=True,
    )
)


def plain_words(text: str) -> str:
    """Strip an answer of its typesetting, case and articles."""
    if len(text) > _LONGEST_PHRASE:
        return ""
    low = _STYLE.sub(" ", clean(text)).lower()
    kept = [word for word in low.split() if word not in _ARTICLES]
    return " ".join(kept).strip(" .,;:!?\"'()")


def choice_letter(text: str) -> str | None:
    """Read the letter of a chosen option; a small letter is a variable where it stands alone."""
    chosen = _chosen(text)
    if chosen is None:
        return None
    letter = chosen[1] or chosen[2]
    marked = letter.isupper() or (chosen[0] != letter and not chosen[3])
    return letter.upper() if marked else None


def _chosen(text: str) -> re.Match[str] | None:
    return _CHOICE.fullmatch(_STYLE.sub(" ", text).strip().rstrip("."))


def choice_verdict(pred: str, gold: str) -> bool | None:
    """Compare with a choice letter; None where the gold answer is not one."""
    if not _CAPITAL.search(gold):
        return None
    letters = _STYLE.sub(" ", gold).strip()
    if match := _GOLD_CHOICE.fullmatch(letters):
        chosen = _chosen(pred)
        return (
            None if chosen is None else (chosen[1] or chosen[2]).upper() == (match[1] or match[2])
        )
    said = _STYLE.sub(" ", pred).strip().rstrip(".")
    if _LETTERS.fullmatch(letters) and _LETTERS.fullmatch(said):
        wanted, chosen = (re.findall("[A-J]", text) for text in (letters, said))
        if _is_word(letters, wanted) or _is_word(said, chosen):
            return wanted == chosen  # DCBA is a word or an order, and not four choices
        return set(wanted) == set(chosen)
    return None


def _is_word(text: str, letters: list[str]) -> bool:
    """Whether letters touch, unless they are in the order of a list of choices beside another."""
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


def date_verdict(pred: str, gold: str) -> bool | None:
    """Compare two dates that name their month; None where either is none."""
    wanted = _date(gold)
    said = _date(pred) if wanted else None
    return wanted == said if said else None


def _date(text: str) -> tuple[int, int, int] | None:
    words = _STYLE.sub(" ", text).lower().replace(",", " ").replace(".", " ")
    found = (
        _DATE.fullmatch(" ".join(words.removeprefix("the ").split())) if len(text) < 60 else None
    )
    if found is None:
        return None
    if found[6]:
        return int(found[6]), int(found[7]), int(found[8])
    month = _MONTHS.get(found[2] or found[3])
    return (int(found[5] or 0), month, int(found[1] or found[4])) if month else None


def absence_verdict(pred: str, gold: str) -> bool | None:
    """Know two ways to say the same: that there is no solution, or none that is real; else None."""
    if "olution" not in gold or "olution" not in pred:
        return None
    wanted, said = (_NO_SOLUTION.fullmatch(plain_words(text)) for text in (gold, pred))
    return True if wanted and said and wanted[1] == said[1] else None


def words_verdict(pred: str, gold: str) -> bool | None:
    """Compare with a gold answer that is words; None where it is not."""
    wanted, said = (_SAME.get(text, text) for text in map(_essence, (gold, pred)))
    if said in NUMERALS or wanted in NUMERALS:
        return NUMERALS.get(said, said) == NUMERALS.get(wanted, wanted)
    if not _is_prose(wanted):
        return None
    return wanted == said


def _essence(text: str) -> str:
    """Take the subject off a statement: the limit does not exist, the series diverges."""
    return _VERBS.sub(r"\1", _SUBJECT.sub("", plain_words(text)))


def _is_prose(text: str) -> bool:
    words = _WORD.findall(text)
    return bool(words) and len(max(words, key=len)) > 2 and not re.search(r"[\d^=+/<>_]", text)
