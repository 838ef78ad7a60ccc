"""A watcher that writes an attempt into a stream: work as reasoning, the solution as content."""

from __future__ import annotations

from typing import Final

from constraint_first.engine.error import Transient
from constraint_first.engine.ordered_watcher import OrderedWatcher
from constraint_first.file.printable import one_line
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.outbox import Outbox
from constraint_first.serve.reply import ServedAnswer, final_text
from constraint_first.serve.work import (
    describe_checks,
    describe_constraints,
    describe_output,
    heading,
)

__all__ = ["CONTENT", "REASONING", "StreamWatcher"]

CONTENT: Final = "content"
REASONING: Final = "reasoning_content"


class StreamWatcher(OrderedWatcher):
    """Writes one choice. What has gone out as content is not taken back.

    The solving call's reply is content word by word. All other replies are reasoning; Stage 1 and
    other replies in JSON appear when they are whole.
    """

    def __init__(self, outbox: Outbox, index: int, start: str) -> None:
        super().__init__()
        self._outbox = outbox
        self._index = index
        self._held = start
        """What is said once a reply is there: until then the request may still fail as a whole."""
        self._solving: Call | None = None
        self._content: list[str] = []
        self._programs: list[str] = []

    def announce(self, call: Call) -> None:
        """Note the solving call."""
        self._solving = call

    def begin(self, call: Call) -> None:
        """Head a stage."""
        if call is not self._solving:
            self._held += heading(call.stage)

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        """Write the next words."""
        if thought:
            self._reason(text)
        elif call is self._solving:
            self._say(text)
        elif not call.json:
            self._reason(text)

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Write a reply that was not followed, or a list of constraints."""
        self._programs.append(completion.text)
        if call is self._solving:
            return
        if not written:
            self._held += heading(call.stage)
        if call.stage == "stage1":
            self._reason(describe_constraints(completion))
        elif call.json or not written:
            self._reason(completion.text)

    def show_output(self, program: Program, output: Output) -> None:
        """Write what a program printed."""
        source = program.source.strip()
        listed = any(source in reply for reply in self._programs)
        self._reason(describe_output(program, output, listed=listed))

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Begin a reply anew; one that the client has begun to read as content cannot be."""
        if call is self._solving and self._content:
            raise fault
        super().retrying(call, fault, seconds)
        self._held += f"\n\n({one_line(str(fault))}: asked again)\n\n"

    def conclude(self, answer: ServedAnswer) -> None:
        """Write what is still missing of the solution, and end the choice.

        Content that was sent and is not how the solution begins ends the stream with an error: two
        replies one behind the other would be taken for one.
        """
        solution = answer.solved.solution
        final, said = final_text(solution), "".join(self._content).strip()
        if not said:
            self._reason(describe_checks(solution))
            self._say(final)
        elif final.startswith(said):
            self._say(final[len(said) :])
        else:
            raise RequestError(
                f"{one_line(answer.method)} changed its reply after it was sent; "
                "ask without 'stream'",
                500,
                code="reply_changed",
            )
        self._outbox.end(self._index, answer)

    def _say(self, text: str) -> None:
        text = text if self._content else text.lstrip()
        if text:
            self._write_held()
            self._content.append(text)
            self._outbox.write(self._index, CONTENT, text)

    def _reason(self, text: str) -> None:
        if text:
            self._write_held()
            self._outbox.write(self._index, REASONING, text)

    def _write_held(self) -> None:
        if self._held:
            self._outbox.write(self._index, REASONING, self._held)
            self._held = ""
