"""Interventions of checks, by undoing them, and how well replies follow gold instructions.

``sound`` and ``checked`` note each change with the answer, or the whole reply, before and after
it. Both are graded here against the gold, which shows the gain of all changes and of each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final, NamedTuple, TypeAlias, cast

from constraint_first.attempt.attempt import judge
from constraint_first.benchmark.registry import GoldInstruction, follow
from constraint_first.constraint.predicate import Truth
from constraint_first.method.sound import Intervention, read_summary
from constraint_first.problem import Problem
from constraint_first.report import table
from constraint_first.report.comparison import Pair, Score, pair_arms, score_problems
from constraint_first.report.exhibit.exhibit import Exhibit
from constraint_first.report.statistics import drawn, wilson
from constraint_first.report.study import (
    Arm,
    ProblemText,
    Study,
    Transcript,
    benchmark_label,
    model_label,
)
from constraint_first.report.table import NONE, Column, Row, Table, left, row

_Outcome: TypeAlias = tuple[str, bool, bool]
"""A step: its kind, and whether the answer was right before and after it."""


class Undone(NamedTuple):
    """An arm as it would be without interventions, and the arm as it is."""

    arm: Arm
    pair: Pair
    """The comparison of the attempts, with those before all interventions as the baseline."""
    changed: int
    """Judged attempts whose answer is due to an intervention."""
    in_votes: int
    """Attempts with interventions in the samples of a vote, which cannot be undone."""
    steps: Counter[_Outcome]


def _undo_arm(study: Study, arm: Arm) -> Undone | None:
    noted = study.transcripts(
        [
            (*arm.key, problem, one.run)
            for problem, attempts in arm.attempts.items()
            for one in attempts
            if one.intervened and one.correct is not None
        ]
    )
    if not noted:
        return None
    changes: dict[tuple[str, int], list[_Outcome]] = {}
    for (*_, problem, run), one in noted.items():
        asked = study.problems.get((arm.benchmark, problem))
        if asked and (steps := _judged_steps(asked, one)):
            changes[problem, run] = steps
    attempts = {problem: [*runs] for problem, runs in arm.attempts.items()}
    for problem, runs in attempts.items():
        for at, one in enumerate(runs):
            if steps := changes.get((problem, one.run)):
                runs[at] = replace(one, correct=steps[0][1])
    pair = pair_arms([replace(arm, attempts=attempts)], [arm], arm.benchmark)
    votes = sum(map(_is_vote, noted.values()))
    return pair and Undone(arm, pair, len(changes), votes, Counter(chain(*changes.values())))


def _is_vote(one: Transcript) -> bool:
    return bool(one.details.get("samples"))


def _judged_steps(asked: ProblemText, one: Transcript) -> list[_Outcome]:
    """Judge the answers of an attempt before, between and after its interventions.

    Empty if its answer is not due to any of them: each was tried and the first answer was kept.
    """
    whole, steps = bool(asked.instructions), list[Intervention]()
    wanted = one.text if whole else one.answer
    # Iterate from the final answer back to the first one. For a vote the changed sample is not
    # recorded.
    for step in () if _is_vote(one) else reversed(read_summary(one.details, "").interventions):
        if step.after == wanted != step.before:
            steps.insert(0, step)
            wanted = step.before
    problem = Problem(asked.text, answer=asked.gold)
    right: list[bool] = []
    for answer in [*(step.before for step in steps), *(step.after for step in steps[-1:])]:
        verdict = judge(problem, None if whole else answer, answer if whole else "")
        right.append(verdict is not None and verdict.verdict == "correct")
    return [(step.what, *ends) for step, ends in zip(steps, pairwise(right), strict=True)]


# How well replies follow gold instructions: the four numbers of IFEval, and each kind separately.
#
# Zhou et al., 2023, Instruction-Following Evaluation for Large Language Models: a request counts
# if all its instructions are followed (prompt level), or each instruction counts separately
# (instruction level); strictly, on the unchanged reply, or loosely, without the introductions and
# endings that models add.


_Truths: TypeAlias = tuple[Truth, ...]
"""The truth of each instruction in one reply, strictly and loosely."""
_Runs: TypeAlias = Sequence[Sequence[_Truths]]
"""The truths of the instructions by request and run."""


class Following(NamedTuple):
    """How well one arm's replies follow their instructions, in per cent with intervals."""

    arm: Arm
    levels: tuple[Score, ...]
    """Prompt level, strict and loose, then instruction level."""
    kinds: Mapping[str, Score]
    """For each kind of instruction the share that is strictly followed."""
    undecided: int
    """Undecided instructions in all runs; they count as not followed."""
    changed: int
    """Replies whose stored verdict differs from the current one."""


def follow_instructions(study: Study) -> list[Following]:
    """Check the replies of every arm that has requests with gold instructions on record."""
    arms = (arm for arm in study.main_arms() if arm.scores)
    return [found for arm in arms if (found := _follow_arm(study, arm))]


def _follow_arm(study: Study, arm: Arm) -> Following | None:
    requests = {
        problem: asked.instructions
        for problem in arm.scores
        if (asked := study.problems.get((arm.benchmark, problem))) and asked.instructions
    }
    keys = {
        (*arm.key, problem, attempt.run): problem
        for problem in requests
        for attempt in arm.attempts[problem]
        if attempt.correct is not None
    }
    found = study.transcripts(list(keys)) if keys else {}
    if not any(one.text for one in found.values()):
        return None
    # By request, each run's truths: strictly and loosely.
    replies: dict[str, list[tuple[_Truths, _Truths]]] = {}
    undecided = changed = 0
    for key, problem in keys.items():
        if reply := found.get(key):
            strict, loose = _check(requests[problem], reply.text)
            replies.setdefault(problem, []).append((strict, loose))
            undecided += strict.count("undecided")
            changed += reply.correct is not _all_hold(strict)
    ways = [[[run[way] for run in runs] for runs in replies.values()] for way in (0, 1)]
    levels = (*map(_prompt_score, ways), *map(_instruction_score, ways))
    return Following(arm, levels, _kind_scores(requests, replies), undecided, changed)


def _check(instructions: Sequence[GoldInstruction], reply: str) -> tuple[_Truths, _Truths]:
    """Check strictly, then check loosely only the rest: strict truth implies loose truth."""
    strict = follow(instructions, reply)
    left = [one for one, own in zip(instructions, strict, strict=True) if own != "holds"]
    again = iter(follow(left, reply, loose=True))
    return strict, tuple(own if own == "holds" else next(again) for own in strict)


def _all_hold(truths: _Truths) -> bool:
    return all(one == "holds" for one in truths)


def _prompt_score(requests: _Runs) -> Score:
    counts = Counter((sum(map(_all_hold, runs)), len(runs)) for runs in requests)
    return cast("Score", score_problems(counts))  # not None: there are replies


def _instruction_score(requests: _Runs) -> Score:
    """Score single instructions; the interval is over requests, in which they are correlated.

    The share is a ratio of two means over requests. Each request is represented by its
    contribution to the linearized ratio (the delta method), so that resampling requests resamples
    the ratio.
    """
    asked = [len(runs[0]) for runs in requests]
    followed = [sum(run.count("holds") for run in runs) / len(runs) for runs in requests]
    total, most = sum(asked), max(map(len, requests))
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
    requests: Mapping[str, tuple[GoldInstruction, ...]],
    replies: Mapping[str, Sequence[tuple[_Truths, _Truths]]],
) -> dict[str, Score]:
    counts: dict[str, Counter[tuple[int, int]]] = {}
    for problem, runs in replies.items():
        for number, one in enumerate(requests[problem]):
            followed = sum(strict[number] == "holds" for strict, _ in runs)
            counts.setdefault(one.kind, Counter())[followed, len(runs)] += 1
    scores = ((kind, score_problems(counts[kind])) for kind in sorted(counts))
    return {kind: found for kind, found in scores if found}


# Tables of interventions: accuracy with and without them, and the effect of each kind.

_UNDONE: Final = (
    "Undone: the answers, or whole replies, as they were before any check changed them, judged by "
    "the same gold. Changed: attempts whose answer an intervention led to. The gain is paired, "
    "problem by problem, with a BCa interval and an exact sign-flip test, not corrected for the "
    "number of rows. Tokens that the interventions cost stay spent."
)
_STEPS: Final = (
    "Each step on the way to the answer that stands, judged before and after it; an attempt may "
    "have several. Steps that were tried and led to nothing are not counted."
)


def intervention_tables(study: Study) -> tuple[Table, ...]:
    """Tabulate the arms that have stored interventions; empty if no arm has."""
    found = [one for arm in study.main_arms() if (one := _undo_arm(study, arm))]
    if not found:
        return ()
    notes = [_UNDONE]
    if in_votes := sum(one.in_votes for one in found):
        notes.append(
            f"Left as they are: {table.several(in_votes, 'attempt')} with interventions in the "
            "samples of a vote, where it is not on record which sample they changed."
        )
    undone = Table(
        "interventions",
        "Interventions undone, accuracy in %",
        (
            *(*left("Model", "Benchmark", "Method"), Column("Changed", rank=2), Column("Undone")),
            *(Column("As it is"), Column("Gain [95 %]"), Column("Better / worse", rank=1)),
            Column("p", rank=3),
        ),
        tuple(map(_undone_row, found)),
        tuple(notes),
    )
    titles = ("Made", "Fixed", "Broken", "Stayed right", "Stayed wrong")
    steps = Table(
        "intervention-steps",
        "What each kind of intervention did",
        (*left("Intervention"), *map(Column, titles)),
        tuple(line for one in found for line in _step_rows(one)),
        (_STEPS,),
    )
    return undone, steps


def _undone_row(one: Undone) -> Row:
    pair = one.pair
    judged = sum(runs for _, runs in one.arm.scores.values())
    return row(
        *(model_label(one.arm.model) or NONE, benchmark_label(one.arm.benchmark) or NONE),
        *(one.arm.name, table.counted(one.changed, judged)),
        *(table.decimal(pair.before), table.decimal(pair.after)),
        table.delta(pair.gain, pair.interval),
        *(f"{pair.improved:,} / {pair.degraded:,}", table.p_value(pair.p)),
    )


def _step_rows(one: Undone) -> Iterator[Row]:
    places = (model_label(one.arm.model), benchmark_label(one.arm.benchmark), one.arm.name)
    yield row(", ".join(filter(None, places)), kind="heading")
    order = ((False, True), (True, False), (True, True), (False, False))
    for what in sorted({what for what, _, _ in one.steps}):
        counts = [one.steps[what, *ends] for ends in order]
        yield row(what, *(f"{count:,}" for count in (sum(counts), *counts)))


# Tables of instructions: the four numbers of IFEval for each method, and each kind separately.

_LEVELS: Final = (
    "Prompt level: a request counts where all its instructions are followed; instruction level: "
    "each instruction counts for itself. Strict: the reply as it stands; loose: also without its "
    "first line, its last line or both, and without the asterisks of Markdown. Comparisons of "
    "methods are made on prompt-level strict verdicts."
)
_RESAMPLED: Final = (
    f"{table.ACCURACY_INTERVAL} At the instruction level requests are resampled, each with all its "
    "instructions."
)


def instruction_tables(study: Study) -> tuple[Table, ...]:
    """Tabulate how well replies follow gold instructions, if any have: together and by kind."""
    found = follow_instructions(study)
    if not found:
        return ()
    levels = Table(
        "instructions",
        "Instructions followed, % [95 %]",
        (
            *(*left("Model", "Benchmark", "Method"), Column("Requests"), Column("Runs")),
            Column("Instructions", rank=1),
            *(Column(title, group="Prompt level") for title in ("Strict", "Loose")),
            *(Column(title, group="Instruction level") for title in ("Strict", "Loose")),
        ),
        tuple(map(_level_row, found)),
        (_LEVELS, *_notes(found), _RESAMPLED),
    )
    return levels, _kinds_table(found)


def _level_row(one: Following) -> Row:
    arm, prompt, instruction = one.arm, one.levels[0], one.levels[2]
    return row(
        *(model_label(arm.model) or NONE, benchmark_label(arm.benchmark) or NONE, arm.name),
        *(f"{prompt.problems:,}", str(prompt.runs), f"{instruction.problems:,}"),
        *(table.scored(level.accuracy, level.interval) for level in one.levels),
    )


def _notes(found: Sequence[Following]) -> Iterator[str]:
    if undecided := sum(one.undecided for one in found):
        checks = table.several(undecided, "check")
        yield (
            f"Counted as not followed, because it could not be decided: {checks}. A kind is not "
            "known, or a language cannot be told."
        )
    if changed := sum(one.changed for one in found):
        verdicts = table.several(changed, "stored verdict")
        yield (
            f"Judged otherwise when stored: {verdicts}; 'cfr runs --regrade' brings them up to "
            "date."
        )


def _kinds_table(found: Sequence[Following]) -> Table:
    methods = {one.arm.method: one.arm.name for one in found}
    places: dict[tuple[str, str], dict[str, Following]] = {}
    for one in found:
        places.setdefault((one.arm.model, one.arm.benchmark), {})[one.arm.method] = one
    rows: list[Row] = []
    for (model, benchmark), here in sorted(places.items()):
        title = ", ".join(filter(None, (model_label(model), benchmark_label(benchmark))))
        rows.append(row(title, kind="heading"))
        for kind in sorted({kind for one in here.values() for kind in one.kinds}):
            scores = [here[name].kinds.get(kind) if name in here else None for name in methods]
            most = max(one.problems for one in scores if one)
            cells = (table.scored(one.accuracy, one.interval) if one else NONE for one in scores)
            rows.append(row(kind, f"{most:,}", *cells))
    return Table(
        "instruction-kinds",
        "Instructions followed by kind, strictly, % [95 %]",
        (
            *(*left("Kind of instruction"), Column("Instructions", rank=1)),
            *map(Column, methods.values()),
        ),
        tuple(rows),
        (table.ACCURACY_INTERVAL.replace("problem", "instruction"),),
    )


EXHIBITS: Final = (
    Exhibit("prompting", lambda c: instruction_tables(c.study)),
    Exhibit("prompting", lambda c: intervention_tables(c.study)),
)
