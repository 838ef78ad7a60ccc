"""A place in a row of tokens."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from cfr.answer.lexer import Token, Unreadable

__all__ = ["Cursor"]

MAX_DEPTH = 80


class Cursor:
    """Steps over tokens and counts how deeply they nest."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at: int = 0
        self._depth: int = 0

    def more(self) -> bool:
        """Whether tokens are left."""
        return self._at < len(self._tokens)

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a coming token, empty past the end."""
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def kind(self) -> str:
        """Return the kind of the coming token."""
        return self._tokens[self._at].kind if self.more() else ""

    def before_last(self) -> str:
        """Return the kind of the token before the one just read."""
        return self._tokens[self._at - 2].kind if self._at > 1 else ""

    def next(self) -> str:
        """Step over a token and return its text."""
        if not self.more():
            raise Unreadable("the text ends too early")
        self._at += 1
        return self._tokens[self._at - 1].text

    def expect(self, text: str) -> None:
        """Step over this token, or give up."""
        if self.next() != text:
            raise Unreadable(f"{text!r} is missing")

    @contextmanager
    def deeper(self) -> Generator[None]:
        """Count a level of nesting, so that no text can exhaust the stack."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        yield
        self._depth -= 1
