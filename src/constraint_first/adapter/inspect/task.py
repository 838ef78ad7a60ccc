"""Every benchmark as a task of Inspect: ``cfr/constraintbench``, ``cfr/benchmark -T file=…``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig

from constraint_first.adapter.inspect.internal import as_prerequisite, qualify
from constraint_first.adapter.inspect.scorer import grade
from constraint_first.adapter.inspect.solver import method
from constraint_first.benchmark import Benchmark, load, names
from constraint_first.engine.engine import Decoding
from constraint_first.engine.prompt_file import read_system
from constraint_first.error import InputError
from constraint_first.problem import Problem

__all__ = ["benchmark"]


def _register(name: str, factory: Callable[..., Task]) -> Callable[..., Task]:
    return task(name=qualify(factory, name))(factory)


def _benchmark(name: str = "", file: str = "", columns: Any = "", system: Any = None) -> Task:
    """Any benchmark by its name, or a file of your own problems: ``-T file=mine.jsonl``.

    ``columns`` says which columns of the file hold what ("problem=question,answer=gold"),
    ``system`` is a message ahead of every call.
    """
    with as_prerequisite():
        if bool(name) == bool(file):
            raise InputError(
                "cfr/benchmark: name a benchmark (-T name=aime24) or a file (-T file=mine.jsonl)"
            )
        found = load(
            str(name or file), system_prompt=_read_system(system), columns=_read_columns(columns)
        )
        return _task(found)


benchmark: Final = _register("benchmark", _benchmark)


def _named(name: str) -> Callable[..., Task]:
    """Make the factory of one benchmark's task; it is loaded when the task is made."""

    def factory(system: Any = None) -> Task:
        with as_prerequisite():
            return _task(load(name, system_prompt=_read_system(system)))

    factory.__doc__ = f"The benchmark {name}; ``system`` is a message ahead of every call."
    return factory


for _name in names():
    _register(_name, _named(_name))


def _read_system(given: object) -> str | None:
    """Read a system message, or None where the benchmark's own stays."""
    return None if given is None else read_system(_word(given))


def _word(given: object) -> str:
    """Undo what Inspect makes of a value on its command line: a list of one with commas."""
    return (
        ",".join(map(str, cast("list[object]", given))) if isinstance(given, list) else str(given)
    )


def _read_columns(given: object) -> Mapping[str, str]:
    if isinstance(given, dict):
        return cast("dict[str, str]", given)
    split = [one.partition("=") for one in _word(given).split(",") if one]
    if not all(name.strip() and column.strip() for name, _, column in split):
        raise InputError(f"columns {given!r}: write FIELD=COLUMN, such as answer=gold")
    return {name.strip().lower(): column.strip() for name, _, column in split}


def _task(loaded: Benchmark) -> Task:
    """Make a task that is decoded as ``cfr eval`` does, unless Inspect is told otherwise."""
    usual = Decoding()
    return Task(
        dataset=MemoryDataset(
            [_sample(problem, loaded.system_prompt) for problem in loaded.problems],
            name=loaded.name,
        ),
        solver=method(),
        scorer=grade(),
        config=GenerateConfig(temperature=usual.temperature, top_p=usual.top_p),
    )


def _sample(problem: Problem, system: str) -> Sample:
    ahead = [ChatMessageSystem(content=system)] if system else []
    return Sample(
        id=problem.id,
        input=[*ahead, ChatMessageUser(content=problem.text)] if ahead else problem.text,
        target=problem.answer or "",
        metadata={"benchmark": problem.benchmark},
    )
