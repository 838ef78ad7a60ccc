"""A journal that lasts as long as the process."""

from constraint_first.attempt.drive import digest, require_same
from constraint_first.protocol import Answer, Step


class MemoryJournal:
    def __init__(self) -> None:
        self._entries: dict[int, tuple[str, Answer]] = {}

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        if ordinal not in self._entries:
            return None
        asked, answer = self._entries[ordinal]
        require_same(ordinal, step, asked)
        return answer

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        self._entries[ordinal] = (digest(step), answer)
