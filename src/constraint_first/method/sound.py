"""Sound replies: what a request demands is read and run, and a reply that breaks it is repaired.

Telling a small model what to mind does harm; executing it helps. First come edits that keep every
word and cost no call; then a short addition where something is missing; then a turn that names what
is broken, or a fresh sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import ClassVar, Final, Literal, TypeAlias

from constraint_first.constraint.predicate import parts
from constraint_first.constraint.reply.conflict import find_conflicts
from constraint_first.constraint.reply.insertion import can_be_added, insertions, join_responses
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.stated.statement import Stated
from constraint_first.method.baselines import Plain, whole_reply
from constraint_first.method.method import BUDGET, Method, may_revise, noting, option
from constraint_first.method.soundness import Switch, broken, intervened, intervention, sentences
from constraint_first.method.vote import as_fresh
from constraint_first.problem import Problem, Prompt, Solution, load
from constraint_first.protocol import Call, Message, Steps, altered, ask, undecided

_REQUEST: Final = load("constraint_first.method", "reply")
_ADD: Final = load("constraint_first.method", "reply-add")
_CORRECT: Final = load("constraint_first.method", "reply-correct")
_ADDED: Final = 192
"""Output tokens of an addition, unless a length that is missing needs more."""
_TOKENS_A_WORD: Final = 2

Retry: TypeAlias = Literal["turn", "sample", "off"]
"""What is tried where edits do not help: a turn that names what is broken, a fresh sample, or
nothing."""


@dataclass(frozen=True)
class Sound:
    """A reply that does what its request demands, as far as the demands can be read and checked.

    A reply that breaks nothing is never touched. Where nothing helps, the reply that breaks least
    stands; where demands contradict each other, nothing more is asked for their sake.
    ``interventions`` among the details has each change that led to it, with the reply before and
    after: the first of them has what the base method replied.
    """

    label: ClassVar[str] = "Sound reply"
    base: Method = field(default=Plain(), metadata=option())
    most: int = field(default=2, metadata=option())
    """Whole replies at most, the first one among them."""
    repair: Switch = field(default="on", metadata=option())
    """Whether edits are made; they keep all that a reply says."""
    add: Switch = field(default="on", metadata=option())
    """Whether the model is asked for a short addition where one can help."""
    then: Retry = field(default="sample", metadata=option())
    budget: int = BUDGET
    pose: Prompt = field(default=_REQUEST, repr=False)
    addition: Prompt = field(default=_ADD, repr=False)
    correct: Prompt = field(default=_CORRECT, repr=False)

    @property
    def in_use(self) -> tuple[object, ...]:
        """The methods and prompts that it may ask with as it is set."""
        added = (self.addition,) if self.add == "on" else ()
        turned = (self.correct,) if self.then == "turn" else ()
        posed = (self.pose,) if added or turned else ()
        return (self.base, *posed, *added, *turned)

    def demands(self, problem: Problem) -> tuple[Stated, ...]:
        """Read what the request demands of its reply."""
        return read_demands(problem.text)

    def revises(self, problem: Problem) -> bool:
        """Whether the reply is checked, and may be edited, added to or asked for again."""
        return self._acts(problem) or may_revise(self.base, problem)

    def _acts(self, problem: Problem) -> bool:
        active = self.repair == "on" or self.add == "on" or self.then != "off"
        return active and bool(self.demands(problem))

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Reply, check, and go on until the reply is sound or all was tried."""
        demands = self.demands(problem)
        steps = self.base.solve(problem)
        first = yield from undecided(steps) if self._acts(problem) else steps
        if not demands or not first.text.strip():
            return noting(first, interventions=[])
        tried = [self._mend(problem, demands, first)]
        for nth in range(1, self.most + 1):
            tried.extend((yield from self._complete(problem, demands, _best(demands, tried))))
            best = _best(demands, tried)
            if self.then == "off" or nth == self.most or not _mendable(demands, best.text):
                break
            other = yield from self._again(problem, best, demands, nth)
            tried.extend(self._candidates(problem, demands, first, other))
        return noting(_best(demands, tried), interventions=[])

    def _mend(self, problem: Problem, demands: Sequence[Stated], solution: Solution) -> Solution:
        """Make the edits that keep all that the reply says, and note them as one intervention."""
        faults = broken(demands, solution.text) if self.repair == "on" else ()
        edited = repair_reply(demands, solution.text) if faults else solution.text
        return _changed(problem, solution, "repair", edited, faults)

    def _complete(
        self, problem: Problem, demands: Sequence[Stated], best: Solution
    ) -> Steps[tuple[Solution, ...]]:
        """Ask for what is missing of a reply, where nothing else is wrong with it."""
        faults = broken(demands, best.text)
        if not (self.add == "on" and faults and all(map(can_be_added, faults))):
            return ()
        prompt = self.addition.fill(demands=sentences(faults))
        call = Call(
            self._conversation(problem, best, prompt), "addition", _room(faults, self.budget)
        )
        added = whole_reply((yield from ask(call))).text
        if not added:
            return ()
        grown = [
            _changed(problem, best, "addition", one, faults) for one in insertions(best.text, added)
        ]
        return (self._mend(problem, demands, _best(demands, grown)),) if grown else ()

    def _again(
        self, problem: Problem, best: Solution, demands: Sequence[Stated], nth: int
    ) -> Steps[Solution]:
        if self.then == "sample":
            return (yield from altered(self.base.solve(problem), as_fresh(nth)))
        prompt = self.correct.fill(demands=sentences(broken(demands, best.text)))
        call = Call(self._conversation(problem, best, prompt), "correct", self.budget)
        return whole_reply((yield from ask(call)))

    def _conversation(self, problem: Problem, reply: Solution, prompt: str) -> tuple[Message, ...]:
        return (
            Message("user", self.pose.fill(request=problem.text)),
            Message("assistant", reply.text),
            Message("user", prompt),
        )

    def _candidates(
        self, problem: Problem, demands: Sequence[Stated], first: Solution, other: Solution
    ) -> Iterator[Solution]:
        """Take another reply by itself, and behind the first where several were asked for."""
        what = "turn" if self.then == "turn" else "fresh sample"
        faults = broken(demands, first.text)
        for text in (other.text, *join_responses(faults, first.text, other.text)):
            changed = _changed(problem, first, what, text, faults)
            yield self._mend(problem, demands, replace(changed, truncated=other.truncated))


def _mendable(demands: Sequence[Stated], reply: str) -> tuple[Stated, ...]:
    """List what a reply breaks and could meet: not what contradicts a demand that it does meet."""
    faults = broken(demands, reply)
    conflicts = find_conflicts(demands) if faults else ()
    hopeless = [
        one
        for pair in conflicts
        for one, other in permutations(pair)
        if one in faults and other not in faults
    ]
    return tuple(one for one in faults if one not in hopeless)


def _best(demands: Sequence[Stated], tried: Sequence[Solution]) -> Solution:
    """Choose the reply that breaks least; of several the first."""
    return min(tried, key=lambda one: _count(demands, one))


def _count(demands: Sequence[Stated], solution: Solution) -> int:
    return len(broken(demands, solution.text)) if solution.text.strip() else len(demands) + 1


def _changed(
    problem: Problem, solution: Solution, what: str, text: str, faults: Sequence[Stated]
) -> Solution:
    """Put another text in the place of a reply, and note what was done."""
    if text == solution.text:
        return solution
    made = intervention(what, solution.text, text, faults, problem.text)
    return noting(replace(intervened(solution, made), answer=text, text=text), whole=True)


def _room(faults: Sequence[Stated], budget: int) -> int:
    """Say how long an addition may be: a length that is demanded needs room."""
    lengths = (part for one in faults for part in parts(one.predicate) if part["op"] == "words")
    words = max((low for one in lengths if isinstance(low := one.get("low"), int)), default=0)
    return min(budget, _ADDED + _TOKENS_A_WORD * min(words, budget))
