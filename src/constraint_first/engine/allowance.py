"""What one attempt may pay: a bound on its calls and its tokens, whatever its method.

A method's options multiply (samples of samples, rounds of revisions), so no check of single options
bounds an attempt. Its driver does: it counts every call and refuses the one that goes too far.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.engine.error import TooExpensive
from constraint_first.protocol import Call, Completion, Usage

__all__ = ["MOST_CALLS", "MOST_TOKENS", "Allowance", "AttemptLimit"]

MOST_CALLS: Final = 1_024
MOST_TOKENS: Final = 20_000_000
_CHARACTERS_A_TOKEN: Final = 4
"""A low guess of a prompt's tokens: what is refused by it would surely have been too much."""


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """The most calls and tokens of one attempt; in a server, of one request."""

    calls: int = MOST_CALLS
    tokens: int = MOST_TOKENS
    """Input and output together. One call may go beyond, never two."""


_USUAL: Final = AttemptLimit()
_NOTHING: Final = Usage()


class Allowance:
    """What is left of a limit. Attempts that share one, such as those of one request, share it."""

    def __init__(self, limit: AttemptLimit | None = None) -> None:
        self.limit = limit or _USUAL
        self.calls = 0
        self.tokens = 0
        self.usage = _NOTHING
        """As the endpoint counts; it may count anything."""
        self._reserved = 0
        self._freed: asyncio.Event | None = None

    def admit(self, calls: Sequence[Call]) -> None:
        """Count the calls of a round before any is asked, and refuse the round as a whole."""
        if self.calls + len(calls) > self.limit.calls:
            raise TooExpensive(
                f"the attempt needs more than {self.limit.calls:,} calls and was ended after "
                f"{self._paid()}; use a smaller method, or allow more with --max-calls"
            )
        prompts = sum(map(_prompt_characters, calls)) // _CHARACTERS_A_TOKEN
        if self.tokens + prompts > self.limit.tokens:
            raise self._too_many_tokens()
        self.calls += len(calls)

    async def reserve(self, call: Call) -> int:
        """Wait until the call fits beside those under way, however long their replies become.

        Returns the tokens to ``release`` once the call is over.
        """
        most = _prompt_characters(call) // _CHARACTERS_A_TOKEN + call.max_tokens
        while self._reserved and self.tokens + self._reserved + most > self.limit.tokens:
            self._freed = self._freed or asyncio.Event()
            self._freed.clear()
            await self._freed.wait()
        if self.tokens >= self.limit.tokens:
            raise self._too_many_tokens()
        self._reserved += most
        return most

    def release(self, most: int) -> None:
        """Give back what was reserved for a call."""
        self._reserved -= most
        if self._freed:
            self._freed.set()

    def count(self, call: Call, completion: Completion) -> None:
        """Count what a call took; no more than it can have taken, whatever the endpoint says."""
        total = completion.usage.total
        written = call.max_tokens + len(completion.text) + len(completion.reasoning)
        if total > written:  # seldom, and only then the prompt's length is of interest
            total = min(total, written + _prompt_characters(call))
        self.tokens += total
        self.usage += completion.usage

    def _too_many_tokens(self) -> TooExpensive:
        return TooExpensive(
            f"the attempt needs more than {self.limit.tokens:,} tokens and was ended after "
            f"{self._paid()}; use a smaller method, or allow more with --max-attempt-tokens"
        )

    def _paid(self) -> str:
        return f"{self.calls:,} calls and {self.tokens:,} tokens"


def _prompt_characters(call: Call) -> int:
    characters = 0
    for message in call.messages:
        characters += len(message.content)
    return characters
