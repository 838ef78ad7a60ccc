"""Answers that a reply states in words, or only ends in, each with the name of its rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

__all__ = ["bald", "bare", "from_choice", "from_end", "from_marker", "unmarked"]

Found: TypeAlias = "tuple[str, str] | None"

_LONGEST_ANSWER = 5000
_SHORT = 200
_MARKER = re.compile(
    r"(?:answer|result|solution)s?\b\**\s*(?:\([^()\n]{0,40}\)\s*)?"
    r"(?:(?:is|are|was|be|equals|comes\s+to|would\s+be|should\s+be|must\s+be)\b(?!\s+not\b)\s*:?"
    r"|[:=：]\**)"
    r"|\banswer\s+(?=\$|\\\(|\\\[|\*\*)|(?:最终)?答案\**\s*(?:是|为)?\s*[:：]?|####",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^\s*(?:#+|\*\*)\s*(?:final\s+)?answer\s*:?\s*\**\s*$", re.IGNORECASE | re.MULTILINE
)
_CHOICE = re.compile(
    r"(?:option|choice|choose|select|answer\s+is|correct)\s*(?:is|:)?\s*(?:option\s*)?"
    r"\**\(?([A-J])\)?\**(?![\w'])",
)
_LONE_LETTER = re.compile(r"\(?([A-J])\)?[.:]?")
_LETTER = re.compile(r"\(?([A-J])\)?[.:]?|\(([A-J])\)[ :.].{0,200}", re.DOTALL)
_STOP = re.compile(
    r"\.(?=\s|$)|。|\n|;\s|\s(?:because|since|which|where|so that)\s|,\s(?:so|since|as|because)\s"
)
_MATHS = re.compile(
    r"\$\$(.+?)\$\$|\\\[(.+?)\\\]|\$([^$\n]+?)\$|\\\((.+?)\\\)|(?<![\w)*])\*\*([^*\n]+?)\*\*",
    re.DOTALL,
)
_MORE_MATHS = re.compile(r"\s*(?:,|and|or)\s*(?:\$|\\\()")
_DISPLAY = re.compile(r"(?:\\\[((?:(?!\\\[).)+?)\\\]|\$\$([^$]+)\$\$)\s*[.。]?\Z", re.DOTALL)
_PLEASANTRY = re.compile(r"\s*(?:I hope|Hope|Let me know)[^.!\n]{0,80}[.!]?\s*\Z")
_ADVERB = re.compile(
    r"(?:therefore|thus|hence|then|simply|just|exactly|approximately|about|roughly),?\s+",
    re.IGNORECASE,
)
_GLOSS = re.compile(r"(?<=\d)\s*\([A-Za-z][A-Za-z -]+\)\Z")  # 5 (five)
_BOLD = re.compile(r"(?<![\w)*])\*\*(?=[^\s*])")
# One piece of ASCII without the signs that marks, emphasis and equations are made of.
_PLAIN = re.compile(r"[!\"$-)+-9;<>-~]+")
_EQUALS = re.compile(r"(?<![<>!\\=])=(?!=)")
_NUMBER = re.compile(r"[-−]?(?:[$€£]\s?)?(?:\d[\d,]*(?:\.\d+)?|(?<!\d)\.\d+)(?:/\d+)?\s?%?")
_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}(?![A-Za-z]*\()")
_TEXT = re.compile(r"\\text\s*\{([^}]*)\}")
_IS_VALUE = re.compile(r"\bis\s+(?=[-$\\(]*\d|\$|\\\()")
_STATED_LAST = re.compile(r"(?:\b(?:is|are|get|equals)|=|:)\s*\S{1,20}$")
_SENTENCE_WORDS = frozenset(
    "is are was so thus hence therefore we get she he it there they have has must can could "
    "follows i you not would choose".split()
)
_PHRASE_BEFORE_NUMBER = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)+ [-−$€£]*\.?\d")
_SPEAKER = re.compile(r"I\s[a-z']{2,}")
_WRAPPERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ('"', '"'))


def bare(text: str) -> str | None:
    """Return the text itself where it is an answer and nothing else."""
    if len(text) > _LONGEST_ANSWER:
        return text if text.lstrip("+-")[:32].isdigit() and text.lstrip("+-").isdigit() else None
    if _PLAIN.fullmatch(text):
        return _letter(text) or bald(text)
    if _MARKER.search(text) or (" " in text and _BOLD.search(text, 1)):
        return None
    words = [word.lower() for word in _PROSE.findall(_TEXT.sub(r" \1 ", text))]
    if len(words) > 4 or _SENTENCE_WORDS.intersection(words) or _SPEAKER.match(text):
        return None
    if words and "\n" in text and "\\begin" not in text:
        return None
    if _PHRASE_BEFORE_NUMBER.match(text):
        return None
    if letter := _letter(text):
        return letter
    parts = _EQUALS.split(text)
    sums = len(parts) > 1 and not re.search(r"[A-Za-z]", "".join(parts[:-1]))
    return parts[-1] if sums and parts[-1].strip() else bald(text)


def _letter(text: str) -> str:
    """Return a choice letter without its brackets."""
    letter = _LONE_LETTER.fullmatch(text)
    return letter[1] if letter else ""


def from_marker(text: str) -> Found:
    """Read what the last "answer is", "Answer:", "####" or heading introduces."""
    last = _last(_MARKER.finditer(text))
    heading = _last(_HEADING.finditer(text))
    if heading is not None and (last is None or heading.end() > last.end()):
        last = heading
    if last is None:
        return None
    phrase = _phrase(text[last.end() :])
    if letter := _LETTER.fullmatch(phrase):
        return letter[1] or letter[2], "marker"
    return bald(phrase), "marker"


def unmarked(value: str) -> str:
    """Take the answer out of a value that is itself a sentence."""
    marked = _MARKER.search(value) if len(value) < _LONGEST_ANSWER else None
    inside = value[marked.end() :] if marked else ""
    return bald(_phrase(inside) if inside.strip() else value)


def from_choice(text: str) -> Found:
    """Read the letter behind "option" or "choice" near the end."""
    last = _last(_CHOICE.finditer(text[-300:]))
    return (last[1], "choice") if last else None


def from_end(text: str) -> Found:
    """Read display mathematics, emphasis or a number at the very end; never further back."""
    text = _PLEASANTRY.sub("", text)
    if display := _DISPLAY.search(text):
        return _after_equals((display[1] or display[2]).strip()), "display"
    line = text.rstrip().rpartition("\n")[2].strip()
    if line != text.strip() and not _PROSE.search(line) and (answer := bare(line)):
        return answer, "last line"
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])", line)[-1]
    # A short reply may do without its full stop; a long one without it has been cut off.
    finished = sentence.endswith((*".。!$*)", "\\)")) or len(text) < _SHORT
    maths = _last(_MATHS.finditer(sentence))
    if maths and finished:
        return _after_equals(_inside(maths)), "bold" if maths[5] else "inline"
    numbers = _NUMBER.findall(sentence)
    if numbers and (finished or _STATED_LAST.search(sentence)):
        return numbers[-1].strip().rstrip(","), "last number"
    return None


def bald(answer: str) -> str:
    """Strip quotation marks, emphasis and the dollar signs around mathematics."""
    answer = answer.strip().strip("`").strip()
    if answer[:2] == "**" and answer[-2:] == "**" and len(answer) > 4:
        answer = answer[2:-2].strip()
    elif answer.endswith("**") and answer.count("**") == 1:
        answer = answer[:-2].strip()  # the emphasis began before the answer
    for left, right in _WRAPPERS:
        inner = answer[len(left) : -len(right)]
        if inner and answer.startswith(left) and answer.endswith(right) and left not in inner:
            answer = inner.strip()
    ended = answer.endswith((".", "。")) and not answer.endswith("..")
    return answer[:-1].rstrip() if ended else answer


def _last(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    found = None
    for match in matches:
        found = match
    return found


def _inside(maths: re.Match[str]) -> str:
    return next(part for part in maths.groups() if part is not None).strip()


def _phrase(rest: str) -> str:
    """Take what a marker introduces: its mathematics, or its words up to the end of the clause."""
    rest = _ADVERB.sub("", rest.lstrip(" \t:：\n}"))
    if (maths := _MATHS.match(rest)) and not _MORE_MATHS.match(rest, maths.end()):
        return _inside(maths)
    stop = _STOP.search(rest)
    phrase = rest[: stop.start()] if stop else rest
    if inner := _IS_VALUE.search(phrase):
        phrase = phrase[inner.end() :]
    if len(_PROSE.findall(phrase)) > 4:
        phrase = _last_value(phrase) or phrase
    return _GLOSS.sub("", phrase.strip())


def _last_value(phrase: str) -> str:
    """Take the last mathematics or number out of a sentence."""
    if maths := _last(_MATHS.finditer(phrase)):
        return _inside(maths)
    numbers = _NUMBER.findall(phrase)
    return numbers[-1].strip().rstrip(",") if numbers else ""


def _after_equals(maths: str) -> str:
    """Take the value at the end of a chain of equations."""
    if "\\begin" in maths:
        return maths
    maths = re.split(r"\\implies|\\Rightarrow|\\approx", maths)[-1]
    return _EQUALS.split(maths)[-1].strip().rstrip(".,") or maths
