"""A place in a row of tokens."""

from __future__ import annotations

from constraint_first.answer.expression.lexer import Token, Unreadable

__all__ = ["Cursor"]

MAX_DEPTH = 40
_END = Token("", "", False)
_FARTHEST_LOOK = 4


class Cursor:
    """Steps over tokens and counts how deeply they nest."""

    def __init__(self, tokens: list[Token]) -> None:
        # A few tokens of nothing at the end save every look ahead from asking where the end is.
        self._tokens = [*tokens, *[_END] * _FARTHEST_LOOK]
        self._at: int = 0
        self._depth: int = 0

    def more(self) -> bool:
        """Whether tokens are left."""
        return self._tokens[self._at] is not _END

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a coming token, empty past the end."""
        return self._tokens[self._at + ahead].text

    def attached(self) -> bool:
        """Whether the coming token touches the one just read."""
        return not self._tokens[self._at].spaced

    def kind(self) -> str:
        """Return the kind of the coming token, empty past the end."""
        return self._tokens[self._at].kind

    def last_kind(self) -> str:
        """Return the kind of the token just read, empty at the start."""
        return self._tokens[self._at - 1].kind if self._at else ""

    def next(self) -> str:
        """Step over a token and return its text."""
        token = self._tokens[self._at]
        if token is _END:
            raise Unreadable("the text ends too early")
        self._at += 1
        return token.text

    def expect(self, text: str) -> None:
        """Step over this token, or give up."""
        if self.next() != text:
            raise Unreadable(f"{text!r} is missing")

    def descend(self) -> None:
        """Count a level of nesting, so that no text can exhaust the stack."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")

    def ascend(self) -> None:
        """Leave a level of nesting."""
        self._depth -= 1
