"""Methods by name: ``direct``, ``cfr(reply=json)``, ``self-consistency(base=routed-cfr)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from constraint_first.error import InputError
from constraint_first.file.rows import check_text, read_text, within
from constraint_first.file.safe import expand_user
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
    parts_of,
    prompts_of,
    read_options,
    split_name,
    suggest,
    with_options,
)
from constraint_first.method.policy import Calibrated, calibrate_by, find_policy
from constraint_first.method.program import Programmed
from constraint_first.method.sound import Checked, Sound
from constraint_first.method.vote import Prove, Search, SelfConsistency, UntilAgreed, Vote
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Prompt

_EMBEDDED: Final = "qwen2.5-coder-1.5b-instruct"  # the package has its policy
_BRIEF: Final = "-brief"


class _BuiltIn:
    """Makes a method of ours: itself with its defaults, or with other options."""

    def __init__(self, default: Method, about: str) -> None:
        self.default = default
        self.__doc__ = about

    def __call__(self, **chosen: object) -> Method:
        return with_options(self.default, chosen)


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


def names() -> tuple[str, ...]:
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
    kinds = _options(factory)
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


def _options(factory: Callable[..., object]) -> Mapping[str, object]:
    if not isinstance(factory, _BuiltIn):
        return parameters(factory)
    staged = isinstance(factory.default, CFR | Routed | LLMRouted)
    return {**dict(options_of(factory.default)), **({"prompts": str} if staged else {})}


def _require_prompts(name: str, given: object) -> None:
    """Check the obsolete option ``prompts``, which chose between what are now two methods."""
    brief = name.endswith(_BRIEF)
    known = "own" if brief else "paper"
    if given is None or given == known:
        return
    if given not in ("own", "paper"):
        raise ValueError(f"prompts={given} is not {known}, which can be left out")
    other = name.removesuffix(_BRIEF) if brief else name + _BRIEF
    raise ValueError(f"prompts={given} is the method {other} now; name that")


# Rewording of a method: the user's own prompts in place of its original ones.
#
# A method has its prompts as fields, so a reworded one is a separate object: nothing else in the
# process changes, and two wordings can run side by side.

M = TypeVar("M")
_CHOOSING: Final = (
    *("", "reply=json", "reply=prose", "reply=prose,question=1", "tell=stated", "own=join"),
    *("style=thinking", "style=bare", "style=short", "style=sympy", "mind=reminder"),
    *("mind=list", "then=turn"),
)
"""Options that choose among the prompts of a method."""
_NAME: Final = attrgetter("name")
_WORDED: Final = lazy_pattern(r"(?P<before>.*?)[(,]wording=[^,()]*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """A user's own prompts, under a name that distinguishes them from other wordings."""

    name: str
    prompts: tuple[Prompt, ...]
    """Only the prompts that differ from the originals."""


def original_prompts() -> dict[str, Prompt]:
    held = (one for factory in METHODS.values() for one in parts_of(factory()))
    return {one.name: one for one in held if isinstance(one, Prompt)}


def prompt_users() -> dict[str, list[str]]:
    """Map each prompt to the built-in methods that use it under any of their options."""
    users: dict[str, list[str]] = {name: [] for name in original_prompts()}
    for method in METHODS:
        made = [one for options in _CHOOSING if (one := _made(f"{method}({options})"))]
        for name in dict.fromkeys(map(_NAME, prompts_of(made))):
            users[name].append(method)
    return users


def _made(name: str) -> Method | None:
    try:
        return make(name)
    except MethodError:  # it has no such option
        return None


def reword(method: M, wording: Wording) -> M:
    """Put own prompts into a method and its inner methods; unchanged where it uses none."""
    used = {*map(_NAME, prompts_of(method))}
    own = {prompt.name: prompt for prompt in wording.prompts if prompt.name in used}
    return cast("M", _reworded(method, own)) if own else method


def _reworded(part: Any, own: Mapping[str, Prompt]) -> Any:
    if isinstance(part, Prompt):
        found = own.get(part.name, part)
        # Another package's method may have a prompt of the same name with other placeholders.
        return found if found.places == part.places else part
    if isinstance(part, list | tuple):
        members = cast("Sequence[Any]", part)
        changed = [_reworded(one, own) for one in members]
        if all(new is old for new, old in zip(changed, members, strict=True)):
            return members
        return changed if isinstance(members, list) else tuple(changed)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    held = {one.name: getattr(part, one.name) for one in fields(part) if one.init}
    changes = {name: _reworded(value, own) for name, value in held.items()}
    changes = {name: value for name, value in changes.items() if value is not held[name]}
    return replace(part, **changes) if changes else part


def worded_name(method: str, wording: Wording) -> str:
    before = method.removesuffix("()")
    if before.endswith(")"):
        return f"{before[:-1]},wording={wording.name})"
    return f"{before}(wording={wording.name})"


def plain_name(method: str) -> str:
    """Return the name of a method without its wording."""
    found = _WORDED.fullmatch(method)
    if not found:
        return method
    before = found["before"]
    return f"{before})" if "(" in before else before


# Own prompts from a folder, and a system message from a file.

_LONGEST: Final = 100_000
"""The most characters of a prompt or a system message."""
_LONGEST_NAME: Final = 60


def read_wording(folder: str | Path, more: Iterable[Prompt] = ()) -> Wording:
    """Read own prompts, ``NAME.txt`` each; ``more`` are prompts from other packages."""
    path = expand_user(str(folder))
    known = {prompt.name: prompt for prompt in more} | original_prompts()
    files = list(_prompt_files(path, known))
    if not files:
        raise InputError(
            f"{path}: has no prompts; 'cfr prompts --copy {path}' writes the originals there"
        )
    read = (_read(file, known) for file in files)
    own = (prompt for prompt in read if prompt.text != known[prompt.name].text)
    # Named after its folder, in the characters allowed in a method's name.
    name = re.sub(r"[^\w.-]+", "-", path.resolve().name).strip("-")
    return Wording(name[:_LONGEST_NAME] or "own", tuple(own))


def _prompt_files(folder: Path, known: Mapping[str, Prompt]) -> Iterator[Path]:
    """List the files meant as prompts: text files, and others with the name of a prompt."""
    try:
        entries = sorted(folder.iterdir())
    except NotADirectoryError:
        raise InputError(f"{folder}: a file, not a folder; name the folder that it is in") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no folder has such a name"
        raise InputError(f"{folder}: cannot be read ({reason}); name a folder") from None
    for path in entries:
        if path.name.startswith(".") or path.name.endswith("~"):
            continue
        if path.suffix == ".txt":
            yield path
        elif (stem := path.name.partition(".")[0].lower()) in known:
            raise InputError(f"{path}: not the name of a prompt; call the file {stem}.txt")


def _read(path: Path, known: Mapping[str, Prompt]) -> Prompt:
    if path.stem not in known:
        hint = suggest(path.stem.lower(), list(known))
        more = f" They are {', '.join(known)}" if hint.startswith("did") else ""
        raise InputError(f"{path}: there is no prompt {path.stem!r}; {hint}{more}")
    original, text = known[path.stem], _read_bounded(path).strip()
    if not text:
        raise InputError(f"{path}: is empty; write the prompt, or take the file out of the folder")
    own = Prompt(original.name, text, replaced=True)
    if missing := sorted(original.places - own.places):
        raise InputError(f"{path}: lacks {_written(missing)}, where something is filled in; add it")
    if strange := sorted(own.places - original.places):
        places = _written(sorted(original.places)) or "none"
        raise InputError(
            f"{path}: has {_written(strange)}, which nothing fills in; its places are: {places}"
        )
    return own


def _written(places: Iterable[str]) -> str:
    return ", ".join(f"[[{place}]]" for place in places)


def _read_bounded(path: Path) -> str:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # reading it raises the error
    if size > 4 * _LONGEST:
        raise InputError(f"{path}: {size:,} bytes are too long; {_LONGEST:,} characters are most")
    with within(path):
        return check_text(read_text(path), "the text", _LONGEST)


def require_used(wording: Wording, methods: Iterable[object]) -> None:
    """Refuse own prompts that no method uses: the user would see no effect."""
    names = ", ".join(f"{prompt.name}.txt" for prompt in wording.prompts)
    if names and all(reword(method, wording) is method for method in methods):
        raise InputError(
            f"prompts of {wording.name}: no method that is to be run asks with {names}; "
            "'cfr prompts' says which methods do"
        )


def with_wording(method: M, wording: Wording | None) -> M:
    if wording is None:
        return method
    require_used(wording, [method])
    return reword(method, wording)


def read_system(given: str) -> str:
    """Read a system message: its own text, or ``@FILE`` for that of a file."""
    if not given.startswith("@"):
        return check_system(given)
    if given == "@":
        raise InputError("system message '@': no file is named; write @FILE, or the message itself")
    path = expand_user(given[1:])
    if not (text := _read_bounded(path).strip()):
        raise InputError(f"{path}: is empty; write the system message, or leave out --system")
    return text


def check_system(text: str) -> str:
    """Return a system message that can be sent and stored; empty for a blank one."""
    return check_text(text.strip(), "system", _LONGEST)
