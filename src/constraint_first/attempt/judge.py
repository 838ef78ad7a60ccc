"""Verdicts on attempts: an answer against the gold one, or a whole reply against instructions.

Which of the two a problem has is decided here alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

from constraint_first.answer.extract import extract
from constraint_first.answer.grade import GradingCase, Verdict, grade, grade_all
from constraint_first.benchmark.registry import GoldInstruction, follow, read_instructions
from constraint_first.problem import Problem
from constraint_first.thinking import without_thinking


async def judge_attempt(problem: Problem, answer: str | None, text: str) -> Verdict | None:
    """Judge an attempt without blocking the event loop; None where the problem has no gold."""
    if problem.answer is None:
        return None
    if instructions := read_instructions(problem.answer):
        return await asyncio.to_thread(judge_reply, instructions, text)
    found = _final(answer, text)
    (verdict,) = await grade_all([GradingCase(found, problem.answer, problem.text)])
    return verdict


def judge(problem: Problem, answer: str | None, text: str) -> Verdict | None:
    """Do the same where nothing else is waiting."""
    if problem.answer is None:
        return None
    if instructions := read_instructions(problem.answer):
        return judge_reply(instructions, text)
    return grade(_final(answer, text), problem.answer, problem.text)


def _final(answer: str | None, text: str) -> str | None:
    """Read the final answer in a whole reply, which is what ``plain`` calls its answer."""
    is_whole = answer is not None and answer == without_thinking(text).strip()
    return (extract(text).answer or answer) if is_whole else answer


def judge_reply(instructions: Sequence[GoldInstruction], text: str) -> Verdict:
    """Judge a whole reply, strictly: it is right where it follows every instruction.

    It is wrong where it breaks one, and undecided where none is broken and one cannot be decided.
    """
    started = time.perf_counter()
    truths = follow(instructions, text)
    word: Literal["correct", "incorrect", "undecided"] = "correct"
    if "violated" in truths:
        word = "incorrect"
    elif "undecided" in truths:
        word = "undecided"
    seconds = time.perf_counter() - started
    return Verdict(word, "instructions", None, _why(instructions, truths), seconds)


def _why(instructions: Sequence[GoldInstruction], truths: Sequence[str]) -> str:
    """Say how many instructions are followed, and which are not."""
    said = [f"follows {truths.count('holds')} of {len(truths)} instructions"]
    for truth, words in (("violated", "broken"), ("undecided", "not decided")):
        found = [
            one.sentence for one, own in zip(instructions, truths, strict=True) if own == truth
        ]
        said += [f"{words}: {' '.join(found)}"] if found else []
    return "; ".join(said)


# The statuses of an attempt: how it ended.

Status: TypeAlias = Literal["ok", "truncated", "unparsed", "failed"]
"""How an attempt ended: with an answer; without one because its budget ran out; without one all
the same; or not at all, because a call never succeeded. Only the last is made again."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
"""Every status, in the order in which they are counted and shown."""
