"""Samples of attempts for a person to judge; the same seed draws the same sample again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from constraint_first.analysis.audit.manual.label import Label, name_attempt, unmarked
from constraint_first.analysis.notation import several
from constraint_first.analysis.study.study import Attempt, Study, StudyError, Transcript
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.error import InputError
from constraint_first.evaluation.record import RecordKey

__all__ = ["Sample", "draw", "refuse_mismatch", "resume"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Sampled attempts, in the order in which they are judged."""

    keys: tuple[RecordKey, ...]
    eligible: int
    """How many problems, each counted once for each model, it was drawn from."""
    without: int
    """How many attempts have a Stage 1 that lists no constraint; they are left out."""


def draw(
    study: Study,
    *,
    size: int,
    seed: int,
    benchmark: str | None = None,
    model: str | None = None,
    method: str | None = None,
) -> Sample:
    """Draw attempts that have Stage 1 constraints, at most one for each problem and model.

    Models take turns, so that any beginning of the sample is balanced over them. Attempts are
    ranked by hashes of the seed and their names, so neither the order of rows nor the size that is
    asked for changes who comes first.
    """
    chosen = study.only(
        benchmark=[benchmark] if benchmark else [],
        model=[model] if model else [],
        method=[method] if method else [],
    )
    places: dict[tuple[str, str, str], list[RecordKey]] = defaultdict(list)
    without = 0
    for arm in chosen.arms:
        for problem, attempts in arm.attempts.items():
            for attempt in attempts:
                if _lists_any(attempt):
                    key = (*arm.key, problem, attempt.run)
                    places[arm.model, arm.benchmark, problem].append(key)
                else:
                    without += attempt.extraction is not None
    if not places:
        what = [repr(name) for name in (benchmark, model, method) if name]
        among = f" of {', '.join(what)}" if what else ""
        raise StudyError(
            f"{study.source}: no attempt{among} has Stage 1 constraints; "
            "run 'cfr eval' with the method cfr or routed-cfr first"
        )
    return Sample(_in_turn(places, seed)[:size], len(places), without)


def _in_turn(
    places: dict[tuple[str, str, str], list[RecordKey]], seed: int
) -> tuple[RecordKey, ...]:
    """Choose an attempt at each place; all models' first places come first, then their second."""
    turns: dict[str, int] = defaultdict(int)
    ranked: list[tuple[int, bytes, RecordKey]] = []
    for lot, place in sorted((_lot(seed, place), place) for place in places):
        key = min(places[place], key=lambda key: _lot(seed, key))
        ranked.append((turns[place[0]], lot, key))
        turns[place[0]] += 1
    return tuple(key for _, _, key in sorted(ranked))


def _lot(seed: int, names: tuple[str | int, ...]) -> bytes:
    return hashlib.sha256(repr((seed, *names)).encode()).digest()


def _lists_any(attempt: Attempt) -> bool:
    found = attempt.extraction
    return found is not None and bool(found.kinds or found.propagated)


def resume(sample: Sample, labels: Iterable[Label], annotator: str) -> list[RecordKey]:
    """List the attempts of a sample that an annotator has still to judge, in order."""
    judged = {label.key for label in labels if label.annotator == annotator and label.complete}
    return [key for key in sample.keys if key not in judged]


def refuse_mismatch(
    labels: Iterable[Label], transcripts: Mapping[RecordKey, Transcript], source: str
) -> None:
    """Refuse labels of attempts that have other constraints now; attempts elsewhere are fine."""
    for label in labels:
        if label.key in transcripts:
            spec = transcripts[label.key].constraints or ConstraintSpec()
            now = unmarked(label.annotator, label.key, spec)
            if not label.same_constraints(now):
                raise InputError(
                    f"{source}: {name_attempt(label.key)} has {_difference(now, label)}; these are "
                    "not the runs that were judged: name those, or a new file of labels"
                )


def _difference(now: Label, label: Label) -> str:
    pairs = list(zip(now.constraints, label.constraints, strict=False))
    named = all((one.id, one.stage) == (was.id, was.stage) for one, was in pairs)
    if named and len(now.constraints) == len(label.constraints):
        names = ", ".join(one.id for one, was in pairs if not one.same(was))
        return f"other words in {names} than those that {label.annotator} judged"
    return f"{_say(now)}, but {label.annotator} judged {_say(label)}"


def _say(label: Label) -> str:
    names = ", ".join(one.id for one in label.constraints) or "none"
    return f"{several(len(label.constraints), 'constraint')} ({names})"
