"""Flips: problems that a method wins or loses against the baseline, with their errors.

Paper: Error Analysis; appendix Error Taxonomy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from constraint_first.benchmark.source import follow
from constraint_first.file.safe import file_stem
from constraint_first.report.comparison import (
    BASELINE,
    Key,
    Outcomes,
    both_outcomes,
    left_to_baseline,
    outcomes,
    pairs_by_model,
)
from constraint_first.report.exhibit.gold import gold_item
from constraint_first.report.exhibit.marks import (
    CONSTRAINT_LABELS,
    DEFAULT_RULE,
    FIX_LABELS,
    MISTAKE_LABELS,
    MISTAKES,
    Demands,
    ErrorRule,
    Mistake,
    mistake,
)
from constraint_first.report.exhibit.routing import Dominant, dominant_constraint
from constraint_first.report.notation import NONE, percent, several, share
from constraint_first.report.study import (
    Arm,
    Attempt,
    ProblemText,
    Study,
    Transcript,
    benchmark_label,
    model_label,
    pooled_label,
)
from constraint_first.report.table import (
    RIGHT_RULES,
    Cell,
    Column,
    Row,
    Table,
    absent,
    not_routed,
    row,
    unequal_runs,
)
from constraint_first.store.query import RecordKey


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


# Facts of each problem under two methods (paper: the appendices Per-Problem Analysis).


@dataclass(frozen=True, slots=True)
class ProblemResult:
    """Whether one method has a problem right, and in how many of its judged runs."""

    right: bool
    right_runs: int
    runs: int


@dataclass(frozen=True, slots=True)
class ProblemFacts:
    """A problem with what restricts it, both results, and its flip where it changed sides."""

    problem: str
    dominant: Dominant
    before: ProblemResult
    after: ProblemResult
    flip: Flip | None
    routed: bool = True
    """False where the method's router left it to the baseline."""

    @property
    def missed(self) -> bool:
        """Whether both have it wrong."""
        return not (self.before.right or self.after.right)


@dataclass(frozen=True, slots=True)
class PerProblem:
    """A baseline and a method on one benchmark, problem by problem, with totals over all."""

    base: Arm
    method: Arm
    shown: tuple[ProblemFacts, ...]
    problems: int
    """How many were judged on both sides; not all need be shown."""
    right_before: int
    right_after: int
    fixed: int
    introduced: int
    by_stage1: bool
    """Whether Stage 1 named what dominates any problem that is shown."""

    @property
    def left_out(self) -> int:
        """Problems that are not shown."""
        return self.problems - len(self.shown)


def per_problem(
    study: Study, base: Arm, method: Arm, rule: ErrorRule = DEFAULT_RULE, *, most: int
) -> PerProblem:
    """Gather the facts of at most so many problems; those that changed sides come first then."""
    ends = dict(both_outcomes(base, method, rule.right))
    flipped = {flip.problem: flip for flip in flips_between(study, base, method, rule)}
    chosen = sorted(ends, key=lambda p: p not in flipped) if len(ends) > most else [*ends]
    shown = [
        ProblemFacts(
            problem,
            dominant_constraint(study, method, problem),
            ProblemResult(ends[problem][0], *base.scores[problem]),
            ProblemResult(ends[problem][1], *method.scores[problem]),
            flipped.get(problem),
            routed=not left_to_baseline(base, method.attempts[problem]),
        )
        for problem in chosen[:most]
    ]
    fixed = sum(flip.fixed for flip in flipped.values())
    return PerProblem(
        base,
        method,
        tuple(shown),
        len(ends),
        sum(before for before, _ in ends.values()),
        sum(after for _, after in ends.values()),
        fixed,
        len(flipped) - fixed,
        any(one.dominant.by_stage1 for one in shown),
    )


# Case studies: problems on which two methods differ, side by side (paper: Case Studies).

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


# Tables of the errors that a method removes and brings in.
#
# Paper: Error Analysis; appendix Per-Problem Analysis, "Constraint-type breakdown".

_ALWAYS: Final[tuple[Mistake, ...]] = (
    *("forgot_modular_reduction", "not_an_integer", "encoded_form_not_applied", "out_of_range"),
    *("arithmetic", "no_answer", "other"),
)
"""Classes that are shown even where nobody made such an error."""
_NOT_COUNTED: Final = " and is not counted here"


def errors_table(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show the errors that a method removes and those that it brings in."""
    both = pairs_by_model(study, method, baseline)
    found = flips(study, method, baseline, rule)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Error", "left")),
        *(Column("Problems", group="Fixed"), Column("Share", group="Fixed")),
        *(Column("Problems", group="Introduced"), Column("Share", group="Introduced")),
    )
    rows = (line for one in both for line in _rows(one.model, found))
    chance = not_routed(both, rule.right, _NOT_COUNTED)
    notes = (*_notes(found, rule), *chance, *unequal_runs(both, rule.right))
    return Table(
        "errors",
        f"Errors of {names[0]} that {names[1]} fixes, and those that it introduces",
        columns,
        tuple(rows),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:error-analysis",),
    )


def _rows(model: str, found: Sequence[Flip]) -> Iterator[Row]:
    *classes, all_of_them = count_errors(flip for flip in found if flip.model == model)
    label = model_label(model)
    for one in classes:
        if one.mistake and (one.fixed or one.introduced or one.mistake in _ALWAYS):
            yield row(label, MISTAKE_LABELS[one.mistake], *_numbers(one))
            label = ""
    yield row("", "All", *_numbers(all_of_them), kind="delta")


def _numbers(one: ErrorCount) -> tuple[str, str, str, str]:
    fixed, introduced = percent(one.fixed_share), percent(one.introduced_share)
    return f"{one.fixed:,}", fixed, f"{one.introduced:,}", introduced


def _notes(found: Sequence[Flip], rule: ErrorRule) -> Iterator[str]:
    yield RIGHT_RULES[rule.right]
    yield (
        "Classes are derived from the wrong answers, the right one and what the problem demands of "
        "its answer. Forgot modular reduction: the right value before the reduction that the "
        "problem asks for. Arithmetic error: only a slip that is known beforehand (ConstraintBench "
        "labels some wrong answers) or that a person named. Other: whatever these do not decide, "
        "wrong reasoning and all other wrong calculations among it."
    )
    totals = count_flips(found)
    if totals.by_person:
        yield f"{totals.by_person:,} of {totals.flips:,} were classed by a person."
    if totals.without_answer:
        count = several(totals.without_answer, "problem")
        yield f"Counted as other, as no wrong answer is on record: {count}."
    if totals.without_gold:
        count = several(totals.without_gold, "problem")
        yield f"Counted as other, as the right answer is not on record: {count}."
    if unknown := rule.classes.unknown:
        lines = several(unknown, "line")
        yield f"Classes for problems or models that are not in this study: {lines}."
    if disputed := rule.classes.disputed:
        count = several(disputed, "error")
        yield f"Classed by the answer, as annotators differ and no class has the most: {count}."


def fixes_table(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show which constraints the errors that a method fixes break, by benchmark, over all models.

    The paper tells it of AIME 2025 in a sentence.
    """
    both = pairs_by_model(study, method, baseline)
    fixed = [flip for flip in flips(study, method, baseline, rule) if flip.fixed]
    places = list(dict.fromkeys(name for one in both for name in one.benchmarks))
    counts: Counter[tuple[str | None, Mistake]] = Counter(
        (place, flip.mistake) for flip in fixed for place in (None, flip.benchmark)
    )
    shown = [None, *places] if len(places) > 1 else places
    titles = (
        "All benchmarks" if one is None else benchmark_label(one) or "This set" for one in shown
    )
    names = both[0].names if both else (baseline, method)
    chance = not_routed(both, rule.right, _NOT_COUNTED)
    return Table(
        "fixes",
        f"Constraints in the errors of {names[0]} that {names[1]} fixes, all models together",
        (Column("Constraint", "left"), *map(Column, titles)),
        tuple(_fix_rows(shown, counts)) if both else (),
        notes=(_FIXES, RIGHT_RULES[rule.right], *chance) if both else (absent(method, baseline),),
    )


_FIXES: Final = (
    "Shares are of the fixed problems whose error breaks a constraint. The paper has the first "
    "four of AIME 2025. No constraint: arithmetic, a misleading cue, no answer, or nothing that "
    "the answer shows."
)


def _fix_rows(
    places: Sequence[str | None], counts: Counter[tuple[str | None, Mistake]]
) -> Iterator[Row]:
    every = {place: sum(n for (at, _), n in counts.items() if at == place) for place in places}
    breaking = {place: sum(counts[place, one] for one in CONSTRAINT_LABELS) for place in places}
    for found, label in CONSTRAINT_LABELS.items():
        cells = (share(counts[at, found], breaking[at]) if breaking[at] else "0" for at in places)
        yield row(label, *cells)
    yield row("No constraint", *(f"{every[at] - breaking[at]:,}" for at in places))
    yield row("Fixed", *(f"{every[at]:,}" for at in places), kind="delta")


# Table of outcomes: problems that both, one or neither has right (paper: Per-Problem Analysis).


def outcomes_table(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show on how many problems both, one or neither of the two is right."""
    both = pairs_by_model(study, method, baseline)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Benchmark", "left"), Column("Problems")),
        *(Column("✓✓", group="Both"), Column("✗✓", group="Gained")),
        *(Column("✓✗", group="Lost"), Column("✗✗", group="Neither")),
    )
    chance = not_routed(both, rule.right, "; it is counted here all the same")
    notes = (RIGHT_RULES[rule.right], *chance, *unequal_runs(both, rule.right))
    return Table(
        "outcomes",
        f"Outcomes of problems: {names[0]} before, {names[1]} after",
        columns,
        tuple(map(_row, outcomes(study, method, baseline, rule.right))),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:perproblem-summary",),
    )


def _row(one: Outcomes) -> Row:
    where = pooled_label(one.pooled) if one.benchmark is None else benchmark_label(one.benchmark)
    counts = (one.problems, one.both, one.gained, one.lost, one.neither)
    kind: Literal["row", "delta"] = "delta" if one.benchmark is None else "row"
    return row(model_label(one.model), where, *(f"{count:,}" for count in counts), kind=kind)


# Tables of one benchmark problem by problem (paper: the appendices Per-Problem Analysis).

_MOST_ROWS: Final = 60
_PAPER: Final[Mapping[tuple[str, str], str]] = {
    ("aime24", "Qwen3.5-9B"): "tab:aime24-perproblem",
    ("aime25", "DeepSeek-V4-Pro"): "tab:aime25-ds",
    ("aime25", "Qwen3.5-9B"): "tab:aime25-qwen9b",
    ("aime26", "DeepSeek-V4-Pro"): "tab:aime26-ds",
    ("aime26", "Qwen3.5-9B"): "tab:aime26-qwen9b",
}


def per_problem_tables(
    study: Study,
    method: str,
    baseline: str = BASELINE,
    rule: ErrorRule = DEFAULT_RULE,
    *,
    most: int = _MOST_ROWS,
) -> Iterator[Table]:
    """Show each problem: what restricts it, who has it right, what was fixed.

    There is a table for each benchmark and model that has both methods.
    """
    for one in pairs_by_model(study, method, baseline):
        for base, arm in one.pairs:
            yield _table(per_problem(study, base, arm, rule, most=most), rule)


def _table(found: PerProblem, rule: ErrorRule) -> Table:
    benchmark, model = found.base.benchmark, found.base.model
    place = benchmark_label(benchmark) or "This set"
    title = ", ".join(filter(None, (f"{place} problem by problem", model_label(model))))
    columns = (
        *(Column("Problem", "left"), Column("Constraint", "left"), Column("Base", "left")),
        *(Column("Method", "left"), Column("Fix type", "left")),
    )
    counts = (f"of {found.problems:,}", f"{found.right_before:,}", f"{found.right_after:,}")
    change = f"{found.fixed:,} fixed, {found.introduced:,} introduced"
    total = row("Correct", *counts, change, kind="delta")
    paper = _PAPER.get((benchmark, model_label(model)))
    return Table(
        file_stem("per-problem", benchmark, model),
        title,
        columns,
        (*map(_row_per_problem, found.shown), total),
        notes=tuple(_notes_per_problem(found, rule)),
        paper=(paper,) if paper else (),
    )


def _row_per_problem(one: ProblemFacts) -> Row:
    dominant = one.dominant.label or NONE
    return row(one.problem, dominant, _mark(one.before), _mark(one.after), _fix(one))


def _mark(result: ProblemResult) -> str:
    return f"{'✓' if result.right else '✗'} ({result.right_runs}/{result.runs})"


def _fix(one: ProblemFacts) -> Cell:
    if not one.routed:
        return Cell("not routed", tone="muted")
    if one.flip is None:
        return Cell("Reasoning error" if one.missed else NONE)
    if one.flip.fixed:
        return Cell(FIX_LABELS[one.flip.mistake], tone="gain")
    return Cell(f"introduced: {MISTAKE_LABELS[one.flip.mistake]}", tone="loss")


def _notes_per_problem(found: PerProblem, rule: ErrorRule) -> Iterator[str]:
    base, method = found.base.name, found.method.name
    yield f"Base is {base}, method is {method}; in brackets, right runs of judged runs."
    yield RIGHT_RULES[rule.right]
    cues = "the router's cues in the text"
    stage1 = (
        "the kind that most constraints have which Stage 1 calls critical, or lists where it calls "
        f"none critical; domain only where there is no other. Where Stage 1 names none, {cues}"
    )
    yield f"Constraint: {stage1 if found.by_stage1 else cues}."
    if not all(one.routed for one in found.shown):
        yield f"Not routed: {method} solves it as {base} does; where they differ, it is by chance."
    if any(one.missed and one.routed for one in found.shown):
        yield "Reasoning error: both have it wrong, whatever their answers (the paper's word)."
    if found.left_out:
        yield (
            f"{found.left_out:,} of {found.problems:,} problems are left out; those that changed "
            "come first."
        )
