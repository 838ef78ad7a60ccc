"""What every way to answer a problem has in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any, ClassVar, Final, Protocol, cast, runtime_checkable

from constraint_first.answer.extraction.extract import extract
from constraint_first.problem import Json, Problem, Solution
from constraint_first.prompt import Prompt
from constraint_first.protocol import Call, Completion, Stage, Steps, ask

__all__ = [
    "BUDGET",
    "UNSAID",
    "AsksOthers",
    "ChoosesPrompts",
    "Method",
    "Revises",
    "ask_once",
    "configuration",
    "gathering",
    "last_answered",
    "may_revise",
    "models_of",
    "noting",
    "parts_of",
    "prompts_of",
    "solution_from",
]

BUDGET: Final = 32_768
"""Output tokens for a whole solution (paper: Implementation Details). Engines lower it where the
model's context is smaller."""

UNSAID: Final = "unsaid"
"""In a field's metadata: the value that ``configuration`` leaves out, in place of the default."""


@runtime_checkable
class Method(Protocol):
    """A frozen dataclass that knows how to ask for a solution.

    Its ``repr`` is its configuration. It must be deterministic given the completions it receives.
    """

    label: ClassVar[str]
    """Its name as the paper prints it."""

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Ask for a solution, call by call."""
        ...


@runtime_checkable
class AsksOthers(Protocol):
    """A method some of whose calls are for other models than the one that it is run with."""

    @property
    def other_models(self) -> tuple[str, ...]:
        """The names of those models, as ``--model`` would have them."""
        ...


@runtime_checkable
class ChoosesPrompts(Protocol):
    """A method that holds more prompts than it asks with, because its options choose among them."""

    @property
    def in_use(self) -> tuple[object, ...]:
        """The prompts and methods that it may ask with as it is set."""
        ...


@runtime_checkable
class Revises(Protocol):
    """A method that may give another text than the reply of its last call."""

    def revises(self, problem: Problem) -> bool:
        """Whether it may change a reply to this problem after the model has written it."""
        ...


def may_revise(method: object, problem: Problem) -> bool:
    """Whether a method, or one that it holds, may change a reply after it was written.

    Such a reply must not be shown as the final one before the method has returned.
    """
    if isinstance(method, Revises):
        return method.revises(problem)
    return any(may_revise(one, problem) for one in _held(method))


def parts_of(method: object) -> Iterator[object]:
    """Go through a method and all methods that it holds."""
    yield method
    for one in _held(method):
        yield from parts_of(one)


def _held(method: object) -> Sequence[object]:
    if isinstance(method, list | tuple):
        return cast("Sequence[object]", method)
    return [getattr(method, one.name) for one in fields(method)] if is_dataclass(method) else ()


def models_of(method: object) -> tuple[str, ...]:
    """List the other models that a method may ask, those of methods that it holds among them."""
    asking = (one for one in parts_of(method) if isinstance(one, AsksOthers))
    return tuple(dict.fromkeys(name for one in asking for name in one.other_models))


def prompts_of(method: object) -> tuple[Prompt, ...]:
    """List the prompts that a method may ask with, those of methods that it holds among them."""
    used = method.in_use if isinstance(method, ChoosesPrompts) else _held(method)
    own = (method,) if isinstance(method, Prompt) else ()
    return tuple(dict.fromkeys((*own, *(prompt for one in used for prompt in prompts_of(one)))))


def configuration(method: Any) -> str:
    """Write a method as a dataclass does, its later options only where they are not the default.

    A later option is a field with ``repr=False``: without it, a method is called what it was called
    before there was one, and its attempts in old stores are still its own. Where the default has
    changed since, the field's metadata has the one that goes unsaid. Prompts are too long.
    """
    shown = (f for f in fields(method) if f.repr or _is_chosen(f, getattr(method, f.name)))
    options = ", ".join(f"{field.name}={getattr(method, field.name)!r}" for field in shown)
    return f"{type(method).__qualname__}({options})"


def _is_chosen(option: Field[Any], value: object) -> bool:
    return value != option.metadata.get(UNSAID, option.default) and not prompts_of(value)


def solution_from(completion: Completion, **details: Json) -> Solution:
    """Make the solution that a solving call's completion amounts to."""
    found = extract(completion.text, truncated=completion.truncated)
    return Solution(
        found.answer, completion.text, completion.truncated, {"how": found.how} | details
    )


def ask_once(prompt: str, stage: Stage, budget: int) -> Steps[Solution]:
    """Ask for a whole solution in one call and read its answer."""
    call = Call.user(prompt, stage=stage, max_tokens=budget)
    return solution_from((yield from ask(call)))


def last_answered(solutions: Sequence[Solution]) -> Solution:
    """Choose the latest of several attempts that has an answer; the last one where none has."""
    return next((one for one in reversed(solutions) if one.answer), solutions[-1])


def noting(solution: Solution, **noted: Json) -> Solution:
    """Add what a method wants remembered; what the solution itself noted stays."""
    return replace(solution, details={**noted, **solution.details})


def gathering(chosen: Solution, solutions: Sequence[Solution]) -> Solution:
    """Keep the programs and interventions of all solutions that one was chosen from, in order."""
    kept: dict[str, Json] = {}
    for name in ("programs", "interventions"):
        noted = [one.details.get(name) for one in solutions]
        if items := [item for one in noted if isinstance(one, list) for item in one]:
            kept[name] = items
    return replace(chosen, details={**chosen.details, **kept})
