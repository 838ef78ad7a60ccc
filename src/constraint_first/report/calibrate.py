"""Cross-validation of a learner: each problem decided by rules that were learnt without it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from constraint_first.benchmark.constraintbench.family import find_item, is_constraintbench
from constraint_first.error import CfrError
from constraint_first.method.method import MethodError
from constraint_first.method.policy import NOT, Evidence, Policy, Rule, plain_model
from constraint_first.method.registry import make
from constraint_first.report.comparison import BASELINE, Key, find_method
from constraint_first.report.reader import Source, open_study
from constraint_first.report.statistics import detectable
from constraint_first.report.study import ModelArms, Study, by_model, find_variant
from constraint_first.report.table import decimal, interval, points, several
from constraint_first.report.tree import (
    DIRECT,
    Group,
    Ints,
    LearningPlan,
    Observations,
    learn,
    observe,
    runs_evidence,
)

FOLDS: Final = 5
"""Parts that problems are shared out into; what four of them teach is tried on the fifth."""


def folds_by_problem(data: Observations, folds: int = FOLDS) -> Ints:
    """Share problems out by a hash of their names: the same ones together, whoever asks."""
    order = sorted(range(len(data.keys)), key=lambda row: _hashed(data.keys[row]))
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order)) % folds
    return found


def _hashed(key: tuple[str, str]) -> bytes:
    return hashlib.sha256("\t".join(key).encode("utf-8", "surrogatepass")).digest()


def folds_by_family(data: Observations, folds: int = FOLDS) -> Ints | None:
    """Share whole families out, the largest first, each to the smallest part; None for one."""
    numbers, sizes = np.unique(data.families, return_counts=True)
    if len(numbers) < 2:
        return None
    filled = np.zeros(min(folds, len(numbers)))
    part: dict[int, int] = {}
    for at in np.argsort(-sizes, kind="stable"):
        emptiest = int(np.argmin(filled))
        part[int(numbers[at])] = emptiest
        filled[emptiest] += sizes[at]
    return np.array([part[int(family)] for family in data.families], dtype=np.int64)


def decide_held_out(data: Observations, folds: Ints, plan: LearningPlan) -> Ints:
    """Decide for the problems of each fold by what all other folds teach."""
    decisions = np.full(len(data.keys), DIRECT, dtype=np.int64)
    for fold in np.unique(folds):
        out = folds == fold
        learnt = learn(data, np.flatnonzero(~out), plan)
        decisions[out] = learnt.decide(data.features[out])
    return decisions


# The answer of a calibration in words: should this be switched on for this model?


def say_yes(policy: Policy, whole: Evidence) -> str:
    """Say what to expect, where it comes from and what stays with the baseline."""
    sources = [
        f"{rule.method} on problems {rule.words}" + _gained(rule.evidence) for rule in policy.rules
    ]
    return " ".join(
        (
            f"Yes: on problems like these, expect {shown(whole)}, each problem by rules learnt",
            f"without it. The gain comes from {'; '.join(sources)}.",
            *_rest(policy),
            _elsewhere(policy),
        )
    )


def _gained(evidence: Evidence | None) -> str:
    if evidence is None:
        return ""
    said = f"{points(evidence.gain)}{interval(evidence.interval)}"
    return f" ({said} on {several(evidence.problems, 'problem')})"


def _rest(policy: Policy) -> tuple[str, ...]:
    if any(not rule.when for rule in policy.rules):
        return ()
    return (f"All other problems are left to {policy.otherwise}.",)


def _elsewhere(policy: Policy) -> str:
    """Say whether it holds for kinds of problems that were not among these."""
    found = policy.by_family
    if found is None:
        return "Whether it holds for other kinds of problems these runs cannot tell: they have one."
    if found.interval and found.interval[0] > 0:
        return f"With whole families of problems left out it is still {shown(found)}."
    return (
        f"For families of problems that are not among these it is not shown: with whole families "
        f"left out it is {shown(found)}."
    )


def shown(evidence: Evidence) -> str:
    """Write a gain with its interval, its size and its tokens."""
    tokens = evidence.tokens
    cost = "" if tokens is None else f" at {decimal(tokens, 2)} times the output tokens"
    accuracies = f"{decimal(evidence.before)} → {decimal(evidence.after)}"
    return (
        f"{points(evidence.gain)} points{interval(evidence.interval)} "
        f"({accuracies}, n = {evidence.problems:,}){cost}"
    )


def say_no(data: Observations, best: tuple[str, Evidence] | None) -> str:
    """Say that nothing is shown, what came nearest, and how much more would show."""
    size = f"n = {len(data.keys):,}, {several(len(data.methods), 'method')} beside Direct CoT"
    said = f"No: no method's gain is certain to be above zero with these runs ({size})."
    if best is None:
        return f"{said} No problem was judged with any of them; run them on the same problems."
    name, evidence = best
    column = data.methods.index(name)
    judged = data.judged[:, column] > 0
    smallest = detectable(list(data.gains[judged, column]))
    needed = "" if smallest is None else f" A gain of {decimal(smallest)} points would mostly show."
    chance = (
        f"; as the best of {len(data.methods)} it may be chance" if len(data.methods) > 1 else ""
    )
    return (
        f"{said} The largest by itself is that of {name}, {shown(evidence)}{chance}.{needed} Keep "
        "Direct CoT, or run other methods and more problems with 'cfr eval' and calibrate again."
    )


# Calibration: from graded runs of one model to a policy, validated on problems held out.


class CalibrationError(CfrError):
    """Runs that nothing can be learnt from."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    learning: LearningPlan = field(default_factory=LearningPlan)
    methods: tuple[str, ...] = ()
    """The methods to choose from; empty for all that were run."""
    texts: Mapping[Key, str] = field(default_factory=dict[Key, str])
    """Texts of problems, by benchmark and name, for runs that were stored without them."""
    command: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A policy, the whole learnt one or none, and what was left out on the way."""

    policy: Policy
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> bool:
        return bool(self.policy.rules)


_PLAN: Final = CalibrationPlan()


def calibrate(runs: Source | Sequence[Source], plan: CalibrationPlan = _PLAN) -> Calibration:
    study = open_study(runs)
    arms = _one_model(study)
    baseline = find_variant(study, BASELINE)
    if baseline is None or baseline not in arms.methods:
        raise CalibrationError(
            f"{study.source}: has no judged run of Direct CoT, which every gain is measured "
            "against; run 'cfr eval' with --method direct on the same problems"
        )
    methods, unknown = _candidates(study, arms, baseline, plan.methods)
    texts = _texts(study, arms, plan.texts)
    data = observe(arms, texts, baseline, methods)
    missing = sum(len(arm.scores) for arm in arms.methods[baseline].values()) - len(data.keys)
    if not data.keys:
        raise CalibrationError(
            f"{study.source}: holds no texts of its problems; name the benchmark or the file that "
            "has them with --problems"
        )
    policy = Policy(
        arms.model or "unnamed",
        made=plan.made,
        command=plan.command,
        price=plan.learning.price,
        most_tokens=plan.learning.most_tokens,
        runs=runs_evidence(arms),
    )
    learnt, dropped = _learn(data, plan.learning, policy)
    return Calibration(learnt, (*unknown, *_left_out(data, missing), *dropped))


def _one_model(study: Study) -> ModelArms:
    """Take the one model of a study; names that differ in capitals or the like are one."""
    names = list(dict.fromkeys(arm.model for arm in study.arms if arm.scores))
    if not names:
        raise CalibrationError(f"{study.source}: no judged attempts yet; run 'cfr eval' first")
    arms = tuple(replace(arm, model=names[0]) for arm in study.arms)
    if len({*map(plain_model, names)}) > 1 or len({arm.key for arm in arms}) < len(arms):
        listed = ", ".join(name or "without a name" for name in names)
        raise CalibrationError(
            f"{study.source}: has runs of several models ({listed}), and a policy is for one; "
            "choose it with --model"
        )
    (found,) = by_model(replace(study, arms=arms))
    return found


def _candidates(
    study: Study, arms: ModelArms, baseline: str, wanted: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """List the methods to choose from, and say which runs are of none that can be named."""
    named = [find_method(study, name) for name in wanted] or list(arms.methods)
    found: list[str] = []
    notes: list[str] = []
    for name in dict.fromkeys(named):
        if name == baseline or name not in arms.methods or "calibrated" in name:
            continue
        try:
            make(name)
        except MethodError:
            notes.append(f"{name}: left out; no method of this name can be made here.")
        else:
            found.append(name)
    if not found:
        raise CalibrationError(
            f"{study.source}: has no method beside Direct CoT to choose from; run others, such as "
            "--method program, on the same problems"
        )
    return tuple(found), notes


def _texts(study: Study, arms: ModelArms, given: Mapping[Key, str]) -> dict[Key, str]:
    """Find the texts of problems: in the runs, as given, or in ConstraintBench, which is here."""
    found: dict[Key, str] = {}
    for arm in arms.arms():
        for problem in arm.scores:
            key = (arm.benchmark, problem)
            if key not in found:
                posed = study.problems.get(key)
                found[key] = (posed and posed.text) or given.get(key) or _shipped_text(key)
    return found


def _shipped_text(key: Key) -> str:
    item = find_item(key[1]) if is_constraintbench(key[0]) else None
    return item.text if item else ""


def _left_out(data: Observations, missing: int) -> Iterator[str]:
    if missing:
        yield (
            f"{several(missing, 'problem')} without a text left out; --problems names a benchmark "
            "or a file that has them."
        )
    if not data.tokens_known:
        yield "Output tokens were not counted in these runs: nothing is known of what rules cost."


def _learn(data: Observations, plan: LearningPlan, policy: Policy) -> tuple[Policy, list[str]]:
    """Learn rules, and keep those that hold on problems held out."""
    learnt = learn(data, np.arange(len(data.keys)), plan)
    by_problem = decide_held_out(data, folds_by_problem(data), plan)
    families = folds_by_family(data)
    by_family = None if families is None else decide_held_out(data, families, plan)
    measured = replace(
        policy,
        price=learnt.price,
        by_problem=data.measure(by_problem),
        by_family=None if by_family is None else data.measure(by_family),
    )
    left = [group for group in learnt.groups if group.decision != DIRECT]
    tested = [(group, _rule(data, group, by_problem)) for group in left]
    whole = measured.by_problem
    kept = tuple(rule for _, rule in tested if _is_certain(rule.held_out))
    holds = _is_certain(whole) and (_few_families(data) or _is_certain(measured.by_family))
    if not kept or whole is None or not holds:
        return replace(measured, answer=say_no(data, _best(data))), []
    found = replace(measured, rules=_shortened(kept))
    notes = [
        f"{rule.method} for {', '.join(rule.when) or 'all'}: not kept; on problems held out its "
        "gain is not certain."
        for _, rule in tested
        if rule not in kept
    ]
    return replace(found, answer=say_yes(found, whole)), notes


def _rule(data: Observations, group: Group, held_out: Ints) -> Rule:
    rows = group.rows(data.features)
    decisions = np.full(len(rows), group.decision, dtype=np.int64)
    return Rule(
        group.when,
        data.methods[group.decision],
        data.measure(decisions, rows),
        data.measure(held_out, rows),
    )


def _shortened(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Drop conditions that say no more than that an earlier rule did not fit.

    The first rule that fits counts, so every problem goes where it went before.
    """
    earlier: set[tuple[str, ...]] = set()
    found: list[Rule] = []
    for rule in rules:
        needed = tuple(
            one
            for at, one in enumerate(rule.when)
            if not one.startswith(NOT) or (*rule.when[:at], one.removeprefix(NOT)) not in earlier
        )
        earlier.add(rule.when)
        found.append(replace(rule, when=needed))
    return tuple(found)


def _few_families(data: Observations) -> bool:
    return len(np.unique(data.families)) < FOLDS


def _is_certain(evidence: Evidence | None) -> bool:
    return bool(evidence and evidence.interval and evidence.interval[0] > 0)


def _best(data: Observations) -> tuple[str, Evidence] | None:
    """Find the method with the largest gain by itself, on all problems that it was judged on."""
    found: list[tuple[str, Evidence]] = []
    for column, name in enumerate(data.methods):
        rows = data.judged[:, column] > 0
        evidence = data.measure(np.full(len(rows), column, dtype=np.int64), rows)
        if evidence:
            found.append((name, evidence))
    return max(found, key=lambda one: one[1].gain, default=None)
