"""Names that methods had before CFR-brief had one of its own.

Until then ``cfr``, ``routed-cfr`` and ``llm-router`` meant our brief variant, and the paper's
protocol was an option of theirs, ``prompts=paper``. Stores, exports, labels and policies from then
keep their meaning: the code that reads one translates its names. Files written today carry a mark
wherever a name could be mistaken for one from then, so apply ``renamed`` once, never twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from constraint_first.method.constraint_first import BRIEF, CFR, LLMRouted, Routed
from constraint_first.method.method import (
    DEEPEST,
    MethodError,
    nesting,
    split_name,
    split_options,
    unquote,
)
from constraint_first.problem import Json

NAMES: Final = 2
"""The version of methods' names in files that are written today."""

_Change: TypeAlias = Callable[[str, Sequence[str]], tuple[str, Sequence[str]]]
_RENAMED: Final = ("cfr", "routed-cfr", "llm-router")
_BRIEF: Final = "-brief"
_NO_METHODS: Final = frozenset({"extractor", "model", "policy", "wording"})
"""Options whose values are other people's names."""
_LABELS: Final = {
    "cfr-brief": BRIEF.label,
    "routed-cfr-brief": Routed(BRIEF).label,
    "llm-router-brief": LLMRouted(BRIEF).label,
}
_OBJECTS: Final = {CFR: "cfr-brief", Routed: "routed-cfr-brief", LLMRouted: "llm-router-brief"}


@lru_cache(maxsize=4_096)
def renamed(method: str) -> str:
    """Say what a method is called today that was written before CFR-brief had a name."""
    return _walk(method, _rename)


def changed_meaning(method: str) -> bool:
    """Say whether a name means something else today than it did."""
    return renamed(method) != method


@lru_cache(maxsize=4_096)
def spelled(method: str) -> str:
    """Write a name without the option that chose between two sets of prompts: it says nothing."""
    return _walk(method, _leave_out)


def renamed_label(method: str, label: str) -> str:
    """Say which label a method has today whose name and label are from then.

    A method that was given as an object goes by its ``repr``, which names the paper's prompts.
    """
    if label not in (CFR().label, Routed().label, LLMRouted().label):
        return label
    for kind, name in _OBJECTS.items():
        if method.startswith(f"{kind.__name__}("):
            brief = f"{CFR.__name__}(" in method and "prompts='paper'" not in method
            return _LABELS[name] if brief else label
    return _LABELS.get(renamed(method).partition("(")[0].strip(), label)


def with_current_names(line: Mapping[str, Json]) -> Mapping[str, Json]:
    """Give a line of a file that is ours the names of today; ``names`` says which ones it has."""
    method, label = line.get("method"), line.get("label")
    if line.get("names") or not isinstance(method, str):
        return line
    told = renamed_label(method, label) if isinstance(label, str) else label
    return {**line, "method": renamed(method), "label": told}


def _rename(name: str, options: Sequence[str]) -> tuple[str, Sequence[str]]:
    if name not in _RENAMED:
        return name, options
    kept = [one for one in options if _prompts(one) != "paper"]
    # An option that says prompts=own stays: two series of a store must not become one.
    return (name, kept) if len(kept) < len(options) else (name + _BRIEF, options)


def _leave_out(name: str, options: Sequence[str]) -> tuple[str, Sequence[str]]:
    known = "paper" if name in _RENAMED else "own" if name in _LABELS else None
    return name, [one for one in options if not known or _prompts(one) != known]


def _prompts(option: str) -> str | None:
    key, _, value = option.partition("=")
    return value.strip().strip("'\"") if key.strip() == "prompts" else None


def _walk(text: str, change: _Change) -> str:
    """Change a method and those that it holds; what is no method's name stays as it is."""
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
