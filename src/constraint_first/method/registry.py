"""Methods by name: ``direct``, ``cfr(reply=json)``, ``self-consistency(base=routed-cfr)``.

A name may carry options in brackets: fields of the method. Methods that other packages
bring are looked for only when a name is not among those below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from constraint_first.error import InputError
from constraint_first.method import method as plugin
from constraint_first.method.baselines import (
    CheckAnswer,
    Direct,
    ExtendedCoT,
    ListFirst,
    Plain,
    PlanAndSolve,
    Reminder,
    SelfRefine,
)
from constraint_first.method.constraint_first import (
    BRIEF,
    CFR,
    FormatOnly,
    LLMRouted,
    Routed,
    StatedCFR,
)
from constraint_first.method.method import (
    DEEPEST,
    Method,
    MethodError,
    nesting,
    options_of,
    parameters,
    read_options,
    split_name,
    suggest,
    with_options,
)
from constraint_first.method.policy import Calibrated, calibrate_by, find_policy
from constraint_first.method.program import Programmed
from constraint_first.method.sound import Checked, Sound
from constraint_first.method.vote import Prove, Search, SelfConsistency, UntilAgreed, Vote

_EMBEDDED: Final = "qwen2.5-coder-1.5b-instruct"  # its policy comes with the package
_BRIEF: Final = "-brief"


class _BuiltIn:
    """Makes a method of ours: itself with its defaults, or with other options."""

    def __init__(self, default: Method, about: str) -> None:
        self.default = default
        self.__doc__ = about

    def __call__(self, **chosen: object) -> Method:
        return with_options(self.default, chosen) if chosen else self.default


def calibrated(policy: str = _EMBEDDED) -> Calibrated:
    """Let a policy, learnt from graded runs of the model, choose a method for each problem."""
    try:
        return calibrate_by(find_policy(policy), make)
    except MethodError as error:
        raise MethodError(f"policy {policy}: {error}") from None
    except InputError as error:
        raise MethodError(str(error)) from None


METHODS: Final[dict[str, Callable[..., Method]]] = {
    "direct": _BuiltIn(Direct(), "Ask once for a step-by-step solution."),
    "reminder": _BuiltIn(
        Reminder(), "Ask once, with a reminder that the problem restricts its final answer."
    ),
    "list-first": _BuiltIn(
        ListFirst(), "Ask once for a list of the constraints and then a solution."
    ),
    "check": _BuiltIn(CheckAnswer(), "Ask once, and have the answer checked before it is given."),
    "extended": _BuiltIn(
        ExtendedCoT(), "Reason on until the output matches a measured CFR budget."
    ),
    "plan-and-solve": _BuiltIn(PlanAndSolve(), "Ask once for a plan and its execution."),
    "format-only": _BuiltIn(
        FormatOnly(), "Ask for the form of the answer, then for a solution in that form."
    ),
    "self-refine": _BuiltIn(SelfRefine(), "Draft, criticise and revise, a fixed number of times."),
    "cfr": _BuiltIn(
        CFR(), "List the constraints first, then solve under them: the paper's protocol."
    ),
    "cfr-brief": _BuiltIn(
        BRIEF, "CFR for small models: shorter demands, few constraints, a reply in prose."
    ),
    "routed-cfr": _BuiltIn(
        Routed(),
        "CFR where the text has restrictive cues, Direct CoT elsewhere: the paper's protocol.",
    ),
    "routed-cfr-brief": _BuiltIn(
        Routed(BRIEF), "CFR-brief where the text has restrictive cues, Direct CoT elsewhere."
    ),
    "self-consistency": _BuiltIn(SelfConsistency(), "Let several samples of another method vote."),
    "llm-router": _BuiltIn(
        LLMRouted(),
        "Routed-CFR with a short call to the model in place of the regular expressions.",
    ),
    "llm-router-brief": _BuiltIn(
        LLMRouted(BRIEF),
        "Routed-CFR-brief with a short call to the model in place of the regular expressions.",
    ),
    "program": _BuiltIn(
        Programmed(), "Have a program written and run; another method where it leads nowhere."
    ),
    "vote": _BuiltIn(
        Vote(), "Take the commonest sound answer of several samples, where two agree."
    ),
    "until-agreed": _BuiltIn(UntilAgreed(), "Draw samples until two sound answers agree."),
    "checked": _BuiltIn(
        Checked(), "Check a method's answer by what the text states, and mend it where it fails."
    ),
    "prove": _BuiltIn(
        Prove(), "Let those of several chains of thought vote that a program confirms."
    ),
    "stated-cfr": _BuiltIn(StatedCFR(), "Solve under the constraints that the text itself states."),
    "search": _BuiltIn(
        Search(),
        "Begin several solutions, drop those whose claims break a constraint, finish the others.",
    ),
    "plain": _BuiltIn(
        Plain(), "Send a request of any kind as it stands, and take the reply as it stands."
    ),
    "sound": _BuiltIn(
        Sound(), "Check a reply by what its request demands, and mend it where it fails."
    ),
    "calibrated": calibrated,
}
"""What makes each method that is built in, by its name on the command line."""


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
    kinds = dict(_options(factory))
    chosen = dict(read_options(name, kinds, options, make))
    try:
        if isinstance(factory, _BuiltIn):
            _require_prompts(name, chosen.pop("prompts", None))
        method = factory(**chosen)
    except ValueError as error:
        raise MethodError(f"method {name!r}: {error}") from None
    if not isinstance(method, Method):
        raise MethodError(
            f"method {name!r}: its plugin made a {type(method).__name__}, which has no label or no "
            "solve(problem); tell its author"
        )
    return method


def _options(factory: Callable[..., object]) -> Iterator[tuple[str, object]]:
    """List the options that a factory takes, each with the type of its values."""
    if not isinstance(factory, _BuiltIn):
        yield from parameters(factory).items()
        return
    yield from options_of(factory.default)
    if isinstance(factory.default, CFR | Routed | LLMRouted):
        yield "prompts", str


def _require_prompts(name: str, given: object) -> None:
    """Accept an option of earlier versions, which chose between what are two methods now."""
    brief = name.endswith(_BRIEF)
    known = "own" if brief else "paper"
    if given is None or given == known:
        return
    if given not in ("own", "paper"):
        raise ValueError(f"prompts={given} is not {known}, which can be left out")
    other = name.removesuffix(_BRIEF) if brief else name + _BRIEF
    raise ValueError(f"prompts={given} is the method {other} now; name that")
