"""The marks of a stated answer: "Answer:", "the answer is", "####" and their like, by language."""

from __future__ import annotations

import re
from typing import Final

from constraint_first.answer.extraction.assertion import is_condition, is_rejected, is_supposed
from constraint_first.answer.extraction.choice import leading_letter
from constraint_first.answer.extraction.phrase import (
    LONGEST_ANSWER,
    bald,
    last_match,
    last_value,
    read_phrase,
)

__all__ = ["ANSWER_WORDS", "from_marker", "has_marker", "unmarked"]

ANSWER_WORDS: Final = (
    "antwort endergebnis ergebnis lösung loesung réponse reponse résultat respuesta resultado "
    "solución risposta risultato soluzione resposta solução ответ результат відповідь отговор "
    "одговор odgovor odpowiedź odpowiedz wynik odpověď výsledek odpoveď antwoord svaret svar facit "
    "fasit vastaus válasz răspunsul răspuns raspuns απάντηση cevap yanıt sonuç jawaban sagot jibu "
    "الجواب الإجابة الاجابة إجابة جواب النتيجة پاسخ תשובה התשובה उत्तर जवाब উত্তর விடை "
    "คำตอบ rezultat"
).split()
"""Words for an answer in other languages than English."""
_PHRASES: Final = ("đáp án", "đáp số", "kết quả", "câu trả lời")

_FOREIGN: Final = "|".join(sorted({*ANSWER_WORDS, *_PHRASES}, key=len, reverse=True))
_EMPHASIS: Final = r"[*_`\"”’]{0,4}\s*"
_ASIDE: Final = (
    r"(?:\([^()\n]{0,40}\)[*_]{0,3}\s*|,[^,.:\n]{1,20},\s*"
    r"|(?:to|of|for|in|we|you|i|that|here|would|then)\b[^.:\n]{0,60}?"
    r"(?:\s(?=(?:is|are)\b)|(?=:)))?"
)
_IS: Final = (
    r"(?:(?:would|should|must|will|can|could)\s+(?:then\s+|thus\s+)?be|is|are|was|be|equals|"
    r"(?:comes?|came|works?)\s+(?:out\s+)?to(?:\s+be)?|turns?\s+out\s+(?:to\s+be)?|becomes|remains)\b"
    r"(?:\s+not\s+[^.\n]{1,40}?\sbut(?:\s+rather)?\b|(?!\s+not\b))\s*:?"
)
_IS_ELSEWHERE: Final = (
    r"(?:ist|lautet|beträgt|sind|est|sont|vaut|es|son|è|sono|é|são|is|zijn|luidt|är|er|blir|to|jest"
    r"|wynosi|je|este|on|là|adalah|ialah|هو|هي|הוא|היא|είναι|это|равен|равно|है)\b\s*:?"
)
_SIGN: Final = r"(?:[:=：＝→⇒]>?|[-=]+>|(?<=\s)[-–—]+(?=\s))[*_]{0,3}"
_VALUE_AT_END: Final = r"[-−$€£]?\d[\d.,/]*(?:\s*है|['’]?[a-zıüö]{2,3})?[.।\s]*\Z"
# Every pattern begins with letters, which are found fast in a text of small letters.
_ENGLISH: Final = re.compile(
    r"(?:answer(?<!\bno answer)(?<!\bno final answer)|result|solution)s?(?![^\W_])"
    rf"{_EMPHASIS}{_ASIDE}(?:{_IS}|{_SIGN}|(?:est|ist|lautet)\b)"
    rf"|answers?(?:\s+(?=\$|\\\(|\\\[|\*\*|{_VALUE_AT_END})|,\s+(?=[-$\\(]*\d+[.\s]*\Z))"
)
_ABBREVIATED: Final = re.compile(
    r"(?:ans(?<![^\W_]ans)|correction)\b[*_]{0,3}\s*"
    rf"(?:is\b\s*:?|[:=.)]>?[*_]{{0,3}}|[-–—=]+>?(?=\s)|(?<=\s)(?={_VALUE_AT_END}))|####"
)
_ELSEWHERE: Final = re.compile(
    rf"(?<![^\W_])(?:{_FOREIGN})(?![^\W_]){_EMPHASIS}(?:[^\W\d_]{{3,12}}\s*)?{_EMPHASIS}"
    rf"(?:\([^()\n]{{0,40}}\)\s*)?(?:{_IS_ELSEWHERE}|{_SIGN})"
    rf"|\b(?:{_FOREIGN})\s+(?={_VALUE_AT_END})"
)
_IDEOGRAPHIC: Final = re.compile(
    r"(?:答案|答え|解答|정답|결과값?)[*_]{0,3}\s*(?:应该?|應該?)?(?:是|为|為|は|은|는|이|選|选)?\s*[:：]?"
    r"|(?:答|답|结果|結果|결과)[*_]{0,3}\s*(?:是|为|為|は|은|는|[:：])\s*[:：]?"
)
_HEADING: Final = re.compile(
    r"^[^\S\n]*(?:#+|\*\*|__)?[^\S\n]*(?:(?:my|the)[^\S\n]+)?(?:final[^\S\n]+)?answer[^\S\n]*:?"
    r"[^\S\n]*(?:\*\*|__)?:?[^\S\n]*$",
    re.MULTILINE,
)
_HINTS: Final = (
    (_ENGLISH, ("answer", "result", "solution")),
    (_HEADING, ("answer",)),
    (_ABBREVIATED, ("ans", "correction", "####")),
    (_ELSEWHERE, (*ANSWER_WORDS, *_PHRASES)),
    (_IDEOGRAPHIC, ("答", "답", "결과", "结果", "結果")),
)
"""Patterns, each with the words of which it needs one."""
# "A:" in front of an answer, not of the first of several options.
_SHORT: Final = re.compile(r"^[^\S\n]*\**A\**:\**[^\S\n]*(?=\S)", re.MULTILINE)
_OPTION: Final = re.compile(r"^\W{0,4}B\W{0,2}[:.)]", re.MULTILINE)
_LETTERED: Final = re.compile(
    r"[Aa](?:nswer|NSWER)[sS]?[*_]{0,3}\s+(?=[(\[*]{0,3}[A-HJ](?:[)\]*.,:;]|\s*\Z))"
)
_BEHIND: Final = re.compile(
    r"\b(?:is|are|as)\s+(?:the|our|my|your)\s+(?:(?:only|final|correct|right|required|desired"
    r"|best)\s+){0,2}(?:answer|result|solution|one)\b(?!\s*(?:[:=]|is\b|to\b|of\b|for\b))"
)
_LABELLED: Final = re.compile(r"\W{0,6}\n\s*[-•*]\s+[^\n:]{2,60}:[^\n]*\n\s*[-•*]\s")
_FIRST_VALUE: Final = re.compile(r"[-−]?(?:\\?[$€£])?\d[\d.,/]*|\$[^$]+\$")
_LAST: Final = 400
_MOST_MARKS: Final = 3
# "Let the answer be x" only names what is looked for.
_VARIABLE: Final = re.compile(r"[\s$*(\\]{0,4}([A-Za-z])[\s$*)\\]{0,4}(?=[.,;:\n]|\Z|and\b)")
_LET: Final = re.compile(r"\b(?:let|denote|call|suppose)\b[^.\n]{0,60}\Z", re.IGNORECASE)
_CHOICES: Final = frozenset("ABCDEFGHJ")
_PRONOUNS: Final = frozenset({"this", "that", "it", "which", "what", "here", "there"})
_CLAUSE: Final = re.compile(r".*(?:[.!?:;]\s|\n)", re.DOTALL)
_UNKNOWN: Final = re.compile(
    r"(?:still\s+|simply\s+)?(?:unable\s+to|impossible\s+to\s+(?:determine|say|tell)|unclear"
    r"|unknown|undetermined|inconclusive|not\s+(?:clear|known|yet|determined|found|computed|reached"
    r"|sure)|could\s?n[o'’]t\s+be|I\s+(?:could|can|do|did|was|am|have)\b|beyond\s+me|missing)\b"
    r"(?!\s*[.]?\s*\d)",
    re.IGNORECASE,
)


def has_marker(text: str) -> bool:
    """Whether a text states an answer in so many words."""
    return bool(_marks(text))


def from_marker(text: str) -> tuple[str, str] | None:
    """Read what the last mark of an answer introduces, or what the last "is the answer" follows.

    A mark with nothing behind it takes back nothing that was said before.
    """
    ends = [
        end
        for start, end in _marks(text)[-_MOST_MARKS:]
        if not (_names_unknown(text, end) or _is_conditional(text[:start]))
    ]
    if behind := last_match(_BEHIND.finditer(_small(text), max(0, len(text) - _LAST))):
        value = _before(text[max(0, behind.start() - 120) : behind.start()])
        if value and (not ends or ends[-1] < behind.start()):
            return value, "marker"
    phrases = [_introduced(text[end:]) for end in reversed(ends)]
    stated = [phrase for phrase in phrases if phrase is not None]
    return (next(filter(None, stated), ""), "marker") if stated else None


def _is_conditional(before: str) -> bool:
    return is_condition(before) or is_supposed(before)


def _names_unknown(text: str, end: int) -> bool:
    """Whether a mark introduces a variable that the text after it gives a value."""
    name = _VARIABLE.match(text, end)
    if name is None or (name[1] in _CHOICES and not _LET.search(text, max(0, end - 80), end)):
        return False
    value = rf"(?<![\w\\]){name[1]}\s?=[^\n;]{{0,80}}?\d[}})]?(?=[$*)\s\\]{{0,4}}(?:[.,;\n]|\Z))"
    return re.compile(value).search(text, name.end()) is not None


def _marks(text: str) -> list[tuple[int, int]]:
    """List where the marks of a text begin and end, by their ends."""
    small = _small(text)
    marks = [
        match.span()
        for pattern, hints in _HINTS
        if any(hint in small for hint in hints)
        for match in pattern.finditer(small)
    ]
    if "A:" in text or "A**" in text:
        marks += [] if _OPTION.search(text) else [match.span() for match in _SHORT.finditer(text)]
    if "answer" in small:
        marks += [match.span() for match in _LETTERED.finditer(text)]
    return sorted(marks, key=lambda span: span[1])


def _small(text: str) -> str:
    """Write a text in small letters, each in its place."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _introduced(rest: str) -> str | None:
    """Read what a mark introduces; None where it is denied, only asked or a list with labels."""
    if _LABELLED.match(rest):
        return None
    if letter := leading_letter(rest.lstrip(" \t:：\n,")[:300]):
        return letter
    phrase = read_phrase(rest)
    if _UNKNOWN.match(phrase):
        return ""
    if (value := _FIRST_VALUE.search(phrase)) and is_rejected(phrase, *value.span()):
        return None
    if phrase and (at := rest.find(phrase)) >= 0 and is_rejected(rest, at, at + len(phrase)):
        return None
    return leading_letter(phrase) or bald(phrase)


def _before(clause: str) -> str:
    """Take the value that "is the answer" speaks of: "45 is the final answer"."""
    clause = _CLAUSE.sub("", clause).strip()
    if value := last_value(clause):
        return bald(value)
    word = clause.rpartition(" ")[2].strip('*_()[]$`",')
    named = len(clause.split()) <= 3 and word[:1].isupper() and word.lower() not in _PRONOUNS
    return word if named else ""


def unmarked(value: str) -> str:
    """Take the answer out of a value that is itself a sentence."""
    marks = _marks(value) if len(value) < LONGEST_ANSWER else []
    inside = value[marks[0][1] :] if marks else ""
    return bald(read_phrase(inside) if inside.strip() else value)
