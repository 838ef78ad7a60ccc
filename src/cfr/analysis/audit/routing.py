"""What the text-only router does on a study's problems.

Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
Analysis.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cfr.analysis.notation import NONE, counted, percent, several
from cfr.analysis.statistics.subset import BASELINE, Gain, Key
from cfr.analysis.statistics.subset import ModelPairs as Sides
from cfr.analysis.statistics.subset import pairs_by_model as sides
from cfr.analysis.study.study import ProblemText as Asked
from cfr.analysis.study.study import Study, benchmark_label, model_label
from cfr.analysis.table.gain import absent, gain_cell
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.constraint.router import FAMILIES, aime_convention, route

__all__ = [
    "FAMILY_LABELS",
    "Activation",
    "CoFire",
    "RouterAudit",
    "activations",
    "audit_router",
    "cofire",
    "cofire_table",
    "convention_table",
    "patterns_table",
    "rates_table",
]

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

_PHRASES_SHOWN: Final = 4
_GROUPS: Final = ("0", "1", "2", "3", "4+")


@dataclass(frozen=True, slots=True)
class RouterAudit:
    """What fired on each problem of a study."""

    families: Mapping[Key, tuple[str, ...]]
    """The cue families that a problem's text has; none where it is not routed."""
    phrases: Mapping[str, Counter[str]]
    """By family: in how many problems each phrase stands."""
    untold: Mapping[str, int]
    """By benchmark: how many problems have attempts and no text."""
    milliseconds: float | None
    """Mean time for one problem, measured here and now; None without problems."""

    def silent(self, benchmarks: Sequence[str] | None = None) -> tuple[str, ...]:
        """Say in words which problems could not be routed for want of their text."""
        return tuple(
            f"{benchmark_label(name) or 'This set'}, left out for want of a text: "
            f"{several(count, 'problem')}."
            for name, count in self.untold.items()
            if count and (benchmarks is None or name in benchmarks)
        )


def audit_router(study: Study) -> RouterAudit:
    """Route every problem of a study by its text."""
    started = time.perf_counter()
    fired = {key: route(asked.text) for key, asked in study.problems.items() if asked.text}
    seconds = time.perf_counter() - started
    phrases = {family: Counter[str]() for family in FAMILIES}
    for key, cues in fired.items():
        for cue in cues:
            found = cue.phrases(study.problems[key].text)
            phrases[cue.family].update(dict.fromkeys(map(_plain, found), 1))
    return RouterAudit(
        families={key: tuple(cue.family for cue in cues) for key, cues in fired.items()},
        phrases=phrases,
        untold=_untold(study),
        milliseconds=1_000 * seconds / len(fired) if fired else None,
    )


def _plain(phrase: str) -> str:
    return re.sub(r"\s*\+\s*", "+", " ".join(phrase.casefold().split()))


_UNASKED: Final = Asked("")


def _untold(study: Study) -> dict[str, int]:
    attempted: dict[str, set[str]] = {}
    for arm in study.arms:
        attempted.setdefault(arm.benchmark, set()).update(arm.attempts)
    return {
        name: sum(not study.problems.get((name, problem), _UNASKED).text for problem in problems)
        for name, problems in attempted.items()
    }


@dataclass(frozen=True, slots=True)
class Activation:
    """How many problems of a benchmark the router sends to two stages."""

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


def rates_table(audit: RouterAudit) -> Table:
    """Show how often the router fires on each benchmark."""
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
    """Show what each cue family found, and where it stands most often."""
    total = len(audit.families)
    by_benchmark = Counter(
        (name, family) for (name, _), families in audit.families.items() for family in families
    )
    counts = Counter(family for families in audit.families.values() for family in families)
    told = list(dict.fromkeys(name for name, _ in audit.families))
    benchmarks = told if len(told) > 1 else []
    rows = [
        row(
            FAMILY_LABELS[family],
            _most_often(audit.phrases[family]),
            f"{counts[family]:,}",
            percent(counts[family] / total),
            *(f"{by_benchmark[name, family]:,}" for name in benchmarks),
        )
        for family in FAMILIES
        if total
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
    """Show the AIME control: what the text routes, and what its answer convention would add."""
    aime = [one for one in activations(audit) if aime_convention(one.benchmark)]
    rows = [
        row("Text-only router", *(counted(one.routed, one.total) for one in aime)),
        row("+ AIME convention", *(counted(one.with_convention, one.total) for one in aime)),
    ]
    untold = [name for name, count in audit.untold.items() if count and aime_convention(name)]
    missing = "No benchmark of this study has a name that begins with aime."
    silent = audit.silent([*(one.benchmark for one in aime), *untold])
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
        *audit.silent(),
    )


@dataclass(frozen=True, slots=True)
class CoFire:
    """The problems on which so many cue families fire, and a method's gain there."""

    model: str
    families: str
    """How many families: 0, 1, 2, 3 or 4+."""
    gain: Gain | None
    """With the number of problems; None where there are none."""


def cofire(
    study: Study, audit: RouterAudit, method: str, baseline: str = BASELINE
) -> tuple[CoFire, ...]:
    """Measure a method's gain by the number of cue families that fire, model by model."""
    groups: dict[str, set[Key]] = {name: set() for name in _GROUPS}
    for key, families in audit.families.items():
        groups[_GROUPS[min(len(families), 4)]].add(key)
    return tuple(
        CoFire(side.model, name, side.gain(keys))
        for side in sides(study, method, baseline)
        for name, keys in groups.items()
    )


def cofire_table(study: Study, audit: RouterAudit, method: str, baseline: str = BASELINE) -> Table:
    """Show gains by the number of cue families that fire."""
    both = sides(study, method, baseline)
    found = cofire(study, audit, method, baseline)
    names = both[0].names if both else (baseline, method)
    columns = (
        *(Column("Model", "left"), Column("Families matched", "left"), Column("Problems")),
        Column("Δ points [95 %]"),
    )
    rows = (
        row(
            model_label(one.model) if one.families == "0" else "",
            "0 (not routed)" if one.families == "0" else one.families,
            f"{one.gain.n if one.gain else 0:,}",
            gain_cell(one.gain),
        )
        for one in found
    )
    return Table(
        "cofire",
        f"Gain of {names[1]} over {names[0]} by the number of cue families matched",
        columns,
        tuple(rows),
        notes=tuple(_cofire_notes(audit, both)) if both else (absent(method, baseline),),
        paper=("tab:pattern-cofire",),
    )


def _cofire_notes(audit: RouterAudit, both: Sequence[Sides]) -> Iterator[str]:
    for side in both:
        yield f"{model_label(side.model)}: problems of {side.where} that were judged on both sides."
    yield "Problems with more cues differ in other ways too: these gains do not show what cues do."
    yield from audit.silent(tuple(dict.fromkeys(b for side in both for b in side.benchmarks)))
