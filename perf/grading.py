"""Grading beside math-verify: the same cases, one after the other, in one run.

    .venv/bin/python perf/grading.py

Accuracy is on the collections under tests/answer: cases.jsonl, of which a third was held aside, and
forms.jsonl, which has equivalent forms and near misses. More near misses are made from the gold
answers of the first. math-verify is called as its manual says, with its own time limits.
"""

from __future__ import annotations

import json
import logging
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from constraint_first.answer.extract import extract
from constraint_first.answer.grade import grade, grade_reply
from constraint_first.answer.value import interpret

ANSWER_TESTS = Path(__file__).parent.parent / "tests" / "answer"
sys.path.insert(0, str(ANSWER_TESTS))

from collection import same_reading  # noqa: E402
from near_miss import near_misses  # noqa: E402
from test_hostile import HOSTILE  # noqa: E402

Grade = Callable[[str, str], bool]
PARAGRAPH = "Let us compute step by step, keeping every term, before we add them up. "


@dataclass
class Result:
    """Verdicts of one grader on one set, and the seconds that each took."""

    verdicts: list[bool]
    seconds: list[float]

    def percentile(self, share: float) -> float:
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


def ours(pred: str, gold: str) -> bool:
    return grade_reply(pred, gold).correct


def bare(pred: str, gold: str) -> bool:
    return grade(pred, gold).correct


def peer() -> Grade:
    import math_verify  # pyright: ignore[reportMissingTypeStubs]

    logging.disable(logging.CRITICAL)

    def theirs(pred: str, gold: str) -> bool:
        delimited = gold if "$" in gold or "\\boxed" in gold else f"${gold}$"
        bare = "\\boxed" in pred or "$" in pred or "\n" in pred or "answer" in pred.lower()
        return bool(
            math_verify.verify(
                math_verify.parse(delimited), math_verify.parse(pred if bare else f"${pred}$")
            )
        )

    return theirs


def run(grader: Grade, pairs: list[tuple[str, str]]) -> Result:
    verdicts: list[bool] = []
    seconds: list[float] = []
    for pred, gold in pairs:
        started = time.perf_counter()
        verdicts.append(grader(pred, gold))
        seconds.append(time.perf_counter() - started)
    return Result(verdicts, seconds)


def load(name: str) -> list[dict[str, str]]:
    lines = (ANSWER_TESTS / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def accuracy(cases: list[dict[str, str]], result: Result, split: str) -> str:
    pairs = [
        (case["verdict"] == "correct", verdict)
        for case, verdict in zip(cases, result.verdicts, strict=True)
        if case["split"] == split
    ]
    right = sum(expected == verdict for expected, verdict in pairs)
    return f"{right}/{len(pairs)} ({100 * right / len(pairs):.1f} %)"


def integers_per_second(grader: Grade, count: int) -> float:
    body = PARAGRAPH * 80
    pairs = [(f"{body}The answer is $\\boxed{{{n}}}$.", str(n)) for n in range(count)]
    started = time.perf_counter()
    assert all(grader(pred, gold) for pred, gold in pairs)
    return count / (time.perf_counter() - started)


def row(label: str, us: str, them: str) -> None:
    print(f"| {label} | {us} | {them} |")


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f} ms"


def compare() -> None:
    cases = load("cases.jsonl")
    pairs = [(case["pred"], case["gold"]) for case in cases]
    golds = sorted({case["gold"] for case in cases if case["tag"] != "completion"})
    misses = [(miss, gold) for gold in golds for miss in near_misses(gold)]
    theirs = peer()
    grade_reply("x", "2x")  # both graders have started before the clock does
    theirs("x", "2x")
    interpret.cache_clear()
    mine, other = run(ours, pairs), run(theirs, pairs)
    near, near_other = run(ours, misses), run(theirs, misses)
    print("| | cfr | math-verify |\n| --- | ---: | ---: |")
    for split in ("tune", "held"):
        row(f"accuracy, {split}", accuracy(cases, mine, split), accuracy(cases, other, split))
    expected = [case["verdict"] == "correct" for case in cases]
    false = [
        sum(said and not right for said, right in zip(result.verdicts, expected, strict=True))
        for result in (mine, other)
    ]
    row("false positives in the collection", str(false[0]), str(false[1]))
    same = f"of {len(misses)} near misses, called correct"
    row(same, str(sum(near.verdicts)), str(sum(near_other.verdicts)))
    compare_forms(theirs)
    row("median a case", *(milliseconds(r.percentile(0.5)) for r in (mine, other)))
    row("p99 a case", *(milliseconds(r.percentile(0.99)) for r in (mine, other)))
    speed, other_speed = integers_per_second(ours, 4000), integers_per_second(theirs, 100)
    row("integer golds a second, 6 kB replies", f"{speed:,.0f}", f"{other_speed:,.0f}")
    print(f"\nRatio of medians: {other.percentile(0.5) / mine.percentile(0.5):.0f}.")


def compare_forms(theirs: Grade) -> None:
    """Count what is right on equivalent forms and on near misses, and the time of both."""
    forms = load("forms.jsonl")
    for verdict, kind in (("correct", "equivalent forms"), ("incorrect", "near misses")):
        pairs = [(form["pred"], form["gold"]) for form in forms if form["verdict"] == verdict]
        results = run(bare, pairs), run(theirs, pairs)
        right = [sum(said == (verdict == "correct") for said in r.verdicts) for r in results]
        row(f"right on {len(pairs)} {kind}", *map(str, right))
        row(f"seconds for {len(pairs)} {kind}", *(f"{sum(r.seconds):.1f} s" for r in results))


def exact_tier() -> None:
    cases = load("cases.jsonl")
    verdicts = [grade_reply(case["pred"], case["gold"]) for case in cases]
    interpret.cache_clear()
    verdicts = [grade_reply(case["pred"], case["gold"]) for case in cases]
    exact = sorted(verdict.seconds for verdict in verdicts if verdict.tier == "exact")
    share = 100 * len(exact) / len(verdicts)
    print(
        f"\nThe exact tier decides {share:.0f} %: median {milliseconds(statistics.median(exact))},"
        f" p99 {milliseconds(exact[int(0.99 * len(exact))])}."
    )


def extraction() -> None:
    replies = load("replies.jsonl")
    for split in ("tune", "held"):
        chosen = [reply for reply in replies if reply["split"] == split]
        right = sum(extract(reply["text"]).answer == reply["answer"] for reply in chosen)
        print(f"Extraction, {split}: {right}/{len(chosen)}.")
    styles = load("styles.jsonl")
    for split in dict.fromkeys(reply["split"] for reply in styles):
        chosen = [reply for reply in styles if reply["split"] == split]
        right = sum(
            same_reading(extract(reply["text"]).answer, reply["answer"]) for reply in chosen
        )
        print(f"Extraction in many styles, {split}: {right}/{len(chosen)}.")


def hostile() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worst = max(
        grade_reply(pred, gold).seconds
        for text in HOSTILE.values()
        for pred, gold in ((text, "5"), ("5", text), (text, "x+1"))
    )
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"Hostile text: worst case {milliseconds(worst)}, the parent grew by {grown:.0f} MB.")


if __name__ == "__main__":
    hostile()
    extraction()
    exact_tier()
    compare()
