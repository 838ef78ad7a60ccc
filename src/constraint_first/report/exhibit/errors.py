"""Errors: problems that a method wins or loses against the baseline, singly and in total.

Paper: Error Analysis, Case Studies; appendices Error Taxonomy and Per-Problem Analysis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, TypeAlias

from constraint_first.benchmark.constraintbench.family import Item
from constraint_first.benchmark.registry import follow
from constraint_first.constraint.router import route
from constraint_first.constraint.stage1 import KINDS
from constraint_first.file.safe import file_stem
from constraint_first.report import table
from constraint_first.report.comparison import (
    BASELINE,
    ModelPairs,
    both_outcomes,
    left_to_baseline,
    pairs_by_model,
)
from constraint_first.report.exhibit.exhibit import Context, Exhibit
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
from constraint_first.report.exhibit.routing import FAMILY_LABELS
from constraint_first.report.exhibit.scores import grid_figures
from constraint_first.report.exhibit.stage1 import KINDS_AND_OTHER, OTHER_KIND
from constraint_first.report.study import (
    Arm,
    Outcome,
    ProblemText,
    Study,
    Transcript,
    benchmark_label,
    groups_and_all,
    model_label,
    pooled_label,
)
from constraint_first.report.table import NONE, Cell, Column, Row, Table, left, row
from constraint_first.store.query import RecordKey


@dataclass(frozen=True, slots=True)
class Flip:
    """A problem that only one of two methods has right, and the error of the other."""

    model: str
    benchmark: str
    problem: str
    fixed: bool
    """True if the method is right and the baseline wrong."""
    mistake: Mistake
    answer: str | None
    """A wrong answer that shows the error; None if none was given or stored."""
    kept: bool = True
    """False if a wrong answer was given but not stored."""
    by_person: bool = False
    gold_known: bool = True
    """False if the gold answer, which most classes need, is unknown."""

    @property
    def for_want_of_gold(self) -> bool:
        """Whether its class is ``other`` only because the gold answer is unknown."""
        decided = self.gold_known or self.by_person or not self.kept
        return self.mistake == "other" and not decided


def flips(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> tuple[Flip, ...]:
    """Find every problem that only one method has right, and classify the other's error.

    Problems that the router left to the baseline are excluded: both methods solve them alike.
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
    """Find the flips between two arms.

    If any right run makes a problem right, all runs of the wrong side are wrong. The class is then
    their most frequent one; of equally frequent ones, the first in the taxonomy.
    """
    for problem, (before, after) in both_outcomes(base, arm, rule.right):
        if before != after and not left_to_baseline(base, arm.attempts[problem]):
            key = (arm.benchmark, problem)
            asked, item = study.problems.get(key, ProblemText("")), gold_item(study, *key)
            wrong = [a for a in (base if after else arm).attempts[problem] if a.correct is not None]
            shown = wrong if rule.right == "any" else wrong[:1]
            kinds = [_mistake(asked, item, arm.benchmark, attempt) for attempt in shown]
            kind = max(MISTAKES, key=kinds.count)  # ties: the first
            kept = bool(asked.instructions) or any(a.answer or a.status != "ok" for a in shown)
            flip = Flip(
                *(arm.model, *key, after, kind, shown[kinds.index(kind)].answer, kept),
                gold_known=bool(asked.gold) or item is not None,
            )
            given = rule.classes.find(key, arm.method, arm.model)
            yield replace(flip, mistake=given, by_person=True) if given else flip


def _mistake(asked: ProblemText, item: Item | None, benchmark: str, attempt: Outcome) -> Mistake:
    if asked.instructions:
        decided = all(one.predicate for one in asked.instructions)
        return "broken_condition" if decided else "other"
    if attempt.answer is None and attempt.status == "ok":
        return "other"  # its answer was not stored
    if item:
        return mistake(attempt.answer, Demands.of_item(item))
    return mistake(attempt.answer, Demands.of_text(asked.text, asked.gold, benchmark))


# Dominant constraint of each problem: the kind that is most specific for its answer.
#
# Paper: Per-Problem Analysis (the column "Constraint"); Detailed Positive Cases by Constraint Type.

_LEAST_TELLING: Final = ("domain", "final_integer_or_count")
"""Kinds that nearly every problem has: a domain, and the cue of an integer or a count."""


@dataclass(frozen=True, slots=True)
class Dominant:
    """The dominant kind of constraint of a problem, or several equally frequent kinds."""

    names: tuple[str, ...] = ()
    by_stage1: bool = False
    """Whether Stage 1 named it; otherwise the router found it in the text."""

    @property
    def label(self) -> str:
        """One or two kinds, "Multiple" for more, or empty."""
        if len(self.names) > 2:
            return "Multiple"
        named = " + ".join(self.names)
        return named[:1].upper() + named[1:]


def dominant_constraint(study: Study, arm: Arm, problem: str) -> Dominant:
    """Find the dominant kinds of a problem of an arm.

    These are the most frequent kinds of constraints that the Stage 1 replies call critical, or of
    all listed ones if none is called critical. If Stage 1 names no kinds, they are the cues in the
    text.
    """
    replies = (attempt.extraction for attempt in arm.attempts.get(problem, ()))
    listed = (kind for reply in replies if reply for kind in reply.critical or reply.kinds)
    if counts := Counter(kind if kind in KINDS else OTHER_KIND for kind in listed):
        telling = {kind: n for kind, n in counts.items() if kind not in _LEAST_TELLING} or counts
        most = max(telling.values())
        names = (kind for kind in KINDS_AND_OTHER if telling.get(kind) == most)
        return Dominant(tuple(names), by_stage1=True)
    posed = study.problems.get((arm.benchmark, problem))
    fired = [cue.family for cue in route(posed.text)] if posed else []
    cues = [family for family in fired if family not in _LEAST_TELLING] or fired
    return Dominant(tuple(FAMILY_LABELS[family].partition(": ")[2] for family in cues))


# Case studies: problems on which two methods differ, side by side (paper: Case Studies).

NO_KIND: Final = "No constraint named"
"""The group of cases without a constraint of Stage 1 and without a cue."""

Change: TypeAlias = Literal["fixed", "broken"]
"""Fixed: only the method is right. Broken: only the baseline is right."""
_OPENING: Final = 80
"""Characters of a problem in a heading."""


@dataclass(frozen=True, slots=True)
class CaseAttempt:
    name: str
    right: int
    runs: int
    run: int
    transcript: Transcript
    followed: str = ""
    """How many gold instructions its reply follows, in words; empty if it has an answer."""

    @property
    def said(self) -> str:
        """Its answer, or a text to show instead."""
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
        """The problem's first whole words, without a formula that would be truncated."""
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
        where = (benchmark_label(self.benchmark), model_label(self.model))
        return ", ".join(filter(None, (self.problem, *where)))

    @property
    def ratio(self) -> float | None:
        before, after = self.baseline.transcript.tokens, self.method.transcript.tokens
        return after / before if before and after else None


@dataclass(frozen=True, slots=True)
class ChangedProblem:
    """A problem on which two methods differ, before its transcripts are fetched."""

    change: Change
    size: float
    """By how much the share of right runs changed."""
    problem: str
    attempts: tuple[tuple[Arm, Outcome], tuple[Arm, Outcome]]
    """The attempts of the baseline and of the method."""

    @property
    def place(self) -> tuple[str, str, str]:
        arm = self.attempts[0][0]
        return arm.benchmark, arm.model, self.problem

    @property
    def keys(self) -> list[RecordKey]:
        return [(*arm.key, self.problem, attempt.run) for arm, attempt in self.attempts]


def cases(study: Study, baseline: str, method: str, most: int = 12) -> list[CaseStudy]:
    """Choose the problems that changed most, as many fixed as broken, with their transcripts.

    Problems that were not routed are excluded: the method changed nothing there. Cases are grouped
    by their dominant kind of constraint, as in the paper.
    """
    changed = changed_problems(study, baseline, method)
    fixed, broken = ([o for o in changed if o.change == way] for way in ("fixed", "broken"))
    fixed = fixed[: max(most // 2, most - len(broken))]  # more if few are broken
    chosen = fixed + broken[: most - len(fixed)]
    keys = [key for candidate in chosen for key in candidate.keys]
    transcripts = study.transcripts(keys) if keys else {}
    found = [case for candidate in chosen if (case := _case(study, candidate, transcripts))]
    kinds = [*dict.fromkeys(case.kind for case in found if case.kind != NO_KIND), NO_KIND]
    return sorted(found, key=lambda case: kinds.index(case.kind))


def changed_problems(study: Study, baseline: str, method: str) -> list[ChangedProblem]:
    """List every problem that changed, the largest changes first."""
    main = {arm.key: arm for arm in study.main_arms()}
    found = [
        one
        for base in main.values()
        if base.method == baseline
        and (other := main.get((base.benchmark, method, base.model, base.decoding)))
        for problem in base.scores
        if problem in other.scores and (one := _candidate(base, other, problem))
    ]
    return sorted(found, key=lambda one: (-one.size, one.problem))


def open_case(study: Study, changed: ChangedProblem) -> CaseStudy | None:
    """Fetch the transcripts of a problem; None if there are none."""
    return _case(study, changed, study.transcripts(changed.keys))


def _candidate(base: Arm, other: Arm, problem: str) -> ChangedProblem | None:
    before, after = (right / runs for right, runs in (base.scores[problem], other.scores[problem]))
    fixed, routed = after > before, other.attempts[problem]
    routed = [attempt for attempt in routed if not left_to_baseline(base, [attempt])]
    one = next((a for a in base.attempts[problem] if a.correct is (not fixed)), None)
    two = next((attempt for attempt in routed if attempt.correct is fixed), None)
    if before == after or one is None or two is None:
        return None
    both = ((base, one), (other, two))
    return ChangedProblem("fixed" if fixed else "broken", abs(after - before), problem, both)


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
        return None  # only outcomes are stored
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


# Tables of the errors that a method removes and introduces.
#
# Paper: Error Analysis; appendix Per-Problem Analysis, "Constraint-type breakdown".

_ALWAYS: Final[tuple[Mistake, ...]] = (
    *("forgot_modular_reduction", "not_an_integer", "encoded_form_not_applied", "out_of_range"),
    *("arithmetic", "no_answer", "other"),
)
"""Classes that are shown even without such an error."""
_NOT_COUNTED: Final = " and is not counted here"


def error_tables(
    study: Study, method: str, baseline: str = BASELINE, rule: ErrorRule = DEFAULT_RULE
) -> Iterator[Table]:
    """Tabulate outcomes, errors and fixes, then every benchmark and model problem by problem."""
    both = pairs_by_model(study, method, baseline)
    found = {
        base.key: list(flips_between(study, base, arm, rule))
        for one in both
        for base, arm in one.pairs
    }
    every = [flip for own in found.values() for flip in own]
    names = both[0].names if both else (baseline, method)
    shown = (outcomes_table(both, names, rule), errors_table(both, every, names, rule))
    for made in (*shown, fixes_table(both, every, names, rule)):
        yield made if both else replace(made, notes=(table.absent(method, baseline),))
    for one in both:
        for base, arm in one.pairs:
            yield problem_table(study, base, arm, found[base.key], rule)


def errors_table(
    both: Sequence[ModelPairs], found: Sequence[Flip], names: tuple[str, str], rule: ErrorRule
) -> Table:
    chance = table.not_routed(both, rule.right, _NOT_COUNTED)
    return Table(
        "errors",
        f"Errors of {names[0]} that {names[1]} fixes, and those that it introduces",
        (
            *left("Model", "Error"),
            *(Column(t, group=g) for g in ("Fixed", "Introduced") for t in ("Problems", "Share")),
        ),
        tuple(line for one in both for line in _error_rows(one.model, found)),
        (*_notes(found, rule), *chance, *table.unequal_runs(both, rule.right)),
        ("tab:error-analysis",),
    )


def _error_rows(model: str, found: Sequence[Flip]) -> Iterator[Row]:
    counts = Counter((flip.mistake, flip.fixed) for flip in found if flip.model == model)
    totals = {way: sum(n for (_, own), n in counts.items() if own is way) for way in (True, False)}
    label = model_label(model)
    for kind in MISTAKES:
        own = {way: counts[kind, way] for way in totals}
        if any(own.values()) or kind in _ALWAYS:
            yield row(label, MISTAKE_LABELS[kind], *_shares(own, totals))
            label = ""
    yield row("", "All", *_shares(totals, totals), kind="delta")


def _shares(own: Mapping[bool, int], totals: Mapping[bool, int]) -> Iterator[str]:
    for way, number in own.items():
        yield f"{number:,}"
        yield table.percent(number / totals[way] if totals[way] else None)


def _notes(found: Sequence[Flip], rule: ErrorRule) -> Iterator[str]:
    yield table.RIGHT_RULES[rule.right]
    yield (
        "Classes are derived from the wrong answers, the right one and what the problem demands of "
        "its answer. Forgot modular reduction: the right value before the reduction that the "
        "problem asks for. Arithmetic error: only a slip that is known beforehand (ConstraintBench "
        "labels some wrong answers) or that a person named. Other: whatever these do not decide, "
        "wrong reasoning and all other wrong calculations among it."
    )
    if by_person := sum(flip.by_person for flip in found):
        yield f"{by_person:,} of {len(found):,} were classed by a person."
    if without := sum(not flip.kept and not flip.by_person for flip in found):
        count = table.several(without, "problem")
        yield f"Counted as other, as no wrong answer is on record: {count}."
    if without := sum(flip.for_want_of_gold for flip in found):
        count = table.several(without, "problem")
        yield f"Counted as other, as the right answer is not on record: {count}."
    if unknown := rule.classes.unknown:
        lines = table.several(unknown, "line")
        yield f"Classes for problems or models that are not in this study: {lines}."
    if disputed := rule.classes.disputed:
        count = table.several(disputed, "error")
        yield f"Classed by the answer, as annotators differ and no class has the most: {count}."


_FIXES: Final = (
    "Shares are of the fixed problems whose error breaks a constraint. The paper has the first "
    "four of AIME 2025. No constraint: arithmetic, a misleading cue, no answer, or nothing that "
    "the answer shows."
)


def fixes_table(
    both: Sequence[ModelPairs], found: Sequence[Flip], names: tuple[str, str], rule: ErrorRule
) -> Table:
    """Count fixes by constraint and benchmark (the paper has a sentence on AIME 2025)."""
    places = list(dict.fromkeys(name for one in both for name in one.benchmarks))
    counts: Counter[tuple[str | None, Mistake]] = Counter(
        (place, flip.mistake) for flip in found if flip.fixed for place in (None, flip.benchmark)
    )
    shown = [None, *places] if len(places) > 1 else places
    titles = (
        "All benchmarks" if one is None else benchmark_label(one) or "This set" for one in shown
    )
    chance = table.not_routed(both, rule.right, _NOT_COUNTED)
    return Table(
        "fixes",
        f"Constraints in the errors of {names[0]} that {names[1]} fixes, all models together",
        (*left("Constraint"), *map(Column, titles)),
        tuple(_fix_rows(shown, counts)) if both else (),
        (_FIXES, table.RIGHT_RULES[rule.right], *chance),
    )


def _fix_rows(
    places: Sequence[str | None], counts: Counter[tuple[str | None, Mistake]]
) -> Iterator[Row]:
    every = [sum(n for (at, _), n in counts.items() if at == place) for place in places]
    breaking = [sum(counts[place, one] for one in CONSTRAINT_LABELS) for place in places]
    for found, label in CONSTRAINT_LABELS.items():
        sums = zip(places, breaking, strict=True)
        yield row(label, *(table.share(counts[at, found], n) if n else "0" for at, n in sums))
    none = (f"{total - n:,}" for total, n in zip(every, breaking, strict=True))
    yield row("No constraint", *none)
    yield row("Fixed", *(f"{total:,}" for total in every), kind="delta")


# Table of outcomes: problems that both methods, one or neither has right (paper: Per-Problem
# Analysis).


def outcomes_table(both: Sequence[ModelPairs], names: tuple[str, str], rule: ErrorRule) -> Table:
    rows: list[Row] = []
    for one in both:
        counts = {
            base.benchmark: Counter(ends for _, ends in both_outcomes(base, arm, rule.right))
            for base, arm in one.pairs
        }
        for name, ends in counts.items():
            rows.append(_outcome_row(one.model, benchmark_label(name), ends, "row"))
        for names_together in groups_and_all(counts) if len(counts) > 1 else ():
            total = sum((counts[name] for name in names_together), Counter[tuple[bool, bool]]())
            rows.append(_outcome_row(one.model, pooled_label(names_together), total, "delta"))
    chance = table.not_routed(both, rule.right, "; it is counted here all the same")
    return Table(
        "outcomes",
        f"Outcomes of problems: {names[0]} before, {names[1]} after",
        (
            *(*left("Model", "Benchmark"), Column("Problems")),
            *(Column("✓✓", group="Both"), Column("✗✓", group="Gained")),
            *(Column("✓✗", group="Lost"), Column("✗✗", group="Neither")),
        ),
        tuple(rows),
        (table.RIGHT_RULES[rule.right], *chance, *table.unequal_runs(both, rule.right)),
        ("tab:perproblem-summary",),
    )


def _outcome_row(
    model: str, where: str, ends: Counter[tuple[bool, bool]], kind: Literal["row", "delta"]
) -> Row:
    order = ((True, True), (False, True), (True, False), (False, False))
    counts = (ends.total(), *(ends[one] for one in order))
    return row(model_label(model), where, *(f"{count:,}" for count in counts), kind=kind)


# Tables of one benchmark problem by problem (paper: the appendices Per-Problem Analysis).

_MOST_ROWS: Final = 60
_PAPER: Final[Mapping[tuple[str, str], str]] = {
    ("aime24", "Qwen3.5-9B"): "tab:aime24-perproblem",
    ("aime25", "DeepSeek-V4-Pro"): "tab:aime25-ds",
    ("aime25", "Qwen3.5-9B"): "tab:aime25-qwen9b",
    ("aime26", "DeepSeek-V4-Pro"): "tab:aime26-ds",
    ("aime26", "Qwen3.5-9B"): "tab:aime26-qwen9b",
}


def problem_table(
    study: Study, base: Arm, arm: Arm, found: Sequence[Flip], rule: ErrorRule = DEFAULT_RULE
) -> Table:
    """Show the constraint and the fix of each problem; of many problems, only changed ones."""
    ends = dict(both_outcomes(base, arm, rule.right))
    flipped = {flip.problem: flip for flip in found}
    every = sorted(ends, key=lambda p: p not in flipped) if len(ends) > _MOST_ROWS else [*ends]
    shown = every[:_MOST_ROWS]
    dominant = {problem: dominant_constraint(study, arm, problem) for problem in shown}
    routed = {p: not left_to_baseline(base, arm.attempts[p]) for p in shown}
    rows = [
        row(
            *(problem, dominant[problem].label or NONE),
            *(
                f"{'✓' if right else '✗'} ({side.scores[problem][0]}/{side.scores[problem][1]})"
                for right, side in zip(ends[problem], (base, arm), strict=True)
            ),
            _fix(flipped.get(problem), ends[problem], routed=routed[problem]),
        )
        for problem in shown
    ]
    fixed = sum(flip.fixed for flip in found)
    sums = (f"of {len(ends):,}", *(f"{sum(side):,}" for side in zip(*ends.values(), strict=True)))
    change = f"{fixed:,} fixed, {len(found) - fixed:,} introduced"
    named = _STAGE1 if any(one.by_stage1 for one in dominant.values()) else _CUES
    notes = [
        f"Base is {base.name}, method is {arm.name}; in brackets, right runs of judged runs.",
        table.RIGHT_RULES[rule.right],
        f"Constraint: {named}.",
    ]
    if not all(routed.values()):
        notes.append(
            f"Not routed: {arm.name} solves it as {base.name} does; where they differ, it is by "
            "chance."
        )
    if any(routed[problem] and not any(ends[problem]) for problem in shown):
        notes.append(
            "Reasoning error: both have it wrong, whatever their answers (the paper's word)."
        )
    if beyond := len(ends) - len(shown):
        notes.append(
            f"{beyond:,} of {len(ends):,} problems are left out; those that changed come first."
        )
    place, model = benchmark_label(base.benchmark) or "This set", model_label(base.model)
    paper = _PAPER.get((base.benchmark, model))
    return Table(
        file_stem("per-problem", base.benchmark, base.model),
        ", ".join(filter(None, (f"{place} problem by problem", model))),
        tuple(left("Problem", "Constraint", "Base", "Method", "Fix type")),
        (*rows, row("Correct", *sums, change, kind="delta")),
        tuple(notes),
        (paper,) if paper else (),
    )


_CUES: Final = "the router's cues in the text"
_STAGE1: Final = (
    "the kind that most constraints have which Stage 1 calls critical, or lists where it calls "
    f"none critical; domain only where there is no other. Where Stage 1 names none, {_CUES}"
)


def _fix(flip: Flip | None, ends: tuple[bool, bool], *, routed: bool) -> Cell:
    if not routed:
        return Cell("not routed", tone="muted")
    if flip is None:
        return Cell(NONE if any(ends) else "Reasoning error")
    if flip.fixed:
        return Cell(FIX_LABELS[flip.mistake], tone="gain")
    return Cell(f"introduced: {MISTAKE_LABELS[flip.mistake]}", tone="loss")


_MOST_OF_A_KIND: Final = 8
_LEFT_OUT: Final = (
    f"Problem by problem, only the first {_MOST_OF_A_KIND} benchmarks and models are shown here; "
    "'cfr audit errors' has them all, and --benchmark and --model choose."
)
_PROBLEMS: Final = "aime24-qwen aime25-deepseek aime25-qwen aime26-deepseek aime26-qwen".split()


def _tables(context: Context) -> Iterator[Table]:
    found = error_tables(*context.compared, context.options.error_rule)
    return islice(found, 3 + _MOST_OF_A_KIND)


def _crowded(context: Context) -> tuple[str, ...]:
    arms = context.study.main_arms()
    sets = len({(arm.benchmark, arm.model) for arm in arms if arm.scores})
    return (_LEFT_OUT,) if sets > _MOST_OF_A_KIND else ()


EXHIBITS: Final = (
    Exhibit(
        "errors",
        _tables,
        lambda c: islice(grid_figures(c.study), _MOST_OF_A_KIND),
        ("outcomes", "errors", "fixes", *(f"problems-{name}" for name in _PROBLEMS), "cases"),
        claims=_crowded,
        about="method",
    ),
)
