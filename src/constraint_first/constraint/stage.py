"""The two stages as calls: what is asked in each, and what its reply means.

Paper: Method, "Stage 1" and "Stage 2"; appendix "Complete Prompt Templates". A benchmark's answer
convention never enters a prompt: both stages see the problem's text and nothing else about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from constraint_first.constraint.recovery import read_object
from constraint_first.constraint.schema import Limit, schema_for
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.problem import Json
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call

__all__ = [
    "REPLY_FIELDS",
    "JsonMode",
    "PromptSet",
    "ReplyStyle",
    "StagePrompts",
    "extract_constraints",
    "read_reply",
    "solve_under",
]

ReplyStyle: TypeAlias = Literal["prose", "json"]
"""``json`` is the paper's reply. ``prose`` lets the reasoning come before the answer, which is
where a model that does not think beforehand needs it (docs/design/0002-reply-style.md)."""

PromptSet: TypeAlias = Literal["paper", "brief"]
"""``paper`` demands what the paper's templates demand, all of it and nothing else, in our words.
``brief`` is our variant for small models: it asks for brevity and a danger note in Stage 1, and
trusts its list less in Stage 2."""

JsonMode: TypeAlias = Literal["schema", "object", "off"]
"""How JSON is asked for beside the prompt: by a schema where the engine can enforce one and by JSON
mode elsewhere; by JSON mode, as in the paper; or not at all."""

REPLY_FIELDS: Final = (
    "certificate_type",
    "strategy_tag",
    "dangerous_step",
    "final_answer",
    "confidence",
    "solution",
)

_NUMBERS: Final = "no one two three four five six seven eight nine ten eleven twelve".split()


@dataclass(frozen=True, slots=True)
class StagePrompts:
    """The wording of both stages, in either set and for either style of reply."""

    brief_stage1: Prompt = load("constraint_first.constraint", "stage1")
    brief_prose: Prompt = load("constraint_first.constraint", "stage2-prose")
    brief_json: Prompt = load("constraint_first.constraint", "stage2-json")
    paper_stage1: Prompt = load("constraint_first.constraint", "stage1-paper")
    paper_prose: Prompt = load("constraint_first.constraint", "stage2-paper-prose")
    paper_json: Prompt = load("constraint_first.constraint", "stage2-paper-json")

    def stage1(self, prompts: PromptSet) -> Prompt:
        """Choose the wording of Stage 1."""
        return self.paper_stage1 if prompts == "paper" else self.brief_stage1

    def stage2(self, prompts: PromptSet, style: ReplyStyle) -> Prompt:
        """Choose the wording of Stage 2."""
        if prompts == "paper":
            return self.paper_json if style == "json" else self.paper_prose
        return self.brief_json if style == "json" else self.brief_prose


_TEMPLATES: Final = StagePrompts()


def extract_constraints(
    problem: str,
    budget: int,
    *,
    prompts: PromptSet = "paper",
    limit: Limit | None = None,
    json: JsonMode = "object",
    templates: StagePrompts = _TEMPLATES,
) -> Call:
    """Build the Stage 1 call: what must any valid answer satisfy?"""
    extent = _extent(prompts, limit)
    prompt = templates.stage1(prompts).fill(problem=problem, extent=extent)
    schema = schema_for(limit, danger_note=prompts == "brief") if json == "schema" else ""
    return Call.user(prompt, stage="stage1", max_tokens=budget, json=json != "off", schema=schema)


def _extent(prompts: PromptSet, limit: Limit | None) -> str:
    """Say how much Stage 1 should write."""
    if limit is None:
        brief = ", each in fewer than twenty words" if prompts == "brief" else ""
        return f"Leave out none that you find{brief}."
    raw, propagated = (_NUMBERS[n] if n < len(_NUMBERS) else str(n) for n in limit)
    most = f"at most {raw} constraints and {propagated} combinations"
    if prompts == "brief":
        return f"Be brief: {most}, each in fewer than twenty words."
    return f"List {most}."


def solve_under(
    problem: str,
    spec: ConstraintSpec,
    style: ReplyStyle,
    budget: int,
    *,
    prompts: PromptSet = "paper",
    json: JsonMode = "object",
    templates: StagePrompts = _TEMPLATES,
) -> Call:
    """Build the Stage 2 call: solve, and check against the constraints on the way."""
    prompt = templates.stage2(prompts, style).fill(problem=problem, constraints=spec.to_text())
    wanted = style == "json" and json != "off"
    return Call.user(prompt, stage="stage2", max_tokens=budget, json=wanted)


def read_reply(text: str) -> dict[str, Json]:
    """Read the structured fields of a Stage 2 ``json`` reply, as far as they can be recovered."""
    reply: Mapping[str, Json] = read_object(text) or {}
    return {name: reply[name] for name in REPLY_FIELDS if name in reply}
