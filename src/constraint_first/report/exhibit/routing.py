"""Router activation, cue families, and gains by cue families, on the problems of a study.

Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
Analysis.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Final

from constraint_first.constraint.router import FAMILIES, aime_convention, route
from constraint_first.constraint.stage1 import DEFERRED, KINDS
from constraint_first.error import InputError
from constraint_first.model.resolve import find_price, write_dollars
from constraint_first.protocol import Usage
from constraint_first.report.canvas import (
    INK,
    MUTED,
    PALETTE,
    SIZE,
    Caption,
    Figure,
    Sheet,
    clean,
    listed,
    load,
    sheet,
)
from constraint_first.report.comparison import BASELINE, Gain, Key, ModelPairs, pairs_by_model
from constraint_first.report.exhibit.marks import Label, completeness_of, read_person_lines
from constraint_first.report.exhibit.scores import stage_requests
from constraint_first.report.exhibit.stage1 import OTHER_KIND
from constraint_first.report.notation import NONE, counted, decimal, interval, percent, several
from constraint_first.report.statistics import kappa
from constraint_first.report.study import (
    ROUTED_CFR,
    ROUTED_CFR_BRIEF,
    SELF_CONSISTENCY,
    Arm,
    Attempt,
    ProblemText,
    StageCost,
    Study,
    benchmark_label,
    family_of,
    model_label,
)
from constraint_first.report.table import GAIN_INTERVAL, Column, Row, Table, absent, gain_cell, row

FAMILY_LABELS: Final[Mapping[str, str]] = dict(
    zip(
        FAMILIES,
        (
            *("P1: Integer/Count", "P2: Modular", "P3: Encoded form", "P4: Bound/Extremal"),
            *("P5: Floor/Round", "P6: Units/Dimension", "P7: Game/Adversarial"),
        ),
        strict=True,
    )
)
"""The cue families as the paper's tables name them."""

_GROUPS: Final = ("0", "1", "2", "3", "4+")


@dataclass(frozen=True, slots=True)
class RouterAudit:
    """Cue families and phrases that the router finds in the problems of a study."""

    families: Mapping[Key, tuple[str, ...]]
    """Cue families by problem; none where a problem is not routed."""
    phrases: Mapping[str, Counter[str]]
    """Problems by family and phrase."""
    without_text: Mapping[str, int]
    """Problems that have attempts but no text on record, by benchmark."""

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks that have problems with a text, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.families))


def audit_router(study: Study) -> RouterAudit:
    """Route every problem of a study by its text."""
    fired = {key: route(asked.text) for key, asked in study.problems.items() if asked.text}
    phrases = {family: Counter[str]() for family in FAMILIES}
    for key, cues in fired.items():
        for cue in cues:
            found = cue.phrases(study.problems[key].text)
            phrases[cue.family].update(dict.fromkeys(map(_plain, found), 1))
    return RouterAudit(
        families={key: tuple(cue.family for cue in cues) for key, cues in fired.items()},
        phrases=phrases,
        without_text=_count_without_text(study),
    )


def _plain(phrase: str) -> str:
    return re.sub(r"\s*\+\s*", "+", " ".join(phrase.casefold().split()))


_UNASKED: Final = ProblemText("")


def _count_without_text(study: Study) -> dict[str, int]:
    attempted: dict[str, set[str]] = {}
    for arm in study.arms:
        attempted.setdefault(arm.benchmark, set()).update(arm.attempts)
    return {
        name: sum(not study.problems.get((name, problem), _UNASKED).text for problem in problems)
        for name, problems in attempted.items()
    }


@dataclass(frozen=True, slots=True)
class Activation:
    """Problems of a benchmark, and those among them that the router sends to two stages."""

    benchmark: str
    routed: int
    total: int

    @property
    def rate(self) -> float:
        """The share of problems that are routed."""
        return self.routed / self.total

    @property
    def with_convention(self) -> int:
        """How many would be routed if AIME's answer convention counted as a cue."""
        return self.total if aime_convention(self.benchmark) else self.routed


def activations(audit: RouterAudit) -> tuple[Activation, ...]:
    """Count routed problems, benchmark by benchmark."""
    total = Counter(name for name, _ in audit.families)
    routed = Counter(name for (name, _), families in audit.families.items() if families)
    return tuple(Activation(name, routed[name], total[name]) for name in total)


@dataclass(frozen=True, slots=True)
class FamilyCount:
    """A cue family: the phrases of it that were found, and the problems that have it."""

    family: str
    phrases: Counter[str]
    """Problems by phrase."""
    by_benchmark: Mapping[str, int]
    """Problems by benchmark."""
    total: int
    """All problems with a text, whatever they have."""

    @property
    def problems(self) -> int:
        """How many problems have the family."""
        return sum(self.by_benchmark.values())

    @property
    def share(self) -> float:
        """The share of all problems with a text that have the family."""
        return self.problems / self.total


def family_counts(audit: RouterAudit) -> tuple[FamilyCount, ...]:
    """Count the problems that have each cue family; nothing where no problem has a text."""
    counts = Counter(
        (family, name) for (name, _), families in audit.families.items() for family in families
    )
    return tuple(
        FamilyCount(
            family,
            audit.phrases[family],
            {name: counts[family, name] for name in audit.benchmarks},
            len(audit.families),
        )
        for family in FAMILIES
        if audit.families
    )


@dataclass(frozen=True, slots=True)
class PhraseCount:
    """A phrase that routed problems."""

    phrase: str
    family: str
    """The first family that it is a cue of."""
    problems: int
    """How many problems have it, added over the families that it is a cue of."""


def phrase_counts(audit: RouterAudit) -> tuple[PhraseCount, ...]:
    """Count the problems that have each phrase, family by family as they are listed."""
    problems: Counter[str] = Counter()
    first: dict[str, str] = {}
    for family, phrases in audit.phrases.items():
        problems.update(phrases)
        first = dict.fromkeys(phrases, family) | first
    return tuple(PhraseCount(phrase, first[phrase], count) for phrase, count in problems.items())


@dataclass(frozen=True, slots=True)
class CoFire:
    """A method's gain on the problems that have a given number of cue families."""

    model: str
    families: str
    """The number of families: 0, 1, 2, 3 or 4+."""
    gain: Gain | None
    """The gain and its number of problems; None where there are none."""


def cofire(
    study: Study, audit: RouterAudit, method: str, baseline: str = BASELINE
) -> tuple[CoFire, ...]:
    """Measure a method's gain by the number of cue families in a problem, model by model."""
    groups: dict[str, set[Key]] = {name: set() for name in _GROUPS}
    for key, families in audit.families.items():
        groups[_GROUPS[min(len(families), 4)]].add(key)
    return tuple(
        CoFire(side.model, name, side.gain(keys))
        for side in pairs_by_model(study, method, baseline)
        for name, keys in groups.items()
    )


# Agreement between routers, and what a decision costs.
#
# Paper: appendix "Router Ablation: Regex vs. LLM Router".

Decisions = Mapping[Key, bool]
"""Routing decisions by problem: whether it goes to two stages."""

REGEX_ROUTER: Final = "Regex router"
_BY_PATTERNS: Final = (ROUTED_CFR, ROUTED_CFR_BRIEF)
"""Families that route by regular expressions, which cost nothing."""
_STAGE: Final = "router"


@dataclass(frozen=True, slots=True)
class RouterAgreement:
    """Agreement of a router with a reference, on the problems that both decided."""

    n: int
    precision: float | None
    """Of the problems that it routes, the share that the reference routes; None where it has none.
    """
    recall: float | None
    """Of the problems that the reference routes, the share that it routes."""
    f1: float | None
    kappa: float | None


def agreement_between(reference: Decisions, decisions: Decisions) -> RouterAgreement:
    """Compare two routers; a ratio without a denominator is None."""
    pairs = [(reference[key], said) for key, said in decisions.items() if key in reference]
    both = sum(right and said for right, said in pairs)
    routed, wanted = sum(said for _, said in pairs), sum(right for right, _ in pairs)
    return RouterAgreement(
        n=len(pairs),
        precision=both / routed if routed else None,
        recall=both / wanted if wanted else None,
        f1=2 * both / (routed + wanted) if routed + wanted else None,
        kappa=kappa([(str(right), str(said)) for right, said in pairs]),
    )


_TRUTHS: Final = {"true": True, "false": False}  # as a cell of a table has them


def read_decisions(path: Path, study: Study) -> tuple[dict[Key, bool], int]:
    """Read a person's decisions: lines of ``problem``, ``routed`` and perhaps ``benchmark``.

    Beside them stands how many lines are about problems that the study does not have.
    """
    found: dict[Key, bool] = {}
    strangers = 0
    for line in read_person_lines(path, study):
        written = line.value.get("routed")
        routed = _TRUTHS.get(written.lower()) if isinstance(written, str) else written
        if not isinstance(routed, bool):
            raise InputError(f"{line.where}: 'routed' must be true or false, not {written!r}")
        if line.key is None:
            strangers += 1
            continue
        if found.setdefault(line.key, routed) != routed:
            raise InputError(f"{line.where}: an earlier line says the opposite of this problem")
    if not found:
        raise InputError(f"{path}: names no problem of {study.source}; check 'problem'")
    return found, strangers


def stored_decisions(arms: list[Arm]) -> dict[Key, bool]:
    """Return what a method's own router decided: the majority of runs; a tie is a no."""
    found: dict[Key, bool] = {}
    for arm in arms:
        for problem, attempts in arm.attempts.items():
            said = [a.routed for a in attempts if a.routed is not None]
            if said:
                found[arm.benchmark, problem] = 2 * sum(said) > len(said)
    return found


def routed_share(arm: Arm) -> tuple[int, int] | None:
    """Count the problems that an arm's router sent to two stages, and those that it decided.

    A problem counts once, as the majority of its runs; None where the arm has no router.
    """
    decided = stored_decisions([arm]).values()
    return (sum(decided), len(decided)) if decided else None


@dataclass(frozen=True, slots=True)
class RouterRow:
    """A router: its agreement with the reference, and the tokens, time and cost of a decision."""

    name: str
    """The method as tables print it, or ``Regex router``."""
    model: str
    """The model that the method ran with; empty for the regex router of the audit itself."""
    agreement: RouterAgreement | None
    """None for the reference itself."""
    tokens: float | None
    milliseconds: float | None
    """None for regular expressions: they make no call, and nothing is timed here."""
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Routers:
    """Several routers, compared with one reference."""

    rows: tuple[RouterRow, ...]
    decisions: int | None
    """How many decisions of a person are the reference; None where the regex router is."""


def compare_routers(study: Study, audit: RouterAudit, labels: Decisions | None = None) -> Routers:
    """Compare the regex router, and every other router that the study's methods used.

    The reference is a person's labels where there are any, otherwise the regex router itself.
    """
    regex = {key: bool(families) for key, families in audit.families.items()}
    reference = regex if labels is None else labels
    ours = RouterRow(
        REGEX_ROUTER,
        "",
        agreement_between(labels, regex) if labels is not None else None,
        tokens=0.0,
        milliseconds=None,
        dollars=0.0,
    )
    others = (
        _row(arms, agreement_between(reference, stored_decisions(arms)))
        for arms in _routed_arms(study)
    )
    return Routers((ours, *others), None if labels is None else len(labels))


def _routed_arms(study: Study) -> Iterator[list[Arm]]:
    """Group the arms whose method routes otherwise than by the default patterns.

    A vote has the decisions of what it samples, and no router of its own.
    """
    groups: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        own = family_of(arm) != SELF_CONSISTENCY and not _by_default_patterns(arm)
        if own and any(a.routed is not None for a in arm.all_attempts()):
            groups.setdefault((arm.method, arm.model), []).append(arm)
    yield from groups.values()


def _by_default_patterns(arm: Arm) -> bool:
    options = arm.method.partition("(")[2]
    return (
        family_of(arm) in _BY_PATTERNS and "router=" not in options and "convention=" not in options
    )


def _deciding_model(arm: Arm) -> str:
    """Name the model that decides: the arm's own, unless its method names another for that."""
    named = (request.models for request in stage_requests(arm.method) if request.stage == _STAGE)
    return next((models[0] for models in named if models), arm.model)


def _row(arms: list[Arm], agreement: RouterAgreement) -> RouterRow:
    spent = reduce(add, (arm.stages.get(_STAGE, StageCost()) for arm in arms))
    name, model = arms[0].name, arms[0].model
    if family_of(arms[0]) in _BY_PATTERNS:
        return RouterRow(name, model, agreement, tokens=0.0, milliseconds=None, dollars=0.0)
    if not spent.calls:
        return RouterRow(name, model, agreement, None, None, None)
    tokens = spent.input_tokens + spent.output_tokens
    price = find_price(_deciding_model(arms[0]))
    used = Usage(spent.input_tokens, spent.output_tokens, cached=spent.cached_tokens)
    cost = price.cost(used) if price else None
    return RouterRow(
        name,
        model,
        agreement,
        tokens=tokens / spent.calls if tokens else None,
        milliseconds=1_000 * spent.seconds / spent.calls if spent.seconds else None,
        dollars=cost / spent.calls if cost is not None and tokens else None,
    )


# Counts of problems on each way through the protocol: router, Stage 1, Stage 2, Direct CoT.


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """How many went each way; None where it is not known."""

    problems: int | None = None
    with_cue: int | None = None
    """Whose text has a cue, by the text-only router; unknown where any text is not on record."""
    staged: int | None = None
    """That had a Stage 1."""
    direct: int | None = None
    """That went to Direct CoT at once."""
    rungs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Stage 1 replies by the recovery step that could read them."""
    fallback: int | None = None
    """From Stage 1 to Direct CoT, because its reply lists nothing or could not be read."""
    answers: int | None = None
    right: int | None = None
    unit: str = "problems"
    """What is counted: problems, or attempts at them."""
    always_on: bool = False
    """Whether every problem had a Stage 1 because the method asks no router."""

    @property
    def without_cue(self) -> int | None:
        """How many have a text without a cue."""
        if self.problems is None or self.with_cue is None:
            return None
        return self.problems - self.with_cue

    @property
    def by_cue(self) -> bool:
        """Whether it was the cues that decided, as far as the numbers tell."""
        return not self.always_on and self.with_cue == self.staged

    @property
    def solved_under(self) -> int | None:
        """How many reach Stage 2."""
        if self.staged is None or self.fallback is None:
            return None
        return self.staged - self.fallback

    @property
    def solved_directly(self) -> int | None:
        """How many are solved by Direct CoT, whichever way they came."""
        if self.direct is None or self.fallback is None:
            return None
        return self.direct + self.fallback

    @property
    def known(self) -> bool:
        """Whether any number is known."""
        ways = (self.problems, self.staged, self.direct, self.fallback, self.answers, self.right)
        return any(number is not None for number in ways) or bool(self.rungs)


def count_flow(study: Study, method: str) -> FlowCounts:
    """Count the ways that problems took in their first run; nothing where none had a Stage 1.

    Cues are counted in the problems' texts, and Stage 1 by what was done: a method that is always
    on, or that asks another router, sends problems on that have no cue.
    """
    arms = [arm for arm in study.main_arms() if arm.method == method]
    first = {
        (arm.model, arm.benchmark, problem): found
        for arm in arms
        for problem, attempts in arm.attempts.items()
        if (found := _first(attempts))
    }
    rungs = Counter(one.extraction.rung for one in first.values() if one.extraction)
    if not rungs:
        return FlowCounts()
    texts = [study.problems.get(key[1:]) for key in first]
    direct = len(first) - rungs.total()
    return FlowCounts(
        problems=len(first),
        with_cue=sum(bool(route(posed.text)) for posed in texts if posed)
        if all(posed and posed.text for posed in texts)
        else None,
        staged=rungs.total(),
        direct=direct,
        rungs=rungs,
        fallback=sum(rungs[rung] for rung in DEFERRED),
        unit="problems" if len({arm.model for arm in arms}) == 1 else "attempts",
        always_on=not direct and all(one.routed is None for one in first.values()),
    )


def _first(attempts: list[Attempt]) -> Attempt | None:
    """Find the first attempt that came to an end; one whose calls failed took no way."""
    return next((one for one in attempts if one.status != "failed"), None)


# Dominant constraint of each problem: the kind that says most about its answer.
#
# Paper: Per-Problem Analysis (the column "Constraint"); Detailed Positive Cases by Constraint Type.

_MOST_NAMED: Final = 2
_LEAST_TELLING: Final = ("domain", "final_integer_or_count")
"""What nearly every problem has: a domain, and the cue of an integer or a count."""


@dataclass(frozen=True, slots=True)
class Dominant:
    """What dominates one problem: a kind of constraint, or several that are equal."""

    names: tuple[str, ...] = ()
    by_stage1: bool = False
    """Whether Stage 1 named it; otherwise the router found it in the text."""

    @property
    def label(self) -> str:
        """One kind, two that are equal, or no more than that there are several; may be empty."""
        if len(self.names) > _MOST_NAMED:
            return "Multiple"
        named = " + ".join(self.names)
        return named[:1].upper() + named[1:]


def dominant_constraint(study: Study, arm: Arm, problem: str) -> Dominant:
    """Find what dominates a problem of an arm.

    It is the kind of most constraints that the Stage 1 replies call critical, or of most that they
    list where they call none critical. Where Stage 1 names none, it is the cues in the text.
    """
    counts: Counter[str] = Counter()
    for attempt in arm.attempts.get(problem, ()):
        if reply := attempt.extraction:
            counts.update(
                kind if kind in KINDS else OTHER_KIND for kind in reply.critical or reply.kinds
            )
    return _most(counts) if counts else _by_text(study, (arm.benchmark, problem))


def _most(counts: Counter[str]) -> Dominant:
    telling = {kind: n for kind, n in counts.items() if kind not in _LEAST_TELLING} or counts
    most = max(telling.values())
    names = (kind for kind in (*KINDS, OTHER_KIND) if telling.get(kind) == most)
    return Dominant(tuple(names), by_stage1=True)


def _by_text(study: Study, key: Key) -> Dominant:
    posed = study.problems.get(key)
    fired = [cue.family for cue in route(posed.text)] if posed else []
    telling = [family for family in fired if family not in _LEAST_TELLING] or fired
    return Dominant(tuple(FAMILY_LABELS[family].partition(": ")[2] for family in telling))


# Tables of the router's activation, cue families and gains by cue families.
#
# Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
# Analysis.

_PHRASES_SHOWN: Final = 4
_MANY: Final = 4


def rates_table(audit: RouterAudit) -> Table:
    """Tabulate router activation by benchmark."""
    rows = [
        row(benchmark_label(one.benchmark), counted(one.routed, one.total), percent(one.rate, 2))
        for one in activations(audit)
    ]
    columns = (Column("Benchmark", "left"), Column("Routed / total"), Column("Rate"))
    return Table(
        "router-rates",
        "Problems that the text-only router sends to two stages",
        columns,
        tuple(rows),
        notes=_notes(audit, rows),
        paper=("tab:router-rates",),
    )


def patterns_table(audit: RouterAudit) -> Table:
    """Tabulate cue families: their most frequent phrases, and the problems that have them."""
    total = len(audit.families)
    benchmarks = audit.benchmarks if len(audit.benchmarks) > 1 else ()
    rows = [
        row(
            FAMILY_LABELS[one.family],
            _most_often(one.phrases),
            f"{one.problems:,}",
            percent(one.share),
            *(f"{one.by_benchmark[name]:,}" for name in benchmarks),
        )
        for one in family_counts(audit)
    ]
    columns = (
        Column("Family", "left"),
        Column("Phrases found most often, with problems", "left"),
        Column("Problems"),
        Column("Share"),
        *(Column(benchmark_label(name) or "This set", group="Problems of") for name in benchmarks),
    )
    return Table(
        "router-patterns",
        f"Cue families in the {several(total, 'problem')} of this study"
        if total
        else "Cue families",
        columns,
        tuple(rows),
        notes=(*(["A problem may have cues of several families."] if rows else ()), *_notes(audit)),
        paper=("tab:router-patterns",),
    )


def _most_often(phrases: Counter[str]) -> str:
    shown = phrases.most_common(_PHRASES_SHOWN)
    return ", ".join(f"“{phrase}” {count:,}" for phrase, count in shown) or NONE


def convention_table(audit: RouterAudit) -> Table:
    """Tabulate the AIME control: problems routed by text alone, and with the answer convention."""
    aime = [one for one in activations(audit) if aime_convention(one.benchmark)]
    rows = [
        row("Text-only router", *(counted(one.routed, one.total) for one in aime)),
        row("+ AIME convention", *(counted(one.with_convention, one.total) for one in aime)),
    ]
    without_text = [
        name for name, count in audit.without_text.items() if count and aime_convention(name)
    ]
    missing = "No benchmark of this study has a name that begins with aime."
    silent = _left_out(audit, [*(one.benchmark for one in aime), *without_text])
    return Table(
        "router-convention",
        "AIME router convention control, routed / total",
        (Column("Router", "left"), *(Column(benchmark_label(one.benchmark)) for one in aime)),
        tuple(rows) if aime else (),
        notes=silent if aime or silent else (missing,),
        paper=("tab:router-convention",),
    )


def _notes(audit: RouterAudit, rows: Sequence[Row] | None = None) -> tuple[str, ...]:
    nothing = not audit.families if rows is None else not rows
    return (
        *(["No problem of this study has a text on record."] if nothing else ()),
        *_left_out(audit),
    )


def _left_out(audit: RouterAudit, benchmarks: Sequence[str] | None = None) -> tuple[str, ...]:
    """Say which problems could not be routed because their text is not on record."""
    return tuple(
        f"{benchmark_label(name) or 'This set'}, left out for want of a text: "
        f"{several(count, 'problem')}."
        for name, count in audit.without_text.items()
        if count and (benchmarks is None or name in benchmarks)
    )


def cofire_table(
    study: Study,
    audit: RouterAudit,
    method: str,
    baseline: str = BASELINE,
    labels: Sequence[Label] = (),
) -> Table:
    """Tabulate gains by the number of cue families in a problem.

    ``labels`` are the marks of people, which tell how complete Stage 1 is there.
    """
    both = pairs_by_model(study, method, baseline)
    found = cofire(study, audit, method, baseline)
    names = both[0].names if both else (baseline, method)
    own = [label for label in labels if label.key[1] == method and label.complete]
    columns = (
        *(Column("Model", "left"), Column("Families matched", "left"), Column("Problems")),
        *(Column("Δ points [95 %]"), Column("Stage 1 complete [95 %]"), Column("of n")),
    )
    rows = (
        row(
            model_label(one.model) if one.families == "0" else "",
            "0 (not routed)" if one.families == "0" else one.families,
            f"{one.gain.n if one.gain else 0:,}",
            gain_cell(one.gain),
            *_complete([label for label in own if _is_in(label, one, audit)]),
        )
        for one in found
    )
    notes = (*_cofire_notes(audit, both), *_marks_notes(labels, own, names[1]))
    return Table(
        "cofire",
        f"Gain of {names[1]} over {names[0]} by the number of cue families matched",
        columns,
        tuple(rows),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:pattern-cofire",),
    )


def _is_in(label: Label, one: CoFire, audit: RouterAudit) -> bool:
    """Say whether a label is of a problem, and with a model, that a row is about."""
    benchmark, _, model, _, problem, _ = label.key
    fired = audit.families.get((benchmark, problem))
    if fired is None or model != one.model:
        return False
    return one.families == ("4+" if len(fired) >= _MANY else str(len(fired)))


def _complete(labels: Sequence[Label]) -> tuple[str, str]:
    found = completeness_of(labels)
    if found.value is None or found.interval is None:
        return NONE, NONE
    low, high = found.interval
    return percent(found.value) + interval((100 * low, 100 * high)), f"{found.n:g}"


def _cofire_notes(audit: RouterAudit, both: Sequence[ModelPairs]) -> Iterator[str]:
    for side in both:
        yield f"{model_label(side.model)}: problems of {side.where} that were judged on both sides."
    yield "Problems with more cues differ in other ways too: a gain is not an effect of the cues."
    yield GAIN_INTERVAL
    benchmarks = tuple(dict.fromkeys(name for side in both for name in side.benchmarks))
    yield from _left_out(audit, benchmarks)


def _marks_notes(labels: Sequence[Label], own: Sequence[Label], method: str) -> Iterator[str]:
    """Say where the column of completeness comes from, or why it is empty."""
    if own:
        marked = several(len({label.key for label in own}), "attempt")
        yield (
            f"Stage 1 complete: entailed raw constraints among these and what people found "
            f"missing, in the {marked} of {method} that they marked; {NONE} where they marked none."
        )
    elif labels:
        yield f"Stage 1 complete is empty: no mark by a person is on an attempt of {method}."
    else:
        yield (
            "Stage 1 complete is empty: it takes marks by a person, which 'cfr audit mark' makes "
            "and --labels names."
        )


# Table of routers: agreement with a reference, tokens, latency and cost of a decision.
#
# Paper: appendix "Router Ablation: Regex vs. LLM Router".

ONE_ROUTER: Final = "No method of this study has another router; run llm-router to compare."


def routers_table(routers: Routers) -> Table:
    """Tabulate routers, a row for each."""
    columns = (
        *(Column("Router", "left"), Column("Problems"), Column("Precision"), Column("Recall")),
        *(Column("F1"), Column("κ"), Column("Tokens"), Column("Latency, ms"), Column("Cost")),
    )
    labels = routers.decisions
    reference = REGEX_ROUTER if labels is None else f"{several(labels, 'decision')} of a person"
    return Table(
        "router-ablation",
        f"Routers against {reference}",
        columns,
        tuple(map(_shown, routers.rows)),
        notes=tuple(_notes_router_agreement(routers)),
        paper=("tab:router-ablation",),
    )


def _shown(one: RouterRow) -> Row:
    found = one.agreement
    dollars = NONE if one.dollars is None else write_dollars(one.dollars)
    if found is None:
        agreement = ("reference", *[NONE] * 4)
    else:
        ratios = (found.precision, found.recall, found.f1, found.kappa)
        agreement = (f"{found.n:,}", *(decimal(ratio, 3) for ratio in ratios))
    latency = decimal(one.milliseconds, 3 if (one.milliseconds or 1) < 1 else 0)
    name = ", ".join(filter(None, (one.name, model_label(one.model))))
    return row(name, *agreement, decimal(one.tokens, 0), latency, dollars)


def _notes_router_agreement(routers: Routers) -> Iterator[str]:
    if routers.decisions is None:
        yield (
            "No person's decisions were given: this is agreement with the regex router, not a "
            "measure of which router is better."
        )
    if len(routers.rows) == 1:
        yield ONE_ROUTER
    yield (
        "Tokens, latency and cost are means for one decision; a call's latency includes the time "
        "it waited for others. Regular expressions are not timed here, so that the same data give "
        "the same table: perf/router.py measures them, and perf/README.md has the figure."
    )
    unpriced = [one for one in routers.rows if one.dollars is None]
    if any(one.tokens is None for one in unpriced):
        yield f"A cost of {NONE} without tokens means that the router's tokens are not on record."
    if any(one.tokens is not None for one in unpriced):
        yield f"A cost of {NONE} beside tokens means that models.toml sets no price for the model."


# Flow chart of the protocol, with the counts of a study (paper: figure "framework").

FRAMEWORK: Final = Caption(
    "framework", "Routed-CFR: the ways that problems take through the protocol", ("fig:framework",)
)
_BODY: Final = 7.0
_LINE: Final = 0.128
_BOTTOM: Final = 1.0
"""Where the upper row of boxes stands."""
_TALL: Final = 1.22
_SHORT: Final = 0.74


@dataclass(frozen=True, slots=True)
class _Box:
    """A step: where it stands, what it is, and what it counts."""

    name: str
    title: str
    body: str
    place: tuple[float, float, float, float]
    """Left, bottom, width, height, in inches."""
    colour: str = INK
    counts: Sequence[str] = ()


def draw_flow(counts: FlowCounts, caption: Caption = FRAMEWORK) -> Figure:
    """Draw the way from a problem to its answer."""
    tall = _TALL if counts.known else _SHORT
    with sheet(_BOTTOM + tall) as page:
        for box in _boxes(counts, tall):
            _draw_box(page, box)
        _draw_arrows(page, counts, _BOTTOM + tall / 2)
        return page.finish(caption, _alt(counts), _notes_flow(counts) if counts.known else ())


def _boxes(counts: FlowCounts, tall: float) -> list[_Box]:
    blue, _, green, _, orange, _, grey = PALETTE
    read = ((rung, n) for rung, n in counts.rungs.items() if rung not in DEFERRED)
    rungs = [f"{clean(rung, 12)} {n:,}" for rung, n in read]
    given = _number(counts.problems) and [*_number(counts.problems), clean(counts.unit, 12)]
    answers = [*_number(counts.answers), *(f"{right} right" for right in _number(counts.right))]
    directly = _number(counts.solved_directly)
    under = _number(counts.solved_under)

    def row(left: float, width: float) -> tuple[float, float, float, float]:
        return left, _BOTTOM, width, tall

    asks = "are there words\nthat restrict\nthe answer?"
    unasked = "not asked:\nevery problem\ngoes to Stage 1"
    cues = [f"{name} {n:,}" for name, n in _cues(counts) if n is not None]
    lists = "the model lists\nwhat any answer\nmust satisfy"
    solves = "the model solves\nunder these and\nchecks each step"
    lower = (2.41, 0.0, 1.92, _direct_height(counts))
    return [
        _Box("problem", "Problem", "its text and\nnothing else", row(0.0, 0.96), INK, given),
        _Box(
            *("router", "Router", unasked if counts.always_on else asks),
            *(row(1.2, 1.02), grey if counts.always_on else orange, cues),
        ),
        _Box("stage1", "Stage 1", lists, row(2.82, 1.1), blue, rungs[:4]),
        _Box("stage2", "Stage 2", solves, row(4.16, 1.2), green, under),
        _Box("answer", "Answer", "read from\nthe reply", row(5.6, 1.0), INK, answers),
        _Box("direct", "Direct CoT", "the model solves step by step", lower, grey, directly),
    ]


def _cues(counts: FlowCounts) -> tuple[tuple[str, int | None], tuple[str, int | None]]:
    return ("cue", counts.with_cue), ("no cue", counts.without_cue)


def _ways(counts: FlowCounts) -> tuple[str, str]:
    """Name the ways to Stage 1 and past it: by cue only where it was the cues that decided."""
    if counts.always_on:
        return "always", ""
    return ("cue", "no cue") if counts.by_cue else ("routed", "not routed")


def _direct_height(counts: FlowCounts) -> float:
    return 0.45 if counts.solved_directly is None else 0.58


def _number(value: int | None) -> list[str]:
    return [] if value is None else [f"{value:,}"]


def _draw_box(page: Sheet, box: _Box) -> None:
    left, bottom, width, height = box.place
    shape = load("patches").FancyBboxPatch(
        (left, bottom),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.07",
        facecolor=(box.colour, 0.13),
        edgecolor=box.colour if box.colour != INK else MUTED,
        linewidth=1.2,
    )
    page.add(shape, f"box-{box.name}")
    middle, y = left + width / 2, bottom + height - 0.16
    page.line(middle, y, box.title, ha="center", size=SIZE, weight="bold")
    for number, line in enumerate(box.body.split("\n"), start=1):
        page.line(middle, y - number * _LINE - 0.02, line, ha="center", size=_BODY, muted=True)
    for number, line in enumerate(reversed(box.counts)):
        low, gid = bottom + 0.11 + number * _LINE, f"count-{box.name}-{number}"
        page.line(middle, low, line, ha="center", size=_BODY, weight="bold", gid=gid)


def _draw_arrows(page: Sheet, counts: FlowCounts, y: float) -> None:
    """Draw the ways, each with its name and the number that takes it."""
    on, past = _ways(counts)
    _arrow(page, "problem", [(0.98, y), (1.18, y)])
    _arrow(page, "cue", [(2.24, y), (2.8, y)])
    _name_way(page, "cue", [on, *_number(counts.staged)], (2.5, y), "center")
    _arrow(page, "constraints", [(3.94, y), (4.14, y)])
    _arrow(page, "answer", [(5.38, y), (5.58, y)])
    if past:
        _arrow(page, "no-cue", [(1.71, _BOTTOM - 0.02), (1.71, 0.26), (2.39, 0.26)])
        _name_way(page, "no-cue", [past, *_number(counts.direct)], (2.05, 0.26), "center")
    _arrow(page, "unusable", [(3.37, _BOTTOM - 0.02), (3.37, _direct_height(counts) + 0.02)])
    label = " ".join(["not usable", *_number(counts.fallback)])
    _name_way(page, "unusable", [label], (3.44, 0.72), "left")
    _arrow(page, "direct-answer", [(4.35, 0.26), (6.1, 0.26), (6.1, _BOTTOM - 0.02)])


def _arrow(page: Sheet, name: str, way: list[tuple[float, float]]) -> None:
    arrow = load("patches").FancyArrowPatch(
        path=load("path").Path(way),
        arrowstyle="-|>,head_length=4,head_width=2",
        color=INK,
        linewidth=1.1,
        joinstyle="miter",
        capstyle="butt",
    )
    page.add(arrow, f"arrow-{name}")


def _name_way(
    page: Sheet, name: str, lines: list[str], spot: tuple[float, float], align: str
) -> None:
    """Write what an arrow stands for above it, and how many took it below."""
    x, y = spot
    for number, (line, up) in enumerate(zip(lines, (0.095, -0.1), strict=False)):
        page.line(x, y + up, line, ha=align, size=_BODY, gid=f"way-{name}-{number}")


def _notes_flow(counts: FlowCounts) -> tuple[str, ...]:
    said = [f"Numbers are {clean(counts.unit)}."]
    cues = counts.with_cue is not None
    if cues:
        said.append("A cue is what the text-only router finds in a problem's text.")
    if counts.always_on:
        ends = ", with a cue or without" if cues else ""
        said.append(f"This method asks no router: every problem has a Stage 1{ends}.")
    elif cues and not counts.by_cue:
        said.append("This method does not decide by these cues alone.")
    return tuple(said)


def _alt(counts: FlowCounts) -> str:
    ways = {
        "in all": counts.problems,
        "with a cue": counts.with_cue,
        "without a cue": counts.without_cue,
        "with a Stage 1": counts.staged,
        "straight to Direct CoT": counts.direct,
        "back to Direct CoT": counts.fallback,
        "right": counts.right,
    }
    numbers = listed(f"{number:,} {way}" for way, number in ways.items() if number is not None)
    sent = (
        "every problem, with a cue or without, goes to Stage 1, which lists constraints, and Stage "
        "2, which solves under them; where Stage 1 cannot be used, to Direct CoT"
        if counts.always_on
        else "a router looks for words that restrict the answer; with a cue, a problem goes to "
        "Stage 1, which lists constraints, and Stage 2, which solves under them; without one, or "
        "where Stage 1 cannot be used, to Direct CoT"
    )
    listing = f" ({clean(counts.unit)}: {numbers})." if numbers else "."
    return f"A diagram of the protocol: {sent}{listing}"
