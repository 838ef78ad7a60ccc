"""Stated-CFR: Stage 1 without tokens, by the constraints that the text itself states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from constraint_first.constraint.contradiction import contradicts
from constraint_first.constraint.recovery import read_spec
from constraint_first.constraint.spec import Constraint, ConstraintSpec
from constraint_first.constraint.stated import read_stated
from constraint_first.method.constraint_first import BRIEF, CFR
from constraint_first.method.method import noting, solution_from
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Steps, ask

__all__ = ["Own", "StatedCFR"]

Own: TypeAlias = Literal["off", "join"]
"""``join`` asks the model for constraints too, and keeps those that the text does not contradict.
"""


@dataclass(frozen=True)
class StatedCFR:
    """CFR whose constraints are read from the text, so that none of them is made up.

    Where the text states none, and the model adds none, the problem is solved by Direct CoT.
    """

    label: ClassVar[str] = "Stated-CFR"
    own: Own = "off"
    base: CFR = BRIEF
    """What asks for the model's own constraints, and for a solution under all of them."""

    @property
    def in_use(self) -> tuple[object, ...]:
        """The prompts of its base, that of Stage 1 only where the model is asked for its own."""
        join = self.own == "join"
        return (self.base,) if join else (self.base.stage2_prompt, self.base.fallback)

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Read the constraints, then ask for a solution under them."""
        found = [(one.kind, one.sentence) for one in read_stated(problem.text)]
        noted: dict[str, Json] = {"stated": len(found)}
        if self.own == "join":
            own, dropped = yield from self._own(problem)
            found += own
            noted["dropped"] = [*dropped]
        if not found:
            return noting((yield from self.base.fallback.solve(problem)), **noted)
        numbered = enumerate(dict.fromkeys(found), start=1)
        spec = ConstraintSpec(
            raw_constraints=tuple(Constraint(f"C{n}", kind, said) for n, (kind, said) in numbered)
        )
        stage2 = yield from ask(self.base.solving(problem, spec))
        return solution_from(stage2, constraints=spec.to_json(), **noted)

    def _own(self, problem: Problem) -> Steps[tuple[list[tuple[str, str]], list[str]]]:
        """Ask the model for constraints; give those that can stand, and those that cannot."""
        reply = yield from ask(self.base.extraction(problem))
        spec = read_spec(reply.text).spec
        listed = [(one.type, one.description) for one in spec.raw_constraints]
        listed += [("", one.description) for one in spec.propagated_constraints]
        stated = read_stated(problem.text)
        wrong = [said for _, said in listed if contradicts(stated, said, problem.text)]
        return [one for one in listed if one[1] not in wrong], wrong
