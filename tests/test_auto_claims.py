"""The tables of docs/calibration.md on what ``auto`` acts on and checks, computed again.

What the policy that comes with the package scores now is computed from attempts that were stored
before: where it leads to another method than then, the stored attempt of Direct CoT on the same
problem and run takes the place of the policy's own.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from constraint_first.benchmark.registry import load
from constraint_first.constraint.kind import read_kind
from constraint_first.constraint.stated.read import read_stated
from constraint_first.method.policy import Calibrated
from constraint_first.method.registry import make
from constraint_first.problem import Problem

DOCS = Path(__file__).parents[1] / "docs"
POLICY = "calibrated(policy=qwen2.5-coder-1.5b-instruct)"
CHECKED = "until-agreed(base=program(style=short,tokens=250),most=4,agree=1)"
UNCHECKED = "until-agreed(base=program(style=short,tokens=250,check=off),most=4,agree=1,check=off)"
PUBLIC = ("gsm8k", "math500", "aime24", "aime25")
OWN = ("constraintbench", "constraintbench-1-seed-5101")


def rows(head: str) -> dict[str, list[float]]:
    """Read the table under a head of the page: the numbers of each row, by its first cell."""
    page = (DOCS / "calibration.md").read_text(encoding="utf-8")
    lines = page[page.index(head) :].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: [float(one.replace(",", "")) for one in numbers] for name, *numbers in cells}


@cache
def attempts() -> dict[tuple[str, str], dict[tuple[str, int], bool]]:
    """Read what was right, by benchmark and method, then by problem and run."""
    found: dict[tuple[str, str], dict[tuple[str, int], bool]] = defaultdict(dict)
    with gzip.open(DOCS / "results" / "programs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["method"] in ("direct", POLICY, CHECKED, UNCHECKED):
                key = row["problem"], row["run"]
                found[row["benchmark"], row["method"]][key] = bool(row["correct"])
    return found


def measure(name: str, source: str) -> list[float]:
    """Count the problems that go another way now, and score Direct CoT, then, and now."""
    method = make(POLICY)
    assert isinstance(method, Calibrated)
    direct, then = attempts()[name, "direct"], attempts()[name, POLICY]
    posed = {one.id: Problem(one.text) for one in load(source).problems}
    problems = {problem for problem, _ in then}
    untouched = {one for one in problems if method.leaves_alone(posed[one])}
    changed = {one for one in problems - untouched if method.choose(posed[one]).why}
    now = [direct[key] if key[0] in changed | untouched else right for key, right in then.items()]
    shares = [100 * sum(one) / len(one) for one in (direct.values(), then.values(), now)]
    return [len(problems), len(changed), len(untouched), *shares]


@pytest.mark.parametrize("name", OWN)
def test_what_the_policy_scores_now(name: str) -> None:
    path = DOCS / "results" / "problems" / f"{name}.jsonl"
    found = measure(name, str(path) if path.is_file() else name)
    assert rows("| benchmark | problems |")[name] == pytest.approx(found, abs=0.051)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_the_policy_scores_now_on_public_sets(
    name: str, benchmark_file: Callable[[str], Path]
) -> None:
    found = measure(name, str(benchmark_file(name)))
    assert rows("| benchmark | problems |")[name] == pytest.approx(found, abs=0.051)


def measure_checks(name: str, source: str) -> list[float]:
    """Score the policy's method without checks, with those of then, and with what is left."""
    checked, unchecked = attempts()[name, CHECKED], attempts()[name, UNCHECKED]
    keys = checked.keys() & unchecked.keys()
    stating = {one.id for one in load(source).problems if read_stated(one.text)}
    now = [(checked if key[0] in stating else unchecked)[key] for key in keys]
    sides = ([unchecked[key] for key in keys], [checked[key] for key in keys], now)
    found = sum(key[0] in stating for key in keys)
    return [len(keys), found, *(100 * sum(one) / len(one) for one in sides)]


@pytest.mark.parametrize("name", OWN)
def test_what_the_remaining_rules_leave(name: str) -> None:
    path = DOCS / "results" / "problems" / f"{name}.jsonl"
    found = measure_checks(name, str(path) if path.is_file() else name)
    assert rows("| set | problems |")[name] == pytest.approx(found, abs=0.051)


@pytest.mark.parametrize("name", ["gsm8k", "math500"])
def test_what_the_remaining_rules_leave_of_public_sets(
    name: str, benchmark_file: Callable[[str], Path]
) -> None:
    found = measure_checks(name, str(benchmark_file(name)))
    assert rows("| set | problems |")[name] == pytest.approx(found, abs=0.051)


def test_how_much_is_recognised(benchmark_file: Callable[[str], Path]) -> None:
    panel = benchmark_file("panel/svamp").parent
    for name, claimed in rows("| set | rows |").items():
        path = next(one for one in (panel, panel.parent) if (one / f"{name}.jsonl").is_file())
        lines = (path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        kinds = [read_kind(json.loads(line)["problem"]).what for line in lines]
        found = [
            100 * half.count(what) / len(half)
            for what in ("problem", "demand")
            for half in (kinds[::2], kinds[1::2])
        ]
        # Demands are read by rules of their own, which change for reasons of their own.
        assert claimed[:3] == pytest.approx([len(kinds), *found[:2]], abs=0.051), name
