"""Problems on which two methods part ways, side by side (paper: Case Studies, Positive Cases)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cfr.analysis.study.study import Arm, Attempt, Study, Transcript, benchmark_label, model_label

__all__ = ["Case", "Side", "Turn", "cases"]

Turn: TypeAlias = Literal["fixed", "broken"]
"""Whether the method is right where the baseline is wrong, or the other way round."""


@dataclass(frozen=True, slots=True)
class Side:
    """One method's attempt at the problem of a case."""

    name: str
    right: int
    runs: int
    run: int
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class Case:
    """A problem, what both methods made of it, and what each cost."""

    turn: Turn
    benchmark: str
    model: str
    problem: str
    text: str
    gold: str
    baseline: Side
    method: Side

    @property
    def title(self) -> str:
        """A line that names the case."""
        where = ", ".join(filter(None, (benchmark_label(self.benchmark), model_label(self.model))))
        return f"{self.problem} ({where})" if where else self.problem

    @property
    def ratio(self) -> float | None:
        """The method's tokens for each of the baseline's."""
        before, after = self.baseline.transcript.tokens, self.method.transcript.tokens
        return after / before if before and after else None


@dataclass(frozen=True, slots=True)
class _Pick:
    turn: Turn
    change: float
    baseline: tuple[Arm, Attempt]
    method: tuple[Arm, Attempt]
    problem: str


def cases(study: Study, baseline: str, method: str, most: int = 12) -> list[Case]:
    """Choose the problems that changed most, as many fixed as broken, and fetch what was said."""
    picks = sorted(_picks(study, baseline, method), key=lambda p: (-p.change, p.problem))
    chosen = _alternating(picks, most)
    keys = [(*arm.key, pick.problem, a.run) for pick in chosen for arm, a in _sides(pick)]
    said = study.transcripts(keys) if keys else {}
    return [case for pick in chosen if (case := _case(study, pick, said))]


def _picks(study: Study, baseline: str, method: str) -> Iterator[_Pick]:
    main = {arm.key: arm for arm in study.main_arms()}
    for base in main.values():
        other = main.get((base.benchmark, method, base.model, base.decoding))
        if base.method != baseline or other is None:
            continue
        for problem in base.scores:
            if problem in other.scores and (pick := _pick(base, other, problem)):
                yield pick


def _pick(base: Arm, other: Arm, problem: str) -> _Pick | None:
    before, after = (right / runs for right, runs in (base.scores[problem], other.scores[problem]))
    if before == after:
        return None
    turn: Turn = "fixed" if after > before else "broken"
    one = _attempt(base.attempts[problem], correct=turn == "broken")
    two = _attempt(other.attempts[problem], correct=turn == "fixed")
    if one is None or two is None:
        return None
    return _Pick(turn, abs(after - before), (base, one), (other, two), problem)


def _attempt(attempts: Sequence[Attempt], *, correct: bool) -> Attempt | None:
    return next((attempt for attempt in attempts if attempt.correct is correct), None)


def _alternating(picks: Sequence[_Pick], most: int) -> list[_Pick]:
    fixed = [pick for pick in picks if pick.turn == "fixed"]
    broken = [pick for pick in picks if pick.turn == "broken"]
    half = max(most // 2, most - len(broken))
    return fixed[:half] + broken[: most - len(fixed[:half])]


def _sides(pick: _Pick) -> tuple[tuple[Arm, Attempt], tuple[Arm, Attempt]]:
    return pick.baseline, pick.method


def _case(
    study: Study, pick: _Pick, said: dict[tuple[str, str, str, str, str, int], Transcript]
) -> Case | None:
    sides: list[Side] = []
    for arm, attempt in _sides(pick):
        transcript = said.get((*arm.key, pick.problem, attempt.run))
        if transcript is None:
            return None
        sides.append(Side(arm.name, *arm.scores[pick.problem], attempt.run, transcript))
    arm = pick.baseline[0]
    asked = study.problems.get((arm.benchmark, pick.problem))
    text, gold = (asked.text, asked.gold or "") if asked else ("", "")
    if not any((text, *(side.transcript.text for side in sides))):
        return None  # outcomes alone: there is nothing to show
    return Case(pick.turn, arm.benchmark, arm.model, pick.problem, text, gold, *sides)
