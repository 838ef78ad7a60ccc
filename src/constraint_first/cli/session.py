"""An engine that stays open while problems are solved with it, and what it shows meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType

from rich.rule import Rule
from rich.text import Text

from constraint_first.cli import show
from constraint_first.cli.checks import shown_checks
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.output import print_note
from constraint_first.cli.progress import bytes_bar
from constraint_first.cli.reply import CountingWatcher, ReplyWatcher
from constraint_first.engine.allowance import AttemptLimit
from constraint_first.engine.automatic import choose_for
from constraint_first.engine.balanced import Balanced
from constraint_first.engine.dispatch import Dispatch, opened_all, serve
from constraint_first.engine.engine import Decoding, Watcher
from constraint_first.engine.resolve import ModelRef, Resolved, resolve
from constraint_first.engine.solve import Solved, asolve
from constraint_first.engine.transport import Bounds
from constraint_first.file.printable import one_line
from constraint_first.method import Method, Routed, make
from constraint_first.method.calibrated import Calibrated
from constraint_first.method.constraint_first import Routing
from constraint_first.problem import Problem
from constraint_first.serve.certainty import is_held

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
        limit: AttemptLimit | None = None,
        quiet: bool = False,
    ) -> None:
        def fetch(one: ModelRef) -> Resolved:
            with bytes_bar(one.model or "model", quiet=quiet) as progress:
                return resolve(one, decoding, bounds=bounds, progress=progress)

        self._opening = opened_all(serve(ref, others, fetch))
        self._engine: Dispatch[Resolved] | None = None
        self._system = system
        self._limit = limit
        self._quiet = quiet
        self.console = SafeConsole()

    async def __aenter__(self) -> Session:
        self._engine = await self._opening.__aenter__()
        for one in (self._engine.main, *self._engine.others.values()):
            for note in one.notes if isinstance(one, Balanced) and not self._quiet else ():
                print_note(note)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._opening.__aexit__(kind, error, traceback)

    def choose_method(self, *, quiet: bool = False) -> Method:
        """Make the method that ``auto`` stands for with the model; say which, on standard error."""
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
        given = {"engine": self._engine, "system": self._system, "limit": self._limit}
        ask = partial(asolve, problem, method, **given)
        if watcher is not None:
            return await ask(watcher=watcher)
        held = is_held(method, problem)
        shown = _begin(self.console, method, problem, held=held)
        try:
            solved = await ask(watcher=shown)
        except BaseException:
            shown.break_off()
            raise
        _conclude(self.console, solved, held=held)
        return solved

    async def solve_unseen(self, method: Method, problem: Problem) -> Solved:
        """Solve a problem and show no more than that it goes on, and what goes wrong."""
        watcher = CountingWatcher(self.console, one_line(method.label))
        with self.console.status(watcher.activity):
            return await self.solve(method, problem, watcher)


def _begin(console: SafeConsole, method: Method, problem: Problem, *, held: bool) -> ReplyWatcher:
    used = method.choose(problem).method if isinstance(method, Calibrated) else method
    routing = used.route(problem) if isinstance(used, Routed) else None
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
    return ReplyWatcher(console, held=held)


def _heading(routing: Routing) -> str:
    if routing.cues:
        return "Cues"
    if routing.routed:
        return "No restrictive cue, but AIME's answer convention: CFR"
    return "No restrictive cue: Direct CoT"


def _conclude(console: SafeConsole, solved: Solved, *, held: bool) -> None:
    solution = solved.solution
    answer = "none found" if solution.answer is None else show.printable(solution.answer)
    if solution.truncated:
        answer += "  (the reply was cut off by its budget)"
    title = "Reply\n" if solution.is_whole else "Answer  "
    if held or not solution.is_whole:  # else the reply has been shown word by word
        console.print(Text.assemble((title, "bold"), (answer, "bold green")))
    console.print(shown_checks(solution.details, solved.problem.text))
    console.print()
    console.print(show.tokens(solved.exchanges))
    cost = "" if solved.cost is None else f", {solved.cost}"
    console.print(f"{solved.seconds:.0f} s{cost}", style="dim")
