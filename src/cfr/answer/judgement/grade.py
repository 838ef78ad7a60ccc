"""Is it the gold answer? The exact tier first, in this process; the symbolic tier where it must."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from cfr.answer.expression.canonical import interpret
from cfr.answer.extraction.extract import extract
from cfr.answer.judgement.tier import MAX_LENGTH, Ruling, asks_percent, decide, spell_variables

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cfr.answer.judgement.workers import Workers

# What starts threads and processes is imported where it is used; reading answers needs none of it.

__all__ = ["GradingCase", "Verdict", "grade", "grade_all", "grade_each", "grade_reply"]

_SHORT = 120
"""A reply that is longer is more than an answer by itself."""
_SENTENCE = 3
"""Words from which on a gold answer that is no value is taken for a sentence."""
_LONG = 40
"""Length from which on a gold answer is not repeated by chance."""
_BEFORE = re.compile(r"(?:\A|[$*:\"`({]|(?<!\bnot)(?<!n't)(?<!\bnever)(?<=[a-z])\s)\s*\\*\Z")
"""What may stand before a gold answer that a reply ends in: its mark, or a word of the sentence."""
_MARKS = re.compile(r"\\boxed|\\text|[\s${}*_.\\]+")
_AHEAD = 64
"""Cases in flight for each worker, so that none waits for the order of the output."""


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
        answer = None if text is None else extract(text, truncated=truncated).answer
        if text is not None and not truncated and (said := _stated(text, answer, gold)):
            answer = said
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

    pool = workers or _shared()
    slots = asyncio.Semaphore(pool.count)

    async def one(case: GradingCase) -> Verdict:
        pending = _first_tier(case)
        if isinstance(pending, Verdict):
            return pending
        async with slots:
            return await asyncio.to_thread(_second_tier, pending, pool)

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
    from cfr.answer.judgement.workers import shared

    return shared()


def _second_tier(pending: _Pending, workers: Workers) -> Verdict:
    from cfr.answer.judgement.workers import Undecided

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


def _stated(text: str, answer: str | None, gold: str) -> str | None:
    """Find a gold answer in words that a reply is, or ends in, where a value was looked for.

    "None" and "does not exist" are no answers, except to a question whose answer they are; a gold
    answer that is a sentence has more in it than the last value of that sentence.
    """
    reply, gold = text.strip(), _gold(gold).strip()
    if answer in (reply, gold) or len(gold) > MAX_LENGTH:
        return None
    if len(reply) <= _SHORT and "\n" not in reply and decide(reply, gold).same:
        return reply
    if len(gold) < _LONG and (len(gold.split()) < _SENTENCE or interpret(gold)):
        return None
    tail = reply[-4 * len(gold) - 200 :]
    wanted, said = _letters(gold), _letters(tail)
    at = len(said) - len(wanted)
    if not wanted or at < 0 or any(a[0] != b[0] for a, b in zip(said[at:], wanted, strict=True)):
        return None
    return gold if _BEFORE.search(tail[: said[at][1]]) else None


def _letters(text: str) -> list[tuple[str, int]]:
    """List the characters of a text and their places, without spaces and typesetting."""
    marks = {at for mark in _MARKS.finditer(text) for at in range(*mark.span())}
    return [(letter, at) for at, letter in enumerate(text) if at not in marks]


def _gold(gold: str) -> str:
    """Read the answer out of a gold that is a whole solution."""
    if "\\boxed" in gold or "####" in gold:
        return extract(gold).answer or gold
    return gold
