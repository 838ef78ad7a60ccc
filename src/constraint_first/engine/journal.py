"""The journal of an attempt: its answers in order, so that a replay resumes it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from math import isfinite
from typing import Protocol

from constraint_first.engine.error import JournalMismatch
from constraint_first.file.storable import LONGEST, MOST, storable_count, storable_text
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Message,
    Output,
    Program,
    Step,
    Usage,
)

__all__ = [
    "Journal",
    "MemoryJournal",
    "digest",
    "require_same",
    "storable_call",
    "storable_completion",
    "storable_output",
    "storable_program",
    "storable_usage",
]


class Journal(Protocol):
    """A record of the answers of one attempt, by the place of their steps in it."""

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return the stored answer to the attempt's nth step, or None if it was not taken."""
        ...

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        """Store an answer; the attempt goes on when it is safe."""
        ...


class MemoryJournal:
    """A journal that lasts as long as the process."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[str, Answer]] = {}

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return what is stored, and refuse to hand it to a step that asks something else."""
        if ordinal not in self._entries:
            return None
        asked, answer = self._entries[ordinal]
        require_same(ordinal, step, asked)
        return answer

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        """Keep the answer."""
        self._entries[ordinal] = (digest(step), answer)


def require_same(ordinal: int, step: Step, stored: str) -> None:
    """Refuse a step whose digest is not the stored one."""
    if digest(step) != stored:
        kind = "program" if isinstance(step, Program) else "call"
        raise JournalMismatch(
            f"{kind} {ordinal} ({step.stage}) differs from the stored one: a prompt, budget, model "
            "or method has changed since; start a new run for the changed method"
        )


def digest(step: Step) -> str:
    """Name a step by everything it asks: equal steps have equal digests, in every process.

    The name of another model that is to answer stands behind the hash, so that a store says who did
    and calls that name none have the digests that they always had.
    """
    asked = hashlib.sha256(repr(step).encode("utf-8", "surrogatepass")).hexdigest()
    model = step.model if isinstance(step, Call) else None
    return asked if model is None else f"{asked}@{model}"


def storable_call(call: Call) -> Call:
    """Return a call that can be sent and stored.

    A method may quote what a model wrote as an escape in JSON: half a surrogate pair, say, which
    no request can carry. The call keeps the digest of what was asked for.
    """
    said = [storable_text(message.content) for message in call.messages]
    if all(new is message.content for new, message in zip(said, call.messages, strict=True)):
        return call
    messages = (Message(old.role, new) for new, old in zip(said, call.messages, strict=True))
    return replace(call, messages=tuple(messages))


def storable_completion(completion: Completion) -> Completion:
    """Return a completion that reads the same after it was stored; most are that already.

    A method sees it only so: it must decide on the first run as it will on a replay. A reply that
    is cut for its length counts as one whose budget ran out.
    """
    text, reasoning = storable_text(completion.text), storable_text(completion.reasoning)
    usage = storable_usage(completion.usage)
    if text is completion.text and reasoning is completion.reasoning and usage is completion.usage:
        return completion
    finish = "length" if len(completion.text) > LONGEST else completion.finish
    return Completion(text, finish, reasoning, usage)


def storable_program(program: Program) -> Program:
    """Return a program that can be stored as it is run."""
    return replace(program, source=storable_text(program.source))


def storable_output(output: Output) -> Output:
    """Return an output that reads the same after it was stored."""
    seconds = output.seconds if isfinite(output.seconds) else 0.0
    return Output(storable_text(output.text), storable_text(output.error), seconds)


def storable_usage(usage: Usage) -> Usage:
    """Return token counts that a database holds; those that cannot be were not really reported."""
    counts = (usage.input, usage.output, usage.reasoning, usage.cached)
    if all(type(count) is int and 0 <= count <= MOST for count in counts):
        return usage
    return Usage(*map(storable_count, counts), reported=False)
