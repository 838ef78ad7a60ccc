"""Flips: problems that a method wins or loses against the baseline, with their errors.

Paper: Error Analysis; appendix Error Taxonomy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from constraint_first.analysis.audit.mistake import MISTAKES, Demands, Mistake, mistake
from constraint_first.analysis.audit.outcomes import both_outcomes, left_to_baseline
from constraint_first.analysis.audit.stage1.gold import gold_item
from constraint_first.analysis.statistics.subset import BASELINE, Key, pairs_by_model
from constraint_first.analysis.study.study import Arm, Attempt, ProblemText, Study

__all__ = [
    "ErrorCount",
    "Flip",
    "FlipTotals",
    "count_errors",
    "count_flips",
    "flips",
    "flips_between",
]


@dataclass(frozen=True, slots=True)
class Flip:
    """A problem that one side has right and the other wrong, and the error of the wrong side."""

    model: str
    benchmark: str
    problem: str
    fixed: bool
    """True where the method is right and the baseline wrong."""
    mistake: Mistake
    answer: str | None
    """A wrong answer that shows the error; None where none was given, or none kept."""
    kept: bool = True
    """False where no wrong answer is on record although there was one."""
    by_person: bool = False
    gold_known: bool = True
    """False where the right answer, which most classes need, is not on record."""

    @property
    def for_want_of_gold(self) -> bool:
        """Whether it is other only because the right answer is not on record."""
        told = self.gold_known or self.by_person or not self.kept
        return self.mistake == "other" and not told


def flips(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> tuple[Flip, ...]:
    """Find every problem that changes sides, and class the error of the side that has it wrong.

    A problem that the router left to the baseline is none: it was solved as the baseline does.
    """
    return tuple(
        flip
        for paired in pairs_by_model(study, method, baseline)
        for base, arm in paired.pairs
        for flip in flips_between(study, base, arm, rule)
    )


def flips_between(
    study: Study, base: Arm, arm: Arm, rule: ErrorRule = DEFAULT_RULE
) -> Iterator[Flip]:
    """Do the same for one pair of arms.

    Where any run may make a problem right, all runs of the wrong side are wrong. The class is then
    that of most of them and, where several have as many, the one that the taxonomy names first.
    """
    for problem, (before, after) in both_outcomes(base, arm, rule.right):
        if before != after and not left_to_baseline(base, arm.attempts[problem]):
            wrong = [a for a in (base if after else arm).attempts[problem] if a.correct is not None]
            shown = wrong if rule.right == "any" else wrong[:1]
            found = _class_of(study, arm.benchmark, problem, shown)
            key = (arm.benchmark, problem)
            known = _gold_known(study, key)
            flip = Flip(arm.model, *key, after, *found, gold_known=known)
            given = rule.classes.find(key, arm.method, arm.model)
            yield replace(flip, mistake=given, by_person=True) if given else flip


def _class_of(
    study: Study, benchmark: str, problem: str, wrong: Sequence[Attempt]
) -> tuple[Mistake, str | None, bool]:
    """Class wrong attempts: the error, an answer that shows it, whether answers are on record."""
    kinds = [_mistake(study, (benchmark, problem), attempt) for attempt in wrong]
    counts = Counter(kinds)
    kind = max(MISTAKES, key=lambda one: counts[one])  # the first of several that are equal
    answer = wrong[kinds.index(kind)].answer
    whole = bool(study.problems.get((benchmark, problem), _NONE).instructions)
    kept = whole or any(attempt.answer or attempt.status != "ok" for attempt in wrong)
    return kind, answer, kept


def _mistake(study: Study, key: Key, attempt: Attempt) -> Mistake:
    if instructions := study.problems.get(key, _NONE).instructions:
        decided = all(one.predicate for one in instructions)
        return "broken_condition" if decided else "other"
    if attempt.answer is None and attempt.status == "ok":
        return "other"  # there was an answer; it was not kept
    if item := gold_item(study, *key):
        return mistake(attempt.answer, Demands.of_item(item))
    asked = study.problems.get(key, _NONE)
    return mistake(attempt.answer, Demands.of_text(asked.text, asked.gold, key[0]))


def _gold_known(study: Study, key: Key) -> bool:
    return bool(study.problems.get(key, _NONE).gold) or gold_item(study, *key) is not None


_NONE: Final = ProblemText("")


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """Flips with one class of error: how many a method fixes and introduces, and their shares."""

    mistake: Mistake | None
    """None for all classes together."""
    fixed: int
    introduced: int
    fixed_share: float | None
    """Of all that are fixed; None where none is."""
    introduced_share: float | None


def count_errors(found: Iterable[Flip]) -> tuple[ErrorCount, ...]:
    """Count flips by class, in the order of the taxonomy, and last of all classes together."""
    counts = Counter((flip.mistake, flip.fixed) for flip in found)
    fixed, introduced = (
        sum(number for (_, way), number in counts.items() if way is one) for one in (True, False)
    )
    numbers: list[tuple[Mistake | None, int, int]] = [
        *((kind, counts[kind, True], counts[kind, False]) for kind in MISTAKES),
        (None, fixed, introduced),
    ]
    return tuple(
        ErrorCount(kind, won, lost, _share(won, fixed), _share(lost, introduced))
        for kind, won, lost in numbers
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class FlipTotals:
    """Counts of flips: all, and those whose class a person gave or the records leave open."""

    flips: int
    by_person: int
    without_answer: int
    """Class other because no wrong answer is on record."""
    without_gold: int
    """Class other because the right answer is not on record."""


def count_flips(found: Sequence[Flip]) -> FlipTotals:
    """Count flips by where their class comes from."""
    return FlipTotals(
        len(found),
        sum(flip.by_person for flip in found),
        sum(not flip.kept and not flip.by_person for flip in found),
        sum(flip.for_want_of_gold for flip in found),
    )
