"""``cfr solve``: problems one by one, with every step to the answer."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import click
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.status import Status
from rich.text import Text

from constraint_first.answer.grade import grade
from constraint_first.attempt.attempt import Attempt, judge
from constraint_first.attempt.events import (
    PROGRAM,
    Adapted,
    Event,
    Executed,
    Executing,
    Finished,
    InOrder,
    Retrying,
    Started,
    Tell,
    Wrote,
    stage_title,
)
from constraint_first.attempt.solve import asolve
from constraint_first.benchmark.registry import read_instructions, read_problems
from constraint_first.cli import console as show
from constraint_first.cli import (
    print_json,
    print_note,
    print_text,
    run_interruptible,
    typed_command,
)
from constraint_first.cli.console import Activity, Column, SafeConsole, Table, bytes_bar
from constraint_first.cli.options import (
    bound_options,
    columns_option,
    decoding_options,
    limit_options,
    model_options,
    option,
    prompts_option,
    system_option,
)
from constraint_first.constraint.stage1 import read_spec
from constraint_first.error import CfrError
from constraint_first.file.safe import one_line, printable
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import Routed, Routing
from constraint_first.method.method import Method, models_of, prompts_of
from constraint_first.method.policy import Calibrated, runs_programs
from constraint_first.method.program import read_output, read_program
from constraint_first.method.registry import make, read_wording, with_wording
from constraint_first.method.sound import is_held
from constraint_first.model.client import Client
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import AUTO, ModelRef, Resolved, choose_for, resolve, serve
from constraint_first.model.wire import Decoding
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Call, Completion, Output, Program, Usage
from constraint_first.sandbox.interpreter import shortfall

if TYPE_CHECKING:
    from constraint_first.attempt.drive import AttemptLimit
    from constraint_first.method.policy import Evidence
    from constraint_first.model.transport import Bounds


class NoAnswer(CfrError):
    """The model replied, but its reply has no final answer."""

    exit_code = 4


@click.command("solve")
@click.argument("source", metavar="TEXT|FILE|-")
@option(
    "--method",
    "direct, cfr, program, vote, …; options in brackets: 'vote(samples=5)'; auto is the "
    "policy for the model, which passes on untouched what is no problem.",
    default="auto",
)
@columns_option()
@model_options
@decoding_options
@bound_options
@limit_options
@prompts_option
@system_option
@option("--json as_json", "Write one JSON object a problem.", is_flag=True)
@option("--quiet", "Write the final answer alone.", is_flag=True)
def solve_command(
    source: str,
    method: str,
    columns: dict[str, str],
    ref: ModelRef,
    decoding: Decoding,
    bounds: Bounds,
    limit: AttemptLimit,
    prompts: str | None,
    system: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Solve a problem; show its cues, constraints, solution and cost.

    A FILE of rows (.jsonl, .json, .csv, .tsv, .parquet) has a problem a row, solved in turn. Gold
    answers in it are never sent: they say afterwards which answers are right. Any other FILE is the
    text of one problem.

    Without --model and --base-url a small model runs on this machine; it is fetched the first time.

    \b
    cfr solve "Find the remainder when 7^100 is divided by 13."
    cfr solve problem.txt --method direct --quiet
    cfr solve exam.csv --columns problem=question,answer=solution
    cfr solve - --base-url http://127.0.0.1:8000/v1 < problem.txt
    """
    # All errors of the input are reported before a model is downloaded or loaded.
    read, named = read_problems(source, columns), None if method == AUTO else make(method)
    own = read_wording(prompts, prompts_of(named)) if prompts else None
    named = named and with_wording(named, own)
    if read.taken and not quiet:
        print_note(read.taken)
    silent, scoring = quiet or as_json, Scoring(len(read.problems))
    count = "1 problem" if len(read.problems) == 1 else f"{len(read.problems):,} problems"

    async def run() -> None:
        async with open_session(
            ref,
            decoding,
            bounds,
            others=models_of(named),
            system=system or "",
            limit=limit,
            quiet=silent,
        ) as session:
            chosen = named or with_wording(session.choose_method(quiet=quiet), own)
            if not quiet and runs_programs(chosen) and (lacks := shortfall()):
                print_note(lacks)
            if own and not quiet:
                used = [f"{one.name}.txt" for one in prompts_of(chosen) if one.replaced]
                print_note(f"own prompts of {own.name}: {', '.join(used) or 'all as they were'}")
            for problem in read.problems:
                if not silent:
                    session.console.print(scoring.heading(problem))
                solve = session.solve_silently if silent else session.solve
                verdict = scoring.count(solved := await solve(chosen, problem))
                if as_json:
                    print_json(solved.to_json() | verdict)
                elif quiet:
                    print_text(solved.answer or "")
                else:
                    session.console.print(verdict_line(problem, verdict))

    def stopped() -> str:
        solved = f"{scoring.solved} of {count} solved"
        return f"stopped; {solved}, and nothing is stored; to begin anew: {typed_command()}"

    run_interruptible(run(), stopped)
    if scoring.total and not quiet:
        print_note(scoring.total) if as_json else print_text(f"\n{scoring.total}")
    if scoring.unanswered:
        raise NoAnswer(f"{scoring.unanswered} of {count}: the reply has no final answer")


# Whether answers are right: by problem and in total.

_WORDS: Final = {
    "correct": ("right", "bold green"),
    "incorrect": ("wrong", "bold red"),
    "undecided": ("undecided", "bold yellow"),
}


class Scoring:
    """Counts answers, and the right ones among problems with a gold answer."""

    def __init__(self, problems: int) -> None:
        self._problems = problems
        self._begun = 0
        self.solved = 0
        self.unanswered = 0
        self._counts: Counter[str] = Counter()

    def heading(self, problem: Problem) -> RenderableType:
        self._begun += 1
        if self._problems == 1:
            return Group()
        name = f", id {one_line(problem.id)}" if problem.id != str(self._begun) else ""
        title = Text(f"Problem {self._begun} of {self._problems}{name}", style="bold")
        return Group(*([Text()] if self._begun > 1 else []), Rule(title, style="bold"))

    def count(self, solved: Attempt) -> dict[str, Json]:
        """Count an answer, or a whole reply; return its verdict if the problem has a gold."""
        self.solved += 1
        whole = read_instructions(solved.problem.answer) is not None
        self.unanswered += not solved.solution.text.strip() if whole else solved.answer is None
        verdict = judge(solved.problem, solved.answer, solved.solution.text)
        if verdict is None:
            return {}
        self._counts[verdict.verdict] += 1
        row: dict[str, Json] = {"gold": solved.problem.answer, "verdict": verdict.verdict}
        return row | ({"why": verdict.why} if verdict.tier == "instructions" else {})

    @property
    def total(self) -> str:
        """One line about all answers; empty for fewer than two."""
        if self._problems == 1 or not self._counts:
            return ""
        parts = [f"{self._counts[one]} {word}" for one, (word, _) in _WORDS.items()]
        if not self._counts["undecided"]:
            parts.pop()
        without = self._problems - self._counts.total()
        rest = f", {without} without a gold answer" if without else ""
        return f"{self._counts.total()} answers: {', '.join(parts)}{rest}"


def verdict_line(problem: Problem, verdict: dict[str, Json]) -> RenderableType:
    if not verdict:
        return Group()
    word, style = _WORDS[str(verdict["verdict"])]
    gold = f"; the gold answer is {one_line(problem.answer or '')}"
    if "why" in verdict:
        gold = f": the reply {one_line(str(verdict['why']))}"
    return Text.assemble((word.capitalize(), style), gold)


# Streamed replies, and a status line between them.


def print_delay(console: SafeConsole, event: Event) -> None:
    """Print why a call is retried, or which setting was dropped."""
    if isinstance(event, Retrying):
        said = f"\n{one_line(str(event.fault))}: asking again in {event.seconds:.1f} s"
        console.print(Text(said, style="yellow"))
    elif isinstance(event, Adapted):
        console.print(Text(event.change, style="yellow"))


class ReplyPrinter:
    """Streams replies; Stage 1 is printed as a table when it is complete.

    A program that a reply has shown is not printed again. Between replies a status line shows the
    running calls, with their tokens and seconds.
    """

    def __init__(self, console: SafeConsole, *, held: bool = False) -> None:
        self._console = console
        self._held = held
        """Whether replies are only drafts, which are not shown; the checked one is shown at the
        end."""
        self._in_order = InOrder(self._take)
        self._status: Status | None = None
        self._activity = Activity()
        self._thinks = False
        self._programs = 0
        self._outputs: list[tuple[Program, Output]] = []
        self._sources: list[tuple[int, str]] = []
        """Programs that replies have shown and that have not run yet, with their numbers."""

    def tell(self, event: Event) -> None:
        match event:
            case Started(call):
                self._activity.started(call)
            case Wrote(call):
                self._activity.wrote(call)
            case Retrying(call):
                self._activity.restarted(call)
            case Finished(call, completion):
                if self._in_order.followed is None or self._in_order.followed is call:
                    self._stop_status()  # without ending the line of the reply
                self._activity.finished(call, completion)
            case Executing():
                self._activity.programs += 1
            case Executed(program, output):
                if not self._in_order.followed:
                    self._stop_status()
                self._activity.programs -= 1
                self._outputs.append((program, output))
            case _:
                pass
        self._in_order(event)
        if isinstance(event, Finished | Executing) and not self._in_order.followed:
            self._show_status()

    def _take(self, event: Event) -> None:
        match event:
            case Started(call):
                self._begin(call)
            case Wrote(call, text, thought):
                self._write(call, text, thought=thought)
            case Retrying() | Adapted():
                print_delay(self._console, event)
            case Finished(call, completion, written):
                self._end(call, completion, written=written)
            case Executed():
                if not self._activity.programs:  # all concurrent programs have ended
                    self._show_outputs()
                self._show_status()
            case _:
                pass

    def _begin(self, call: Call) -> None:
        self._stop_status()
        self._thinks = False
        if call.stage == "stage1" or self._held:
            self._show_status()
        else:
            self._print_title(call)

    def _write(self, call: Call, text: str, *, thought: bool) -> None:
        if call.stage == "stage1" or self._held:
            return
        if self._thinks and not thought:
            self._console.print()
        self._thinks = thought
        # The terminal wraps streamed text: a line's length is unknown before it ends.
        self._console.print(show.cell(text, "dim" if thought else ""), end="", soft_wrap=True)

    def break_off(self) -> None:
        """End the line of an unfinished reply, so that an error starts on a new line."""
        self._stop_status()
        if self._in_order.followed:
            self._console.print()

    def _show_status(self) -> None:
        if self._activity and not self._status:
            self._status = self._console.status(self._activity)
            self._status.start()

    def _stop_status(self) -> None:
        if self._status:
            self._status.stop()
            self._status = None

    def _end(self, call: Call, completion: Completion, *, written: bool) -> None:
        if self._held:
            return
        if call.stage == "stage1":
            recovered = read_spec(completion.text)
            rung = (f" ({recovered.rung})", "dim")
            self._console.print(Text.assemble((stage_title(call.stage), "bold"), rung))
            self._console.print(show.constraints(recovered))
        else:
            if not written:
                self._print_title(call)
                self._console.print(show.cell(completion.text), end="", soft_wrap=True)
            self._console.print()
        if source := read_program(completion.text):
            self._sources.append((self._programs, source))
        self._console.print()

    def _print_title(self, call: Call) -> None:
        title = stage_title(call.stage)
        if title == PROGRAM:
            self._programs += 1
            title += f" {self._programs}" if self._programs > 1 else ""
        self._console.print(title, style="bold")

    def _show_outputs(self) -> None:
        """Show the outputs of concurrent programs, in their order."""
        found = [(self._numbered(program), program, output) for program, output in self._outputs]
        self._outputs.clear()
        for number, program, printed in sorted(found, key=itemgetter(0)):
            if not number:
                self._console.print(show.listing(program))
            title = f"Output of program {number}" if number and self._programs > 1 else "Output"
            self._console.print(show.output(printed, title))

    def _numbered(self, program: Program) -> int:
        """Return the number of a program that a reply has shown, else 0."""
        known = next((one for one in self._sources if one[1] == program.source), None)
        if known is None:
            return 0
        self._sources.remove(known)
        return known[0]


# Models that stay loaded between problems, and the display of a solution.


@asynccontextmanager
async def open_session(
    ref: ModelRef,
    decoding: Decoding,
    bounds: Bounds | None = None,
    *,
    others: Sequence[str] = (),
    system: str = "",
    limit: AttemptLimit | None = None,
    quiet: bool = False,
) -> AsyncGenerator[Session]:
    """Load a model, and the others that a method names, for a session of several problems."""

    def fetch(one: ModelRef) -> Resolved:
        with bytes_bar(one.model or "model", quiet=quiet) as progress:
            return resolve(one, decoding, bounds=bounds, progress=progress)

    async with serve(ref, others, fetch) as engine:
        for one in (engine.main, *engine.others.values()):
            for note in one.notes if isinstance(one, Balanced) and not quiet else ():
                print_note(note)
        yield Session(engine, system, limit, SafeConsole())


@dataclass(frozen=True, slots=True)
class Session:
    """Loaded models, and the console where solutions are shown."""

    engine: Client
    system: str
    limit: AttemptLimit | None
    console: SafeConsole

    def choose_method(self, *, quiet: bool = False) -> Method:
        """Build the method that ``auto`` chooses for the model; print it on standard error."""
        choice = choose_for(self.engine)
        if not quiet:
            print_note(str(choice))
        return make(choice.method)

    async def solve_silently(
        self, method: Method, problem: Problem, tell: Tell | None = None, *, stream: bool = False
    ) -> Attempt:
        return await asolve(
            problem,
            method,
            engine=self.engine,
            system=self.system,
            limit=self.limit,
            tell=tell,
            stream=stream,
        )

    async def solve(self, method: Method, problem: Problem) -> Attempt:
        held = is_held(method, problem)
        shown = _begin(self.console, method, problem, held=held)
        try:
            solved = await self.solve_silently(method, problem, shown.tell, stream=True)
        except BaseException:
            shown.break_off()
            raise
        _conclude(self.console, solved, held=held)
        return solved

    async def solve_unseen(self, method: Method, problem: Problem) -> Attempt:
        """Solve a problem and show only its progress and its errors."""
        activity = Activity(one_line(method.label))

        def tell(event: Event) -> None:
            if isinstance(event, Wrote):
                activity.wrote(event.call)
            elif isinstance(event, Finished):
                activity.finished(event.call, event.completion)
            print_delay(self.console, event)

        with self.console.status(activity):
            stream = self.console.is_terminal
            return await self.solve_silently(method, problem, tell, stream=stream)


def _begin(console: SafeConsole, method: Method, problem: Problem, *, held: bool) -> ReplyPrinter:
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
    return ReplyPrinter(console, held=held)


def _heading(routing: Routing) -> str:
    if routing.cues:
        return "Cues"
    if routing.routed:
        return "No restrictive cue, but AIME's answer convention: CFR"
    return "No restrictive cue: Direct CoT"


def _conclude(console: SafeConsole, solved: Attempt, *, held: bool) -> None:
    solution = solved.solution
    answer = "none found" if solution.answer is None else printable(solution.answer)
    if solution.truncated:
        answer += "  (the reply was cut off by its budget)"
    title = "Reply\n" if solution.is_whole else "Answer  "
    if held or not solution.is_whole:  # else the reply has been streamed
        console.print(Text.assemble((title, "bold"), (answer, "bold green")))
    console.print(show.shown_checks(solution.details, solved.problem.text))
    console.print()
    console.print(show.tokens(solved.exchanges))
    cost = "" if solved.cost is None else f", {solved.cost}"
    console.print(f"{solved.seconds:.0f} s{cost}", style="dim")


# ``cfr demo``: a few problems, Direct CoT beside the method that ``auto`` chooses.


# Each text states a demand on its answer, and needs many steps by hand or a short program. The
# second is from ConstraintBench: programs solved it in all of four runs.
EXAMPLES: Final = (
    Problem(
        "Elif's raffle ticket carries a two-digit number. Find the smallest two-digit multiple of "
        "$5$ whose digits add up to $11$: that is the number.",
        "a number on a ticket",
        "65",
    ),
    Problem(
        "Find the largest multiple of $13$ that is not greater than $242 + 155 + 154 + 388$.",
        "the multiple below a sum",
        "936",
    ),
    Problem(
        "How many three-digit positive integers have digits whose sum is 10?",
        "a sum of digits",
        "54",
    ),
    Problem(
        "Find the largest integer less than 500 that leaves a remainder of 3 when divided by 7 and "
        "a remainder of 2 when divided by 5.",
        "two remainders",
        "472",
    ),
)
_NEXT: Final = """\
On your own model, in three commands, with its key in OPENAI_API_KEY:
  {cfr} eval constraintbench --limit 240 --runs 1 --model NAME --base-url URL \\
      --method direct --method program --method until-agreed
  {cfr} calibrate runs.db -o policy.toml
  {cfr} solve problem.txt --method 'calibrated(policy=policy.toml)' \\
      --model NAME --base-url URL"""


@click.command("demo")
@model_options
@decoding_options
def demo_command(ref: ModelRef, decoding: Decoding) -> None:
    """Solve a few problems with Direct CoT and with auto, and compare.

    For each it shows what the text demands of the answer, with a mark for whether that holds, and
    the program that printed the answer. auto is the policy that comes with the package for the
    model. Where there is none it would be Direct CoT as well, so Routed-CFR takes its place.

    \b
    cfr demo
    cfr demo --base-url http://127.0.0.1:8000/v1
    """

    async def run() -> None:
        async with open_session(ref, decoding) as session:
            method, show_part = session.choose_method(), session.console.print
            policy = method.policy if isinstance(method, Calibrated) else None
            if isinstance(method, Calibrated) and not method.methods:
                direct = isinstance(method.otherwise, Direct)
                method, policy = make("routed-cfr") if direct else method.otherwise, None
            show_part(
                f"{len(EXAMPLES)} problems, each with Direct CoT and then with {method.label}."
            )
            if policy:
                rules = [f"{rule.method} on problems {rule.words}" for rule in policy.rules]
                rules.append(f"{policy.otherwise} on others")
                show_part(f"{method.label} is {'; '.join(rules)}.")
            show_part("")
            pairs = [await _solve_twice(session, method, at) for at in range(len(EXAMPLES))]
            show_part(_side_by_side(pairs))
            show_part(f"\n{_totals(pairs)}")
            show_part(_measured(policy.by_problem if policy and policy.rules else None))
            # `make demo` runs .venv/bin/cfr, which need not be on the PATH.
            hidden = not shutil.which("cfr") and sys.argv[0].endswith("/cfr")
            show_part("\n" + _NEXT.format(cfr=sys.argv[0] if hidden else "cfr"))

    run_interruptible(run(), lambda: "stopped")


async def _solve_twice(session: Session, method: Method, at: int) -> tuple[Attempt, Attempt]:
    console, problem = session.console, EXAMPLES[at]
    title = Text(f"{at + 1} of {len(EXAMPLES)}: {problem.id}", style="bold")
    console.print(Rule(title, align="left", style="dim"))
    console.print(problem.text)
    console.print()
    direct = await session.solve_unseen(Direct(), problem)
    console.print(_result(direct))
    console.print()
    solved = await session.solve_unseen(method, problem)
    for part in _way(solved):
        console.print(part)
    console.print(_result(solved))
    console.print(show.shown_checks(solved.solution.details, problem.text))
    console.print()
    return direct, solved


def _way(solved: Attempt) -> Iterator[RenderableType]:
    """Show the source of an answer: Stage 1's constraints, the program that printed it."""
    for exchange in solved.exchanges:
        if exchange.call.stage == "stage1":
            yield show.constraints(read_spec(exchange.completion.text))
    for execution in solved.executions:
        if read_output(execution.output).answer == solved.answer:
            yield show.listing(execution.program)
            yield show.output(execution.output)
            return
    if solved.executions:
        yield f"No program of {len(solved.executions)} printed this answer.\n"


def _result(solved: Attempt) -> Text:
    label = (f"{solved.method.label}  ", "bold")
    return Text.assemble(label, _verdict(solved), (f"  {_written(solved)} output tokens", "dim"))


def _written(solved: Attempt) -> str:
    return f"{solved.usage.output:,}" if solved.usage.reported else "unknown"


def _verdict(solved: Attempt) -> Text:
    mark = ("✓ ", "green") if _is_right(solved) else ("✗ ", "red")
    return Text.assemble(mark, printable(solved.answer or "no answer"))


def _is_right(solved: Attempt) -> bool:
    return grade(solved.answer, solved.problem.answer or "", solved.problem.text).correct


def _side_by_side(pairs: Sequence[tuple[Attempt, Attempt]]) -> Table:
    answers = (
        column
        for solved in pairs[0]
        for column in (Column(solved.method.label, "prose"), Column("output tokens"))
    )
    table = Table("problem", Column("right answer"), *answers, more="")
    for example, pair in zip(EXAMPLES, pairs, strict=True):
        cells = (cell for one in pair for cell in (_verdict(one), _written(one)))
        table.add_row(example.id, example.answer or "", *cells)
    return table


def _totals(pairs: Sequence[tuple[Attempt, Attempt]]) -> str:
    columns = tuple(zip(*pairs, strict=True))
    said = [
        f"{column[0].method.label} got {sum(map(_is_right, column))} of {len(column)} right"
        for column in columns
    ]
    before, after = (sum((one.usage for one in column), Usage()) for column in columns)
    if before.output and before.reported and after.reported:
        said[0] += f" with {before.output:,} output tokens"
        all_tokens = (after.total - after.shared) / (before.total - before.shared)
        said[1] += (
            f" with {after.output:,}: {after.output / before.output:.2f} times as many, and "
            f"{all_tokens:.2f} times with the prompts"
        )
    return f"{said[0]}, {said[1]}."


def _measured(seen: Evidence | None) -> str:
    """Point out that the examples measure nothing, and where measurements are."""
    few = f"{len(EXAMPLES)} examples measure nothing, and replies differ from run to run."
    if seen is None:
        return f"{few} Measured figures are in docs/results/README.md."
    tokens = "" if seen.tokens is None else f", at {seen.tokens:.2f} times the output tokens"
    return (
        f"{few} Measured on {seen.problems:,} other problems with this model (cross-validated): "
        f"{seen.before:.1f} % right with Direct CoT, {seen.after:.1f} % with this policy{tokens} "
        "(docs/results/README.md)."
    )
