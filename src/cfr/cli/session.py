"""An engine that stays open while problems are solved with it, and what it shows meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType

from rich.rule import Rule
from rich.status import Status
from rich.text import Text

from cfr.cli import show
from cfr.cli.checks import shown_checks
from cfr.cli.console import SafeConsole
from cfr.cli.output import print_note
from cfr.cli.progress import bytes_bar
from cfr.constraint.recovery import read_spec
from cfr.engine.automatic import choose_for
from cfr.engine.dispatch import Dispatch, opened_all, serve
from cfr.engine.engine import Decoding, Watcher
from cfr.engine.error import Transient
from cfr.engine.local import Local
from cfr.engine.openai import OpenAI
from cfr.engine.ordered_watcher import PROGRAM, OrderedWatcher, stage_title
from cfr.engine.resolve import ModelRef, resolve
from cfr.engine.solve import Solved, asolve
from cfr.engine.transport import Bounds
from cfr.file.printable import one_line
from cfr.method import Method, Routed, make
from cfr.method.calibrated import Calibrated
from cfr.method.constraint_first import Routing
from cfr.method.program import read_program
from cfr.problem import Problem
from cfr.protocol import Call, Completion, Output, Program

__all__ = ["Session"]


class Session(AbstractAsyncContextManager["Session"]):
    """Loads a model once, and the others that a method names; then solves problem after problem."""

    def __init__(
        self,
        ref: ModelRef,
        decoding: Decoding,
        bounds: Bounds | None = None,
        *,
        others: Sequence[str] = (),
        system: str = "",
        quiet: bool = False,
    ) -> None:
        def fetch(one: ModelRef) -> OpenAI | Local:
            with bytes_bar(one.model or "model", quiet=quiet) as progress:
                return resolve(one, decoding, bounds=bounds, progress=progress)

        self._opening = opened_all(serve(ref, others, fetch))
        self._engine: Dispatch[OpenAI | Local] | None = None
        self._system = system
        self.console = SafeConsole()

    async def __aenter__(self) -> Session:
        self._engine = await self._opening.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._opening.__aexit__(kind, error, traceback)

    def choose_method(self, *, quiet: bool = False) -> Method:
        """Make the method that ``auto`` stands for with the model, and say on stderr which."""
        if self._engine is None:
            raise RuntimeError("use the session inside `async with`")
        choice = choose_for(self._engine.main)
        if not quiet:
            print_note(str(choice))
        return make(choice.method)

    async def solve(
        self, method: Method, problem: Problem, watcher: Watcher | None = None
    ) -> Solved:
        """Solve a problem; without a watcher of its own everything is shown on standard output."""
        if self._engine is None:
            raise RuntimeError("use the session inside `async with`")
        ask = partial(asolve, problem, method, engine=self._engine, system=self._system)
        if watcher is not None:
            return await ask(watcher=watcher)
        shown = _begin(self.console, method, problem)
        try:
            solved = await ask(watcher=shown)
        except BaseException:
            shown.break_off()
            raise
        _conclude(self.console, solved)
        return solved

    async def solve_unseen(self, method: Method, problem: Problem) -> Solved:
        """Solve a problem and show no more than that it goes on, and what goes wrong."""
        with self.console.status(f"{method.label} …"):
            return await self.solve(method, problem, _Told(self.console))


def _begin(console: SafeConsole, method: Method, problem: Problem) -> _Shown:
    routing = method.route(problem) if isinstance(method, Routed) else None
    console.print(Rule(Text(one_line(method.label), style="bold"), align="left", style="dim"))
    console.print(show.highlighted(problem.text, routing.cues if routing else ()))
    console.print()
    if routing:
        console.print(_heading(routing), style="bold")
        console.print(show.cues(problem.text, routing.cues))
        console.print()
    if isinstance(method, Calibrated):
        console.print(Text(one_line(f"Policy: {method.explain(problem)}"), style="bold"))
        console.print()
    return _Shown(console)


def _heading(routing: Routing) -> str:
    if routing.cues:
        return "Cues"
    if routing.routed:
        return "No restrictive cue, but AIME's answer convention: CFR"
    return "No restrictive cue: Direct CoT"


def _conclude(console: SafeConsole, solved: Solved) -> None:
    solution = solved.solution
    answer = "none found" if solution.answer is None else show.printable(solution.answer)
    if solution.truncated:
        answer += "  (the reply was cut off by its budget)"
    console.print(Text.assemble(("Answer  ", "bold"), (answer, "bold green")))
    console.print(shown_checks(solution.details, solved.problem.text))
    console.print()
    console.print(show.tokens(solved.exchanges))
    cost = "" if solved.cost is None else f", {solved.cost}"
    console.print(f"{solved.seconds:.0f} s{cost}", style="dim")


class _Told(Watcher):
    """Says why a call takes longer or is made otherwise; its reply is not shown."""

    streams = False

    def __init__(self, console: SafeConsole) -> None:
        self._console = console

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:  # noqa: ARG002
        """Say why a reply begins anew."""
        said = f"\n{one_line(str(fault))}: asking again in {seconds:.1f} s"
        self._console.print(Text(said, style="yellow"))

    def adapted(self, call: Call, change: str) -> None:  # noqa: ARG002
        """Say which setting the model will not have."""
        self._console.print(Text(change, style="yellow"))


class _Shown(OrderedWatcher):
    """Writes replies as they come: Stage 1 as a table when it is whole, the rest word by word.

    A program that a reply has shown is not listed again.
    """

    def __init__(self, console: SafeConsole) -> None:
        super().__init__()
        self._console = console
        self._told = _Told(console)
        self._status: Status | None = None
        self._thinks = False
        self._programs = 0
        self._sources: list[tuple[int, str]] = []
        """Programs that replies have shown and that have not run yet, with their numbers."""

    def begin(self, call: Call) -> None:
        """Say which stage begins."""
        self._thinks = False
        if call.stage == "stage1":
            self._status = self._console.status("Stage 1: what must the answer satisfy?")
            self._status.start()
        else:
            self._print_title(call)

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        """Write the next words, thinking in grey."""
        if call.stage == "stage1":
            return
        if self._thinks and not thought:
            self._console.print()
        self._thinks = thought
        shown = Text(show.printable(text), style="dim" if thought else "")
        self._console.print(shown, end="", soft_wrap=True)

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Begin a reply anew, and say why."""
        super().retrying(call, fault, seconds)
        self._told.retrying(call, fault, seconds)

    def adapted(self, call: Call, change: str) -> None:
        """Say which setting the model will not have."""
        self._told.adapted(call, change)

    def break_off(self) -> None:
        """End the line of a reply that stays unfinished, so that an error begins one of its own."""
        self._stop_status()
        if self.follows:
            self._console.print()

    def _stop_status(self) -> None:
        if self._status:
            self._status.stop()
            self._status = None

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Close a stage."""
        self._stop_status()
        if call.stage == "stage1":
            recovered = read_spec(completion.text)
            rung = (f" ({recovered.rung})", "dim")
            self._console.print(Text.assemble((stage_title(call.stage), "bold"), rung))
            self._console.print(show.constraints(recovered))
        elif written:
            self._console.print()  # ends the last line
        else:
            self._print_title(call)
            self._console.print(Text(show.printable(completion.text)), soft_wrap=True)
        if source := read_program(completion.text):
            self._sources.append((self._programs, source))
        self._console.print()

    def _print_title(self, call: Call) -> None:
        title = stage_title(call.stage)
        if title == PROGRAM:
            self._programs += 1
            title += f" {self._programs}" if self._programs > 1 else ""
        self._console.print(title, style="bold")

    def show_output(self, program: Program, output: Output) -> None:
        """Show what a program printed."""
        known = next((one for one in self._sources if one[1] == program.source), None)
        if known is None:
            self._console.print(show.listing(program))
        else:
            self._sources.remove(known)
        title = f"Output of program {known[0]}" if known and self._programs > 1 else "Output"
        self._console.print(show.output(output, title))
