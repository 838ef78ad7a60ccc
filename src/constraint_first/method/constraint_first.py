"""CFR in two stages, always on and routed, and its variants (paper: Method, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, cast

from constraint_first.constraint.claim import contradicts
from constraint_first.constraint.router import Cue, Profile, aime_convention, route
from constraint_first.constraint.stage1 import (
    FEW,
    Constraint,
    ConstraintSpec,
    JsonMode,
    Limit,
    PromptSet,
    ReplyStyle,
    StagePrompts,
    extract_constraints,
    read_limit,
    read_object,
    read_reply,
    read_spec,
    solve_under,
)
from constraint_first.constraint.stated.read import read_stated
from constraint_first.method.baselines import Direct
from constraint_first.method.method import (
    BUDGET,
    DEEPEST,
    UNSAID,
    Method,
    MethodError,
    ask_once,
    configuration,
    conversation,
    inner_options,
    nesting,
    noting,
    option,
    said,
    solution_from,
    split_name,
    split_options,
    unquote,
    wording,
)
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem, Prompt, Solution, load
from constraint_first.protocol import Call, Completion, Exchange, Steps, ask
from constraint_first.thinking import without_thinking

# Questions of Stage 2 to Stage 1 (paper: Multi-turn constraint refinement).
#
# Before it solves, the Stage 2 call may ask a bounded number of questions about the constraints.
# The Stage 1 conversation is continued for the answer, then the Stage 2 conversation.

MOST_QUESTIONS: Final = 3
_LONGEST: Final = 500
_QUESTION: Final = lazy_pattern(r"\W{0,9}QUESTION\W{1,5}([^\n]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionPrompts:
    """The prompts for a question: the offer, the question to Stage 1, the answer to Stage 2."""

    offer: Prompt = load("constraint_first.method", "question")
    clarify: Prompt = load("constraint_first.method", "clarify")
    clarified: Prompt = load("constraint_first.method", "clarified")


def solve_asking(
    call: Call, stage1: Exchange, questions: int, prompts: QuestionPrompts
) -> Steps[tuple[Completion, list[Json]]]:
    """Make the Stage 2 call, answer its questions, and return its reply with the questions."""
    asked = list[Json]()
    if questions:
        *before, last = call.messages
        offered = replace(last, content=f"{last.content}\n\n{prompts.offer.fill()}")
        call = replace(call, messages=(*before, offered), final=False)
    reply = yield from ask(call)
    while len(asked) < questions and (question := read_question(reply.text)):
        prompt = prompts.clarify.fill(question=question)
        clarify = replace(stage1.call, stage="clarify", json=False, schema="")
        told = yield from ask(_continued(clarify, stage1.completion, prompt))
        asked.append({"question": question, "reply": said(told)})
        call = _continued(call, reply, prompts.clarified.fill(reply=said(told)))
        call = replace(call, final=len(asked) == questions)
        reply = yield from ask(call)
    return reply, asked


def read_question(reply: str) -> str:
    """Read the question at the start of a reply; empty where an answer follows."""
    text = without_thinking(reply).strip()
    found = _QUESTION.match(text)
    return "" if not found or "\\boxed" in text else found[1].strip()[:_LONGEST]


def _continued(call: Call, reply: Completion, prompt: str) -> Call:
    return replace(call, messages=conversation(call, reply, prompt))


# Constraint-first reasoning, always on and routed (paper: Method, Algorithm 1).
#
# ``CFR`` is the paper's protocol unchanged, and ``BRIEF`` our variant of it for small models.

EXTRACTION_BUDGET: Final = 1_024
"""Output tokens for Stage 1; Stage 2 has the rest of the 32,768 (paper: Implementation Details)."""

Convention: TypeAlias = Literal["none", "aime"]
"""``aime`` routes every problem of an AIME benchmark regardless of its text (an ablation)."""

Stage1Budget: TypeAlias = Literal["fixed", "cues"]
"""``cues`` scales the limits of Stage 1 with the number of cues (paper: Adaptive routing with soft
scores): one cue allows two constraints, two combinations and half of the budget."""

_A_CUE: Final = 256


def label_by_stages(paper: str, brief: str) -> str:
    """Make a property that returns the label for the paper's prompts or for our variant's."""

    def label(method: Any) -> str:
        stages = method if isinstance(method, CFR) else method.constrained
        return brief if isinstance(stages, CFR) and stages.prompts == "brief" else paper

    return cast("str", property(label))


@dataclass(frozen=True)
class CFR:
    """CFR (always-on): Stage 1 lists the constraints, Stage 2 solves under them.

    Without a usable Stage 1, or without constraints, the problem is solved by Direct CoT.
    """

    label: ClassVar[str] = label_by_stages("CFR (always-on)", "CFR-brief (always-on)")
    reply: ReplyStyle = field(default="json", metadata=option())
    extraction_budget: int = EXTRACTION_BUDGET
    solving_budget: int = BUDGET - EXTRACTION_BUDGET
    fallback: Method = Direct()
    # The repr omits the variant's value, an earlier default: old stores identify methods by it.
    prompts: PromptSet = field(default="paper", repr=False, metadata={UNSAID: "brief"})
    limit: Limit | None = field(
        default=None,
        metadata=option("constraints", read=read_limit, kind=str, unsaid=FEW),
        repr=False,
    )
    """The most constraints that Stage 1 may list; None for no limit."""
    json: JsonMode = field(default="object", metadata=option(unsaid="schema"), repr=False)
    extractor: str = field(default="", metadata=option(), repr=False)
    """Another model that answers Stage 1 (paper: Learned constraint extraction)."""
    stage1: Stage1Budget = field(default="fixed", metadata=option("budget"), repr=False)
    questions: int = field(default=0, metadata=option("question"), repr=False)
    """The most questions that Stage 2 may ask (paper: Multi-turn constraint refinement)."""
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
        return (self.extractor,) if self.extractor else ()

    @property
    def in_use(self) -> tuple[object, ...]:
        return (
            self.fallback,
            self.templates.stage1(self.prompts),
            self.stage2_prompt,
            self.asking if self.questions else (),
        )

    @property
    def stage2_prompt(self) -> Prompt:
        return self.templates.stage2(self.prompts, self.reply)

    def solve(self, problem: Problem) -> Steps[Solution]:
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
            if read_question(stage2.text):  # a number in a question is not an answer
                return Solution(None, stage2.text, stage2.truncated, {"how": "question", **noted})
        if self.reply == "json":
            noted["reply"] = read_reply(stage2.text)
        return solution_from(stage2, **noted)

    def extraction(self, problem: Problem) -> Call:
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
        if self.stage1 == "fixed":
            return self.extraction_budget, self.limit
        cues = max(1, len(route(problem.text)))
        budget = min(self.extraction_budget, _A_CUE * (cues + 1))
        limit = self.limit and Limit(
            min(self.limit.raw, 2 * cues), min(self.limit.propagated, cues + 1)
        )
        return budget, limit

    def solving(self, problem: Problem, spec: ConstraintSpec) -> Call:
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
    routed: bool
    cues: tuple[Cue, ...]


@dataclass(frozen=True)
class Routed:
    """Routed-CFR: two stages where the text has restrictive cues, Direct CoT elsewhere."""

    label: ClassVar[str] = label_by_stages("Routed-CFR", "Routed-CFR-brief")
    constrained: Method = field(default=CFR(), metadata=inner_options())
    otherwise: Method = Direct()
    profile: Profile = field(default="reconstructed", metadata=option("router"))
    convention: Convention = field(default="none", metadata=option())

    def route(self, problem: Problem) -> Routing:
        """Decide by the problem's text alone, unless the AIME convention was asked for."""
        cues = route(problem.text, self.profile)
        aime = self.convention == "aime" and aime_convention(problem.benchmark)
        return Routing(bool(cues) or aime, cues)

    def solve(self, problem: Problem) -> Steps[Solution]:
        routing = self.route(problem)
        chosen = self.constrained if routing.routed else self.otherwise
        solution = yield from chosen.solve(problem)
        quoted: dict[str, Json] = {one.family: [*one.phrases(problem.text)] for one in routing.cues}
        return noting(solution, routed=routing.routed, cues=quoted)


# Stated-CFR: Stage 1 without tokens, by the constraints that the text itself states.

Own: TypeAlias = Literal["off", "join"]
"""``join`` adds constraints from a Stage 1 call, except those that the text contradicts."""


@dataclass(frozen=True)
class StatedCFR:
    """CFR whose constraints are read from the text; Direct CoT where there are none."""

    label: ClassVar[str] = "Stated-CFR"
    own: Own = field(default="off", metadata=option())
    base: CFR = BRIEF
    """The method whose prompts extract the model's own constraints and solve under all."""

    @property
    def in_use(self) -> tuple[object, ...]:
        join = self.own == "join"
        return (self.base,) if join else (self.base.stage2_prompt, self.base.fallback)

    def solve(self, problem: Problem) -> Steps[Solution]:
        found = [(one.kind, one.sentence) for one in read_stated(problem.text)]
        noted: dict[str, Json] = {"stated": len(found)}
        if self.own == "join":
            own, dropped = yield from self._own(problem)
            found += own
            noted["dropped"] = [*dropped]
        if not found:
            return noting((yield from self.base.fallback.solve(problem)), **noted)
        numbered = enumerate(dict.fromkeys(found), start=1)
        spec = ConstraintSpec(
            raw_constraints=tuple(Constraint(f"C{n}", kind, words) for n, (kind, words) in numbered)
        )
        stage2 = yield from ask(self.base.solving(problem, spec))
        return solution_from(stage2, constraints=spec.to_json(), **noted)

    def _own(self, problem: Problem) -> Steps[tuple[list[tuple[str, str]], list[str]]]:
        """Ask the model for constraints; return those compatible with the text, and the others."""
        reply = yield from ask(self.base.extraction(problem))
        spec = read_spec(reply.text).spec
        listed = [(one.type, one.description) for one in spec.raw_constraints]
        listed += [("", one.description) for one in spec.propagated_constraints]
        stated = read_stated(problem.text)
        wrong = [words for _, words in listed if contradicts(stated, words, problem.text)]
        return [one for one in listed if one[1] not in wrong], wrong


# LLM router: a short call decides, in place of the regular expressions.
#
# Paper: appendix "Router Ablation: Regex vs. LLM Router".

_SCHEMA: Final = (
    '{"type": "object", "properties": {"restrictive": {"type": "string", "enum": ["yes", "no"]}}, '
    '"required": ["restrictive"], "additionalProperties": false}'
)
_MEANING: Final[dict[str, bool]] = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class LLMRouted:
    """Routed-CFR with the model itself, or another one, as the router; unclear replies mean no."""

    label: ClassVar[str] = label_by_stages("LLM router", "LLM router (CFR-brief)")
    constrained: Method = field(default=CFR(), metadata=inner_options("budget", "question"))
    otherwise: Method = Direct()
    budget: int = 1_024
    """Output tokens for the decision; a few suffice unless the model thinks first."""
    model: str = field(default="", metadata=option(), repr=False)
    """Another model that decides: GPT-4o-mini in the paper's ablation."""
    prompt: Prompt = wording("router")

    def __repr__(self) -> str:
        return configuration(self)

    @property
    def other_models(self) -> tuple[str, ...]:
        return (self.model,) if self.model else ()

    def solve(self, problem: Problem) -> Steps[Solution]:
        prompt = self.prompt.fill(problem=problem.text)
        call = Call.user(prompt, stage="router", max_tokens=self.budget, json=True, schema=_SCHEMA)
        reply = yield from ask(replace(call, model=self.model or None))
        decision = read_decision(reply.text)
        chosen = self.constrained if decision else self.otherwise
        solution = yield from chosen.solve(problem)
        return noting(solution, routed=bool(decision), router_readable=decision is not None)


def read_decision(reply: str) -> bool | None:
    """Read the router's yes or no; None where it says neither."""
    decision: Json = (read_object(reply) or {}).get("restrictive", without_thinking(reply))
    return _MEANING.get(str(decision).strip(' \n\t".').casefold())


# Format-only extraction + solve: two stages, of which the first extracts only the answer's form.
#
# Paper: Matched Prompting Baselines. It separates CFR's gain from the form of the answer from its
# gain from the other constraints.


@dataclass(frozen=True)
class FormatOnly:
    """Asks for the answer's form, then for a solution in that form; Direct CoT without a form."""

    label: ClassVar[str] = "Format-only extraction + solve"
    extraction_budget: int = EXTRACTION_BUDGET
    solving_budget: int = BUDGET - EXTRACTION_BUDGET
    fallback: Method = Direct()
    extract: Prompt = wording("format")
    prompt: Prompt = wording("format-solve")

    def solve(self, problem: Problem) -> Steps[Solution]:
        prompt = self.extract.fill(problem=problem.text)
        call = Call.user(prompt, stage="format", max_tokens=self.extraction_budget)
        reply = yield from ask(call)
        form = said(reply)
        noted: dict[str, Json] = {"format": form, "format_truncated": reply.truncated}
        if not form:
            return noting((yield from self.fallback.solve(problem)), **noted)
        prompt = self.prompt.fill(problem=problem.text, format=form)
        return noting((yield from ask_once(prompt, "solve", self.solving_budget)), **noted)


# Names of methods before CFR-brief got a name of its own.
#
# Until then ``cfr``, ``routed-cfr`` and ``llm-router`` meant our brief variant, and the paper's
# protocol was an option of theirs, ``prompts=paper``. Stores, exports, labels and policies of that
# time keep their meaning: the code that reads them translates their names. New files carry a mark
# (``NAMES``) wherever a name could be ambiguous. Apply ``renamed`` once, never twice.

NAMES: Final = 2
"""The version of methods' names in new files."""

_Change: TypeAlias = Callable[[str, Sequence[str]], tuple[str, Sequence[str]]]
_RENAMED: Final = ("cfr", "routed-cfr", "llm-router")
_BRIEF: Final = "-brief"
_NO_METHODS: Final = frozenset({"extractor", "model", "policy", "wording"})
"""Options whose values are names of models, policies or wordings, not of methods."""
_LABELS: Final = {
    "cfr-brief": BRIEF.label,
    "routed-cfr-brief": Routed(BRIEF).label,
    "llm-router-brief": LLMRouted(BRIEF).label,
}
_OBJECTS: Final = {CFR: "cfr-brief", Routed: "routed-cfr-brief", LLMRouted: "llm-router-brief"}


@lru_cache(maxsize=4_096)
def renamed(method: str) -> str:
    """Translate a method's name from before CFR-brief had its own to the current one."""
    return _walk(method, _rename)


def changed_meaning(method: str) -> bool:
    return renamed(method) != method


@lru_cache(maxsize=4_096)
def spelled(method: str) -> str:
    """Drop the obsolete option ``prompts`` where it has the only value that its method allows."""
    return _walk(method, _leave_out)


def renamed_label(method: str, label: str) -> str:
    """Return the current label of an old method, given by its name or its ``repr``."""
    if label not in (CFR().label, Routed().label, LLMRouted().label):
        return label
    for kind, name in _OBJECTS.items():
        if method.startswith(f"{kind.__name__}("):
            brief = f"{CFR.__name__}(" in method and "prompts='paper'" not in method
            return _LABELS[name] if brief else label
    return _LABELS.get(renamed(method).partition("(")[0].strip(), label)


def with_current_names(line: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a line of a file with current names; its field ``names`` marks it as current."""
    method, label = line.get("method"), line.get("label")
    if line.get("names") or not isinstance(method, str):
        return line
    told = renamed_label(method, label) if isinstance(label, str) else label
    return {**line, "method": renamed(method), "label": told}


def _rename(name: str, options: Sequence[str]) -> tuple[str, Sequence[str]]:
    if name not in _RENAMED:
        return name, options
    kept = [one for one in options if _prompts(one) != "paper"]
    # Keep prompts=own: without it, two series of a store would get the same name.
    return (name, kept) if len(kept) < len(options) else (name + _BRIEF, options)


def _leave_out(name: str, options: Sequence[str]) -> tuple[str, Sequence[str]]:
    known = "paper" if name in _RENAMED else "own" if name in _LABELS else None
    return name, [one for one in options if not known or _prompts(one) != known]


def _prompts(option: str) -> str | None:
    key, _, value = option.partition("=")
    return value.strip().strip("'\"") if key.strip() == "prompts" else None


def _walk(text: str, change: _Change) -> str:
    try:
        name, inside = split_name(text)
    except MethodError:
        return text
    if nesting(text) > DEEPEST:
        return text
    options = [*split_options(inside)]
    changed, kept = change(name, [_walk_option(one, change) for one in options])
    if [*kept] == options:
        return changed + text.strip().removeprefix(name) if changed != name else text
    return f"{changed}({','.join(kept)})" if kept else changed


def _walk_option(option: str, change: _Change) -> str:
    key, equals, value = option.partition("=")
    if not equals or key.strip() in _NO_METHODS:
        return option
    try:
        inner = unquote("", value.strip())
    except MethodError:
        return option
    methods = [*split_options(inner, "+")]
    walked = [_walk(one, change) for one in methods]
    if walked == methods:
        return option
    quote = value.strip()[0] if inner != value.strip() else ""
    return f"{key}={quote}{'+'.join(walked)}{quote}"
