"""What the policy that comes with the package scores now, from attempts that were stored before.

Where it leads to another method than then, the stored attempt of Direct CoT on the same problem and
run takes the place of the policy's own. Direct CoT also stands for the request as it is, of which
no attempts on these problems were stored.

python tests/routing_now.py
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cfr.benchmark.registry import load
from cfr.method import make
from cfr.method.calibrated import Calibrated
from cfr.problem import Problem

RESULTS = Path(__file__).parents[1] / "docs" / "results"
POLICY = "calibrated(policy=qwen2.5-coder-1.5b-instruct)"
FRESH = "constraintbench-1-seed-5101"
SETS = ("constraintbench", FRESH, "gsm8k", "math500", "aime24", "aime25")


class Now(NamedTuple):
    """One benchmark: shares of right answers in percent, and how many problems go another way."""

    problems: int
    to_direct: int
    """Problems that had programs and now go to Direct CoT: they ask for no single number."""
    untouched: int
    """Problems that are not recognised, and go to the model as they are."""
    direct: float
    then: float
    now: float


@cache
def attempts() -> dict[tuple[str, str], dict[tuple[str, int], bool]]:
    """Read what was right, by benchmark and method, then by problem and run."""
    found: dict[tuple[str, str], dict[tuple[str, int], bool]] = defaultdict(dict)
    with gzip.open(RESULTS / "programs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["method"] in ("direct", POLICY):
                key = row["problem"], row["run"]
                found[row["benchmark"], row["method"]][key] = bool(row["correct"])
    return found


def measure(name: str) -> Now:
    """Score one benchmark; it must be there, in the package or under CFR_DATA."""
    path = RESULTS / "problems" / f"{name}.jsonl"
    texts = {one.id: one.text for one in load(str(path) if path.is_file() else name).problems}
    method = make(POLICY)
    assert isinstance(method, Calibrated)
    policy, direct, then = method.policy, attempts()[name, "direct"], attempts()[name, POLICY]
    problems = {problem for problem, _ in then}
    changed, untouched = set[str](), set[str]()
    for one in problems:
        posed = Problem(texts[one])
        chosen = method.choose(posed)
        if method.leaves_alone(posed):
            untouched.add(one)
        elif chosen.rule == 0 and chosen.why:
            changed.add(one)
    assert policy.rules
    now = [direct[key] if key[0] in changed | untouched else right for key, right in then.items()]
    return Now(
        len(problems),
        len(changed),
        len(untouched),
        *(100 * sum(one) / len(one) for one in (direct.values(), then.values(), now)),
    )


if __name__ == "__main__":
    for name in SETS:
        print(f"{name:30}", *(f"{one:8.1f}" for one in measure(name)))  # noqa: T201
