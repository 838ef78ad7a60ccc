"""Studies small enough that every figure about them can be worked out by hand."""

from collections.abc import Collection, Mapping, Sequence

from cfr.analysis.study.study import Arm, Asked, Attempt, Extraction, Spent, Study, Transcript
from cfr.evaluation.record import RecordKey

__all__ = ["arm", "attempt", "study", "texts"]

LABELS = {"direct": "Direct CoT", "cfr": "CFR (always-on)", "routed-cfr": "Routed-CFR"}


def attempt(
    mark: str,
    run: int = 0,
    answer: str | None = None,
    *,
    kinds: Sequence[str] | None = None,
    propagated: int = 0,
    rung: str = "parsed",
    routed: bool | None = None,
) -> Attempt:
    """Make an attempt: + is right, - wrong, 0 without an answer, ? failed."""
    status = {"0": "unparsed", "?": "failed"}.get(mark, "ok")
    correct = None if mark == "?" else mark == "+"
    made = Extraction(rung, tuple(kinds), propagated) if kinds is not None else None
    return Attempt(run, status, correct, answer, routed=routed, extraction=made)


def arm(
    method: str,
    marks: Mapping[str, str | Sequence[Attempt]],
    *,
    benchmark: str = "set",
    model: str = "model",
    decoding: str = "{}",
    stages: Mapping[str, Spent] | None = None,
) -> Arm:
    """Make an arm; a problem's runs are a text of marks, or attempts."""
    attempts = {
        problem: [attempt(mark, run) if isinstance(mark, str) else mark for run, mark in numbered]
        for problem, runs in marks.items()
        for numbered in [list(enumerate(runs))]
    }
    label = LABELS.get(method.partition("(")[0], method)
    return Arm(benchmark, method, label, model, decoding, attempts, dict(stages or {}))


def texts(
    problems: Mapping[str, str], benchmark: str = "set", gold: Mapping[str, str] | None = None
) -> dict[tuple[str, str], Asked]:
    """Pose problems."""
    return {(benchmark, name): Asked(t, (gold or {}).get(name)) for name, t in problems.items()}


def study(
    *arms: Arm,
    problems: Mapping[tuple[str, str], Asked] | None = None,
    transcripts: Mapping[RecordKey, Transcript] | None = None,
) -> Study:
    """Put arms together."""

    def find(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        return {key: said for key, said in (transcripts or {}).items() if key in wanted}

    return Study("by hand", arms, problems or {}, find)
