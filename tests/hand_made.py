"""Studies small enough that every figure about them can be worked out by hand."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from constraint_first.report.study import (
    Arm,
    Extraction,
    Outcome,
    ProblemText,
    StageCost,
    Study,
    Transcript,
)
from constraint_first.report.table import Table
from constraint_first.store.query import RecordKey

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
) -> Outcome:
    """Make an attempt: + is right, - wrong, 0 without an answer, ? failed."""
    status = {"0": "unparsed", "?": "failed"}.get(mark, "ok")
    correct = None if mark == "?" else mark == "+"
    made = Extraction(rung, tuple(kinds), propagated) if kinds is not None else None
    return Outcome(run, status, correct, answer, routed=routed, extraction=made)


def arm(
    method: str,
    marks: Mapping[str, str | Sequence[Outcome]],
    *,
    benchmark: str = "set",
    model: str = "model",
    decoding: str = "{}",
    stages: Mapping[str, StageCost] | None = None,
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
) -> dict[tuple[str, str], ProblemText]:
    """Pose problems."""
    return {
        (benchmark, name): ProblemText(t, (gold or {}).get(name)) for name, t in problems.items()
    }


def study(
    *arms: Arm,
    problems: Mapping[tuple[str, str], ProblemText] | None = None,
    transcripts: Mapping[RecordKey, Transcript] | None = None,
) -> Study:
    """Put arms together."""

    def find(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        return {key: said for key, said in (transcripts or {}).items() if key in wanted}

    return Study("by hand", arms, problems or {}, find)


def costing(one: Arm, used: tuple[int, int], shared: int = 0) -> Arm:
    """Give every attempt of an arm the same tokens."""
    for problem, attempts in one.attempts.items():
        one.attempts[problem] = [
            replace(a, input_tokens=used[0], output_tokens=used[1], shared_tokens=shared)
            for a in attempts
        ]
    return one


def two_benchmarks() -> Study:
    """Two benchmarks and three methods; DeepSeek-V4-Pro, so that the paper has rows for it."""
    model = "deepseek-chat"
    direct = {"1": "+-", "2": "--", "3": "++", "4": "-0"}
    routed = {"1": "++", "2": "+-", "3": "++", "4": "--"}
    return study(
        costing(arm("direct", direct, benchmark="aime24", model=model), (100, 900)),
        costing(arm("routed-cfr", routed, benchmark="aime24", model=model), (500, 1_500)),
        costing(arm("cfr", routed, benchmark="aime24", model=model), (500, 2_500)),
        costing(arm("direct", {"5": "+"}, benchmark="aime25", model=model), (100, 900)),
        costing(arm("routed-cfr", {"5": "-"}, benchmark="aime25", model=model), (500, 1_500)),
        problems=texts({"1": "How many?"}, "aime24"),
    )


def cells(table: Table) -> list[list[str]]:
    """List the texts of a table, row by row."""
    return [[cell.text for cell in line.cells] for line in table.rows]
