"""Every method as a solver of Inspect: ``cfr/auto``, ``cfr/vote``, ``cfr/method``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

import orjson
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from constraint_first.adapter.inspect.engine import Adaptation, InspectEngine
from constraint_first.adapter.inspect.internal import as_prerequisite, as_sample_error, qualify
from constraint_first.engine.automatic import AUTO, choose_for
from constraint_first.engine.drive import drive
from constraint_first.engine.engine import Watcher
from constraint_first.engine.solve import preceded
from constraint_first.error import InputError
from constraint_first.file.storable import storable_json
from constraint_first.method import Method, make, names
from constraint_first.method.calibrated import in_conversation
from constraint_first.method.confidence import assessed
from constraint_first.method.registry import METHODS
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Message, Output, Program
from constraint_first.serve.reply import final_text

__all__ = ["NOTES", "method", "spell_name"]

NOTES: Final = "cfr"
"""Where a solver leaves what it noted: in the sample's store, and the answer with its output."""

_ROLES: Final = ("system", "user", "assistant")


def _register(name: str, factory: Callable[..., Solver]) -> Callable[..., Solver]:
    return solver(qualify(factory, name))(factory)


def _method(name: str = AUTO) -> Solver:
    """Any method by its whole name, options included: ``vote(samples=3,check=off)``."""
    return _solve_with(spell_name(name, {}))


method: Final = _register("method", _method)


def _named(name: str) -> Callable[..., Solver]:
    """Make the factory of one method's solver, which takes the method's options as its own."""

    def factory(**options: Any) -> Solver:
        return _solve_with(spell_name(name, options))

    factory.__doc__ = METHODS[name].__doc__ if name in METHODS else None
    return factory


for _name in (AUTO, *names()):
    _register(_name, _named(_name))


def spell_name(name: object, options: dict[str, Any]) -> str:
    """Write a method's name with its options as ``cfr`` reads it.

    Inspect reads values from its command line as YAML: ``off`` comes as False, and a value with
    commas as a list.
    """
    spelt = [f"{option}={_quoted(_word(value))}" for option, value in options.items()]
    return f"{_word(name)}({','.join(spelt)})" if spelt else _word(name)


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_word, cast("list[object]", value)))
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _quoted(word: str) -> str:
    return f'"{word}"' if "," in word and "(" not in word and '"' not in word else word


def _solve_with(name: str) -> Solver:
    with as_prerequisite():
        chosen = None if name == AUTO else make(name)
    adaptations: dict[str, Adaptation] = {}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        with as_sample_error():
            _require_asyncio()
            engine = InspectEngine(get_model(), state.epoch, adaptations)
            problem, ahead = _read_problem(state)
            noted: dict[str, Json] = {"method": name}
            if chosen is None:
                choice = choose_for(engine)
                noted |= {"method": choice.method, "why": choice.why}
            solving = in_conversation(chosen or make(str(noted["method"])), ahead)
            steps = preceded(assessed(solving, problem), ahead)
            outcome = await drive(steps, engine, watcher=_Recorder())
        _note(state, solving, outcome.result, noted)
        return state

    return solve


class _Recorder(Watcher):
    """Puts the programs that were run into Inspect's transcript; calls are there already."""

    streams = False

    def executed(self, program: Program, output: Output) -> None:
        """Add one program with what became of it."""
        told = {"program": program.source, "printed": output.text, "error": output.error}
        transcript().info(orjson.loads(storable_json(told)), source="cfr")


def _require_asyncio() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise InputError(
            "INSPECT_ASYNC_BACKEND: solvers of cfr need asyncio; leave it out, or set it to asyncio"
        ) from None


def _read_problem(state: TaskState) -> tuple[Problem, tuple[Message, ...]]:
    """Take the last message of the user as the problem, and those ahead of it as they stand."""
    asked = [n for n, one in enumerate(state.messages) if isinstance(one, ChatMessageUser)]
    if not asked:
        raise InputError(f"sample {state.sample_id}: has no message of a user, so no problem")
    *ahead, problem = [_text(state, one) for one in state.messages[: asked[-1] + 1]]
    if not problem.content.strip():
        raise InputError(f"sample {state.sample_id}: its input is empty; give a problem's text")
    return Problem(problem.content, id=str(state.sample_id)), tuple(ahead)


def _text(state: TaskState, message: ChatMessage) -> Message:
    parts = [] if isinstance(message.content, str) else message.content
    odd = [part.type for part in parts if part.type not in ("text", "reasoning")]
    if odd or message.role not in _ROLES:
        kind = odd[0] if odd else f"{message.role} message"
        raise InputError(
            f"sample {state.sample_id}: has a part of the kind {kind!r}, and methods of cfr read "
            "text alone"
        )
    return Message(message.role, message.text)


def _note(state: TaskState, solved_by: Method, solution: Solution, noted: dict[str, Json]) -> None:
    """Leave the solution as the sample's output, and all that the method noted in its store."""
    answered: dict[str, Json] = {"answer": solution.answer, "truncated": solution.truncated}
    whole = noted | {"label": solved_by.label} | answered | {"details": {**solution.details}}
    state.store.set(NOTES, orjson.loads(storable_json(whole)))
    text, model = final_text(solution), str(state.model)
    reply = ChatMessageAssistant(content=text, model=model, source="generate")
    reason = "max_tokens" if solution.truncated else "stop"
    state.messages.append(reply)
    state.output = ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=reply, stop_reason=reason)],
        metadata={NOTES: orjson.loads(storable_json(answered))},
    )
