"""The journal of an attempt: its completions in order, so that a replay resumes it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Protocol

from cfr.engine.error import JournalMismatch
from cfr.file.storable import LONGEST, MOST, storable_count, storable_text
from cfr.protocol import Call, Completion, Message, Usage

__all__ = [
    "Journal",
    "MemoryJournal",
    "digest",
    "require_same",
    "storable_call",
    "storable_completion",
    "storable_usage",
]


class Journal(Protocol):
    """A record of the completions of one attempt, by their place in it."""

    def recall(self, ordinal: int, call: Call) -> Completion | None:
        """Return the stored completion of the attempt's nth call, or None if it was not made."""
        ...

    async def record(self, ordinal: int, call: Call, completion: Completion) -> None:
        """Store a completion; the attempt goes on when it is safe."""
        ...


class MemoryJournal:
    """A journal that lasts as long as the process."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[str, Completion]] = {}

    def recall(self, ordinal: int, call: Call) -> Completion | None:
        """Return what is stored, and refuse to hand it to a call that asks something else."""
        if ordinal not in self._entries:
            return None
        asked, completion = self._entries[ordinal]
        require_same(ordinal, call, asked)
        return completion

    async def record(self, ordinal: int, call: Call, completion: Completion) -> None:
        """Keep the completion."""
        self._entries[ordinal] = (digest(call), completion)


def require_same(ordinal: int, call: Call, stored: str) -> None:
    """Refuse a call whose digest is not the stored one."""
    if digest(call) != stored:
        raise JournalMismatch(
            f"call {ordinal} ({call.stage}) differs from the stored one: a prompt, budget, model "
            "or method has changed since; start a new run for the changed method"
        )


def digest(call: Call) -> str:
    """Name a call by everything it asks: equal calls have equal digests, in every process.

    The name of another model that is to answer stands behind the hash, so that a store says who did
    and calls that name none have the digests that they always had.
    """
    asked = hashlib.sha256(repr(call).encode("utf-8", "surrogatepass")).hexdigest()
    return asked if call.model is None else f"{asked}@{call.model}"


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


def storable_usage(usage: Usage) -> Usage:
    """Return token counts that a database holds; those that cannot be were not really reported."""
    counts = (usage.input, usage.output, usage.reasoning, usage.cached)
    if all(type(count) is int and 0 <= count <= MOST for count in counts):
        return usage
    return Usage(*map(storable_count, counts), reported=False)
