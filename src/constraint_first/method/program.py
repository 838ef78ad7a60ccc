"""Methods that solve by a program: the model writes it, and its output is the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import dedent
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias

from constraint_first.answer.extract import Extracted, extract
from constraint_first.constraint.asked import Asked, read_asked
from constraint_first.method.baselines import Direct
from constraint_first.method.method import (
    BUDGET,
    Check,
    Method,
    broken,
    gathering,
    in_form,
    mended,
    noting,
    option,
    sentences,
    solution_from,
    stated_in,
    wording,
)
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem, Prompt, Solution
from constraint_first.protocol import Call, Completion, Output, Program, Steps, ask, execute
from constraint_first.thinking import without_thinking

MODULES: Final = (
    *("math", "itertools", "collections", "functools", "decimal", "datetime"),
    *("bisect", "re", "random"),
)
"""The modules that a prompt may promise: both interpreters have them."""

AVAILABLE: Final = (
    f"These modules are there: {', '.join(MODULES)}. There is no input, no file and no network."
)
"""A paragraph for the prompt that lists the modules of the sandbox."""


# Solving by a program: the model writes it, the sandbox runs it, its output is the answer.
#
# After PAL (Gao et al., 2023) and Program of Thoughts (Chen et al., 2023): the model states the
# computation, an interpreter performs it.

Style: TypeAlias = Literal["plain", "thinking", "bare", "short", "sympy"]
"""``thinking`` requests a program that begins with comments on the question, as its reasoning.

``bare`` requests the program alone as the reply, with the reasoning in comments; ``short`` also
limits its length. ``sympy`` is ``short`` for programs that compute with sympy, which the sandbox
has on Python 3.12 or newer.
"""

Tell: TypeAlias = Literal["stated", "off"]
"""Whether the prompt names the constraints that the text states."""

Modules: TypeAlias = Literal["untold", "told"]
"""Whether the prompt lists modules that every sandbox has."""


@dataclass(frozen=True)
class Programmed:
    """One program; a fall-back method if it crashes, prints no answer or breaks a constraint."""

    label: ClassVar[str] = "Program"
    style: Style = field(default="plain", metadata=option())
    fallback: Method | None = field(default=Direct(), metadata=option())
    check: Check = field(default="stated", metadata=option())
    tell: Tell = field(default="off", metadata=option())
    modules: Modules = field(default="untold", metadata=option())
    budget: int = field(default=BUDGET, metadata=option("tokens"))
    plain: Prompt = wording("program")
    thinking: Prompt = wording("program-thinking")
    bare: Prompt = wording("program-bare")
    short: Prompt = wording("program-short")
    told: Prompt = wording("told")
    sympy: Prompt = wording("program-sympy")

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("tokens must be at least 1")

    @property
    def in_use(self) -> tuple[object, ...]:
        told = self.told if self.tell == "stated" else ()
        return self._wording, told, self.fallback

    @property
    def _wording(self) -> Prompt:
        wording: Prompt = getattr(self, self.style)
        return wording

    def solve(self, problem: Problem) -> Steps[Solution]:
        reply = yield from ask(self._call(problem))
        solution = yield from run_program(reply, read_asked(problem.text))
        if self.check == "repair":
            solution = mended(stated_in(problem), solution, problem.text)
        why = self._fault(problem, solution)
        if self.fallback is None or not why:
            return solution
        other = in_form(read_asked(problem.text), (yield from self.fallback.solve(problem)))
        return gathering(noting(other, fell_back=why), (solution, other))

    def _call(self, problem: Problem) -> Call:
        told = sentences(stated_in(problem, self.tell))
        text = self.told.fill(problem=problem.text, constraints=told) if told else problem.text
        modules = f" {AVAILABLE}" if self.modules == "told" else ""
        prompt = self._wording.fill(problem=text, modules=modules)
        return Call.user(prompt, stage="program", max_tokens=self.budget)

    def _fault(self, problem: Problem, solution: Solution) -> str:
        if solution.answer is None:
            return str(solution.details["how"])
        faults = broken(stated_in(problem, self.check), solution.answer)
        return f"breaks: {faults[0].sentence}" if faults else ""


def run_program(reply: Completion, asked: Asked) -> Steps[Solution]:
    """Run the program of a reply and read its output, if that can be what the problem asks for.

    A program that was cut off by the budget is not run: its output need not be its answer.
    """
    source = read_program(reply.text)
    if source is None:
        return in_form(asked, solution_from(reply))
    if reply.truncated and [*_blocks(without_thinking(reply.text))][-1].open:
        return Solution(None, reply.text, reply.truncated, {"how": "program cut off"})
    output = yield from execute(Program(source))
    found = read_output(output)
    noted: dict[str, Json] = {"source": source, "output": output.text, "error": output.error}
    answer = asked.admit(found.answer) if found.answer else None
    how = (
        "program printed no answer of the form asked" if found.answer and not answer else found.how
    )
    details: dict[str, Json] = {"how": how, "programs": [noted]}
    return Solution(answer, reply.text, reply.truncated, details)


# --- The program in a reply.

_FENCE: Final = lazy_pattern(r"^[ \t]*(?:```|~~~)[`~]*[ \t]*(\w*)[^\n]*\n?", re.MULTILINE)


def read_program(reply: str) -> str | None:
    """Find the last block marked as Python, closed or not; else an unmarked one that prints."""
    blocks = list(_blocks(without_thinking(reply)))
    marked = [block.source for block in blocks if block.language.startswith("py")]
    plain = [block.source for block in blocks if not block.language and "print(" in block.source]
    return next((source for source in reversed(marked or plain) if source.strip()), None)


class _Block(NamedTuple):
    language: str
    source: str
    open: bool = False
    """Whether the text ended before the block was closed."""


def _blocks(text: str) -> Iterator[_Block]:
    """List the fenced blocks of a text; a new mark ends a block that was not closed."""
    language: str | None = None
    start = 0
    for fence in _FENCE.finditer(text):
        if language is not None:
            yield _Block(language, dedent(text[start : fence.start()]))
        closes = language is not None and not fence[1]
        language, start = (None if closes else fence[1].lower()), fence.end()
    if language is not None:
        yield _Block(language, dedent(text[start:]), open=True)


# --- The output.

# Numbers as Python prints them: Fraction(3, 4), Decimal('1.5'), and 12.0 for an integer.
_FRACTION: Final = lazy_pattern(r"\bFraction\((-?\d+)(?:, ?(\d+))?\)")
_DECIMAL: Final = lazy_pattern(r"\bDecimal\(['\"](-?[\d.]+)['\"]\)")
_WHOLE: Final = lazy_pattern(r"(?<![\d.])(\d+)\.0(?![\d.eE])")
_LONG: Final = lazy_pattern(r"(?<![\d.])\d+\.\d{12,40}(?![\d.eE])")
_QUOTED: Final = lazy_pattern(r"(['\"])(.*)\1")
_NO_VALUE: Final = frozenset({"nan", "inf", "-inf", "[]", "()", "{}", "set()", "''", '""'})
_FEW_DIGITS: Final = 10


def read_output(output: Output) -> Extracted:
    """Read the last line that a program printed, with Python's notation of numbers removed."""
    if output.error:
        return Extracted(None, "program crashed")
    lines = (line.strip() for line in reversed(output.text.splitlines()))
    line = next(filter(None, lines), "")
    if not line or line in _NO_VALUE:
        return Extracted(None, "program printed nothing")
    found = extract(_respell(line))
    return Extracted(found.answer, "printed" if found.answer else "program printed nothing")


def _respell(line: str) -> str:
    line = quoted[2] if (quoted := _QUOTED.fullmatch(line)) else line
    line = _FRACTION.sub(lambda f: f[1] if f[2] in (None, "1") else f"{f[1]}/{f[2]}", line)
    line = _LONG.sub(lambda long: _without_noise(long[0]), _DECIMAL.sub(r"\1", line))
    return _WHOLE.sub(r"\1", line)


def _without_noise(digits: str) -> str:
    """Round away floating-point noise, if that leaves a short number."""
    short = f"{float(digits):.12g}"
    return short if len(short) <= _FEW_DIGITS else digits
