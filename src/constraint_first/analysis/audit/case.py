"""Case studies: problems on which two methods differ, side by side (paper: Case Studies)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from constraint_first.analysis.audit.dominant import dominant_constraint
from constraint_first.analysis.audit.outcomes import left_to_baseline
from constraint_first.analysis.study.study import (
    Arm,
    Attempt,
    ProblemText,
    Study,
    Transcript,
    benchmark_label,
    model_label,
)
from constraint_first.benchmark.gold_instruction import follow
from constraint_first.evaluation.record import RecordKey

__all__ = [
    "NO_KIND",
    "CaseAttempt",
    "CaseStudy",
    "Change",
    "ChangedProblem",
    "cases",
    "changed_problems",
    "open_case",
]

NO_KIND: Final = "No constraint named"
"""The group of cases in which neither Stage 1 names a constraint nor the text has a cue."""

Change: TypeAlias = Literal["fixed", "broken"]
"""Whether the method is right where the baseline is wrong, or the other way round."""
_OPENING: Final = 80
"""Characters of a problem that name it in a heading."""


@dataclass(frozen=True, slots=True)
class CaseAttempt:
    """One method's attempt at the problem of a case."""

    name: str
    right: int
    runs: int
    run: int
    transcript: Transcript
    followed: str = ""
    """How many gold instructions its reply follows, in words; empty where it has an answer."""

    @property
    def said(self) -> str:
        """Its answer, or what stands in its place."""
        answer = self.transcript.answer
        return self.followed or ("no answer" if answer is None else answer)


@dataclass(frozen=True, slots=True)
class CaseStudy:
    """A problem with an attempt by each of two methods, one right and one wrong."""

    change: Change
    benchmark: str
    model: str
    problem: str
    text: str
    gold: str
    """The gold answer, or the gold instructions in words."""
    baseline: CaseAttempt
    method: CaseAttempt
    kind: str = NO_KIND
    """The kind of constraint that dominates the problem, in words; the first of several."""
    gold_name: str = "gold answer"

    @property
    def opening(self) -> str:
        """The problem's first words, whole ones; a formula that would be cut is left out."""
        text = " ".join(self.text.split())
        if len(text) <= _OPENING:
            return text
        cut = text[:_OPENING].rpartition(" ")[0] or text[:_OPENING]
        for opens, closes in (("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
            begun = cut.rfind(opens)
            inside = cut.count("$") % 2 if opens == closes else begun > cut.rfind(closes)
            if begun > 0 and inside:
                cut = cut[:begun]
        return cut.rstrip(" ,;:") + " …"

    @property
    def title(self) -> str:
        """The problem's name, with its benchmark and model."""
        where = (benchmark_label(self.benchmark), model_label(self.model))
        return ", ".join(filter(None, (self.problem, *where)))

    @property
    def ratio(self) -> float | None:
        """The method's tokens for each of the baseline's."""
        before, after = self.baseline.transcript.tokens, self.method.transcript.tokens
        return after / before if before and after else None


@dataclass(frozen=True, slots=True)
class ChangedProblem:
    """A problem on which two methods differ, before its transcripts are fetched."""

    change: Change
    size: float
    """By how much the share of right runs changed."""
    problem: str
    attempts: tuple[tuple[Arm, Attempt], tuple[Arm, Attempt]]
    """Of the baseline and of the method."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Its benchmark, its model and its name, which tell it from all others."""
        arm = self.attempts[0][0]
        return arm.benchmark, arm.model, self.problem

    @property
    def keys(self) -> list[RecordKey]:
        """The two attempts, as a store names them."""
        return [(*arm.key, self.problem, attempt.run) for arm, attempt in self.attempts]


def cases(study: Study, baseline: str, method: str, most: int = 12) -> list[CaseStudy]:
    """Choose the problems that changed most, as many fixed as broken, with their transcripts.

    Problems that were not routed are none: the method did nothing there that could fix or break.
    They are grouped by the kind of constraint that dominates them, as the paper's are.
    """
    chosen = _balanced(changed_problems(study, baseline, method), most)
    keys = [key for candidate in chosen for key in candidate.keys]
    transcripts = study.transcripts(keys) if keys else {}
    found = [case for candidate in chosen if (case := _case(study, candidate, transcripts))]
    kinds = [*dict.fromkeys(case.kind for case in found if case.kind != NO_KIND), NO_KIND]
    return sorted(found, key=lambda case: kinds.index(case.kind))


def changed_problems(study: Study, baseline: str, method: str) -> list[ChangedProblem]:
    """List every problem that changed, those first that changed most."""
    return sorted(_candidates(study, baseline, method), key=lambda c: (-c.size, c.problem))


def open_case(study: Study, changed: ChangedProblem) -> CaseStudy | None:
    """Fetch the transcripts of a problem; None where there are none to show."""
    return _case(study, changed, study.transcripts(changed.keys))


def _candidates(study: Study, baseline: str, method: str) -> Iterator[ChangedProblem]:
    main = {arm.key: arm for arm in study.main_arms()}
    for base in main.values():
        other = main.get((base.benchmark, method, base.model, base.decoding))
        if base.method != baseline or other is None:
            continue
        for problem in base.scores:
            if problem in other.scores and (found := _candidate(base, other, problem)):
                yield found


def _candidate(base: Arm, other: Arm, problem: str) -> ChangedProblem | None:
    before, after = (right / runs for right, runs in (base.scores[problem], other.scores[problem]))
    if before == after:
        return None
    fixed = after > before
    one = _attempt(base.attempts[problem], correct=not fixed)
    own = [attempt for attempt in other.attempts[problem] if not left_to_baseline(base, [attempt])]
    two = _attempt(own, correct=fixed)
    if one is None or two is None:
        return None
    size = abs(after - before)
    return ChangedProblem(
        "fixed" if fixed else "broken", size, problem, ((base, one), (other, two))
    )


def _attempt(attempts: Sequence[Attempt], *, correct: bool) -> Attempt | None:
    return next((attempt for attempt in attempts if attempt.correct is correct), None)


def _balanced(found: Sequence[ChangedProblem], most: int) -> list[ChangedProblem]:
    """Take as many fixed as broken, or more of one where there are too few of the other."""
    fixed = [one for one in found if one.change == "fixed"]
    broken = [one for one in found if one.change == "broken"]
    half = max(most // 2, most - len(broken))
    return fixed[:half] + broken[: most - len(fixed[:half])]


def _case(
    study: Study, candidate: ChangedProblem, transcripts: Mapping[RecordKey, Transcript]
) -> CaseStudy | None:
    problem, base = candidate.problem, candidate.attempts[0][0]
    posed = study.problems.get((base.benchmark, problem)) or ProblemText("")
    found = [
        CaseAttempt(
            *(arm.name, *arm.scores[problem], attempt.run, transcripts[key]),
            followed=_followed(posed, transcripts[key]),
        )
        for key, (arm, attempt) in zip(candidate.keys, candidate.attempts, strict=True)
        if key in transcripts
    ]
    text, gold = posed.text, posed.gold_shown or ""
    if len(found) < 2 or not any((text, *(one.transcript.text for one in found))):
        return None  # outcomes alone: there is nothing to show
    names = dominant_constraint(study, candidate.attempts[1][0], problem).names
    kind = names[0][:1].upper() + names[0][1:] if names else NO_KIND
    return CaseStudy(
        *(candidate.change, base.benchmark, base.model, problem, text, gold, *found),
        kind=kind,
        gold_name=posed.gold_name,
    )


def _followed(posed: ProblemText, reply: Transcript) -> str:
    if not posed.instructions:
        return ""
    truths = follow(posed.instructions, reply.text)
    return f"follows {truths.count('holds')} of {len(truths)} instructions"
