"""Rewording of a method: a person's own prompts in the place of those that it comes with.

A method holds its prompts as fields, so a reworded one is a value of its own: nothing else in the
process is changed, and two wordings can be run side by side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from constraint_first.method.method import Method, parts_of, prompts_of
from constraint_first.method.registry import METHODS, MethodError, make
from constraint_first.prompt import Prompt

__all__ = ["Wording", "original_prompts", "plain_name", "prompt_users", "reword", "worded_name"]

M = TypeVar("M")

_CHOOSING: Final = (
    "",
    "reply=json",
    "reply=prose",
    "reply=prose,question=1",
    "style=thinking",
    "style=bare",
    "style=short",
    "tell=stated",
    "own=join",
    "mind=reminder",
    "mind=list",
    "then=turn",
)
"""Options that choose among the prompts of a method."""
_NAME: Final = attrgetter("name")
_WORDED: Final = re.compile(r"(?P<before>.*?)[(,]wording=[^,()]*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """A person's own prompts, under one name that tells it from other wordings."""

    name: str
    prompts: tuple[Prompt, ...]
    """Those alone that differ from the originals."""


def original_prompts() -> dict[str, Prompt]:
    """List the prompts of all methods that are built in, by name."""
    held = (one for factory in METHODS.values() for one in parts_of(factory()))
    return {one.name: one for one in held if isinstance(one, Prompt)}


def prompt_users() -> dict[str, list[str]]:
    """Name the built-in methods that ask with each prompt, with whatever options that takes."""
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
    """Put own prompts into a method, and into the methods that it holds.

    One that asks with none of them, as its options are, is returned as it is.
    """
    used = {*map(_NAME, prompts_of(method))}
    own = {prompt.name: prompt for prompt in wording.prompts if prompt.name in used}
    return cast("M", _reworded(method, own)) if own else method


def _reworded(part: Any, own: Mapping[str, Prompt]) -> Any:
    if isinstance(part, Prompt):
        found = own.get(part.name, part)
        # A method of another package may have a prompt of the same name, for other places.
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
    """Name a reworded method: ``cfr(reply=json,wording=mine)``."""
    before = method.removesuffix("()")
    if before.endswith(")"):
        return f"{before[:-1]},wording={wording.name})"
    return f"{before}(wording={wording.name})"


def plain_name(method: str) -> str:
    """Return the name of the method that was reworded; one that was not keeps its own."""
    found = _WORDED.fullmatch(method)
    if not found:
        return method
    before = found["before"]
    return f"{before})" if "(" in before else before
