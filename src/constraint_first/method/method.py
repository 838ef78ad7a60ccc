"""The contract of a method, its options by name, and methods from other packages."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, field, fields, is_dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from itertools import accumulate
from types import NoneType
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from constraint_first.answer.extract import extract
from constraint_first.constraint.asked import Asked
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated, repair
from constraint_first.error import CfrError
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem, Prompt, Solution
from constraint_first.problem import load as load_prompt
from constraint_first.protocol import Call, Completion, Message, Stage, Steps, ask
from constraint_first.thinking import without_thinking

M = TypeVar("M")

BUDGET: Final = 32_768
"""Output tokens for a whole solution (paper: Implementation Details). Engines lower it where the
model's context is smaller."""

UNSAID: Final = "unsaid"
_OPTION: Final = "option"
_INNER: Final = "inner"


def option(
    name: str = "",
    *,
    read: Callable[[Any], object] | None = None,
    kind: object = None,
    **metadata: object,
) -> dict[str, object]:
    """Mark a field as an option in a method's name: ``cfr(constraints=6+3)``.

    ``read`` converts the option's text, of type ``kind``, to the field's value.
    """
    return {_OPTION: (name, kind, read), **metadata}


def inner_options(*without: str) -> dict[str, object]:
    """Mark a field with an inner method; its options, except some, are also the outer one's."""
    return {_INNER: without}


def options_of(method: Any) -> Iterator[tuple[str, object]]:
    kinds = get_type_hints(type(cast("object", method)))
    for one in fields(method):
        if (without := one.metadata.get(_INNER)) is not None:
            inner = options_of(getattr(method, one.name))
            yield from ((name, kind) for name, kind in inner if name not in without)
        elif _OPTION in one.metadata:
            name, kind, _ = one.metadata[_OPTION]
            yield name or one.name, kind or kinds[one.name]


def with_options(method: M, chosen: Mapping[str, object]) -> M:
    changes: dict[str, object] = {}
    for one in fields(cast("Any", method)):
        if _INNER in one.metadata:
            changes[one.name] = with_options(getattr(method, one.name), chosen)
        elif _OPTION in one.metadata:
            name, _, read = one.metadata[_OPTION]
            if (name or one.name) in chosen:
                value = chosen[name or one.name]
                changes[one.name] = read(value) if read else value
    return cast("M", replace(cast("Any", method), **changes))


def wording(name: str) -> Any:
    """Make a field for a prompt of this package, left out of the ``repr``."""
    return field(default=load_prompt("constraint_first.method", name), repr=False)


@runtime_checkable
class Method(Protocol):
    """A frozen dataclass that solves problems by calls; its ``repr`` is its configuration.

    It must be deterministic given the completions it receives: a resumed attempt replays it.
    It may also have ``other_models``, the names of other models that it calls; ``in_use``, the
    prompts and methods that its configuration uses; ``revises(problem)``, whether it may change a
    reply after the model has written it; and ``marks_final``.
    """

    label: ClassVar[str]
    """Its name as the paper prints it."""

    def solve(self, problem: Problem) -> Steps[Solution]: ...


def may_revise(method: object, problem: Problem) -> bool:
    """Whether a method, or an inner one, may change a reply after it was written.

    Such a reply must not be shown as final before the method has returned.
    """
    if revises := cast("Callable[[Problem], bool] | None", getattr(method, "revises", None)):
        return revises(problem)
    return any(may_revise(one, problem) for one in held_by(method))


def marks_final(method: object) -> bool:
    """Whether ``Call.final`` is reliable: in our methods, and others with ``marks_final`` set."""
    ours = __package__ or ""
    return all(
        type(one).__module__.startswith(ours) or getattr(one, "marks_final", False)
        for one in parts_of(method)
        if isinstance(one, Method)
    )


def parts_of(method: object) -> Iterator[object]:
    """Yield a method and all its inner methods."""
    yield method
    for one in held_by(method):
        yield from parts_of(one)


def held_by(method: object) -> Sequence[object]:
    if isinstance(method, list | tuple):
        return cast("Sequence[object]", method)
    return [getattr(method, one.name) for one in fields(method)] if is_dataclass(method) else ()


def models_of(method: object) -> tuple[str, ...]:
    """List the other models that a method and its inner methods may call."""
    none: tuple[str, ...] = ()
    listed = (getattr(one, "other_models", none) for one in parts_of(method))
    return tuple(dict.fromkeys(name for names in listed for name in names))


def prompts_of(method: object) -> tuple[Prompt, ...]:
    """List the prompts that a method and its inner methods may use."""
    used = cast("Sequence[object]", getattr(method, "in_use", held_by(method)))
    own = (method,) if isinstance(method, Prompt) else ()
    return tuple(dict.fromkeys((*own, *(prompt for one in used for prompt in prompts_of(one)))))


def configuration(method: Any) -> str:
    """Write a method as a dataclass's ``repr``, without prompts and options at their default.

    Options added later are fields with ``repr=False``, so that attempts in old stores still match
    their method. Where a default was changed later, the field's metadata has the value to omit.
    """
    shown = [f for f in fields(method) if f.repr or _is_chosen(f, getattr(method, f.name))]
    options = ", ".join(f"{one.name}={getattr(method, one.name)!r}" for one in shown)
    return f"{type(method).__qualname__}({options})"


def _is_chosen(one: Field[Any], value: object) -> bool:
    return value != one.metadata.get(UNSAID, one.default) and not prompts_of(value)


def said(reply: Completion | Solution) -> str:
    """Return a reply without its thinking, which later calls must not contain."""
    return without_thinking(reply.text).strip()


def conversation(call: Call, reply: Completion, prompt: str) -> tuple[Message, ...]:
    return (*call.messages, Message("assistant", said(reply)), Message("user", prompt))


def solution_from(completion: Completion, **details: Json) -> Solution:
    """Make a solution from the completion of a solving call."""
    found = extract(completion.text, truncated=completion.truncated)
    return Solution(
        found.answer, completion.text, completion.truncated, {"how": found.how} | details
    )


def ask_once(prompt: str, stage: Stage, budget: int, *, final: bool = True) -> Steps[Solution]:
    call = Call.user(prompt, stage=stage, max_tokens=budget, final=final)
    return solution_from((yield from ask(call)))


def last_answered(solutions: Sequence[Solution]) -> Solution:
    """Return the last solution with an answer; the last of all where none has one."""
    return next((one for one in reversed(solutions) if one.answer), solutions[-1])


def noting(solution: Solution, **noted: Json) -> Solution:
    """Add notes to a solution; its own notes take precedence."""
    return replace(solution, details={**noted, **solution.details})


def in_form(asked: Asked, solution: Solution) -> Solution:
    """Replace an answer that is the value of one of the options by that option's letter."""
    letter = asked.choose(solution.answer) if asked.options and solution.answer else None
    return replace(solution, answer=letter) if letter else solution


def gathering(chosen: Solution, solutions: Sequence[Solution]) -> Solution:
    """Give the chosen solution the programs and interventions of all candidates, in order."""
    kept: dict[str, Json] = {}
    for name in ("programs", "interventions"):
        noted = [one.details.get(name) for one in solutions]
        if items := [item for one in noted if isinstance(one, list) for item in one]:
            kept[name] = items
    return replace(chosen, details={**chosen.details, **kept})


# Whether an answer is sound: the constraints that a problem's text states, checked on it.

Switch: TypeAlias = Literal["on", "off"]
Check: TypeAlias = Literal["stated", "repair", "off"]
"""How an answer is checked: by the constraints that the text states; by these, with a repair
where there is only one possible; or not at all."""


def stated_in(problem: Problem, check: Check = "stated") -> tuple[Stated, ...]:
    """Read the constraints that may overrule an answer; none where the check is off."""
    return () if check == "off" else read_stated(problem.text)


def broken(stated: Iterable[Stated], answer: str) -> tuple[Stated, ...]:
    return tuple(one for one, truth in check_stated(stated, answer) if truth == "violated")


def is_sound(stated: Iterable[Stated], answer: str | None) -> bool:
    """Whether there is an answer that breaks no constraint."""
    return bool(answer) and not broken(stated, answer or "")


def sentences(stated: Iterable[Stated]) -> str:
    """Write constraints for a prompt, one a line, without duplicates."""
    return "\n".join(dict.fromkeys(f"- {one.sentence}" for one in stated))


def mended(stated: Sequence[Stated], solution: Solution, text: str = "") -> Solution:
    """Repair an answer where the repair is unambiguous; note it, with the words of ``text``."""
    before = solution.answer or ""
    faults = broken(stated, before)
    after = repair(stated, before) if faults else None
    if after is None or not is_sound(stated, after):
        return solution
    made = intervention("repair", before, after, faults, text)
    return replace(intervened(solution, made), answer=after)


def intervened(solution: Solution, made: dict[str, Json]) -> Solution:
    """Append an intervention to those of the solution."""
    earlier = solution.details.get("interventions")
    made_so_far = [*(earlier if isinstance(earlier, list) else ()), made]
    return replace(solution, details={**solution.details, "interventions": made_so_far})


def intervention(
    what: str, before: str, after: str | None, faults: Iterable[Stated], text: str = ""
) -> dict[str, Json]:
    """Describe an intervention: the answer before and after, and the constraints it broke."""
    listed = [*faults]
    told: list[Json] = [one.sentence for one in listed]
    quoted: list[Json] = [*dict.fromkeys(one.quote(text) for one in listed)] if text else []
    noted: dict[str, Json] = {"words": quoted} if quoted else {}
    return {"what": what, "before": before, "after": after, "broken": told, **noted}


# Methods of other packages, found by their entry points in the group ``cfr.methods``.
#
# A package is imported only when its method is named, so a broken one affects no other method.

GROUP: Final = "cfr.methods"


class MethodError(CfrError):
    exit_code = 2


def names() -> tuple[str, ...]:
    """List the methods of other installed packages, without importing any."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def load(name: str) -> Callable[..., object] | None:
    """Import the factory that a package registered under a name; None where there is none."""
    points = tuple(entry_points(group=GROUP, name=name))
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(map(_package, points)))
        raise MethodError(f"method {name!r}: brought by several packages ({packages}); keep one")
    (point, *_) = points
    try:
        factory: object = point.load()
    except Exception as error:  # importing another package may raise anything
        raise MethodError(
            f"method {name!r}: {point.value} of the package {_package(point)} cannot be loaded "
            f"({type(error).__name__}: {error}); update or remove that package"
        ) from error
    if not callable(factory):
        raise MethodError(
            f"method {name!r}: {point.value} of the package {_package(point)} is no factory; "
            "it must be something that returns a method when it is called"
        )
    return factory


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "of unknown name"


# How a method is written: ``NAME`` or ``NAME(OPTION=VALUE,…)``.
#
# The type of an option is that of its field, or of the parameter of a plugin's factory: a whole
# number, a text, one of a few words, another method, or several methods joined by ``+``. ``none``
# means no method where one is optional. A value with commas or brackets is put in quotation marks.

Make: TypeAlias = Callable[[str], object]

DEEPEST: Final = 16
"""The deepest nesting of brackets in a method's name."""
_QUOTES: Final = ('"', "'")
_SHAPE: Final = lazy_pattern(r"(?P<name>[\w-]+)(?:\((?P<options>.*)\))?", re.DOTALL)


def nesting(text: str) -> int:
    return max(accumulate(({"(": 1, ")": -1}.get(one, 0) for one in text), initial=0))


def split_name(text: str) -> tuple[str, str]:
    shape = _SHAPE.fullmatch(text.strip())
    if not shape:
        raise MethodError(f"method {text!r}: write it as NAME or NAME(OPTION=VALUE,…)")
    return shape["name"], shape["options"] or ""


def parameters(factory: Callable[..., object]) -> Mapping[str, object]:
    kinds = get_type_hints(factory)
    return {name: kinds.get(name) for name in inspect.signature(factory).parameters}


def read_options(
    name: str, kinds: Mapping[str, object], options: str, make: Make
) -> Iterator[tuple[str, object]]:
    known = list(kinds)
    for option in split_options(options):
        key, equals, value = map(str.strip, option.partition("="))
        if not equals:
            raise MethodError(f"method {name!r}: option {option!r} must be written as OPTION=VALUE")
        if key not in known:
            raise MethodError(f"method {name!r}: no option {key!r}; {suggest(key, known)}")
        where = f"method {name!r}, option {key!r}"
        yield key, _convert(where, kinds[key], unquote(where, value), make)


def split_options(options: str, mark: str = ",") -> Iterator[str]:
    """Split at the marks that are outside brackets and quoted values."""
    depth, quote, piece = 0, "", ""
    for character in options:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES and piece.rstrip().endswith("="):
            quote = character
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
        if character == mark and depth == 0 and not quote:
            yield piece
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece


def unquote(where: str, value: str) -> str:
    """Remove the quotation marks around a value, if any."""
    if value[:1] not in _QUOTES:
        return value
    inner, closed, rest = value[1:].partition(value[0])
    if not closed or rest:
        raise MethodError(f"{where}: {value!r} must end with the quotation mark it begins with")
    return inner


def _convert(where: str, kind: object, value: str, make: Make) -> object:
    if NoneType in get_args(kind):  # T | None: the written value is a T
        (kind,) = (given for given in get_args(kind) if given is not NoneType)
        if value == "none" and kind is Method:
            return None
    if get_origin(kind) is Literal:
        choices = cast("tuple[str, ...]", get_args(kind))
        if value not in choices:
            raise MethodError(f"{where}: {value!r} is not one of {', '.join(choices)}")
        return value
    if kind is int:
        if not value.isdecimal() or len(value) > 9:
            raise MethodError(f"{where}: {value!r} is not a whole number of at most nine digits")
        return int(value)
    if get_origin(kind) is tuple:
        return tuple(make(one) for one in split_options(value, "+"))
    return value if kind is str else make(value)


def suggest(name: str, known: Sequence[str]) -> str:
    """Suggest a known name for one that is unknown."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(known)}" if known else "it takes none"
