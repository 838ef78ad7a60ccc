"""Tables of the router's activation, cue families and gains by cue families.

Paper: Router Behavior; appendices Benchmark Scope and Router Behavior, Complete Router Pattern
Analysis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from constraint_first.analysis.audit.manual.annotation import completeness_of
from constraint_first.analysis.audit.manual.label import Label
from constraint_first.analysis.audit.routing import (
    FAMILY_LABELS,
    CoFire,
    RouterAudit,
    activations,
    cofire,
    family_counts,
)
from constraint_first.analysis.notation import NONE, counted, interval, percent, several
from constraint_first.analysis.statistics.subset import BASELINE, ModelPairs, pairs_by_model
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.gain import absent, gain_cell
from constraint_first.analysis.table.note import GAIN_INTERVAL
from constraint_first.analysis.table.table import Column, Row, Table, row
from constraint_first.constraint.router import aime_convention

__all__ = ["cofire_table", "convention_table", "patterns_table", "rates_table"]


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
