"""Constraint-first reasoning, always on and routed (paper: Method, Algorithm 1).

``CFR`` is the paper's protocol as it stands, and ``BRIEF`` our variant of it for small models.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, cast

from constraint_first.constraint.recovery import read_spec
from constraint_first.constraint.router import Cue, Profile, aime_convention, route
from constraint_first.constraint.schema import FEW, Limit
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.constraint.stage import (
    JsonMode,
    PromptSet,
    ReplyStyle,
    StagePrompts,
    extract_constraints,
    read_reply,
    solve_under,
)
from constraint_first.method.direct import Direct
from constraint_first.method.method import (
    BUDGET,
    UNSAID,
    Method,
    configuration,
    noting,
    solution_from,
)
from constraint_first.method.question import (
    MOST_QUESTIONS,
    QuestionPrompts,
    read_question,
    solve_asking,
)
from constraint_first.problem import Json, Problem, Solution
from constraint_first.prompt import Prompt
from constraint_first.protocol import Call, Exchange, Steps, ask

__all__ = [
    "BRIEF",
    "CFR",
    "EXTRACTION_BUDGET",
    "Convention",
    "Routed",
    "Routing",
    "Stage1Budget",
    "label_by_stages",
]

EXTRACTION_BUDGET: Final = 1_024
"""Output tokens for Stage 1; Stage 2 has the rest of the 32,768 (paper: Implementation Details)."""

Convention: TypeAlias = Literal["none", "aime"]
"""``aime`` routes every problem of an AIME benchmark whatever its text: the paper's ablation."""

Stage1Budget: TypeAlias = Literal["fixed", "cues"]
"""``cues`` gives Stage 1 more room the more cues the text has (paper: Adaptive routing with soft
scores): one cue allows two constraints, two combinations and half of the budget."""

_A_CUE: Final = 256


def label_by_stages(paper: str, brief: str) -> str:
    """Label a method by whose two stages it has: the paper's, or those of our variant.

    It is a property. To type checkers it is what the label of every other method is.
    """

    def label(method: Any) -> str:
        stages = method if isinstance(method, CFR) else method.constrained
        return brief if isinstance(stages, CFR) and stages.prompts == "brief" else paper

    return cast("str", property(label))


@dataclass(frozen=True)
class CFR:
    """CFR (always-on): Stage 1 lists the constraints, Stage 2 solves under them.

    Where Stage 1's reply cannot be used at all, or says that there are no constraints, the problem
    is solved by Direct CoT.
    """

    label: ClassVar[str] = label_by_stages("CFR (always-on)", "CFR-brief (always-on)")
    reply: ReplyStyle = "json"
    extraction_budget: int = EXTRACTION_BUDGET
    solving_budget: int = BUDGET - EXTRACTION_BUDGET
    fallback: Method = Direct()
    # What goes unsaid is the variant's: it was the default, and stores know it by that.
    prompts: PromptSet = field(default="paper", repr=False, metadata={UNSAID: "brief"})
    limit: Limit | None = field(default=None, repr=False, metadata={UNSAID: FEW})
    """The most constraints that Stage 1 may list; None for as many as there are."""
    json: JsonMode = field(default="object", repr=False, metadata={UNSAID: "schema"})
    extractor: str = field(default="", repr=False)
    """Another model that answers Stage 1 (paper: Learned constraint extraction)."""
    stage1: Stage1Budget = field(default="fixed", repr=False)
    questions: int = field(default=0, repr=False)
    """How often, at most, Stage 2 may ask back (paper: Multi-turn constraint refinement)."""
    templates: StagePrompts = field(default=StagePrompts(), repr=False)
    asking: QuestionPrompts = field(default=QuestionPrompts(), repr=False)

    def __post_init__(self) -> None:
        if self.questions > MOST_QUESTIONS:
            raise ValueError(f"there can be at most {MOST_QUESTIONS} questions")
        if self.questions and self.reply == "json":
            raise ValueError("a reply in JSON leaves no room for a question; use reply=prose")

    def __repr__(self) -> str:
        return configuration(self)

    @property
    def other_models(self) -> tuple[str, ...]:
        """The model of Stage 1, where it is another than Stage 2's."""
        return (self.extractor,) if self.extractor else ()

    @property
    def in_use(self) -> tuple[object, ...]:
        """The prompts of its set and style, those for questions where it takes some."""
        return (
            self.fallback,
            self.templates.stage1(self.prompts),
            self.stage2_prompt,
            self.asking if self.questions else (),
        )

    @property
    def stage2_prompt(self) -> Prompt:
        """The prompt of Stage 2, in its set and style."""
        return self.templates.stage2(self.prompts, self.reply)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask for constraints, then for a solution under them."""
        first = self.extraction(problem)
        stage1 = yield from ask(first)
        recovered = read_spec(stage1.text)
        noted: dict[str, Json] = {"rung": recovered.rung, "stage1_truncated": stage1.truncated}
        if recovered.defers:
            return noting((yield from self.fallback.solve(problem)), **noted)
        second = self.solving(problem, recovered.spec)
        listed = Exchange(first, stage1)
        stage2, asked = yield from solve_asking(second, listed, self.questions, self.asking)
        noted["constraints"] = recovered.spec.to_json()
        if self.questions:
            noted["questions"] = asked
            if read_question(stage2.text):  # a number in it is no answer
                return Solution(None, stage2.text, stage2.truncated, {"how": "question", **noted})
        if self.reply == "json":
            noted["reply"] = read_reply(stage2.text)
        return solution_from(stage2, **noted)

    def extraction(self, problem: Problem) -> Call:
        """Build the call of Stage 1."""
        budget, limit = self._extent(problem)
        call = extract_constraints(
            problem.text,
            budget,
            prompts=self.prompts,
            limit=limit,
            json=self.json,
            templates=self.templates,
        )
        return replace(call, model=self.extractor or None)

    def _extent(self, problem: Problem) -> tuple[int, Limit | None]:
        """Say how much Stage 1 may write."""
        if self.stage1 == "fixed":
            return self.extraction_budget, self.limit
        cues = max(1, len(route(problem.text)))
        budget = min(self.extraction_budget, _A_CUE * (cues + 1))
        limit = self.limit and Limit(
            min(self.limit.raw, 2 * cues), min(self.limit.propagated, cues + 1)
        )
        return budget, limit

    def solving(self, problem: Problem, spec: ConstraintSpec) -> Call:
        """Build the call of Stage 2, under some constraints."""
        return solve_under(
            problem.text,
            spec,
            self.reply,
            self.solving_budget,
            prompts=self.prompts,
            json=self.json,
            templates=self.templates,
        )


BRIEF: Final = CFR("prose", prompts="brief", limit=FEW, json="schema")
"""CFR-brief: shorter demands, at most 6 + 3 constraints and a reply in prose, for small models."""


class Routing(NamedTuple):
    """A router's decision: whether to take two stages, and the cues that were found."""

    routed: bool
    cues: tuple[Cue, ...]


@dataclass(frozen=True)
class Routed:
    """Routed-CFR: two stages where the text has restrictive cues, Direct CoT elsewhere."""

    label: ClassVar[str] = label_by_stages("Routed-CFR", "Routed-CFR-brief")
    constrained: Method = CFR()
    otherwise: Method = Direct()
    profile: Profile = "reconstructed"
    convention: Convention = "none"

    def route(self, problem: Problem) -> Routing:
        """Decide by the problem's text alone, unless the AIME convention was asked for."""
        cues = route(problem.text, self.profile)
        aime = self.convention == "aime" and aime_convention(problem.benchmark)
        return Routing(bool(cues) or aime, cues)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Route, then solve."""
        routing = self.route(problem)
        chosen = self.constrained if routing.routed else self.otherwise
        solution = yield from chosen.solve(problem)
        return noting(solution, routed=routing.routed, cues=_quote(routing.cues, problem.text))


def _quote(cues: tuple[Cue, ...], text: str) -> dict[str, Json]:
    return {cue.family: [*cue.phrases(text)] for cue in cues}
