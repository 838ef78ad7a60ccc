"""Is it the gold answer? The exact tier first, in this process; the symbolic tier where it must."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from constraint_first.answer.expression.words import plain_words
from constraint_first.answer.extraction.assertion import asserted
from constraint_first.answer.extraction.context import in_context
from constraint_first.answer.extraction.extract import extract
from constraint_first.answer.judgement.tier import Ruling, asks_percent, decide, spell_variables

if TYPE_CHECKING:
    from concurrent.futures import Future

    from constraint_first.answer.judgement.workers import Workers

# What starts threads and processes is imported where it is used; reading answers needs none of it.

__all__ = ["GradingCase", "Verdict", "grade", "grade_all", "grade_each", "grade_reply"]

_AHEAD = 64
"""Cases in flight for each worker, so that none waits for the order of the output."""
_SHORT = 120
_SHORTEST_WORD = 2
_VALUE = re.compile(r"\d|\\boxed")
_APPROXIMATE = re.compile(r"\s*(?:≈|≃|\$?\\approx(?![a-z]))\s*")
_NOT_THE_THING = (
    "opposite negation converse contrary inverse contrapositive reverse reciprocal complement "
    "negative square cube double half root rest former latter other"
).replace(" ", "|")
# One thing, said in a sentence without digits: "The limit is infinity."
_STATEMENT = re.compile(
    r"(?:yes,\s+)?(?:(?:so|thus|hence|therefore|then|and),?\s+)?"
    rf"(?:(?:the|its|this|that)\s+(?!(?:{_NOT_THE_THING})\b)[a-z]+(?:\s+of\s+[^.,;]{{1,40}}?)?|it|there)"
    r"(?:['’]s|\s+(?:is|are|was|were|will\s+be|must\s+be|equals))\s+(?:(?:equal\s+to|exactly)\s+)?"
    r"(?P<value>[^.,;:!?\n]{1,60})[.!]?",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:than|times|or|if|unless|when|not|no|never|at|squared|cubed|of|only|if|neither)\b",
    re.IGNORECASE,
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".replace(" ", "|")
_DIGITS = "one two three four five six seven eight nine".replace(" ", "|")
_TEENS = (
    "zero ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
).replace(" ", "|")
# A number in words that counts something, alone: not "one of", "two thirds", "three hundred".
_NUMBER_WORDS = re.compile(
    rf"(?<![-\w])(?:(?:{_TENS})(?:[- ](?:{_DIGITS}))?|{_TEENS}|{_DIGITS}|half|third|hundred"
    r"|thousand|million|dozen|once|twice|thrice|halves|thirds|quarters?|fourths?|fifths?|tenths?)(?![-\w])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_DOLLAR = re.compile(r"(?<!\\)\$")
_CLOSING = ' .$*}\n"`\\)'
_INTRODUCTIONS = ("\n", ":", ":**", "{", '"', "####", " is", " are", "**")


@dataclass(frozen=True, slots=True)
class GradingCase:
    """An answer and the gold answer that it is compared with."""

    answer: str | None
    """The bare answer; None where there is none."""
    gold: str
    """The gold answer. It may be a whole solution, whose box or #### is then read."""
    problem: str = ""
    """The problem's text, where it is known: it tells whether a percentage is asked for,
    and which letters are variables."""

    @classmethod
    def from_reply(
        cls, text: str | None, gold: str, problem: str = "", *, truncated: bool = False
    ) -> GradingCase:
        """Read the answer out of a whole reply, or of its part before the budget ran out."""
        if text is None:
            return cls(None, gold, problem)
        if _states(text, gold):
            return cls(gold, gold, problem)
        if _APPROXIMATE.match(gold) and _APPROXIMATE.search(text):
            # Where the gold is a rounded value, so is the answer: not √3, but 1.732 behind it.
            *_, rough = _APPROXIMATE.finditer(text)
            text = text[rough.end() :]
        answer = extract(text, truncated=truncated).answer
        # "None" is no answer, except to a question whose answer is "none".
        if answer is None and not truncated:
            answer = _says_in_words(text, gold)
        elif answer is not None:
            answer = in_context(text, answer, gold)
        return cls(answer, gold, problem)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is the gold answer, who decided, and why."""

    verdict: Literal["correct", "incorrect", "undecided"]
    tier: Literal["exact", "symbolic", "instructions"]
    """How it was found; the last where no answer was compared, but a whole reply was checked."""
    answer: str | None
    """The answer that was judged, as the model wrote it."""
    why: str
    seconds: float

    @property
    def correct(self) -> bool:
        """Whether it counts as correct; undecided does not."""
        return self.verdict == "correct"


def grade(
    answer: str | None, gold: str, problem: str = "", *, workers: Workers | None = None
) -> Verdict:
    """Judge one bare answer against the gold answer."""
    return _grade(GradingCase(answer, gold, problem), workers)


def grade_reply(
    text: str | None,
    gold: str,
    problem: str = "",
    *,
    truncated: bool = False,
    workers: Workers | None = None,
) -> Verdict:
    """Judge the answer that a whole reply, or a bare answer, gives."""
    return _grade(GradingCase.from_reply(text, gold, problem, truncated=truncated), workers)


async def grade_all(
    cases: Sequence[GradingCase], *, workers: Workers | None = None
) -> list[Verdict]:
    """Judge many answers without blocking the event loop; verdicts come in the given order."""
    import asyncio

    async def one(case: GradingCase) -> Verdict:
        pending = _first_tier(case)
        if isinstance(pending, Verdict):
            return pending
        pool = workers or _shared()
        nonlocal slots
        slots = slots or asyncio.Semaphore(pool.count)
        async with slots:
            return await asyncio.to_thread(_second_tier, pending, pool)

    slots: asyncio.Semaphore | None = None
    if len(cases) == 1:  # most callers have one, and it needs no task
        return [await one(cases[0])]
    return list(await asyncio.gather(*(one(case) for case in cases)))


def grade_each(
    cases: Iterable[GradingCase], *, workers: Workers | None = None
) -> Iterator[Verdict]:
    """Judge a stream of answers on all cores, in order and with bounded memory."""
    from concurrent.futures import ThreadPoolExecutor

    pool = workers or _shared()
    with ThreadPoolExecutor(pool.count) as threads:
        source = iter(cases)
        window: list[Verdict | Future[Verdict]] = []
        while True:
            for case in islice(source, pool.count * _AHEAD - len(window)):
                pending = _first_tier(case)
                if not isinstance(pending, Verdict):
                    pending = threads.submit(_second_tier, pending, pool)
                window.append(pending)
            if not window:
                return
            first = window.pop(0)
            yield first if isinstance(first, Verdict) else first.result()


@dataclass(frozen=True, slots=True)
class _Pending:
    answer: str
    read: str
    """The answer with the problem's variables told from units."""
    gold: str
    percent: bool
    spent: float
    """Seconds in the exact tier. Waiting for a worker is nobody's time."""


def _grade(case: GradingCase, workers: Workers | None) -> Verdict:
    pending = _first_tier(case)
    return pending if isinstance(pending, Verdict) else _second_tier(pending, workers or _shared())


def _first_tier(case: GradingCase) -> Verdict | _Pending:
    started = time.perf_counter()
    answer, gold = case.answer, _gold(case.gold)
    if answer is None or not answer.strip():
        return _verdict(Ruling(False, "no answer"), "exact", None, time.perf_counter() - started)
    # A gold that is a whole solution speaks of the problem too.
    percent = asks_percent(case.problem) or (gold != case.gold and asks_percent(case.gold))
    read = spell_variables(answer, gold, case.problem)
    ruling = decide(read, gold, percent=percent)
    if ruling.same is None and ruling.readable:
        return _Pending(answer, read, gold, percent, time.perf_counter() - started)
    return _verdict(ruling, "exact", answer, time.perf_counter() - started)


def _shared() -> Workers:
    from constraint_first.answer.judgement.workers import shared

    return shared()


def _second_tier(pending: _Pending, workers: Workers) -> Verdict:
    from constraint_first.answer.judgement.workers import Undecided

    started = time.perf_counter()
    try:
        ruling = workers.judge(pending.read, pending.gold, percent=pending.percent)
    except Undecided as reason:
        ruling = Ruling(None, str(reason))
    seconds = pending.spent + time.perf_counter() - started
    return _verdict(ruling, "symbolic", pending.answer, seconds)


def _verdict(
    ruling: Ruling, tier: Literal["exact", "symbolic"], answer: str | None, seconds: float
) -> Verdict:
    word = "undecided" if ruling.same is None else "correct" if ruling.same else "incorrect"
    return Verdict(word, tier, answer, ruling.why, seconds)


def _says_in_words(text: str, gold: str) -> str | None:
    """Return the words of a reply without any value that are the gold; None without such words."""
    gold = gold.strip("() ")
    if gold.isalpha() and len(gold) < _SHORTEST_WORD:
        return None
    text = text.strip()
    in_words = len(text) <= _SHORT and "\n" not in text and not _VALUE.search(text)
    if in_words and (
        plain_words(gold) == plain_words(text) != "" or decide(text, gold).same is True
    ):
        return text
    line = text.rpartition("\n")[2].strip()
    if not _VALUE.search(line) and plain_words(gold) == plain_words(line) != "":
        return line
    *before, last = _SENTENCE.split(text[-_SHORT:])
    if len(text) > _SHORT and not before:
        return None  # the middle of a sentence
    numbers = [] if _VALUE.search(last) else _NUMBER_WORDS.findall(last)
    if len(numbers) == 1 and asserted(last, numbers[0]) == numbers[0]:
        qualified = _QUALIFIED.search(last.partition(numbers[0])[2])
        if not qualified and decide(numbers[0], gold).same is True:
            return numbers[0]
    stated = _STATEMENT.fullmatch(last) if not _VALUE.search(last) else None
    if stated is None or _QUALIFIED.search(stated["value"]):
        return None
    return stated["value"] if decide(stated["value"], gold).same is True else None


def _states(text: str, gold: str) -> bool:
    """Whether a reply ends in the whole of a gold that is more than a value.

    Some golds are sentences, out of which a value would be read that is not all they say.
    """
    said, gold = text.rstrip(_CLOSING), gold.strip()
    written = json.dumps(gold)[1:-1] if text.endswith("}") else gold
    forms = [form.rstrip(_CLOSING) for form in (gold, written, _DOLLAR.sub("", gold))]
    wanted = next(filter(said.endswith, forms), "")
    if not wanted or wanted.isalnum():
        return False
    before = said[: -len(wanted)].rstrip("$ (\\")
    if before and not before.endswith(_INTRODUCTIONS):
        return False
    return "$" in gold.strip("$ ") or extract(gold).answer != gold


def _gold(gold: str) -> str:
    """Read the answer out of a gold that is a whole solution."""
    if "\\boxed" in gold or "####" in gold:
        return extract(gold).answer or gold
    return gold
