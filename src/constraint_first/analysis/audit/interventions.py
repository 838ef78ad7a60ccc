"""Interventions undone: what the same attempts were worth before a check changed their answer.

``sound`` and ``checked`` note each change with the answer, or the whole reply, before and after it.
Both are judged here by the gold, so that it shows what the changes are worth, and which of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from constraint_first.analysis.statistics.comparison import Pair, pair_arms
from constraint_first.analysis.study.study import Arm, ProblemText, Study, Transcript
from constraint_first.evaluation.judge import judge
from constraint_first.evaluation.record import RecordKey
from constraint_first.method.check_summary import Intervention, read_summary
from constraint_first.problem import Problem

__all__ = ["StepCount", "Undone", "undo_interventions"]


@dataclass(frozen=True, slots=True)
class StepCount:
    """How often one kind of intervention was made, and what became of the answers."""

    fixed: int = 0
    broken: int = 0
    stayed_right: int = 0
    stayed_wrong: int = 0

    @property
    def made(self) -> int:
        """All of them."""
        return self.fixed + self.broken + self.stayed_right + self.stayed_wrong


@dataclass(frozen=True, slots=True)
class Undone:
    """One arm with its interventions undone, beside the arm as it stands."""

    arm: Arm
    pair: Pair
    """The attempts before all interventions, as the baseline, against the attempts as they are."""
    judged: int
    """Attempts that have a verdict."""
    changed: int
    """Those of them whose answer an intervention led to."""
    in_votes: int
    """Those whose interventions were made in the samples of a vote; they are left as they are."""
    kinds: Mapping[str, StepCount]


_Key: TypeAlias = tuple[str, int]
"""A problem and a run."""


@dataclass(frozen=True, slots=True)
class _Change:
    """The steps that led to the answer of an attempt, with verdicts: one more than steps."""

    steps: tuple[Intervention, ...]
    right: tuple[bool, ...]


def undo_interventions(study: Study) -> tuple[Undone, ...]:
    """Undo the interventions of every arm; arms that have none on record are left out."""
    return tuple(found for arm in study.main_arms() if (found := _undo_arm(study, arm)))


def _undo_arm(study: Study, arm: Arm) -> Undone | None:
    keys = [
        (problem, one.run)
        for problem, attempts in arm.attempts.items()
        for one in attempts
        if one.intervened and one.correct is not None
    ]
    noted = study.transcripts([(*arm.key, *key) for key in keys])
    changes = dict(_changes(study, arm, noted))
    pair = pair_arms([_without(arm, changes)], [arm], arm.benchmark) if noted else None
    return pair and Undone(
        arm,
        pair,
        judged=sum(runs for _, runs in arm.scores.values()),
        changed=len(changes),
        in_votes=sum(map(_is_vote, noted.values())),
        kinds=_count(changes.values()),
    )


def _changes(
    study: Study, arm: Arm, noted: Mapping[RecordKey, Transcript]
) -> Iterator[tuple[_Key, _Change]]:
    for (*_, problem, run), one in noted.items():
        asked = study.problems.get((arm.benchmark, problem))
        change = _change(asked, one) if asked else None
        if change:
            yield (problem, run), change


def _is_vote(one: Transcript) -> bool:
    return bool(one.details.get("samples"))


def _change(asked: ProblemText, one: Transcript) -> _Change | None:
    """Judge the answers of an attempt before, between and after its interventions.

    Nothing where none of them led to its answer: each was tried, and the first answer stands.
    """
    whole = bool(asked.instructions)
    steps = _steps(one, whole=whole)
    if not steps:
        return None
    problem = Problem(asked.text, answer=asked.gold)
    right = (
        _is_right(problem, answer, whole=whole)
        for answer in (*(step.before for step in steps), steps[-1].after)
    )
    return _Change(steps, tuple(right))


def _steps(one: Transcript, *, whole: bool) -> tuple[Intervention, ...]:
    """Follow the interventions back from the answer that stands to the first one."""
    steps: list[Intervention] = []
    wanted = one.text if whole else one.answer
    if _is_vote(one):  # which sample was changed is not on record
        return ()
    for step in reversed(read_summary(one.details, "").interventions):
        if step.after == wanted != step.before:
            steps.append(step)
            wanted = step.before
    return tuple(reversed(steps))


def _is_right(problem: Problem, answer: str, *, whole: bool) -> bool:
    verdict = judge(problem, None if whole else answer, answer if whole else "")
    return verdict is not None and verdict.verdict == "correct"


def _without(arm: Arm, changes: Mapping[_Key, _Change]) -> Arm:
    """Give each changed attempt the verdict that its first answer has."""
    attempts = {
        problem: [
            replace(one, correct=changes[problem, one.run].right[0])
            if (problem, one.run) in changes
            else one
            for one in runs
        ]
        for problem, runs in arm.attempts.items()
    }
    return replace(arm, attempts=attempts)


def _count(changes: Iterable[_Change]) -> dict[str, StepCount]:
    """Count the steps of each kind by what they did to the verdict."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for one in changes:
        counts.update(_outcomes(one.steps, one.right))
    return {
        what: StepCount(
            fixed=counts[what, False, True],
            broken=counts[what, True, False],
            stayed_right=counts[what, True, True],
            stayed_wrong=counts[what, False, False],
        )
        for what in sorted({what for what, _, _ in counts})
    }


def _outcomes(
    steps: Sequence[Intervention], right: Sequence[bool]
) -> Iterable[tuple[str, bool, bool]]:
    return ((step.what, right[n], right[n + 1]) for n, step in enumerate(steps))
