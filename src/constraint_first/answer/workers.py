"""Worker processes for the symbolic tier: bounded, killable, and usable from any thread."""

from __future__ import annotations

from typing import Final, cast

from constraint_first.answer.grade import Ruling
from constraint_first.process import OnePerProcess, Pool, Undecided

PROGRAM = ("-m", "constraint_first.answer.symbolic")


class Workers(Pool):
    def __init__(self, count: int | None = None, program: tuple[str, ...] = PROGRAM) -> None:
        super().__init__(program, count)

    def judge(self, pred: str, gold: str, *, percent: bool = False) -> Ruling:
        """Judge one case; raise Undecided where it exceeds the worker's time or memory."""
        same, why = cast("tuple[bool | None, str]", self.ask("judge", pred, gold, percent))
        return Ruling(same, why)

    def is_whole(self, text: str) -> bool | None:
        """Whether an answer is a whole number; None where that was not decided in time."""
        try:
            return cast("bool | None", self.ask("is_whole", text))
        except Undecided:
            return None


shared: Final = OnePerProcess(Workers)
"""Returns the workers of this process, one for each core."""
