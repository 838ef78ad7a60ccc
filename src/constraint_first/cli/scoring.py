"""Right or wrong, as the answers to a file of problems come in: one by one, and in total."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from constraint_first.benchmark.gold_instruction import read_instructions
from constraint_first.evaluation.judge import judge
from constraint_first.file.printable import one_line
from constraint_first.problem import Json, Problem

if TYPE_CHECKING:
    from constraint_first.engine.solve import Solved

__all__ = ["Scoring"]

_WORDS: Final = {
    "correct": ("right", "bold green"),
    "incorrect": ("wrong", "bold red"),
    "undecided": ("undecided", "bold yellow"),
}


class Scoring:
    """Counts answers, and the right ones among those to problems whose gold answer is known."""

    def __init__(self, problems: int) -> None:
        self._problems = problems
        self._begun = 0
        self.solved = 0
        self.unanswered = 0
        self._counts: Counter[str] = Counter()

    def heading(self, problem: Problem) -> RenderableType:
        """Make the line over a problem that is one of several."""
        self._begun += 1
        if self._problems == 1:
            return Group()
        name = f", id {one_line(problem.id)}" if problem.id != str(self._begun) else ""
        title = Text(f"Problem {self._begun} of {self._problems}{name}", style="bold")
        return Group(*([Text()] if self._begun > 1 else []), Rule(title, style="bold"))

    def count(self, solved: Solved) -> None:
        """Count a problem, whatever its answer."""
        self.solved += 1
        whole = read_instructions(solved.problem.answer) is not None
        self.unanswered += not solved.solution.text.strip() if whole else solved.answer is None

    def judge(self, solved: Solved) -> dict[str, Json]:
        """Judge an answer, or a whole reply; nothing is said where the problem has no gold."""
        verdict = judge(solved.problem, solved.answer, solved.solution.text)
        if verdict is None:
            return {}
        self._counts[verdict.verdict] += 1
        told: dict[str, Json] = {"gold": solved.problem.answer, "verdict": verdict.verdict}
        return told | ({"why": verdict.why} if verdict.tier == "instructions" else {})

    def said(self, problem: Problem, verdict: dict[str, Json]) -> RenderableType:
        """Make the line under an answer that was judged."""
        if not verdict:
            return Group()
        word, style = _WORDS[str(verdict["verdict"])]
        gold = f"; the gold answer is {one_line(problem.answer or '')}"
        if "why" in verdict:
            gold = f": the reply {one_line(str(verdict['why']))}"
        return Text.assemble((word.capitalize(), style), gold)

    @property
    def total(self) -> str:
        """One line about all answers; empty where there are not several to count."""
        if self._problems == 1 or not self._counts:
            return ""
        parts = [f"{self._counts[one]} {word}" for one, (word, _) in _WORDS.items()]
        if not self._counts["undecided"]:
            parts.pop()
        without = self._problems - self._counts.total()
        rest = f", {without} without a gold answer" if without else ""
        return f"{self._counts.total()} answers: {', '.join(parts)}{rest}"
