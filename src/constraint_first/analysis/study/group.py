"""Groups of benchmarks, such as AIME's three years: the paper averages and pools these alone."""

from __future__ import annotations

from collections.abc import Iterable

from constraint_first.benchmark.entry import entries

__all__ = ["benchmarks_named", "groups_and_all", "groups_of"]


def groups_of(benchmarks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Sort benchmarks into the groups that several of them belong to, in order."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(benchmarks):
        if group := _group(name):
            found.setdefault(group, []).append(name)
    return {group: tuple(names) for group, names in found.items() if len(names) > 1}


def groups_and_all(benchmarks: Iterable[str]) -> list[tuple[str, ...]]:
    """List the sets of benchmarks to take together: each group, then all, where these differ."""
    every = tuple(dict.fromkeys(benchmarks))
    sets = [*groups_of(every).values(), every] if every else []
    return list(dict.fromkeys(sets))


def benchmarks_named(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """List the known benchmarks that a name means: those of a group, or the one of that name."""
    members = tuple(one for one in known if _group(one).casefold() == name.casefold() != "")
    return members or (name,)


def _group(benchmark: str) -> str:
    entry = entries().get(benchmark)
    return entry.group if entry else ""
