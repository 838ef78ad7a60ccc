"""A server for the Model Context Protocol: tools that solve, check and grade.

A client may name a method, but no other model and no file, as for ``cfr serve``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import getdoc
from typing import Annotated, Any, Final, Literal, TypeAlias

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from constraint_first.answer.grade import grade_reply
from constraint_first.attempt.drive import AttemptLimit
from constraint_first.attempt.events import Feed, ProgressMeter, SolveProgress, TellProgress
from constraint_first.attempt.solve import asolve
from constraint_first.constraint.predicate import Truth
from constraint_first.constraint.stage1 import Kind
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import check_stated
from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import one_line
from constraint_first.model.client import Client
from constraint_first.model.resolve import AUTO, ModelRef, Resolved, resolve, serve
from constraint_first.model.transport import Bounds
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem
from constraint_first.serve.attempt import final_text
from constraint_first.serve.request import ChosenMethod, MethodChoice, RequestError

# The results of the tools. Clients see the docstrings and descriptions.


class StatedConstraint(BaseModel):
    """A demand that a problem's text makes of any answer."""

    sentence: str = Field(description="The demand in words.")
    kind: Kind
    words: str = Field(description="The words of the problem that state it.")


class CheckedConstraint(StatedConstraint):
    """A demand, and whether an answer meets it."""

    truth: Truth = Field(description="Whether the answer meets it.")


class AnswerCheck(BaseModel):
    """An answer checked against everything that the text demands of it."""

    sound: bool = Field(
        description="False where a demand is broken. True does not mean that the answer is right: "
        "it may be wrong and still meet every demand."
    )
    summary: str = Field(description="The same in a sentence, with the demands that are broken.")
    checks: list[CheckedConstraint]


class SolveResult(BaseModel):
    """A solved problem."""

    answer: str | None = Field(description="The final answer; null where the reply has none.")
    solution: str = Field(description="The reply that argues for the answer.")
    truncated: bool = Field(description="Whether that reply was cut off by its token budget.")
    confidence: float = Field(description="How far to trust the answer, from 0 to 1.")
    checks: list[CheckedConstraint] = Field(
        description="What the text demands of any answer, and whether this answer meets it."
    )
    method: str = Field(description="The method that was used.")
    model: str = Field(description="The model that was asked.")
    calls: int = Field(description="How many calls it took.")
    input_tokens: int
    output_tokens: int
    seconds: float
    dollars: float | None = Field(description="What it cost; null where no price is known.")


class ConstraintsResult(BaseModel):
    """What a text demands."""

    constraints: list[StatedConstraint]


class GradeResult(BaseModel):
    """A verdict on an answer."""

    verdict: Literal["correct", "incorrect", "undecided"]
    why: str = Field(description="What the verdict rests on.")
    answer: str | None = Field(description="The answer that was judged, as it was written.")


def stated_in(problem: str) -> list[StatedConstraint]:
    return [
        StatedConstraint(sentence=one.sentence, kind=one.kind, words=problem[slice(*one.span)])
        for one in read_stated(require_text(problem, "problem"))
    ]


def check_answer(problem: str, answer: str) -> AnswerCheck:
    checks = _checks_of(require_text(problem, "problem"), require_text(answer, "answer"))
    broken = [one.sentence for one in checks if one.truth == "violated"]
    met = sum(one.truth == "holds" for one in checks)
    if not checks:
        summary = "The text states no demand that can be checked."
    elif broken:
        summary = f"The answer breaks {len(broken)} of {len(checks)} demands: {' '.join(broken)}"
    else:
        summary = f"The answer breaks no demand: {met} met, {len(checks) - met} undecided."
    return AnswerCheck(sound=not broken, summary=summary, checks=checks)


def _checks_of(problem: str, answer: str) -> list[CheckedConstraint]:
    return [
        CheckedConstraint(
            sentence=one.sentence, kind=one.kind, words=problem[slice(*one.span)], truth=truth
        )
        for one, truth in check_stated(read_stated(problem), answer)
    ]


def require_text(text: str, name: str) -> str:
    if not text.strip():
        raise InputError(f"{name}: is empty; give its text")
    return text


_LIMIT: Final = AttemptLimit(calls=256, tokens=4_000_000)
_INSTRUCTIONS: Final = (
    "Tools for mathematical problems whose text restricts the answer (an integer, a range, a "
    "remainder, a form). `solve` asks a language model and may take minutes; `constraints`, "
    "`check_answer` and `grade` ask none and answer at once."
)
_LOCAL: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ASKING: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=False, open_world_hint=True)

_ProblemText: TypeAlias = Annotated[
    str, Field(max_length=200_000, description="The whole text of the problem.")
]
_AnswerText: TypeAlias = Annotated[
    str, Field(max_length=200_000, description="The final answer alone, such as \\frac{1}{2}.")
]

_Moment: TypeAlias = SolveProgress | SolveResult


@dataclass(frozen=True, slots=True)
class Asked:
    """The model of the tool ``solve``, its settings and its method."""

    ref: ModelRef
    decoding: Decoding = field(default_factory=Decoding)
    bounds: Bounds | None = None
    method: str = AUTO
    limit: AttemptLimit = _LIMIT
    """For one call of the tool."""


class ToolServer:
    """The tools. The model is opened at its first call and closed by ``async with``."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._methods = MethodChoice((asked.method,), asked.limit.calls)
        if asked.method != AUTO:
            self._choose(asked.method, "")  # an error appears before the first call
        self._engine: Client | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> ToolServer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def server(self) -> MCPServer:
        made = MCPServer(
            "constraint-first",
            title="Constraint-First",
            instructions=_INSTRUCTIONS,
            version=version("constraint-first"),
            log_level="WARNING",
        )
        for tool, title, hints in (
            (self.solve, "Solve a problem", _ASKING),
            (self.constraints, "What a text demands", _LOCAL),
            (self.check_answer, "Check an answer", _LOCAL),
            (self.grade, "Grade an answer", _LOCAL),
        ):
            made.add_tool(tool, title=title, description=getdoc(tool), annotations=hints)
        return made

    async def solve(
        self,
        problem: _ProblemText,
        ctx: Context[Any, Any],
        method: Annotated[
            str | None,
            Field(
                max_length=1_000,
                description="A method of `cfr solve --method`, such as direct, cfr, program or "
                "vote(samples=5); left out for the server's own.",
            ),
        ] = None,
    ) -> SolveResult:
        """Solve a mathematical problem with a language model, and check its answer.

        The answer is checked against what the text demands of it. It may take minutes; a client
        that asks for progress hears of each stage.
        """
        feed, count = Feed[_Moment](), 0
        with _tool_errors():
            require_text(problem, "problem")
            async with aclosing(feed.follow(self._solve(problem, method, feed.tell))) as told:
                async for moments in told:
                    for moment in moments:
                        if isinstance(moment, SolveResult):
                            return moment
                        count += 1
                        await ctx.report_progress(count, None, one_line(str(moment)))
        raise AssertionError("unreachable: the last moment is a result")

    async def _solve(
        self, problem: str, method: str | None, tell: Callable[[_Moment], object]
    ) -> None:
        name = method or self._asked.method
        if name != AUTO:
            self._choose(name, "")  # an error appears before a model is opened
        engine = await self._opened(tell)
        model = engine.model
        chosen = self._choose(name, model).method
        solved = await asolve(
            Problem(problem), chosen, engine=engine, limit=self._asked.limit, progress=tell
        )
        solution, usage = solved.solution, solved.usage
        confidence = solution.details.get("confidence")
        tell(
            SolveResult(
                answer=solution.answer,
                solution=final_text(solution),
                truncated=solution.truncated,
                confidence=confidence if isinstance(confidence, int | float) else 0.0,
                checks=_checks_of(problem, solution.answer or ""),
                method=solved.method.label,
                model=model,
                calls=len(solved.exchanges),
                input_tokens=usage.input,
                output_tokens=usage.output,
                seconds=round(solved.seconds, 3),
                dollars=solved.cost.dollars if solved.cost else None,
            )
        )

    def _choose(self, name: str, model: str) -> ChosenMethod:
        try:
            return self._methods.choose(name, model)
        except RequestError as error:
            why = str(error).removeprefix("model: ").removeprefix(f"method {name!r} ")
            raise InputError(f"method {name!r}: {why}") from None

    async def _opened(self, tell: TellProgress) -> Client:
        loop, asked = asyncio.get_running_loop(), self._asked
        meter = ProgressMeter(lambda step: loop.call_soon_threadsafe(tell, step))

        def find(one: ModelRef) -> Resolved:
            return resolve(one, asked.decoding, bounds=asked.bounds, progress=meter.fetching)

        async with self._opening:
            if self._engine is None:
                # In a thread: a local model may have to be downloaded.
                found = await asyncio.to_thread(serve, asked.ref, self._methods.other_models, find)
                self._engine = await self._stack.enter_async_context(found)
            return self._engine

    def constraints(self, problem: _ProblemText) -> ConstraintsResult:
        """List what a problem's text demands of any answer, each with the words that prove it.

        No model is asked: only what the words state is found.
        """
        with _tool_errors():
            return ConstraintsResult(constraints=stated_in(problem))

    def check_answer(self, problem: _ProblemText, answer: _AnswerText) -> AnswerCheck:
        """Check an answer against what the problem's text demands, and say which demands it breaks.

        No model is asked. An answer that breaks no demand may still be wrong.
        """
        with _tool_errors():
            return check_answer(problem, answer)

    def grade(
        self,
        answer: Annotated[
            str, Field(max_length=200_000, description="A final answer, or a whole reply.")
        ],
        gold: Annotated[str, Field(max_length=200_000, description="The right answer.")],
        problem: Annotated[
            str,
            Field(
                max_length=200_000,
                description="The problem's text; it tells which letters are variables.",
            ),
        ] = "",
    ) -> GradeResult:
        """Judge an answer against the right one: 0.5 and \\frac{1}{2} are the same.

        No model is asked.
        """
        with _tool_errors():
            found = grade_reply(answer, require_text(gold, "gold"), problem)
            return GradeResult(verdict=found.verdict, why=found.why, answer=found.answer)


@contextmanager
def _tool_errors() -> Generator[None]:
    """Raise our errors as the protocol's ToolError, in one line."""
    try:
        yield
    except CfrError as error:
        raise ToolError(one_line(str(error))) from None


async def run_stdio(asked: Asked) -> None:
    """Serve one client on standard input and output."""
    async with ToolServer(asked) as tools:
        await tools.server().run_stdio_async()


async def run_http(asked: Asked, port: int) -> None:
    """Serve any number of clients on this machine, at ``http://127.0.0.1:PORT/mcp``."""
    async with ToolServer(asked) as tools:
        await tools.server().run_streamable_http_async(host="127.0.0.1", port=port)
