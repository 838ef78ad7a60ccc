"""The console of every command: tables, progress and colours, with hostile text made harmless."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeAlias

from rich import console
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from constraint_first.file.printable import printable

__all__ = ["AnyConsole", "SafeConsole"]

AnyConsole: TypeAlias = console.Console
"""What rich hands to whatever renders itself."""


class SafeConsole(console.Console):
    """A rich console that takes brackets as brackets and shows control characters.

    Whatever is printed passes ``render``; only rich's own control segments (to move the cursor of
    a progress bar) come through it unchanged.
    """

    def __init__(
        self, *, stderr: bool = False, quiet: bool = False, width: int | None = None
    ) -> None:
        super().__init__(
            stderr=stderr, quiet=quiet, width=width, markup=False, emoji=False, highlight=False
        )

        self.is_unbounded = width is None and not self.is_terminal and "COLUMNS" not in os.environ
        """Whether lines may be of any length: in a file or a pipe, unless a width was asked for."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print whole lines: a number that is cut short is a wrong number."""
        options.setdefault("crop", False)
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make a string printable before its width is measured."""
        return super().render_str(printable(text), **options)

    def render(
        self,
        renderable: console.RenderableType,
        options: console.ConsoleOptions | None = None,
    ) -> Iterable[Segment]:
        """Make printable what is about to be written, wherever it comes from."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(printable(text), style)

    def status(self, status: console.RenderableType, **options: Any) -> Status:
        """Show that something goes on; a spinner would read markup in a string."""
        return super().status(Text(status) if isinstance(status, str) else status, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to ``main`` to end when nobody reads any more; rich would exit with 1."""
        self.quiet = True
        raise BrokenPipeError
