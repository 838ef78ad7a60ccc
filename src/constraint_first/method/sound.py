"""Sound answers and replies: checked by what the text states, and repaired where they break it.

The final answer of any method is checked by the constraints that the problem's text states.

A whole reply is checked by the demands of its request. Reminding a small model of the demands does
harm; enforcing them in code helps. First come edits that keep every word and cost no call; then a
short addition where something is missing; then a request for a correction, or a fresh sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import permutations
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias

from constraint_first.constraint.predicate import Truth, parts
from constraint_first.constraint.reply.conflict import find_conflicts, tell_conflict
from constraint_first.constraint.reply.insertion import can_be_added, insertions, join_responses
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated
from constraint_first.method.baselines import Direct, Plain, whole_reply
from constraint_first.method.method import (
    BUDGET,
    Method,
    Switch,
    broken,
    configuration,
    gathering,
    intervened,
    intervention,
    is_sound,
    may_revise,
    mended,
    noting,
    option,
    said,
    sentences,
    solution_from,
    stated_in,
    wording,
)
from constraint_first.method.vote import as_fresh, ballot, value_ballot
from constraint_first.problem import Json, Problem, Prompt, Solution
from constraint_first.protocol import Call, Message, Steps, altered, ask, undecided


@dataclass(frozen=True)
class Checked:
    """A method whose answer is corrected where it breaks a stated constraint.

    Three ways are tried until an answer breaks no constraint: an unambiguous repair; one more turn
    that names the broken constraints; a fresh sample. Where all fail, or the model repeats itself,
    the first answer is returned: the text may have been misread.
    """

    label: ClassVar[str] = "Checked"
    base: Method = field(default=Direct(), metadata=option())
    budget: int = BUDGET
    """For the turn that names the broken constraints."""
    repair: Switch = field(default="on", metadata=option(), repr=False)
    """Whether an unambiguous repair is made without a call."""
    pose: Prompt = wording("direct")
    correct: Prompt = wording("correct")

    def __repr__(self) -> str:
        return configuration(self)

    def revises(self, problem: Problem) -> bool:
        return bool(stated_in(problem)) or may_revise(self.base, problem)

    def solve(self, problem: Problem) -> Steps[Solution]:
        stated, steps = stated_in(problem), self.base.solve(problem)
        first = yield from undecided(steps) if stated else steps
        faults = broken(stated, first.answer) if first.answer else ()
        if not first.answer or not faults:
            return noting(first, interventions=[])
        repaired = mended(stated, first, problem.text) if self.repair == "on" else first
        if repaired is not first:
            return repaired
        tried = [first]
        for what, steps in (
            ("turn", self._turn(problem, first, faults)),
            ("fresh sample", altered(self.base.solve(problem), as_fresh())),
        ):
            other = yield from steps
            made = intervention(what, first.answer, other.answer, faults, problem.text)
            tried.append(intervened(other, made))
            if is_sound(stated, other.answer):
                return gathering(other, tried)
            if other.answer and ballot(other.answer) == ballot(first.answer):
                break
        return gathering(first, tried)

    def _turn(
        self, problem: Problem, first: Solution, faults: tuple[Stated, ...]
    ) -> Steps[Solution]:
        correction = self.correct.fill(answer=first.answer or "", constraints=sentences(faults))
        messages = (
            Message("user", self.pose.fill(problem=problem.text)),
            Message("assistant", said(first)),
            Message("user", correction),
        )
        return solution_from((yield from ask(Call(messages, "correct", self.budget))))


# Assessment of a final answer: the checks that it passed, and the confidence in it.
#
# The final answer of a reply to a request is the reply itself, which is checked by demands alone.
# Checks and confidence are added to the final solution of every method.

_WRONG_ANSWERS: Final = 5
"""The number of wrong answers that the confidence formula assumes."""


def is_held(method: Method, problem: Problem) -> bool:
    """Whether replies to a text with demands are drafts, which must not be shown yet."""
    return may_revise(method, problem) and bool(read_demands(problem.text))


def assessed(method: Method, problem: Problem) -> Steps[Solution]:
    return assess(problem, (yield from method.solve(problem)))


def assess(problem: Problem, solution: Solution) -> Solution:
    """Add the checks of the answer and the confidence in it to the method's notes."""
    stated, demands, conflicts = _read(problem.text)
    stated = () if solution.is_whole else stated
    checks = (*check_stated(stated, solution.answer or ""), *check_stated(demands, solution.text))
    noted: dict[str, Json] = {"conflicts": [*conflicts]} if conflicts else {}
    noted |= {
        "checks": [
            {"sentence": one.sentence, "kind": one.kind, "span": [*one.span], "truth": truth}
            for one, truth in checks
        ],
        "confidence": _confidence(solution, [truth for _, truth in checks]),
    }
    return replace(solution, details={**solution.details, **noted})


@lru_cache(maxsize=2_048)  # a series goes through all problems once per run
def _read(text: str) -> tuple[tuple[Stated, ...], tuple[Stated, ...], tuple[str, ...]]:
    demands = read_demands(text)
    return read_stated(text), demands, tuple(map(tell_conflict, find_conflicts(demands)))


def _confidence(solution: Solution, truths: list[Truth]) -> float:
    if not solution.answer or "violated" in truths:
        return 0.0
    noted = solution.details.get("votes")
    counts = noted.items() if isinstance(noted, dict) else ()
    # Another package's method may use this name for something else.
    votes = {answer: count for answer, count in counts if type(count) is int and count > 0}
    if not votes:
        return _ONE_SAMPLE
    own = votes.get(value_ballot(solution.answer)) or votes.get(ballot(solution.answer)) or 1
    return confidence_of(own, [*votes.values()])


def confidence_of(own: int, votes: list[int]) -> float:
    """Return the probability that an answer with ``own`` of the votes is right.

    Bayes' rule for samples that are right half of the time and otherwise give one of five wrong
    answers: n votes weigh 5ⁿ. One vote gives 0.50, two of two 0.83, two of three 0.74.
    """
    weights = [_WRONG_ANSWERS**count for count in votes or [own]]
    unseen = max(0, _WRONG_ANSWERS + 1 - len(weights))
    return round(_WRONG_ANSWERS**own / (sum(weights) + unseen), 3)


_ONE_SAMPLE: Final = confidence_of(1, [])


# Checks, interventions and votes, read leniently from a solution's details.
#
# Details may come from an old store, or from a method of another package.

_TRUTHS: Final[dict[str, Truth]] = {"holds": "holds", "violated": "violated"}


class CheckedSentence(NamedTuple):
    """A constraint that the text states, and whether the answer meets it."""

    truth: Truth
    sentence: str
    words: str


class Intervention(NamedTuple):
    """A change to an answer that broke a constraint."""

    what: str
    before: str
    after: str
    words: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        return ", ".join(f"“{' '.join(one.split())}”" for one in self.words)


class CheckSummary(NamedTuple):
    checks: tuple[CheckedSentence, ...]
    """Without duplicates."""
    interventions: tuple[Intervention, ...]
    samples: tuple[str | None, ...]
    """The answers that voted; None for a sample without one."""
    confidence: float
    known: bool
    """Whether the details have anything to show."""
    conflicts: tuple[str, ...] = ()
    """Sentences on demands that contradict each other."""


def read_summary(details: Mapping[str, Json], problem: str) -> CheckSummary:
    checks = {str(check.get("sentence")): check for check in _objects(details.get("checks"))}
    samples, confidence = details.get("samples"), details.get("confidence")
    conflicts = details.get("conflicts")
    return CheckSummary(
        tuple(
            CheckedSentence(
                _TRUTHS.get(str(check.get("truth")), "undecided"), sentence, _words(check, problem)
            )
            for sentence, check in checks.items()
        ),
        tuple(
            Intervention(what, before, after, _quoted(done))
            for done in _objects(details.get("interventions"))
            for what, before, after in [[str(done.get(one)) for one in ("what", "before", "after")]]
        ),
        tuple(None if one is None else str(one) for one in samples)
        if isinstance(samples, list)
        else (),
        confidence if isinstance(confidence, int | float) else 0.0,
        any(name in details for name in ("checks", "confidence", "interventions")),
        tuple(str(one) for one in conflicts) if isinstance(conflicts, list) else (),
    )


def _objects(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _quoted(done: Mapping[str, Json]) -> tuple[str, ...]:
    words = done.get("words")
    return tuple(str(one) for one in words) if isinstance(words, list) else ()


def _words(check: Mapping[str, Json], problem: str) -> str:
    span = check.get("span")
    ends = [end for end in span if isinstance(end, int)] if isinstance(span, list) else []
    return problem[slice(*ends)] if len(ends) == 2 else ""


_ADDED: Final = 192
"""Output tokens of an addition, unless a demanded length needs more."""
_TOKENS_A_WORD: Final = 2

Retry: TypeAlias = Literal["turn", "sample", "off"]
"""The next step where edits do not help: a turn that names the broken demands, a fresh sample, or
none."""


@dataclass(frozen=True)
class Sound:
    """A reply that is checked by the demands of its request, and edited or requested again.

    A reply that breaks no demand is never changed; where nothing helps, the one that breaks fewest
    is returned. ``interventions`` in the details has each change, with the text before and after.
    """

    label: ClassVar[str] = "Sound reply"
    base: Method = field(default=Plain(), metadata=option())
    most: int = field(default=2, metadata=option())
    """The most whole replies, including the first."""
    repair: Switch = field(default="on", metadata=option())
    """Whether edits are made, which keep the content of a reply."""
    add: Switch = field(default="on", metadata=option())
    """Whether the model is asked for a short addition where one can help."""
    then: Retry = field(default="sample", metadata=option())
    budget: int = BUDGET
    pose: Prompt = wording("reply")
    addition: Prompt = wording("reply-add")
    correct: Prompt = wording("reply-correct")

    @property
    def in_use(self) -> tuple[object, ...]:
        added = (self.addition,) if self.add == "on" else ()
        turned = (self.correct,) if self.then == "turn" else ()
        posed = (self.pose,) if added or turned else ()
        return (self.base, *posed, *added, *turned)

    def demands(self, problem: Problem) -> tuple[Stated, ...]:
        """Read what the request demands of its reply; a subclass may have another reader."""
        return read_demands(problem.text)

    def revises(self, problem: Problem) -> bool:
        return self._acts(problem) or may_revise(self.base, problem)

    def _acts(self, problem: Problem) -> bool:
        active = self.repair == "on" or self.add == "on" or self.then != "off"
        return active and bool(self.demands(problem))

    def solve(self, problem: Problem) -> Steps[Solution]:
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
        """Make the edits that keep the reply's content, and note them as one intervention."""
        faults = broken(demands, solution.text) if self.repair == "on" else ()
        edited = repair_reply(demands, solution.text) if faults else solution.text
        return _changed(problem, solution, "repair", edited, faults)

    def _complete(
        self, problem: Problem, demands: Sequence[Stated], best: Solution
    ) -> Steps[tuple[Solution, ...]]:
        """Request a missing part of a reply, where it has no other faults."""
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
        """Yield another reply by itself, and after the first where several were requested."""
        what = "turn" if self.then == "turn" else "fresh sample"
        faults = broken(demands, first.text)
        for text in (other.text, *join_responses(faults, first.text, other.text)):
            changed = _changed(problem, first, what, text, faults)
            yield self._mend(problem, demands, replace(changed, truncated=other.truncated))


def _mendable(demands: Sequence[Stated], reply: str) -> tuple[Stated, ...]:
    """List the broken demands that can be met: not those that contradict a demand already met."""
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
    """Return the reply that breaks the fewest demands; of equals the first."""
    # An empty reply counts as the worst.
    return min(tried, key=lambda one: (not one.text.strip(), len(broken(demands, one.text))))


def _changed(
    problem: Problem, solution: Solution, what: str, text: str, faults: Sequence[Stated]
) -> Solution:
    """Replace the text of a reply, and note the change."""
    if text == solution.text:
        return solution
    made = intervention(what, solution.text, text, faults, problem.text)
    return noting(replace(intervened(solution, made), answer=text, text=text), whole=True)


def _room(faults: Sequence[Stated], budget: int) -> int:
    """Return the tokens for an addition: a demanded length needs more."""
    lengths = (part for one in faults for part in parts(one.predicate) if part["op"] == "words")
    words = max((low for one in lengths if isinstance(low := one.get("low"), int)), default=0)
    return min(budget, _ADDED + _TOKENS_A_WORD * min(words, budget))
