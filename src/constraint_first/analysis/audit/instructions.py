"""How well replies follow gold instructions: the four numbers of IFEval, and each kind apart.

Zhou et al., 2023, Instruction-Following Evaluation for Large Language Models: a request counts
where all its instructions are followed (prompt level), or each instruction counts for itself
(instruction level); strictly on the reply as it stands, or loosely, without what models put around
a reply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from constraint_first.analysis.statistics.interval import wilson
from constraint_first.analysis.statistics.resample import drawn
from constraint_first.analysis.statistics.score import Score, score_problems
from constraint_first.analysis.study.study import Arm, Study, Transcript
from constraint_first.benchmark.gold_instruction import GoldInstruction, follow
from constraint_first.constraint.predicate import Truth

__all__ = ["Following", "follow_instructions", "has_instructions"]


@dataclass(frozen=True, slots=True)
class Following:
    """How well one arm's replies follow their instructions, in per cent with intervals."""

    arm: Arm
    prompt_strict: Score
    prompt_loose: Score
    instruction_strict: Score
    instruction_loose: Score
    kinds: Mapping[str, Score]
    """For each kind of instruction the share that is followed, strictly."""
    undecided: int
    """Instructions, in all runs, that nothing could decide; they count as not followed."""
    changed: int
    """Replies whose stored verdict is another than the one that is found now."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """One run of a request, instruction by instruction."""

    strict: tuple[Truth, ...]
    loose: tuple[Truth, ...]
    correct: bool | None


def has_instructions(study: Study, benchmark: str) -> bool:
    """Whether any request of a benchmark has gold instructions."""
    return any(one.instructions for (name, _), one in study.problems.items() if name == benchmark)


def follow_instructions(study: Study) -> tuple[Following, ...]:
    """Check the replies of every arm on a benchmark of requests with gold instructions.

    Arms whose replies are not on record are left out.
    """
    instructed = {name for name in study.names("benchmark") if has_instructions(study, name)}
    arms = (arm for arm in study.main_arms() if arm.benchmark in instructed and arm.scores)
    return tuple(found for arm in arms if (found := _follow_arm(study, arm)))


def _follow_arm(study: Study, arm: Arm) -> Following | None:
    requests = {
        problem: asked.instructions
        for problem in arm.scores
        if (asked := study.problems.get((arm.benchmark, problem))) and asked.instructions
    }
    replies = dict(_replies(study, arm, requests))
    if not replies:
        return None
    every = [reply for runs in replies.values() for reply in runs]
    return Following(
        arm,
        *(_prompt_score(replies, loose=loose) for loose in (False, True)),
        *(_instruction_score(replies, loose=loose) for loose in (False, True)),
        kinds=_kind_scores(requests, replies),
        undecided=sum(one.strict.count("undecided") for one in every),
        changed=sum(one.correct is not _is_right(one.strict) for one in every),
    )


def _replies(
    study: Study, arm: Arm, requests: Mapping[str, tuple[GoldInstruction, ...]]
) -> Iterator[tuple[str, list[_Reply]]]:
    """Check every judged reply to every request; nothing where no reply is on record."""
    keys = {
        (*arm.key, problem, attempt.run): problem
        for problem in requests
        for attempt in arm.attempts[problem]
        if attempt.correct is not None
    }
    found = study.transcripts(list(keys))
    if not any(one.text for one in found.values()):
        return
    checked: dict[str, list[_Reply]] = {}
    for key, problem in keys.items():
        if reply := found.get(key):
            checked.setdefault(problem, []).append(_check(requests[problem], reply))
    yield from checked.items()


def _check(instructions: Sequence[GoldInstruction], reply: Transcript) -> _Reply:
    """Check strictly, and loosely only what does not hold strictly: the rest holds both ways."""
    strict = follow(instructions, reply.text)
    left = [one for one, own in zip(instructions, strict, strict=True) if own != "holds"]
    again = iter(follow(left, reply.text, loose=True))
    loose: tuple[Truth, ...] = tuple(own if own == "holds" else next(again) for own in strict)
    return _Reply(strict, loose, reply.correct)


def _is_right(truths: Sequence[Truth]) -> bool:
    return all(one == "holds" for one in truths)


def _truths(reply: _Reply, *, loose: bool) -> tuple[Truth, ...]:
    return reply.loose if loose else reply.strict


def _prompt_score(replies: Mapping[str, Sequence[_Reply]], *, loose: bool) -> Score:
    counts = Counter(
        (sum(_is_right(_truths(one, loose=loose)) for one in runs), len(runs))
        for runs in replies.values()
    )
    found = score_problems(counts)
    assert found, "there are replies"  # noqa: S101
    return found


def _instruction_score(replies: Mapping[str, Sequence[_Reply]], *, loose: bool) -> Score:
    """Score single instructions; the interval is over requests, whose instructions go together.

    The share is a ratio of two means over requests. Each request stands with the share that all
    would have if it were alone decisive (the linear part of the ratio), so that resampling requests
    resamples the ratio.
    """
    asked = [len(runs[0].strict) for runs in replies.values()]
    followed = [
        sum(_truths(one, loose=loose).count("holds") for one in runs) / len(runs)
        for runs in replies.values()
    ]
    total, most = sum(asked), max(map(len, replies.values()))
    share, mean = sum(followed) / total, total / len(asked)
    parts = [
        share + (own - share * count) / mean for own, count in zip(followed, asked, strict=True)
    ]
    if max(parts) - min(parts) < 1e-12:
        low, high = wilson(share * len(parts), len(parts))
        return Score(100 * share, (100 * low, 100 * high), total, most, "Wilson")
    low, high = drawn(parts, seed=0).interval("percentile")
    ends = (100 * max(0.0, low), 100 * min(1.0, high))
    return Score(100 * share, ends, total, most, "percentile bootstrap")


def _kind_scores(
    requests: Mapping[str, tuple[GoldInstruction, ...]], replies: Mapping[str, Sequence[_Reply]]
) -> dict[str, Score]:
    counts: dict[str, Counter[tuple[int, int]]] = {}
    for problem, runs in replies.items():
        for number, one in enumerate(requests[problem]):
            followed = sum(reply.strict[number] == "holds" for reply in runs)
            counts.setdefault(one.kind, Counter())[followed, len(runs)] += 1
    scores = ((kind, score_problems(counts[kind])) for kind in sorted(counts))
    return {kind: found for kind, found in scores if found}
