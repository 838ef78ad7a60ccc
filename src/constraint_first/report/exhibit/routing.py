"""The router: activation, cue families, gains by them, agreement, and ways through the protocol.

Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
Analysis, Router Ablation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Final, NamedTuple

from constraint_first.constraint.router import FAMILIES, aime_convention, route
from constraint_first.constraint.stage1 import DEFERRED
from constraint_first.error import InputError
from constraint_first.model.resolve import find_price, write_dollars
from constraint_first.protocol import Usage
from constraint_first.report.canvas import (
    INK,
    MUTED,
    PALETTE,
    SIZE,
    Figure,
    Sheet,
    clean,
    listed,
    load,
    sheet,
)
from constraint_first.report.comparison import BASELINE, Key, ModelPairs, pairs_by_model
from constraint_first.report.exhibit.exhibit import Context, Exhibit
from constraint_first.report.exhibit.marks import Label, completeness_of, read_person_lines
from constraint_first.report.exhibit.scores import stage_requests
from constraint_first.report.exhibit.stage1 import draw_cloud
from constraint_first.report.statistics import kappa
from constraint_first.report.study import (
    CONSTRAINED,
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
from constraint_first.report.table import (
    GAIN_INTERVAL,
    NONE,
    Column,
    Row,
    Table,
    absent,
    counted,
    decimal,
    gain_cell,
    interval,
    left,
    percent,
    row,
    several,
)

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
    def totals(self) -> Counter[str]:
        return Counter(name for name, _ in self.families)

    @property
    def routed(self) -> Counter[str]:
        return Counter(name for (name, _), families in self.families.items() if families)


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


# Tables of activation, cue families and gains by cue families.

_PHRASES_SHOWN: Final = 4


def rates_table(audit: RouterAudit) -> Table:
    """Tabulate router activation by benchmark."""
    routed = audit.routed
    rows = [
        row(benchmark_label(name), counted(routed[name], total), percent(routed[name] / total, 2))
        for name, total in audit.totals.items()
    ]
    return Table(
        "router-rates",
        "Problems that the text-only router sends to two stages",
        (*left("Benchmark"), Column("Routed / total"), Column("Rate")),
        tuple(rows),
        notes=_notes(audit),
        paper=("tab:router-rates",),
    )


def patterns_table(audit: RouterAudit) -> Table:
    """Tabulate cue families: their most frequent phrases, and the problems that have them."""
    total, benchmarks = len(audit.families), [*audit.totals]
    counts = Counter(
        (family, name) for (name, _), families in audit.families.items() for family in families
    )
    shown = benchmarks if len(benchmarks) > 1 else []
    rows: list[Row] = []
    for family in FAMILIES if audit.families else ():
        problems = sum(counts[family, name] for name in benchmarks)
        often = audit.phrases[family].most_common(_PHRASES_SHOWN)
        rows.append(
            row(
                FAMILY_LABELS[family],
                ", ".join(f"“{phrase}” {count:,}" for phrase, count in often) or NONE,
                f"{problems:,}",
                percent(problems / total),
                *(f"{counts[family, name]:,}" for name in shown),
            )
        )
    several_families = "A problem may have cues of several families."
    return Table(
        "router-patterns",
        f"Cue families in the {several(total, 'problem')} of this study"
        if total
        else "Cue families",
        (
            *left("Family", "Phrases found most often, with problems"),
            *(Column("Problems"), Column("Share")),
            *(Column(benchmark_label(name) or "This set", group="Problems of") for name in shown),
        ),
        tuple(rows),
        notes=(*([several_families] if rows else ()), *_notes(audit)),
        paper=("tab:router-patterns",),
    )


def convention_table(audit: RouterAudit) -> Table:
    """Tabulate the AIME control: problems routed by text alone, and with the answer convention."""
    totals, routed = audit.totals, audit.routed
    aime = [name for name in totals if aime_convention(name)]
    rows = (
        row("Text-only router", *(counted(routed[name], totals[name]) for name in aime)),
        row("+ AIME convention", *(counted(totals[name], totals[name]) for name in aime)),
    )
    silent = _left_out(audit, [*aime, *filter(aime_convention, audit.without_text)])
    missing = "No benchmark of this study has a name that begins with aime."
    return Table(
        "router-convention",
        "AIME router convention control, routed / total",
        (*left("Router"), *(Column(benchmark_label(name)) for name in aime)),
        rows if aime else (),
        notes=silent if aime or silent else (missing,),
        paper=("tab:router-convention",),
    )


def _notes(audit: RouterAudit) -> tuple[str, ...]:
    nothing = "No problem of this study has a text on record."
    return (*(() if audit.families else (nothing,)), *_left_out(audit))


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
    names = both[0].names if both else (baseline, method)
    own = [label for label in labels if label.key[1] == method and label.complete]
    groups: dict[str, set[Key]] = {name: set() for name in ("0", "1", "2", "3", "4+")}
    for key, families in audit.families.items():
        groups[[*groups][min(len(families), 4)]].add(key)
    rows: list[Row] = []
    for side in both:
        for name, keys in groups.items():
            gain = side.gain(keys)
            marked = [
                label
                for label in own
                if label.key[2] == side.model and (label.key[0], label.key[4]) in keys
            ]
            rows.append(
                row(
                    model_label(side.model) if name == "0" else "",
                    "0 (not routed)" if name == "0" else name,
                    f"{gain.n if gain else 0:,}",
                    gain_cell(gain),
                    *_complete(marked),
                )
            )
    notes = (*_cofire_notes(audit, both), *_marks_notes(labels, own, names[1]))
    return Table(
        "cofire",
        f"Gain of {names[1]} over {names[0]} by the number of cue families matched",
        (
            *(*left("Model", "Families matched"), Column("Problems"), Column("Δ points [95 %]")),
            *(Column("Stage 1 complete [95 %]"), Column("of n")),
        ),
        tuple(rows),
        notes=notes if both else (absent(method, baseline),),
        paper=("tab:pattern-cofire",),
    )


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
            "Stage 1 complete is empty: it takes marks by a person, which the page of 'cfr serve' "
            "makes and --labels names."
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


class RouterAgreement(NamedTuple):
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


ONE_ROUTER: Final = "No method of this study has another router; run llm-router to compare."


def routers_table(study: Study, audit: RouterAudit, labels: Decisions | None = None) -> Table:
    """Compare the regex router, and every other router that the study's methods used.

    The reference is a person's labels where there are any, otherwise the regex router itself.
    """
    regex = {key: bool(families) for key, families in audit.families.items()}
    reference = regex if labels is None else labels
    ours = agreement_between(labels, regex) if labels is not None else None
    costs: list[tuple[float | None, float | None]] = [(0.0, 0.0)]
    rows = [_router_row(REGEX_ROUTER, ours, 0.0, None, 0.0)]
    for arms in _routed_arms(study):
        agreement = agreement_between(reference, stored_decisions(arms))
        name = ", ".join(filter(None, (arms[0].name, model_label(arms[0].model))))
        tokens, milliseconds, dollars = _decision_cost(arms)
        costs.append((tokens, dollars))
        rows.append(_router_row(name, agreement, tokens, milliseconds, dollars))
    against = REGEX_ROUTER if labels is None else f"{several(len(labels), 'decision')} of a person"
    titles = ("Problems", "Precision", "Recall", "F1", "κ", "Tokens", "Latency, ms", "Cost")
    return Table(
        "router-ablation",
        f"Routers against {against}",
        (*left("Router"), *map(Column, titles)),
        tuple(rows),
        notes=tuple(_router_notes(costs, by_regex=labels is None)),
        paper=("tab:router-ablation",),
    )


def _router_row(
    name: str,
    found: RouterAgreement | None,
    tokens: float | None,
    milliseconds: float | None,
    dollars: float | None,
) -> Row:
    if found is None:
        agreement = ("reference", *[NONE] * 4)
    else:
        ratios = (found.precision, found.recall, found.f1, found.kappa)
        agreement = (f"{found.n:,}", *(decimal(ratio, 3) for ratio in ratios))
    latency = decimal(milliseconds, 3 if (milliseconds or 1) < 1 else 0)
    cost = NONE if dollars is None else write_dollars(dollars)
    return row(name, *agreement, decimal(tokens, 0), latency, cost)


def _decision_cost(arms: Sequence[Arm]) -> tuple[float | None, float | None, float | None]:
    """Give the mean tokens, milliseconds and dollars of a decision; None where not on record.

    Regular expressions make no call, and nothing is timed here.
    """
    if family_of(arms[0]) in _BY_PATTERNS:
        return 0.0, None, 0.0
    spent = reduce(add, (arm.stages.get(_STAGE, StageCost()) for arm in arms))
    if not spent.calls:
        return None, None, None
    price = find_price(_deciding_model(arms[0]))
    used = Usage(spent.input_tokens, spent.output_tokens, cached=spent.cached_tokens)
    cost = price.cost(used) if price else None
    return (
        spent.tokens / spent.calls if spent.tokens else None,
        1_000 * spent.seconds / spent.calls if spent.seconds else None,
        cost / spent.calls if cost is not None and spent.tokens else None,
    )


def _router_notes(
    costs: Sequence[tuple[float | None, float | None]], *, by_regex: bool
) -> Iterator[str]:
    if by_regex:
        yield (
            "No person's decisions were given: this is agreement with the regex router, not a "
            "measure of which router is better."
        )
    if len(costs) == 1:
        yield ONE_ROUTER
    yield (
        "Tokens, latency and cost are means for one decision; a call's latency includes the time "
        "it waited for others. Regular expressions are not timed here, so that the same data give "
        "the same table: perf/router.py measures them, and perf/README.md has the figure."
    )
    unpriced = [tokens for tokens, dollars in costs if dollars is None]
    if None in unpriced:
        yield f"A cost of {NONE} without tokens means that the router's tokens are not on record."
    if any(tokens is not None for tokens in unpriced):
        yield f"A cost of {NONE} beside tokens means that models.toml sets no price for the model."


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
    unit: str = "problems"
    """What is counted: problems, or attempts at them."""
    always_on: bool = False
    """Whether every problem had a Stage 1 because the method asks no router."""

    @property
    def by_cue(self) -> bool:
        """Whether it was the cues that decided, as far as the numbers tell."""
        return not self.always_on and self.with_cue == self.staged

    @property
    def without_cue(self) -> int | None:
        return _less(self.problems, self.with_cue)


def _less(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other


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


# Flow chart of the protocol, with the counts of a study (paper: figure "framework").

_BODY: Final = 7.0
_LINE: Final = 0.128
_BOTTOM: Final = 1.0
"""Where the upper row of boxes stands."""
_TALL: Final = 1.22
_SHORT: Final = 0.74


class _Box(NamedTuple):
    """A step: where it stands, what it is, and what it counts."""

    name: str
    title: str
    body: str
    place: tuple[float, float, float, float]
    """Left, bottom, width, height, in inches."""
    colour: str = INK
    counts: Sequence[str] = ()


def flow_figure(study: Study, method: str) -> Figure:
    """Draw the protocol with the way that each problem took in its first run."""
    counts = count_flow(study, method)
    known = counts.problems is not None
    tall = _TALL if known else _SHORT
    whose = study.method_name(method) if known else "Routed-CFR"
    title = f"{whose}: the ways that problems take through the protocol"
    with sheet(_BOTTOM + tall) as page:
        for box in _boxes(counts, tall):
            _draw_box(page, box)
        _draw_arrows(page, counts, _BOTTOM + tall / 2)
        return page.finish("framework", title, _alt(counts), _flow_notes(counts) if known else ())


def _boxes(counts: FlowCounts, tall: float) -> list[_Box]:
    blue, _, green, _, orange, _, grey = PALETTE
    read = ((rung, n) for rung, n in counts.rungs.items() if rung not in DEFERRED)
    rungs = [f"{clean(rung, 12)} {n:,}" for rung, n in read]
    given = _number(counts.problems) and [*_number(counts.problems), clean(counts.unit, 12)]
    solved = _less(counts.staged, counts.fallback)
    directly = _number(_less(counts.problems, solved))

    def spot(left: float, width: float) -> tuple[float, float, float, float]:
        return left, _BOTTOM, width, tall

    asks = "are there words\nthat restrict\nthe answer?"
    unasked = "not asked:\nevery problem\ngoes to Stage 1"
    found = (("cue", counts.with_cue), ("no cue", counts.without_cue))
    cues = [f"{name} {n:,}" for name, n in found if n is not None]
    lists = "the model lists\nwhat any answer\nmust satisfy"
    solves = "the model solves\nunder these and\nchecks each step"
    lower = (2.41, 0.0, 1.92, _direct_height(counts))
    return [
        _Box("problem", "Problem", "its text and\nnothing else", spot(0.0, 0.96), INK, given),
        _Box(
            *("router", "Router", unasked if counts.always_on else asks),
            *(spot(1.2, 1.02), grey if counts.always_on else orange, cues),
        ),
        _Box("stage1", "Stage 1", lists, spot(2.82, 1.1), blue, rungs[:4]),
        _Box("stage2", "Stage 2", solves, spot(4.16, 1.2), green, _number(solved)),
        _Box("answer", "Answer", "read from\nthe reply", spot(5.6, 1.0)),
        _Box("direct", "Direct CoT", "the model solves step by step", lower, grey, directly),
    ]


def _ways(counts: FlowCounts) -> tuple[str, str]:
    """Name the ways to Stage 1 and past it: by cue only where it was the cues that decided."""
    if counts.always_on:
        return "always", ""
    return ("cue", "no cue") if counts.by_cue else ("routed", "not routed")


def _direct_height(counts: FlowCounts) -> float:
    return 0.45 if counts.problems is None else 0.58


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


def _flow_notes(counts: FlowCounts) -> tuple[str, ...]:
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


def cloud_figure(audit: RouterAudit) -> Figure | None:
    """Draw the phrases that routed problems, each in the colour of its first family."""
    problems: Counter[str] = Counter()
    first: dict[str, str] = {}
    for family, phrases in audit.phrases.items():
        problems.update(phrases)
        first = dict.fromkeys(phrases, FAMILY_LABELS[family]) | first
    return draw_cloud(problems, first)


_NO_TEXTS: Final = (
    "The audit of the router needs the problems' texts, which these data do not have: give the "
    "store itself, or an export of it without --outcomes."
)


def _audit(context: Context) -> RouterAudit:
    return context.once(audit_router)


def _activation(context: Context) -> list[Table]:
    audit = _audit(context)
    tables = [rates_table(audit), patterns_table(audit), convention_table(audit)]
    return tables if audit.families else []


def _cofire(context: Context) -> list[Table]:
    study, method, baseline = context.compared
    audit = _audit(context)
    table = cofire_table(study, audit, method, baseline, context.options.labels)
    return [table] if audit.families else []


def _routers(context: Context) -> list[Table]:
    audit = _audit(context)
    table = routers_table(context.study, audit)
    if len(table.rows) == 1:  # the reference alone: it compares nothing
        table = replace(table, rows=(), notes=(ONE_ROUTER,))
    return [table] if audit.families else []


def _figures(context: Context) -> Iterator[Figure | None]:
    # Without a kind of CFR there is no way through the protocol to draw.
    if any(context.variant(family) for family in CONSTRAINED):
        yield flow_figure(context.study, context.method)
    yield cloud_figure(_audit(context))


EXHIBITS: Final = (
    Exhibit(
        "routing",
        _activation,
        _figures,
        ("router-rates", "router-patterns", "router-convention"),
        claims=lambda c: () if _audit(c).families else (_NO_TEXTS,),
    ),
    Exhibit("routing", _cofire, paper=("cofire",), about="method"),
    Exhibit("routing", _routers, paper=("router-ablation",)),
)
