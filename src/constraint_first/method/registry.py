"""Methods by name: ``direct``, ``cfr(reply=json)``, ``self-consistency(base=routed-cfr)``.

A name may carry options in brackets: the parameters of the method's factory. Methods that other
packages bring are looked for only when a name is not among those below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from constraint_first.constraint.router import Profile
from constraint_first.constraint.stage1 import JsonMode, ReplyStyle, read_limit
from constraint_first.error import InputError
from constraint_first.method import method as plugin
from constraint_first.method.baselines import (
    CFR_OUTPUT,
    CheckAnswer,
    Direct,
    ExtendedCoT,
    ListFirst,
    Mind,
    Plain,
    PlanAndSolve,
    Reminder,
    SelfRefine,
)
from constraint_first.method.checked import Checked
from constraint_first.method.constraint_first import (
    CFR,
    Convention,
    FormatOnly,
    LLMRouted,
    Own,
    Routed,
    Stage1Budget,
    StatedCFR,
)
from constraint_first.method.method import (
    BUDGET,
    DEEPEST,
    Method,
    MethodError,
    nesting,
    read_options,
    split_name,
    suggest,
)
from constraint_first.method.policy import Calibrated, calibrate_by, find_policy
from constraint_first.method.program import Modules, Programmed, Style, Tell
from constraint_first.method.sound import Retry, Sound
from constraint_first.method.soundness import Check, Switch
from constraint_first.method.vote import Prove, Search, SelfConsistency, UntilAgreed, Vote

_EMBEDDED: Final = "qwen2.5-coder-1.5b-instruct"  # its policy comes with the package


def direct() -> Direct:
    """Ask once for a step-by-step solution."""
    return Direct()


def reminder() -> Reminder:
    """Ask once, with a reminder that the problem restricts its final answer."""
    return Reminder()


def list_first() -> ListFirst:
    """Ask once for a list of the constraints and then a solution."""
    return ListFirst()


def check() -> CheckAnswer:
    """Ask once, and have the answer checked before it is given."""
    return CheckAnswer()


def extended(tokens: int = CFR_OUTPUT, rounds: int = 3) -> ExtendedCoT:
    """Reason on until the output matches a measured CFR budget."""
    return ExtendedCoT(tokens, rounds)


def plan_and_solve() -> PlanAndSolve:
    """Ask once for a plan and its execution."""
    return PlanAndSolve()


def format_only() -> FormatOnly:
    """Ask for the form of the answer, then for a solution in that form."""
    return FormatOnly()


def self_refine(iterations: int = 1) -> SelfRefine:
    """Draft, criticise and revise, a fixed number of times."""
    return SelfRefine(iterations)


def cfr(
    reply: ReplyStyle = "json",
    constraints: str = "all",
    json: JsonMode = "object",
    extractor: str = "",
    budget: Stage1Budget = "fixed",
    question: int = 0,
    prompts: str = "paper",
) -> CFR:
    """List the constraints first, then solve under them: the paper's protocol."""
    _require_prompts(prompts, "paper", "cfr-brief")
    limit = read_limit(constraints)
    return CFR(
        reply, limit=limit, json=json, extractor=extractor, stage1=budget, questions=question
    )


def cfr_brief(
    reply: ReplyStyle = "prose",
    constraints: str = "6+3",
    json: JsonMode = "schema",
    extractor: str = "",
    budget: Stage1Budget = "fixed",
    question: int = 0,
    prompts: str = "own",
) -> CFR:
    """CFR for small models: shorter demands, few constraints, a reply in prose."""
    _require_prompts(prompts, "own", "cfr")
    made = cfr(reply, constraints, json, extractor, budget, question)
    return replace(made, prompts="brief")


def _require_prompts(given: str, known: str, other: str) -> None:
    """Accept an option of earlier versions, which chose between what are two methods now."""
    if given not in ("own", "paper"):
        raise ValueError(f"prompts={given} is not {known}, which can be left out")
    if given != known:
        raise ValueError(f"prompts={given} is the method {other} now; name that")


def routed_cfr(
    reply: ReplyStyle = "json",
    router: Profile = "reconstructed",
    convention: Convention = "none",
    constraints: str = "all",
    json: JsonMode = "object",
    extractor: str = "",
    budget: Stage1Budget = "fixed",
    question: int = 0,
    prompts: str = "paper",
) -> Routed:
    """CFR where the text has restrictive cues, Direct CoT elsewhere: the paper's protocol."""
    _require_prompts(prompts, "paper", "routed-cfr-brief")
    constrained = cfr(reply, constraints, json, extractor, budget, question)
    return Routed(constrained, profile=router, convention=convention)


def routed_cfr_brief(
    reply: ReplyStyle = "prose",
    router: Profile = "reconstructed",
    convention: Convention = "none",
    constraints: str = "6+3",
    json: JsonMode = "schema",
    extractor: str = "",
    budget: Stage1Budget = "fixed",
    question: int = 0,
    prompts: str = "own",
) -> Routed:
    """CFR-brief where the text has restrictive cues, Direct CoT elsewhere."""
    _require_prompts(prompts, "own", "routed-cfr")
    constrained = cfr_brief(reply, constraints, json, extractor, budget, question)
    return Routed(constrained, profile=router, convention=convention)


def self_consistency(base: Method = Direct(), samples: int = 8) -> SelfConsistency:
    """Let several samples of another method vote."""
    return SelfConsistency(base, samples)


def llm_router(
    reply: ReplyStyle = "json",
    constraints: str = "all",
    json: JsonMode = "object",
    extractor: str = "",
    model: str = "",
    prompts: str = "paper",
) -> LLMRouted:
    """Routed-CFR with a short call to the model in place of the regular expressions."""
    _require_prompts(prompts, "paper", "llm-router-brief")
    return LLMRouted(cfr(reply, constraints, json, extractor), model=model)


def llm_router_brief(
    reply: ReplyStyle = "prose",
    constraints: str = "6+3",
    json: JsonMode = "schema",
    extractor: str = "",
    model: str = "",
    prompts: str = "own",
) -> LLMRouted:
    """Routed-CFR-brief with a short call to the model in place of the regular expressions."""
    _require_prompts(prompts, "own", "llm-router")
    return LLMRouted(cfr_brief(reply, constraints, json, extractor), model=model)


def program(
    style: Style = "plain",
    fallback: Method | None = Direct(),
    check: Check = "stated",
    tell: Tell = "off",
    modules: Modules = "untold",
    tokens: int = BUDGET,
) -> Programmed:
    """Have a program written and run; another method where it leads nowhere."""
    return Programmed(style, fallback, check, tell, modules, tokens)


_PROGRAM: Final = Programmed()


def vote(
    base: tuple[Method, ...] = (_PROGRAM,),
    samples: int = 3,
    check: Check = "stated",
    fallback: Method | None = Direct(),
    agree: int = 2,
) -> Vote:
    """Take the commonest sound answer of several samples, where two agree."""
    return Vote(tuple(map(_voter, base)), samples, check, fallback, agree)


def until_agreed(
    base: tuple[Method, ...] = (_PROGRAM,),
    most: int = 4,
    check: Check = "stated",
    fallback: Method | None = Direct(),
    agree: int = 2,
) -> UntilAgreed:
    """Draw samples until two sound answers agree."""
    return UntilAgreed(tuple(map(_voter, base)), most, check, fallback, agree)


def _voter(base: Method) -> Method:
    """A program that votes has no fall-back of its own: where it crashes it has no vote."""
    return replace(base, fallback=None) if isinstance(base, Programmed) else base


def checked(base: Method = Direct(), repair: Switch = "on") -> Checked:
    """Check a method's answer by what the text states, and mend it where it fails."""
    return Checked(base, repair=repair)


def prove(base: Method = Direct(), samples: int = 5) -> Prove:
    """Let those of several chains of thought vote that a program confirms."""
    return Prove(base, samples)


def stated_cfr(own: Own = "off") -> StatedCFR:
    """Solve under the constraints that the text itself states."""
    return StatedCFR(own)


def search(width: int = 3) -> Search:
    """Begin several solutions, drop those whose claims break a constraint, finish the others."""
    return Search(width)


def plain(mind: Mind = "nothing", tokens: int = BUDGET) -> Plain:
    """Send a request of any kind as it stands, and take the reply as it stands."""
    return Plain(mind, tokens)


def sound(
    base: Method = Plain(),
    most: int = 2,
    repair: Switch = "on",
    add: Switch = "on",
    then: Retry = "sample",
) -> Sound:
    """Check a reply by what its request demands, and mend it where it fails."""
    return Sound(base, most, repair, add, then)


def calibrated(policy: str = _EMBEDDED) -> Calibrated:
    """Let a policy, learnt from graded runs of the model, choose a method for each problem."""
    try:
        return calibrate_by(find_policy(policy), make)
    except MethodError as error:
        raise MethodError(f"policy {policy}: {error}") from None
    except InputError as error:
        raise MethodError(str(error)) from None


METHODS: Final[dict[str, Callable[..., Method]]] = {
    "direct": direct,
    "reminder": reminder,
    "list-first": list_first,
    "check": check,
    "extended": extended,
    "plan-and-solve": plan_and_solve,
    "format-only": format_only,
    "self-refine": self_refine,
    "cfr": cfr,
    "cfr-brief": cfr_brief,
    "routed-cfr": routed_cfr,
    "routed-cfr-brief": routed_cfr_brief,
    "self-consistency": self_consistency,
    "llm-router": llm_router,
    "llm-router-brief": llm_router_brief,
    "program": program,
    "vote": vote,
    "until-agreed": until_agreed,
    "checked": checked,
    "prove": prove,
    "stated-cfr": stated_cfr,
    "search": search,
    "plain": plain,
    "sound": sound,
    "calibrated": calibrated,
}
"""The factory of every method that is built in, by its name on the command line."""


def names() -> tuple[str, ...]:
    """List all methods that can be named: the built-in ones, then those of plugins."""
    return (*METHODS, *(name for name in plugin.names() if name not in METHODS))


def make(text: str) -> Method:
    """Build the method that a text such as ``routed-cfr(reply=json)`` names."""
    name, options = split_name(text)
    if nesting(text) > DEEPEST:
        raise MethodError(f"method {name!r}: holds methods within methods, {DEEPEST} deep at most")
    factory: Callable[..., object] | None = METHODS.get(name) or plugin.load(name)
    if name == "auto":
        raise MethodError(
            "method 'auto': stands for a method that the model decides; name it by itself, as "
            "--method or in solve() and evaluate()"
        )
    if not factory:
        raise MethodError(f"method {name!r}: not known; {suggest(name, names())}")
    chosen = dict(read_options(name, factory, options, make))
    try:
        method = factory(**chosen)
    except ValueError as error:
        raise MethodError(f"method {name!r}: {error}") from None
    if not isinstance(method, Method):
        raise MethodError(
            f"method {name!r}: its plugin made a {type(method).__name__}, which has no label or no "
            "solve(problem); tell its author"
        )
    return method
