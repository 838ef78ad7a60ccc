"""The answer of a calibration in words: should this be switched on for this model?"""

from __future__ import annotations

from constraint_first.analysis.calibration.observation import Observations
from constraint_first.analysis.notation import decimal, interval, points, several
from constraint_first.analysis.statistics.paired import detectable
from constraint_first.method.policy import Evidence, Policy

__all__ = ["say_no", "say_yes", "shown"]


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
