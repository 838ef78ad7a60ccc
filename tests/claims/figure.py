"""The figure of docs/results that shows accuracy against tokens of all methods.

``python -m claims.figure``, in ``tests``, draws it anew.
"""

import re
from dataclasses import replace
from functools import cache

from constraint_first.report.canvas import Figure
from constraint_first.report.exhibit.cost import frontier_figures
from constraint_first.report.study import Arm

from .data import RESULTS, shipped

FILE = "programs.jsonl.gz"
_BENCHMARK = "constraintbench"
_TOLD_APART_BY = re.compile(r"\b(?!base|policy|most|agree|tokens)\w+=\w+")
"""The options that are worth a place in a label."""


@cache
def frontier() -> Figure:
    """Draw the methods, with their checks, on the problems that nearly all of them have."""
    study = shipped(FILE).only(benchmark=[_BENCHMARK])
    (program,) = study.select(method="program")
    arms = [
        one
        for one in study.arms
        if program.scores.keys() <= one.scores.keys() and "check=off" not in one.method
    ]
    (figure,) = frontier_figures(
        replace(study, arms=tuple(_first(one, program.scores) for one in arms))
    )
    return figure


def _first(arm: Arm, problems: dict[str, tuple[int, int]]) -> Arm:
    options = dict.fromkeys(_TOLD_APART_BY.findall(arm.method))
    name = ", ".join((arm.method.partition("(")[0], *options))
    attempts = {problem: arm.attempts[problem] for problem in problems}
    return replace(arm, method=name, label=name, attempts=attempts)


if __name__ == "__main__":
    (RESULTS / "frontier-programs.png").write_bytes(frontier().png)
