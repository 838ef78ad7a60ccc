"""Is it the gold answer? The exact tier first, in this process; the symbolic tier where it must."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from cfr.answer.expression.words import plain_words
from cfr.answer.extraction.extract import boxes, extract
from cfr.answer.judgement.tier import Ruling, asks_percent, decide

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cfr.answer.judgement.workers import Workers

# What starts threads and processes is imported where it is used; reading answers needs none of it.

__all__ = ["Case", "Verdict", "grade", "grade_all", "grade_each"]

_JOINT = re.compile(
    r"[\s$,;]*(?:\\q?quad|\\text\s*\{\s*(?:and|or)\s*\}|and|or|\\[()\[\],;])?[\s$,;]*"
)
_AHEAD = 64
"""Cases in flight for each worker, so that none waits for the order of the output."""


@dataclass(frozen=True, slots=True)
class Case:
    """A prediction (a bare answer or a whole completion) and the gold answer."""

    pred: str | None
    gold: str
    problem: str = ""
    """The problem's text, where it is known: it tells whether a percentage is asked for."""
    truncated: bool = False
    """Whether the completion ended because its budget ran out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a prediction is the gold answer, who decided, and why."""

    verdict: Literal["correct", "incorrect", "undecided"]
    tier: Literal["exact", "symbolic"]
    answer: str | None
    """The answer that was judged, as the model wrote it."""
    why: str
    seconds: float

    @property
    def correct(self) -> bool:
        """Whether it counts as correct; undecided does not."""
        return self.verdict == "correct"


def grade(
    pred: str | None,
    gold: str,
    problem: str = "",
    *,
    truncated: bool = False,
    workers: Workers | None = None,
) -> Verdict:
    """Judge one prediction, a bare answer or a whole completion, against the gold answer."""
    return _grade(Case(pred, gold, problem, truncated), workers)


async def grade_all(cases: Sequence[Case], *, workers: Workers | None = None) -> list[Verdict]:
    """Judge many predictions without blocking the event loop; verdicts come in the given order."""
    import asyncio

    pool = workers or _shared()
    slots = asyncio.Semaphore(pool.count)

    async def one(case: Case) -> Verdict:
        pending = _first_tier(case)
        if isinstance(pending, Verdict):
            return pending
        async with slots:
            return await asyncio.to_thread(_second_tier, pending, pool)

    return list(await asyncio.gather(*(one(case) for case in cases)))


def grade_each(cases: Iterable[Case], *, workers: Workers | None = None) -> Iterator[Verdict]:
    """Judge a stream of predictions on all cores, in order and with bounded memory."""
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
    gold: str
    percent: bool
    spent: float
    """Seconds in the exact tier. Waiting for a worker is nobody's time."""


def _grade(case: Case, workers: Workers | None) -> Verdict:
    pending = _first_tier(case)
    return pending if isinstance(pending, Verdict) else _second_tier(pending, workers or _shared())


def _first_tier(case: Case) -> Verdict | _Pending:
    started = time.perf_counter()
    answer, gold = _answer(case), _gold(case.gold)
    if answer is None:
        # "None" is no answer, except to a question whose answer is "none".
        same = case.pred is not None and plain_words(gold) == plain_words(case.pred) != ""
        ruling = Ruling(same, "the same words" if same else "no answer")
        return _verdict(ruling, "exact", None, time.perf_counter() - started)
    # A gold that is a whole solution speaks of the problem too.
    percent = asks_percent(case.problem) or (gold != case.gold and asks_percent(case.gold))
    ruling = decide(answer, gold, percent=percent)
    if ruling.same is None and ruling.readable:
        return _Pending(answer, gold, percent, time.perf_counter() - started)
    return _verdict(ruling, "exact", answer, time.perf_counter() - started)


def _shared() -> Workers:
    from cfr.answer.judgement.workers import shared

    return shared()


def _second_tier(pending: _Pending, workers: Workers) -> Verdict:
    from cfr.answer.judgement.workers import Undecided

    started = time.perf_counter()
    try:
        ruling = workers.judge(pending.answer, pending.gold, percent=pending.percent)
    except Undecided as reason:
        ruling = Ruling(None, str(reason))
    seconds = pending.spent + time.perf_counter() - started
    return _verdict(ruling, "symbolic", pending.answer, seconds)


def _verdict(
    ruling: Ruling, tier: Literal["exact", "symbolic"], answer: str | None, seconds: float
) -> Verdict:
    word = "undecided" if ruling.same is None else "correct" if ruling.same else "incorrect"
    return Verdict(word, tier, answer, ruling.why, seconds)


def _gold(gold: str) -> str:
    """Read the answer out of a gold that is a whole solution."""
    if "\\boxed" in gold or "####" in gold:
        return _joined_boxes(gold) or extract(gold).answer or gold
    return gold


def _answer(case: Case) -> str | None:
    if case.pred is None:
        return None
    found = extract(case.pred, truncated=case.truncated)
    if found.how == "boxed" and "," in case.gold:
        return _joined_boxes(case.pred) or found.answer
    return found.answer


def _joined_boxes(text: str) -> str | None:
    """Read boxes with nothing but "and" between them as one list of several answers."""
    run: list[str] = []
    until = -1
    for start, end, content in boxes(text):
        if run and not _JOINT.fullmatch(text, end, until):
            break
        run.append(content)
        until = start
    return ", ".join(reversed(run)) if len(run) > 1 else None
