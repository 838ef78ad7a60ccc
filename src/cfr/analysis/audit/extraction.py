"""Stage 1 by its own record: how replies parsed, and how much they list.

Paper: Stage 1 Constraint Reliability; appendix JSON Parsing and Error Handling.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cfr.analysis.audit.stage1.gold import Quality
from cfr.analysis.notation import NONE, decimal, interval, percent, share
from cfr.analysis.statistics.interval import Interval, wilson
from cfr.analysis.statistics.resample import bootstrap
from cfr.analysis.statistics.subset import Key
from cfr.analysis.study.study import Arm, Extraction, Study, model_label
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.constraint.recovery import RUNGS

__all__ = [
    "NOTHING",
    "Counts",
    "Mean",
    "Rungs",
    "counts",
    "extracting",
    "extraction_table",
    "parsing_table",
    "replies",
    "rungs",
]

NOTHING: Final = "No attempt of this study has a Stage 1 reply on record."
"""What a table about Stage 1 says where there is none."""


def extracting(study: Study) -> dict[tuple[str, str], list[Arm]]:
    """Group the arms that have a Stage 1 by model and method, in their primary decoding."""
    found: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        if any(attempt.extraction for attempt in arm.all_attempts()):
            found.setdefault((arm.model, arm.method), []).append(arm)
    return found


@dataclass(frozen=True, slots=True)
class Rungs:
    """How the Stage 1 replies of a method came down the recovery ladder."""

    model: str
    name: str
    """The method as tables print it."""
    by_rung: Mapping[str, int]

    @property
    def total(self) -> int:
        """All replies."""
        return sum(self.by_rung.values())

    @property
    def malformed(self) -> int:
        """Replies that were no JSON as they stood."""
        return self.total - self.by_rung.get("parsed", 0)


def rungs(study: Study) -> tuple[Rungs, ...]:
    """Count the rungs of the ladder, by model and method."""
    return tuple(
        Rungs(model, arms[0].name, Counter(e.rung for _, e in replies(arms)))
        for (model, _), arms in extracting(study).items()
    )


def replies(arms: Iterable[Arm]) -> Iterator[tuple[Key, Extraction]]:
    """Go through all Stage 1 replies, each with its problem."""
    for arm in arms:
        for problem, attempts in arm.attempts.items():
            key = (arm.benchmark, problem)
            for attempt in attempts:
                if attempt.extraction:
                    yield key, attempt.extraction


def parsing_table(study: Study) -> Table:
    """Show how Stage 1 replies parsed."""
    found = rungs(study)
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Replies")),
        *(Column(rung.capitalize()) for rung in RUNGS),
        Column("Malformed [95 %]"),
    )
    odd = sum(one.total - sum(one.by_rung.get(rung, 0) for rung in RUNGS) for one in found)
    notes = [
        "Malformed: not JSON as it stood; a fence of code around it is enough. Repaired and fields "
        "were recovered, fully or in part; after fallback the problem was solved without "
        "constraints."
    ]
    if odd:
        notes.append(f"{odd:,} reply(ies) have a rung of another name: they count as malformed.")
    return Table(
        "parsing",
        "Stage 1 replies on the recovery ladder",
        columns,
        tuple(map(_parsing_row, found)),
        notes=tuple(notes) if found else (NOTHING,),
    )


def _parsing_row(one: Rungs) -> Row:
    low, high = wilson(one.malformed, one.total)
    return row(
        model_label(one.model),
        one.name,
        f"{one.total:,}",
        *(share(one.by_rung.get(rung, 0), one.total) for rung in RUNGS),
        percent(one.malformed / one.total) + interval((100 * low, 100 * high)),
    )


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems."""

    value: float
    interval: Interval | None
    """95 %, by bootstrap over problems; None where all problems are alike."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much Stage 1 lists for a problem."""

    model: str
    method: str
    name: str
    raw: Mean
    propagated: Mean
    problems: int
    replies: int


def counts(study: Study) -> tuple[Counts, ...]:
    """Average what Stage 1 lists: over the replies to a problem, then over problems."""
    return tuple(_counts(model, arms) for (model, _), arms in extracting(study).items())


def _counts(model: str, arms: Sequence[Arm]) -> Counts:
    raw: dict[Key, int] = Counter()
    propagated: dict[Key, int] = Counter()
    made: dict[Key, int] = Counter()
    for key, reply in replies(arms):
        made[key] += 1
        raw[key] += len(reply.kinds)
        propagated[key] += reply.propagated
    return Counts(
        model,
        arms[0].method,
        arms[0].name,
        _mean(raw, made),
        _mean(propagated, made),
        problems=len(made),
        replies=sum(made.values()),
    )


def _mean(totals: Mapping[Key, int], runs: Mapping[Key, int]) -> Mean:
    unit = math.lcm(*set(runs.values()))
    values = [totals[key] * unit // count for key, count in runs.items()]
    mean = sum(values) / len(values) / unit
    if len(set(values)) == 1:
        return Mean(mean, None)
    return Mean(mean, bootstrap(values, 1 / unit).interval())


def extraction_table(
    study: Study, quality: Mapping[tuple[str, str], Quality] | None = None
) -> Table:
    """Show how much Stage 1 lists and, where it was audited, how much of that is sound.

    ``quality`` is by model and method.
    """
    found, quality = counts(study), quality or {}
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Problems")),
        *(Column("Raw [95 %]"), Column("Propagated [95 %]")),
        *(Column("Validity"), Column("Halluc."), Column("Judged", "left")),
    )
    chosen = [quality.get((one.model, one.method)) for one in found]
    rows = [_counts_row(one, known) for one, known in zip(found, chosen, strict=True)]
    return Table(
        "extraction",
        "Stage 1: constraints for a problem, and their soundness",
        columns,
        tuple(rows),
        notes=tuple(_extraction_notes(found, chosen)) if found else (NOTHING,),
        paper=("tab:extraction-reliability",),
    )


def _counts_row(one: Counts, quality: Quality | None) -> Row:
    return row(
        model_label(one.model),
        one.name,
        f"{one.problems:,}",
        *(decimal(m.value, 2) + interval(m.interval, 2) for m in (one.raw, one.propagated)),
        *_sound(quality),
        quality.judged if quality else NONE,
    )


def _sound(quality: Quality | None) -> tuple[str, str]:
    if quality is None:
        return NONE, NONE
    valid, made_up = (
        percent(share) + interval(quality.interval(share))
        for share in (quality.validity, quality.hallucination)
    )
    return valid, made_up


def _extraction_notes(found: Sequence[Counts], chosen: Sequence[Quality | None]) -> Iterator[str]:
    yield (
        "Raw: constraints read from the problem. Propagated: consequences that the reply derives. "
        "Both are means over the replies to a problem, then over problems; a reply that could not "
        "be used counts as none."
    )
    known = list(filter(None, chosen))
    if any(one.n for one in known):
        yield (
            "Intervals of validity and hallucination are Wilson's and take statements to be "
            "independent: they are the least uncertainty there is."
        )
    if len(known) < len(found):
        yield f"{NONE}: not audited; it takes problems with gold constraints, or a person."
    yield from dict.fromkeys(note for one in known for note in one.notes)
