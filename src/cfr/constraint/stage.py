"""The two stages as calls: what is asked in each, and what its reply means.

Paper: Method, "Stage 1" and "Stage 2"; appendix "Complete Prompt Templates". A benchmark's answer
convention never enters a prompt: both stages see the problem's text and nothing else about it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from cfr.constraint.recovery import read_object
from cfr.constraint.spec import SCHEMA, ConstraintSpec
from cfr.problem import Json
from cfr.prompt import load
from cfr.protocol import Call

__all__ = ["REPLY_FIELDS", "ReplyStyle", "extract_constraints", "read_reply", "solve_under"]

ReplyStyle: TypeAlias = Literal["prose", "json"]
"""``json`` is the paper's reply. ``prose`` lets the reasoning come before the answer, which is
where a model that does not think beforehand needs it (docs/design/0002-reply-style.md)."""

REPLY_FIELDS: Final = (
    "certificate_type",
    "strategy_tag",
    "dangerous_step",
    "final_answer",
    "confidence",
    "solution",
)

_STAGE1: Final = load("cfr.constraint", "stage1")
_STAGE2: Final = {
    "prose": load("cfr.constraint", "stage2-prose"),
    "json": load("cfr.constraint", "stage2-json"),
}


def extract_constraints(problem: str, budget: int) -> Call:
    """Build the Stage 1 call: what must any valid answer satisfy?"""
    prompt = _STAGE1.fill(problem=problem)
    return Call.user(prompt, stage="stage1", max_tokens=budget, json=True, schema=SCHEMA)


def solve_under(problem: str, spec: ConstraintSpec, style: ReplyStyle, budget: int) -> Call:
    """Build the Stage 2 call: solve, and check against the constraints on the way."""
    constraints = json.dumps(spec.to_json(), ensure_ascii=False, indent=1)
    prompt = _STAGE2[style].fill(problem=problem, constraints=constraints)
    return Call.user(prompt, stage="stage2", max_tokens=budget, json=style == "json")


def read_reply(text: str) -> dict[str, Json]:
    """Read the structured fields of a Stage 2 ``json`` reply, as far as they can be recovered."""
    reply: Mapping[str, Json] = read_object(text) or {}
    return {name: reply[name] for name in REPLY_FIELDS if name in reply}
