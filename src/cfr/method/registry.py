"""Methods by name: ``direct``, ``cfr(reply=json)``, ``self-consistency(base=routed-cfr)``.

A name may carry options in brackets. What an option takes is what the method's factory declares: a
whole number, a text, one of a few words, or another method, which is written the same way. A value
with commas or brackets stands in quotation marks. Methods that other packages bring are looked for
only when a name is not among those below.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from types import NoneType
from typing import Final, Literal, cast, get_args, get_origin, get_type_hints

from cfr.constraint.router import Profile
from cfr.constraint.schema import read_limit
from cfr.constraint.stage import JsonMode, PromptSet, ReplyStyle
from cfr.method import plugin
from cfr.method.constraint_first import CFR, Convention, Routed
from cfr.method.direct import Direct
from cfr.method.extended import CFR_OUTPUT, ExtendedCoT
from cfr.method.format_only import FormatOnly
from cfr.method.llm_router import LLMRouted
from cfr.method.method import Method
from cfr.method.plugin import MethodError
from cfr.method.refine import SelfRefine
from cfr.method.vote import SelfConsistency
from cfr.method.wording import CheckAnswer, ListFirst, PlanAndSolve, Reminder

__all__ = ["METHODS", "MethodError", "make", "names"]


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
    reply: ReplyStyle | None = None,
    prompts: PromptSet = "own",
    constraints: str = "",
    json: JsonMode | None = None,
    extractor: str = "",
) -> CFR:
    """List the constraints first, then solve under them, for every problem.

    With the paper's prompts go its settings, unless others are given.
    """
    paper = prompts == "paper"
    return CFR(
        reply or ("json" if paper else "prose"),
        prompts=prompts,
        limit=read_limit(constraints or ("all" if paper else "6+3")),
        json=json or ("object" if paper else "schema"),
        extractor=extractor,
    )


def routed_cfr(
    reply: ReplyStyle | None = None,
    router: Profile = "reconstructed",
    convention: Convention = "none",
    prompts: PromptSet = "own",
    constraints: str = "",
    json: JsonMode | None = None,
    extractor: str = "",
) -> Routed:
    """List the constraints first where the text has restrictive cues; Direct CoT elsewhere."""
    constrained = cfr(reply, prompts, constraints, json, extractor)
    return Routed(constrained, profile=router, convention=convention)


def self_consistency(base: Method = Direct(), samples: int = 8) -> SelfConsistency:
    """Let several samples of another method vote."""
    return SelfConsistency(base, samples)


def llm_router(
    reply: ReplyStyle | None = None,
    prompts: PromptSet = "own",
    constraints: str = "",
    json: JsonMode | None = None,
    extractor: str = "",
    model: str = "",
) -> LLMRouted:
    """Routed-CFR with a short call to the model in place of the regular expressions."""
    return LLMRouted(cfr(reply, prompts, constraints, json, extractor), model=model)


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
    "routed-cfr": routed_cfr,
    "self-consistency": self_consistency,
    "llm-router": llm_router,
}
"""The factory of every method that is built in, by its name on the command line."""


def names() -> tuple[str, ...]:
    """List all methods that can be named: the built-in ones, then those of plugins."""
    return (*METHODS, *(name for name in plugin.names() if name not in METHODS))


def make(text: str) -> Method:
    """Build the method that a text such as ``routed-cfr(reply=json)`` names."""
    shape = _SHAPE.fullmatch(text.strip())
    if not shape:
        raise MethodError(f"method {text!r}: write it as NAME or NAME(OPTION=VALUE,…)")
    name, options = shape["name"], shape["options"] or ""
    factory: Callable[..., object] | None = METHODS.get(name) or plugin.load(name)
    if not factory:
        raise MethodError(f"method {name!r}: not known; {_suggest(name, names())}")
    chosen = dict(_read_options(name, factory, options))
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


_QUOTES: Final = ('"', "'")
_SHAPE: Final = re.compile(r"(?P<name>[\w-]+)(?:\((?P<options>.*)\))?", re.DOTALL)


def _read_options(
    name: str, factory: Callable[..., object], options: str
) -> Iterator[tuple[str, object]]:
    kinds = get_type_hints(factory)
    known = list(inspect.signature(factory).parameters)
    for option in _split(options):
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals:
            raise MethodError(f"method {name!r}: option {option!r} must be written as OPTION=VALUE")
        if key not in known:
            raise MethodError(f"method {name!r}: no option {key!r}; {_suggest(key, known)}")
        where = f"method {name!r}, option {key!r}"
        yield key, _convert(where, kinds[key], _unquote(where, value))


def _split(options: str) -> Iterator[str]:
    """Split at the commas that stand outside inner brackets and quoted values."""
    depth, quote, piece = 0, "", ""
    for character in options:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES and piece.rstrip().endswith("="):
            quote = character
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0 and not quote:
            yield piece
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece


def _unquote(where: str, value: str) -> str:
    if value[:1] not in _QUOTES:
        return value
    inner, closed, rest = value[1:].partition(value[0])
    if not closed or rest:
        raise MethodError(f"{where}: {value!r} must end with the quotation mark it begins with")
    return inner


def _convert(where: str, kind: object, value: str) -> object:
    if NoneType in get_args(kind):  # None is what it is when it is not given
        (kind,) = (given for given in get_args(kind) if given is not NoneType)
    if get_origin(kind) is Literal:
        choices = cast("tuple[str, ...]", get_args(kind))
        if value not in choices:
            raise MethodError(f"{where}: {value!r} is not one of {', '.join(choices)}")
        return value
    if kind is int:
        if not value.isdecimal() or len(value) > 9:
            raise MethodError(f"{where}: {value!r} is not a whole number of at most nine digits")
        return int(value)
    return value if kind is str else make(value)


def _suggest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(known)}" if known else "it takes none"
