"""The router: activation, cue families, gains by them, agreement, and paths through the protocol.

Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
Analysis, Router Ablation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from operator import add
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from constraint_first.constraint.router import FAMILIES, aime_convention, route
from constraint_first.constraint.stage1 import DEFERRED
from constraint_first.error import InputError
from constraint_first.model.limit import write_dollars
from constraint_first.model.resolve import find_price
from constraint_first.protocol import Usage
from constraint_first.report import canvas, table
from constraint_first.report.canvas import Figure, Sheet, clean, load
from constraint_first.report.comparison import BASELINE, Key, ModelPairs, pairs_by_model
from constraint_first.report.exhibit import marks
from constraint_first.report.exhibit.exhibit import Context, Exhibit
from constraint_first.report.exhibit.scores import stage_requests
from constraint_first.report.exhibit.stage1 import draw_cloud
from constraint_first.report.statistics import kappa
from constraint_first.report.study import (
    CONSTRAINED,
    ROUTED_CFR,
    ROUTED_CFR_BRIEF,
    SELF_CONSISTENCY,
    Arm,
    StageCost,
    Study,
    benchmark_label,
    family_of,
    model_label,
)
from constraint_first.report.table import NONE, Column, Row, Table, left, row

_LABELS: Final = (
    *("P1: Integer/Count", "P2: Modular", "P3: Encoded form", "P4: Bound/Extremal"),
    *("P5: Floor/Round", "P6: Units/Dimension", "P7: Game/Adversarial"),
)
FAMILY_LABELS: Final[Mapping[str, str]] = dict(zip(FAMILIES, _LABELS, strict=True))
"""The cue families as the paper's tables name them."""


@dataclass(frozen=True, slots=True)
class RouterAudit:
    """Cue families and phrases that the router finds in the problems of a study."""

    families: Mapping[Key, tuple[str, ...]]
    """Cue families by problem; empty if a problem is not routed."""
    phrases: Mapping[str, Counter[str]]
    """Problems by family and phrase."""
    without_text: Mapping[str, int]
    """Problems that have attempts but no stored text, by benchmark."""

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
    families = {key: tuple(cue.family for cue in cues) for key, cues in fired.items()}
    without = dict.fromkeys(study.names("benchmark"), 0)
    without |= Counter(name for name, _ in study.attempted - fired.keys())
    return RouterAudit(families, phrases, without)


def _plain(phrase: str) -> str:
    return re.sub(r"\s*\+\s*", "+", " ".join(phrase.casefold().split()))


# Tables of activation, cue families and gains by cue families.

_PHRASES_SHOWN: Final = 4


def rates_table(audit: RouterAudit) -> Table:
    """Tabulate router activation by benchmark."""
    routed = audit.routed
    rows = [
        row(
            *(benchmark_label(name), table.counted(routed[name], total)),
            table.percent(routed[name] / total, 2),
        )
        for name, total in audit.totals.items()
    ]
    return Table(
        "router-rates",
        "Problems that the text-only router sends to two stages",
        (*left("Benchmark"), Column("Routed / total"), Column("Rate")),
        tuple(rows),
        _notes(audit),
        ("tab:router-rates",),
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
                *(f"{problems:,}", table.percent(problems / total)),
                *(f"{counts[family, name]:,}" for name in shown),
            )
        )
    where = f" in the {table.several(total, 'problem')} of this study" if total else ""
    several_families = "A problem may have cues of several families."
    return Table(
        "router-patterns",
        f"Cue families{where}",
        (
            *left("Family", "Phrases found most often, with problems"),
            *(Column("Problems"), Column("Share")),
            *(Column(benchmark_label(name) or "This set", group="Problems of") for name in shown),
        ),
        tuple(rows),
        (*([several_families] if rows else ()), *_notes(audit)),
        ("tab:router-patterns",),
    )


def convention_table(audit: RouterAudit) -> Table:
    """Tabulate the AIME control: problems routed by text alone, and with the answer convention."""
    totals, routed = audit.totals, audit.routed
    aime = [name for name in totals if aime_convention(name)]
    rows = (
        row("Text-only router", *(table.counted(routed[name], totals[name]) for name in aime)),
        row("+ AIME convention", *(table.counted(totals[name], totals[name]) for name in aime)),
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
    """Note which problems could not be routed because their text is not stored."""
    return tuple(
        f"{benchmark_label(name) or 'This set'}, left out for want of a text: "
        f"{table.several(count, 'problem')}."
        for name, count in audit.without_text.items()
        if count and (benchmarks is None or name in benchmarks)
    )


def cofire_table(
    study: Study,
    audit: RouterAudit,
    method: str,
    baseline: str = BASELINE,
    labels: Sequence[marks.Label] = (),
) -> Table:
    """Tabulate gains by cue families in a problem, with Stage 1's completeness by annotators."""
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
            here = [one for one in own if one.key[2] == side.model]
            complete = marks.completeness_of(
                one for one in here if (one.key[0], one.key[4]) in keys
            )
            rows.append(
                row(
                    *((model_label(side.model), "0 (not routed)") if name == "0" else ("", name)),
                    *(f"{gain.n if gain else 0:,}", table.gain_cell(gain), complete.text(" %")),
                    f"{complete.n:g}" if complete.whole else NONE,
                )
            )
    notes = (*_cofire_notes(audit, both), _marks_note(labels, own, names[1]))
    return Table(
        "cofire",
        f"Gain of {names[1]} over {names[0]} by the number of cue families matched",
        (
            *(*left("Model", "Families matched"), Column("Problems"), Column("Δ points [95 %]")),
            *(Column("Stage 1 complete [95 %]"), Column("of n")),
        ),
        tuple(rows),
        notes if both else (table.absent(method, baseline),),
        ("tab:pattern-cofire",),
    )


def _cofire_notes(audit: RouterAudit, both: Sequence[ModelPairs]) -> Iterator[str]:
    for side in both:
        yield f"{model_label(side.model)}: problems of {side.where} that were judged on both sides."
    yield "Problems with more cues differ in other ways too: a gain is not an effect of the cues."
    yield table.GAIN_INTERVAL
    yield from _left_out(audit, [name for side in both for name in side.benchmarks])


def _marks_note(labels: Sequence[marks.Label], own: Sequence[marks.Label], method: str) -> str:
    """Note the source of the column of completeness, or why it is empty."""
    if own:
        marked = table.several(len({label.key for label in own}), "attempt")
        return (
            f"Stage 1 complete: entailed raw constraints among these and what people found "
            f"missing, in the {marked} of {method} that they marked; {NONE} where they marked none."
        )
    if labels:
        return f"Stage 1 complete is empty: no mark by a person is on an attempt of {method}."
    return (
        "Stage 1 complete is empty: it takes marks by a person, which the page of 'cfr serve' "
        "makes and --labels names."
    )


# Agreement between routers, and the cost of a decision.
#
# Paper: appendix "Router Ablation: Regex vs. LLM Router".


_BY_PATTERNS: Final = (ROUTED_CFR, ROUTED_CFR_BRIEF)
"""Families that route by regular expressions, at no cost."""
_STAGE: Final = "router"


_Cost: TypeAlias = tuple[float | None, float | None, float | None]
"""Tokens, milliseconds and dollars of a decision, each None if unknown."""


class RouterAgreement(NamedTuple):
    """Agreement of a router with a reference, on the problems that both decided."""

    n: int
    precision: float | None
    """Of the problems that it routes, the share that the reference routes; None without any."""
    recall: float | None
    """Of the problems that the reference routes, the share that it routes."""
    f1: float | None
    kappa: float | None


def agreement_between(
    reference: Mapping[Key, bool], decisions: Mapping[Key, bool]
) -> RouterAgreement:
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


_TRUTHS: Final = {"true": True, "false": False}  # as written in CSV cells


def read_decisions(path: Path, study: Study) -> tuple[dict[Key, bool], int]:
    """Read a person's decisions: lines of ``problem``, ``routed`` and perhaps ``benchmark``.

    Returns them, and the number of lines about problems that the study lacks.
    """
    found: dict[Key, bool] = {}
    strangers = 0
    for where, key, value, _ in marks.read_person_lines(path, study):
        written = value.get("routed")
        routed = _TRUTHS.get(written.lower()) if isinstance(written, str) else written
        if not isinstance(routed, bool):
            raise InputError(f"{where}: 'routed' must be true or false, not {written!r}")
        if key is None:
            strangers += 1
        elif found.setdefault(key, routed) != routed:
            raise InputError(f"{where}: an earlier line says the opposite of this problem")
    if not found:
        raise InputError(f"{path}: names no problem of {study.source}; check 'problem'")
    return found, strangers


def stored_decisions(arms: Iterable[Arm]) -> dict[Key, bool]:
    """Return the decisions of a method's own router: the majority of runs; a tie is a no."""
    said = {
        (arm.benchmark, problem): [a.routed for a in attempts if a.routed is not None]
        for arm in arms
        for problem, attempts in arm.attempts.items()
    }
    return {key: 2 * sum(runs) > len(runs) for key, runs in said.items() if runs}


def routed_share(arm: Arm) -> tuple[int, int] | None:
    """Count the problems that an arm's router sent to two stages, and those that it decided."""
    decided = stored_decisions([arm]).values()
    return (sum(decided), len(decided)) if decided else None


def _routed_arms(study: Study) -> Iterator[list[Arm]]:
    """Group the arms whose method has a router other than the default patterns.

    Votes are excluded: their decisions are those of the sampled method.
    """
    groups: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        family, options = family_of(arm), arm.method.partition("(")[2]
        other = "router=" in options or "convention=" in options or family not in _BY_PATTERNS
        if other and family != SELF_CONSISTENCY and stored_decisions([arm]):
            groups.setdefault((arm.method, arm.model), []).append(arm)
    yield from groups.values()


ONE_ROUTER: Final = "No method of this study has another router; run llm-router to compare."


def routers_table(
    study: Study, audit: RouterAudit, labels: Mapping[Key, bool] | None = None
) -> Table:
    """Compare the regex router, and every other router that the study's methods used.

    The reference is an annotator's labels if there are any, otherwise the regex router itself.
    """
    regex = {key: bool(families) for key, families in audit.families.items()}
    reference = regex if labels is None else labels
    ours = agreement_between(labels, regex) if labels is not None else None
    costs: list[_Cost] = [(0.0, None, 0.0)]
    rows = [_router_row("Regex router", ours, costs[0])]
    for arms in _routed_arms(study):
        name = ", ".join(filter(None, (arms[0].name, model_label(arms[0].model))))
        costs.append(_decision_cost(arms))
        agreement = agreement_between(reference, stored_decisions(arms))
        rows.append(_router_row(name, agreement, costs[-1]))
    person = f"{table.several(len(reference), 'decision')} of a person"
    titles = ("Problems", "Precision", "Recall", "F1", "κ", "Tokens", "Latency, ms", "Cost")
    return Table(
        "router-ablation",
        f"Routers against {'Regex router' if labels is None else person}",
        (*left("Router"), *map(Column, titles)),
        tuple(rows),
        tuple(_router_notes(costs, by_regex=labels is None)),
        ("tab:router-ablation",),
    )


def _router_row(name: str, found: RouterAgreement | None, cost: _Cost) -> Row:
    agreement = ["reference", *[NONE] * 4]
    if found is not None:
        ratios = (found.precision, found.recall, found.f1, found.kappa)
        agreement = [f"{found.n:,}", *(table.decimal(ratio, 3) for ratio in ratios)]
    tokens, milliseconds, dollars = cost
    latency = table.decimal(milliseconds, 3 if (milliseconds or 1) < 1 else 0)
    price = NONE if dollars is None else write_dollars(dollars)
    return row(name, *agreement, table.decimal(tokens, 0), latency, price)


def _decision_cost(arms: Sequence[Arm]) -> _Cost:
    """Return the mean cost of a decision. Regular expressions make no call and are not timed."""
    if family_of(arms[0]) in _BY_PATTERNS:
        return 0.0, None, 0.0
    spent = reduce(add, (arm.stages.get(_STAGE, StageCost()) for arm in arms))
    if not spent.calls:
        return None, None, None
    # The router's model is that of the arm, unless its method names another one.
    named = (one.models for one in stage_requests(arms[0].method) if one.stage == _STAGE)
    price = find_price(next((models[0] for models in named if models), arms[0].model))
    used = Usage(spent.input_tokens, spent.output_tokens, cached=spent.cached_tokens)
    cost = price.cost(used) if price else None
    return (
        spent.tokens / spent.calls if spent.tokens else None,
        1_000 * spent.seconds / spent.calls if spent.seconds else None,
        cost / spent.calls if cost is not None and spent.tokens else None,
    )


def _router_notes(costs: Sequence[_Cost], *, by_regex: bool) -> Iterator[str]:
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
    unpriced = [tokens for tokens, _, dollars in costs if dollars is None]
    if None in unpriced:
        yield f"A cost of {NONE} without tokens means that the router's tokens are not on record."
    if any(tokens is not None for tokens in unpriced):
        yield f"A cost of {NONE} beside tokens means that models.toml sets no price for the model."


# Counts of problems on each path of the protocol: router, Stage 1, Stage 2, Direct CoT.


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """The number of problems on each path in their first run; 0 if none had a Stage 1."""

    problems: int = 0
    with_cue: int | None = None
    """Problems with a cue, by the text-only router; None if any text is unknown."""
    rungs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Stage 1 replies by the recovery step that parsed them."""
    unit: str = "problems"
    """The unit of counts: problems, or attempts at them."""
    always_on: bool = False
    """Whether every problem had a Stage 1 because the method has no router."""

    @property
    def staged(self) -> int:
        return sum(self.rungs.values())

    @property
    def direct(self) -> int:
        """Problems that the router sent to Direct CoT."""
        return self.problems - self.staged

    @property
    def fallback(self) -> int:
        """Problems that fell back from Stage 1 to Direct CoT: an empty or unreadable reply."""
        return sum(self.rungs.get(rung, 0) for rung in DEFERRED)

    @property
    def cues(self) -> dict[str, int]:
        """Problems with a cue and without one, if that is known."""
        return {} if (n := self.with_cue) is None else {"cue": n, "no cue": self.problems - n}

    @property
    def by_cue(self) -> bool:
        """Whether the counts are consistent with routing by cues."""
        return not self.always_on and (not self.problems or self.with_cue == self.staged)

    def texts(self, count: int) -> list[str]:
        """Write a count as a line of a box; empty without counts."""
        return [f"{count:,}"] if self.problems else []


def count_flow(study: Study, method: str) -> FlowCounts:
    """Count the paths of problems in their first run; empty if none had a Stage 1.

    Cues are counted in the problems' texts, Stage 1 in the attempts: a method that is always on,
    or has another router, also sends problems without a cue to Stage 1.
    """
    arms = [arm for arm in study.main_arms() if arm.method == method]
    first = {  # a failed attempt has no path
        (arm.model, arm.benchmark, problem): found
        for arm in arms
        for problem, attempts in arm.attempts.items()
        if (found := next((one for one in attempts if one.status != "failed"), None))
    }
    rungs = Counter(one.extraction.rung for one in first.values() if one.extraction)
    if not rungs:
        return FlowCounts()
    texts = [posed.text if (posed := study.problems.get(key[1:])) else "" for key in first]
    return FlowCounts(
        len(first),
        sum(bool(route(text)) for text in texts) if all(texts) else None,
        rungs,
        "problems" if len({arm.model for arm in arms}) == 1 else "attempts",
        len(first) == rungs.total() and all(one.routed is None for one in first.values()),
    )


# Flow chart of the protocol, with the counts of a study (paper: figure "framework").

_BODY: Final = 7.0
_LINE: Final = 0.128
_BOTTOM: Final = 1.0
"""The bottom of the upper row of boxes, in inches."""
_TALL: Final = 1.22
_SHORT: Final = 0.74


class _Box(NamedTuple):
    """A drawn step of the protocol."""

    name: str
    title: str
    body: str
    place: tuple[float, float, float, float]
    """Left, bottom, width, height, in inches."""
    colour: str = canvas.INK
    counts: Sequence[str] = ()


def flow_figure(study: Study, method: str) -> Figure:
    """Draw the protocol with the number of problems on each path in their first run."""
    counts = count_flow(study, method)
    known = counts.problems
    tall = _TALL if known else _SHORT
    whose = study.method_name(method) if known else "Routed-CFR"
    title = f"{whose}: the ways that problems take through the protocol"
    with canvas.sheet(_BOTTOM + tall) as page:
        for box in _boxes(counts, tall):
            _draw_box(page, box)
        _draw_arrows(page, counts, _BOTTOM + tall / 2)
        return page.finish("framework", title, _alt(counts), _flow_notes(counts) if known else ())


def _boxes(counts: FlowCounts, tall: float) -> list[_Box]:
    blue, _, green, _, orange, _, grey = canvas.PALETTE
    read = ((rung, n) for rung, n in counts.rungs.items() if rung not in DEFERRED)
    rungs = [f"{clean(rung, 12)} {n:,}" for rung, n in read]
    given = [*counts.texts(counts.problems), clean(counts.unit, 12)] if counts.problems else []
    solved = counts.staged - counts.fallback

    def spot(left: float, width: float) -> tuple[float, float, float, float]:
        return left, _BOTTOM, width, tall

    router, colour = "are there words\nthat restrict\nthe answer?", orange
    if counts.always_on:
        router, colour = "not asked:\nevery problem\ngoes to Stage 1", grey
    cues = [f"{name} {n:,}" for name, n in counts.cues.items()]
    lists = "the model lists\nwhat any answer\nmust satisfy"
    solves = "the model solves\nunder these and\nchecks each step"
    step, lower = "the model solves step by step", (2.41, 0.0, 1.92, _direct_height(counts))
    directly = counts.texts(counts.problems - solved)
    return [
        _Box("problem", "Problem", "its text and\nnothing else", spot(0.0, 0.96), counts=given),
        _Box("router", "Router", router, spot(1.2, 1.02), colour, cues),
        _Box("stage1", "Stage 1", lists, spot(2.82, 1.1), blue, rungs[:4]),
        _Box("stage2", "Stage 2", solves, spot(4.16, 1.2), green, counts.texts(solved)),
        _Box("answer", "Answer", "read from\nthe reply", spot(5.6, 1.0)),
        _Box("direct", "Direct CoT", step, lower, grey, directly),
    ]


def _direct_height(counts: FlowCounts) -> float:
    return 0.58 if counts.problems else 0.45


def _draw_box(page: Sheet, box: _Box) -> None:
    left, bottom, width, height = box.place
    shape = load("patches").FancyBboxPatch(
        *((left, bottom), width, height),
        boxstyle="round,pad=0,rounding_size=0.07",
        facecolor=(box.colour, 0.13),
        edgecolor=box.colour if box.colour != canvas.INK else canvas.MUTED,
        linewidth=1.2,
    )
    page.add(shape, f"box-{box.name}")
    middle, y = left + width / 2, bottom + height - 0.16
    page.line(middle, y, box.title, ha="center", size=canvas.SIZE, weight="bold")
    for number, line in enumerate(box.body.split("\n"), start=1):
        page.line(middle, y - number * _LINE - 0.02, line, ha="center", size=_BODY, muted=True)
    for number, line in enumerate(reversed(box.counts)):
        low, gid = bottom + 0.11 + number * _LINE, f"count-{box.name}-{number}"
        page.line(middle, low, line, ha="center", size=_BODY, weight="bold", gid=gid)


def _draw_arrows(page: Sheet, counts: FlowCounts, y: float) -> None:
    """Draw the arrows, each with its name and its number of problems."""
    on, past = ("cue", "no cue") if counts.by_cue else ("routed", "not routed")
    if counts.always_on:
        on, past = "always", ""
    _arrow(page, "problem", [(0.98, y), (1.18, y)])
    _arrow(page, "cue", [(2.24, y), (2.8, y)])
    _name_way(page, "cue", [on, *counts.texts(counts.staged)], (2.5, y), "center")
    _arrow(page, "constraints", [(3.94, y), (4.14, y)])
    _arrow(page, "answer", [(5.38, y), (5.58, y)])
    if past:
        _arrow(page, "no-cue", [(1.71, _BOTTOM - 0.02), (1.71, 0.26), (2.39, 0.26)])
        _name_way(page, "no-cue", [past, *counts.texts(counts.direct)], (2.05, 0.26), "center")
    _arrow(page, "unusable", [(3.37, _BOTTOM - 0.02), (3.37, _direct_height(counts) + 0.02)])
    label = " ".join(["not usable", *counts.texts(counts.fallback)])
    _name_way(page, "unusable", [label], (3.44, 0.72), "left")
    _arrow(page, "direct-answer", [(4.35, 0.26), (6.1, 0.26), (6.1, _BOTTOM - 0.02)])


def _arrow(page: Sheet, name: str, way: list[tuple[float, float]]) -> None:
    arrow = load("patches").FancyArrowPatch(
        path=load("path").Path(way),
        arrowstyle="-|>,head_length=4,head_width=2",
        color=canvas.INK,
        linewidth=1.1,
        joinstyle="miter",
        capstyle="butt",
    )
    page.add(arrow, f"arrow-{name}")


def _name_way(
    page: Sheet, name: str, lines: list[str], spot: tuple[float, float], align: str
) -> None:
    """Write an arrow's name above it, and its number of problems below."""
    x, y = spot
    for number, (line, up) in enumerate(zip(lines, (0.095, -0.1), strict=False)):
        page.line(x, y + up, line, ha=align, size=_BODY, gid=f"way-{name}-{number}")


def _flow_notes(counts: FlowCounts) -> Iterator[str]:
    yield f"Numbers are {clean(counts.unit)}."
    if counts.cues:
        yield "A cue is what the text-only router finds in a problem's text."
    if counts.always_on:
        ends = ", with a cue or without" if counts.cues else ""
        yield f"This method asks no router: every problem has a Stage 1{ends}."
    elif counts.cues and not counts.by_cue:
        yield "This method does not decide by these cues alone."


def _alt(counts: FlowCounts) -> str:
    ways = {
        "in all": counts.problems,
        **{f"with{'' if name == 'cue' else 'out'} a cue": n for name, n in counts.cues.items()},
        "with a Stage 1": counts.staged,
        "straight to Direct CoT": counts.direct,
        "back to Direct CoT": counts.fallback,
    }
    numbers = canvas.listed(f"{number:,} {way}" for way, number in ways.items())
    sent = (
        "every problem, with a cue or without, goes to Stage 1, which lists constraints, and Stage "
        "2, which solves under them; where Stage 1 cannot be used, to Direct CoT"
        if counts.always_on
        else "a router looks for words that restrict the answer; with a cue, a problem goes to "
        "Stage 1, which lists constraints, and Stage 2, which solves under them; without one, or "
        "where Stage 1 cannot be used, to Direct CoT"
    )
    listing = f" ({clean(counts.unit)}: {numbers})." if counts.problems else "."
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


@lru_cache(maxsize=1)
def _audit(context: Context) -> RouterAudit:
    return audit_router(context.study)


def _activation(context: Context) -> Iterator[Table]:
    if (audit := _audit(context)).families:
        yield from (rates_table(audit), patterns_table(audit), convention_table(audit))


def _cofire(context: Context) -> Iterator[Table]:
    study, method, baseline = context.compared
    if (audit := _audit(context)).families:
        yield cofire_table(study, audit, method, baseline, context.options.labels)


def _routers(context: Context) -> Iterator[Table]:
    if (audit := _audit(context)).families:
        made = routers_table(context.study, audit)
        # With only the reference there is no comparison.
        alone = len(made.rows) == 1
        yield replace(made, rows=(), notes=(ONE_ROUTER,)) if alone else made


def _figures(context: Context) -> Iterator[Figure | None]:
    # Without a kind of CFR there is no protocol to draw.
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
