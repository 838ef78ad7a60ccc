"""Agreement between routers, and what a decision costs.

Paper: appendix "Router Ablation: Regex vs. LLM Router".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Final

from constraint_first.analysis.audit.person_file import read_person_lines
from constraint_first.analysis.audit.routing import RouterAudit
from constraint_first.analysis.audit.settings import stage_requests
from constraint_first.analysis.statistics.kappa import kappa
from constraint_first.analysis.statistics.subset import Key
from constraint_first.analysis.study.family import (
    ROUTED_CFR,
    ROUTED_CFR_BRIEF,
    SELF_CONSISTENCY,
    family_of,
)
from constraint_first.analysis.study.study import Arm, StageCost, Study
from constraint_first.engine.presets import find_price
from constraint_first.error import InputError
from constraint_first.protocol import Usage

__all__ = [
    "REGEX_ROUTER",
    "Decisions",
    "RouterAgreement",
    "RouterRow",
    "Routers",
    "agreement_between",
    "compare_routers",
    "read_decisions",
    "routed_share",
    "stored_decisions",
]

Decisions = Mapping[Key, bool]
"""Routing decisions by problem: whether it goes to two stages."""

REGEX_ROUTER: Final = "Regex router"
_BY_PATTERNS: Final = (ROUTED_CFR, ROUTED_CFR_BRIEF)
"""Families that route by regular expressions, which cost nothing."""
_STAGE: Final = "router"


@dataclass(frozen=True, slots=True)
class RouterAgreement:
    """Agreement of a router with a reference, on the problems that both decided."""

    n: int
    precision: float | None
    """Of the problems that it routes, the share that the reference routes; None where it has none.
    """
    recall: float | None
    """Of the problems that the reference routes, the share that it routes."""
    f1: float | None
    kappa: float | None


def agreement_between(reference: Decisions, decisions: Decisions) -> RouterAgreement:
    """Compare two routers; a ratio without a denominator is None."""
    pairs = [(reference[key], said) for key, said in decisions.items() if key in reference]
    both = sum(right and said for right, said in pairs)
    routed, wanted = sum(said for _, said in pairs), sum(right for right, _ in pairs)
    return RouterAgreement(
        n=len(pairs),
        precision=both / routed if routed else None,
        recall=both / wanted if wanted else None,
        f1=2 * both / (routed + wanted) if routed + wanted else None,
        kappa=kappa([(str(right), str(said)) for right, said in pairs]),
    )


_TRUTHS: Final = {"true": True, "false": False}  # as a cell of a table has them


def read_decisions(path: Path, study: Study) -> tuple[dict[Key, bool], int]:
    """Read a person's decisions: lines of ``problem``, ``routed`` and perhaps ``benchmark``.

    Beside them stands how many lines are about problems that the study does not have.
    """
    found: dict[Key, bool] = {}
    strangers = 0
    for line in read_person_lines(path, study):
        written = line.value.get("routed")
        routed = _TRUTHS.get(written.lower()) if isinstance(written, str) else written
        if not isinstance(routed, bool):
            raise InputError(f"{line.where}: 'routed' must be true or false, not {written!r}")
        if line.key is None:
            strangers += 1
            continue
        if found.setdefault(line.key, routed) != routed:
            raise InputError(f"{line.where}: an earlier line says the opposite of this problem")
    if not found:
        raise InputError(f"{path}: names no problem of {study.source}; check 'problem'")
    return found, strangers


def stored_decisions(arms: list[Arm]) -> dict[Key, bool]:
    """Return what a method's own router decided: the majority of runs; a tie is a no."""
    found: dict[Key, bool] = {}
    for arm in arms:
        for problem, attempts in arm.attempts.items():
            said = [a.routed for a in attempts if a.routed is not None]
            if said:
                found[arm.benchmark, problem] = 2 * sum(said) > len(said)
    return found


def routed_share(arm: Arm) -> tuple[int, int] | None:
    """Count the problems that an arm's router sent to two stages, and those that it decided.

    A problem counts once, as the majority of its runs; None where the arm has no router.
    """
    decided = stored_decisions([arm]).values()
    return (sum(decided), len(decided)) if decided else None


@dataclass(frozen=True, slots=True)
class RouterRow:
    """A router: its agreement with the reference, and the tokens, time and cost of a decision."""

    name: str
    """The method as tables print it, or ``Regex router``."""
    model: str
    """The model that the method ran with; empty for the regex router of the audit itself."""
    agreement: RouterAgreement | None
    """None for the reference itself."""
    tokens: float | None
    milliseconds: float | None
    """None for regular expressions: they make no call, and nothing is timed here."""
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Routers:
    """Several routers, compared with one reference."""

    rows: tuple[RouterRow, ...]
    decisions: int | None
    """How many decisions of a person are the reference; None where the regex router is."""


def compare_routers(study: Study, audit: RouterAudit, labels: Decisions | None = None) -> Routers:
    """Compare the regex router, and every other router that the study's methods used.

    The reference is a person's labels where there are any, otherwise the regex router itself.
    """
    regex = {key: bool(families) for key, families in audit.families.items()}
    reference = regex if labels is None else labels
    ours = RouterRow(
        REGEX_ROUTER,
        "",
        agreement_between(labels, regex) if labels is not None else None,
        tokens=0.0,
        milliseconds=None,
        dollars=0.0,
    )
    others = (
        _row(arms, agreement_between(reference, stored_decisions(arms)))
        for arms in _routed_arms(study)
    )
    return Routers((ours, *others), None if labels is None else len(labels))


def _routed_arms(study: Study) -> Iterator[list[Arm]]:
    """Group the arms whose method routes otherwise than by the default patterns.

    A vote has the decisions of what it samples, and no router of its own.
    """
    groups: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        own = family_of(arm) != SELF_CONSISTENCY and not _by_default_patterns(arm)
        if own and any(a.routed is not None for a in arm.all_attempts()):
            groups.setdefault((arm.method, arm.model), []).append(arm)
    yield from groups.values()


def _by_default_patterns(arm: Arm) -> bool:
    options = arm.method.partition("(")[2]
    return (
        family_of(arm) in _BY_PATTERNS and "router=" not in options and "convention=" not in options
    )


def _deciding_model(arm: Arm) -> str:
    """Name the model that decides: the arm's own, unless its method names another for that."""
    named = (request.models for request in stage_requests(arm.method) if request.stage == _STAGE)
    return next((models[0] for models in named if models), arm.model)


def _row(arms: list[Arm], agreement: RouterAgreement) -> RouterRow:
    spent = reduce(add, (arm.stages.get(_STAGE, StageCost()) for arm in arms))
    name, model = arms[0].name, arms[0].model
    if family_of(arms[0]) in _BY_PATTERNS:
        return RouterRow(name, model, agreement, tokens=0.0, milliseconds=None, dollars=0.0)
    if not spent.calls:
        return RouterRow(name, model, agreement, None, None, None)
    tokens = spent.input_tokens + spent.output_tokens
    price = find_price(_deciding_model(arms[0]))
    used = Usage(spent.input_tokens, spent.output_tokens, cached=spent.cached_tokens)
    cost = price.cost(used) if price else None
    return RouterRow(
        name,
        model,
        agreement,
        tokens=tokens / spent.calls if tokens else None,
        milliseconds=1_000 * spent.seconds / spent.calls if spent.seconds else None,
        dollars=cost / spent.calls if cost is not None and tokens else None,
    )
