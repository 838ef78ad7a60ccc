"""Interventions undone: what the same attempts were worth before a check changed their answer.

``sound`` and ``checked`` note each change with the answer, or the whole reply, before and after it.
Both are judged here by the gold, so that it shows what the changes are worth, and which of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, TypeAlias

from constraint_first.attempt.judge import judge
from constraint_first.benchmark.source import GoldInstruction, follow
from constraint_first.constraint.predicate import Truth
from constraint_first.method.soundness import Intervention, read_summary
from constraint_first.problem import Problem
from constraint_first.report.comparison import Pair, Score, pair_arms, score_problems
from constraint_first.report.exhibit.exhibit import Exhibit
from constraint_first.report.notation import NONE, counted, decimal, p_value, scored, several
from constraint_first.report.statistics import drawn, wilson
from constraint_first.report.study import (
    Arm,
    ProblemText,
    Study,
    Transcript,
    benchmark_label,
    model_label,
)
from constraint_first.report.table import ACCURACY_INTERVAL, Column, Row, Table, delta, row
from constraint_first.store.query import RecordKey


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


# How well replies follow gold instructions: the four numbers of IFEval, and each kind apart.
#
# Zhou et al., 2023, Instruction-Following Evaluation for Large Language Models: a request counts
# where all its instructions are followed (prompt level), or each instruction counts for itself
# (instruction level); strictly on the reply as it stands, or loosely, without what models put
# around a reply.


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
        changed=sum(one.correct is not _is_right_instructions(one.strict) for one in every),
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


def _is_right_instructions(truths: Sequence[Truth]) -> bool:
    return all(one == "holds" for one in truths)


def _truths(reply: _Reply, *, loose: bool) -> tuple[Truth, ...]:
    return reply.loose if loose else reply.strict


def _prompt_score(replies: Mapping[str, Sequence[_Reply]], *, loose: bool) -> Score:
    counts = Counter(
        (sum(_is_right_instructions(_truths(one, loose=loose)) for one in runs), len(runs))
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


# Tables of interventions: accuracy with and without them, and what each kind did.

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
    """Tabulate the arms that have interventions on record; none where no arm has."""
    found = undo_interventions(study)
    return (_undone_table(found), _steps_table(found)) if found else ()


def _undone_table(found: Sequence[Undone]) -> Table:
    return Table(
        "interventions",
        "Interventions undone, accuracy in %",
        (
            *(Column("Model", "left"), Column("Benchmark", "left"), Column("Method", "left")),
            *(Column("Changed", rank=2), Column("Undone"), Column("As it is")),
            *(Column("Gain [95 %]"), Column("Better / worse", rank=1), Column("p", rank=3)),
        ),
        tuple(map(_row, found)),
        (_UNDONE, *_notes(found)),
    )


def _row(one: Undone) -> Row:
    pair = one.pair
    return row(
        *(model_label(one.arm.model) or NONE, benchmark_label(one.arm.benchmark) or NONE),
        *(one.arm.name, counted(one.changed, one.judged)),
        *(decimal(pair.before), decimal(pair.after), delta(pair.gain, pair.interval)),
        *(f"{pair.improved:,} / {pair.degraded:,}", p_value(pair.p)),
    )


def _notes(found: Sequence[Undone]) -> Iterator[str]:
    if in_votes := sum(one.in_votes for one in found):
        attempts = several(in_votes, "attempt")
        yield (
            f"Left as they are: {attempts} with interventions in the samples of a vote, where it "
            "is not on record which sample they changed."
        )


def _steps_table(found: Sequence[Undone]) -> Table:
    rows: list[Row] = []
    for one in found:
        places = (model_label(one.arm.model), benchmark_label(one.arm.benchmark), one.arm.name)
        rows.append(row(", ".join(filter(None, places)), kind="heading"))
        rows += [row(what, *_numbers(count)) for what, count in one.kinds.items()]
    columns = ("Made", "Fixed", "Broken", "Stayed right", "Stayed wrong")
    return Table(
        "intervention-steps",
        "What each kind of intervention did",
        (Column("Intervention", "left"), *map(Column, columns)),
        tuple(rows),
        (_STEPS,),
    )


def _numbers(one: StepCount) -> Iterator[str]:
    counts = (one.made, one.fixed, one.broken, one.stayed_right, one.stayed_wrong)
    return (f"{count:,}" for count in counts)


# Tables of instructions: the four numbers of IFEval for each method, and each kind apart.

_LEVELS: Final = (
    "Prompt level: a request counts where all its instructions are followed; instruction level: "
    "each instruction counts for itself. Strict: the reply as it stands; loose: also without its "
    "first line, its last line or both, and without the asterisks of Markdown. Comparisons of "
    "methods are made on prompt-level strict verdicts."
)
_RESAMPLED: Final = (
    f"{ACCURACY_INTERVAL} At the instruction level requests are resampled, each with all its "
    "instructions."
)


def instruction_tables(study: Study) -> tuple[Table, ...]:
    """Tabulate how well each method's replies follow gold instructions, together and by kind.

    None where the study has no replies to requests with gold instructions.
    """
    found = follow_instructions(study)
    return (_levels_table(found), _kinds_table(found)) if found else ()


def _levels_table(found: Sequence[Following]) -> Table:
    columns = (
        *(Column("Model", "left"), Column("Benchmark", "left"), Column("Method", "left")),
        *(Column("Requests"), Column("Runs"), Column("Instructions", rank=1)),
        *(Column(title, group="Prompt level") for title in ("Strict", "Loose")),
        *(Column(title, group="Instruction level") for title in ("Strict", "Loose")),
    )
    return Table(
        "instructions",
        "Instructions followed, % [95 %]",
        columns,
        tuple(map(_row_instructions, found)),
        (_LEVELS, *_notes_instructions(found), _RESAMPLED),
    )


def _row_instructions(one: Following) -> Row:
    arm, levels = one.arm, (one.prompt_strict, one.prompt_loose)
    return row(
        *(model_label(arm.model) or NONE, benchmark_label(arm.benchmark) or NONE, arm.name),
        *(f"{one.prompt_strict.problems:,}", str(one.prompt_strict.runs)),
        f"{one.instruction_strict.problems:,}",
        *map(_cell, (*levels, one.instruction_strict, one.instruction_loose)),
    )


def _cell(found: Score | None) -> str:
    return scored(found.accuracy, found.interval) if found else NONE


def _notes_instructions(found: Sequence[Following]) -> Iterator[str]:
    if undecided := sum(one.undecided for one in found):
        checks = several(undecided, "check")
        yield (
            f"Counted as not followed, because it could not be decided: {checks}. A kind is not "
            "known, or a language cannot be told."
        )
    if changed := sum(one.changed for one in found):
        verdicts = several(changed, "stored verdict")
        yield (
            f"Judged otherwise when stored: {verdicts}; 'cfr runs --regrade' brings them up to "
            "date."
        )


def _kinds_table(found: Sequence[Following]) -> Table:
    methods = {one.arm.method: one.arm.name for one in found}
    rows: list[Row] = []
    for (model, benchmark), several_arms in groupby(
        sorted(found, key=_place), key=lambda one: (one.arm.model, one.arm.benchmark)
    ):
        by_method = {one.arm.method: one for one in several_arms}
        title = ", ".join(filter(None, (model_label(model), benchmark_label(benchmark))))
        rows += [row(title, kind="heading"), *_kind_rows(by_method, [*methods])]
    columns = (
        *(Column("Kind of instruction", "left"), Column("Instructions", rank=1)),
        *(Column(name) for name in methods.values()),
    )
    return Table(
        "instruction-kinds",
        "Instructions followed by kind, strictly, % [95 %]",
        columns,
        tuple(rows),
        (ACCURACY_INTERVAL.replace("problem", "instruction"),),
    )


def _place(one: Following) -> tuple[str, str]:
    return one.arm.model, one.arm.benchmark


def _kind_rows(found: dict[str, Following], methods: Sequence[str]) -> Iterator[Row]:
    for kind in sorted({kind for one in found.values() for kind in one.kinds}):
        scores = [found[name].kinds.get(kind) if name in found else None for name in methods]
        most = max(one.problems for one in scores if one)
        yield row(kind, f"{most:,}", *map(_cell, scores))


EXHIBITS: Final = (
    Exhibit("prompting", lambda c: instruction_tables(c.study)),
    Exhibit("prompting", lambda c: intervention_tables(c.study)),
)
