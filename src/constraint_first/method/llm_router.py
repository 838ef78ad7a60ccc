"""LLM router: a short call decides, in place of the regular expressions.

Paper: appendix "Router Ablation: Regex vs. LLM Router".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from constraint_first.constraint.recovery import read_object
from constraint_first.method.constraint_first import CFR, label_by_stages
from constraint_first.method.direct import Direct
from constraint_first.method.method import Method, configuration, noting
from constraint_first.problem import Json, Problem, Solution
from constraint_first.prompt import Prompt, load
from constraint_first.protocol import Call, Steps, ask
from constraint_first.thinking import without_thinking

__all__ = ["LLMRouted", "read_decision"]

_PROMPT: Final = load("constraint_first.method", "router")
_SCHEMA: Final = (
    '{"type": "object", "properties": {"restrictive": {"type": "string", "enum": ["yes", "no"]}}, '
    '"required": ["restrictive"], "additionalProperties": false}'
)
_MEANING: Final[dict[str, bool]] = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class LLMRouted:
    """Routed-CFR with the model itself as the router, or another one.

    A reply that says neither yes nor no counts as no: like the regular expressions, the router
    sends a problem to two stages only on evidence.
    """

    label: ClassVar[str] = label_by_stages("LLM router", "LLM router (CFR-brief)")
    constrained: Method = CFR()
    otherwise: Method = Direct()
    budget: int = 1_024
    """For the decision; a few tokens do unless the model thinks first."""
    model: str = field(default="", repr=False)
    """Another model that decides: GPT-4o-mini in the paper's ablation."""
    prompt: Prompt = field(default=_PROMPT, repr=False)

    def __repr__(self) -> str:
        return configuration(self)

    @property
    def other_models(self) -> tuple[str, ...]:
        """The model that decides, where it is another than the one that solves."""
        return (self.model,) if self.model else ()

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask whether the text is restrictive, then solve."""
        prompt = self.prompt.fill(problem=problem.text)
        call = Call.user(prompt, stage="router", max_tokens=self.budget, json=True, schema=_SCHEMA)
        reply = yield from ask(replace(call, model=self.model or None))
        decision = read_decision(reply.text)
        chosen = self.constrained if decision else self.otherwise
        solution = yield from chosen.solve(problem)
        return noting(solution, routed=bool(decision), router_readable=decision is not None)


def read_decision(reply: str) -> bool | None:
    """Read the router's yes or no; None where it says neither."""
    said: Json = (read_object(reply) or {}).get("restrictive", without_thinking(reply))
    return _MEANING.get(str(said).strip(' \n\t".').casefold())
