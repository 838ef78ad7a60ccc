"""Bounds of what an attempt takes, found by playing it through with replies of several kinds.

A method is a generator, so it can be run on replies that nobody asked a model for. What it then
asks tells how many calls there are, how long their prompts are and how long replies may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from constraint_first.engine.engine import Decoding
from constraint_first.engine.price import PriceList
from constraint_first.method import Method
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Output, Program, Run, Usage

__all__ = ["CallSettings", "Demand", "Span", "bound_attempt", "needs_more_calls"]

_MOST_ROUNDS: Final = 64
_CHARACTERS_A_TOKEN: Final = 3
"""As the limiter guesses: few texts have fewer."""


class Span(NamedTuple):
    """A number of which only the least and the most are known; the two are the same where it is."""

    least: float
    most: float

    def plus(self, other: Span) -> Span:
        """Add two."""
        return Span(self.least + other.least, self.most + other.most)

    def times(self, factor: float) -> Span:
        """Multiply both ends."""
        return Span(self.least * factor, self.most * factor)

    def around(self, other: Span) -> Span:
        """Span both."""
        return Span(min(self.least, other.least), max(self.most, other.most))


_NOTHING: Final = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Demand:
    """What attempts take: calls, tokens and money."""

    calls: Span = _NOTHING
    input: Span = _NOTHING
    output: Span = _NOTHING
    dollars: Span = _NOTHING
    complete: bool = True
    """False where a model has no price, so that the dollars lack what it costs."""

    def plus(self, other: Demand) -> Demand:
        """Add two."""
        complete = self.complete and other.complete
        return Demand(*(one.plus(two) for one, two in self._beside(other)), complete=complete)

    def around(self, other: Demand) -> Demand:
        """Span both."""
        complete = self.complete and other.complete
        return Demand(*(one.around(two) for one, two in self._beside(other)), complete=complete)

    def times(self, factor: float) -> Demand:
        """Multiply everything."""
        return Demand(*(one.times(factor) for one in self._spans()), complete=self.complete)

    def _spans(self) -> tuple[Span, ...]:
        return self.calls, self.input, self.output, self.dollars

    def _beside(self, other: Demand) -> Iterator[tuple[Span, Span]]:
        return zip(self._spans(), other._spans(), strict=True)


@dataclass(frozen=True, slots=True)
class CallSettings:
    """What calls have in common, whatever their method."""

    decoding: Decoding = field(default_factory=Decoding)
    system: str = ""
    prices: PriceList = field(default_factory=PriceList)
    contexts: Mapping[str | None, int | None] = field(
        default_factory=dict["str | None", "int | None"]
    )
    """Tokens of context of each model, by the name that calls have for it, where they are known."""

    def longest_reply(self, call: Call) -> int:
        """Say how many tokens a reply may have."""
        limits = (call.max_tokens, self.decoding.max_tokens, self.contexts.get(call.model))
        return min(limit for limit in limits if limit)


_SPEC: Final = (
    '{"restrictive": "yes", "raw_constraints": [{"id": "C1", "type": "domain", "description": '
    '"an integer MARK"}], "answer_format": "integer", "final_answer": "2"}'
)
_KINDS: Final[tuple[tuple[Callable[[int], str], Output], ...]] = (
    (lambda _: _SPEC + "\nMARK \\boxed{2}", Output("2")),
    (lambda number: f"{_SPEC}\nMARK \\boxed{{{number}}}", Output("2")),
    (lambda _: "", Output("2")),
    (lambda number: f"MARK \\boxed{{-{2 * number + 1}/2}}", Output("2")),
    (lambda _: f"QUESTION: Of what? MARK\n{_SPEC}", Output("2")),
    (lambda _: "MARK\n```python\nprint(2)\n```", Output("2")),
    (lambda number: f"MARK\n```python\nprint({number})\n```", Output("", "it broke off")),
)
"""What a model may reply: constraints and an answer, always the same or ever another; nothing; an
answer that breaks a constraint; a question; a program that runs, and one that does not."""


def bound_attempt(method: Method, problem: Problem, settings: CallSettings) -> Demand:
    """Bound what one attempt takes."""
    played = [_play(method, problem, settings, kind) for kind in range(len(_KINDS))]
    found = played[0]
    for one in played[1:]:
        found = found.around(one)
    return found


_ANY: Final = Problem("What is 1 + 1?")
_KINDEST: Final = (0, 5)
"""Replies that let a method end soon: all agree, and programs run."""


def needs_more_calls(method: Method, most: int) -> bool:
    """Say whether a method needs more than so many calls even if all goes well.

    It is played on a problem of no particular kind, so a method that asks more about other problems
    may pass; it is then ended by its driver, when it has paid.
    """
    return not any(_ends_within(method, most, kind) for kind in _KINDEST)


def _ends_within(method: Method, most: int, kind: int) -> bool:
    reply, output = _KINDS[kind]
    asked = 0
    try:
        run = Run(method.solve(_ANY))
        while not run.done:
            asked += len(run.calls)
            if asked > most:
                return False
            text = reply(asked).replace("MARK", "")
            run.advance(
                tuple(
                    output if isinstance(step, Program) else Completion(text, usage=Usage(10, 10))
                    for step in run.round
                )
            )
    except Exception:  # a method that breaks on a reply will say so when it gets one
        return True
    return True


def _play(method: Method, problem: Problem, settings: CallSettings, kind: int) -> Demand:
    """Play an attempt through; one that breaks on a reply takes what it took until then."""
    reply, output = _KINDS[kind]
    taken, replies = Demand(), dict[str, int]()
    with suppress(Exception):
        run = Run(method.solve(problem))
        for _ in range(_MOST_ROUNDS):
            if run.done:
                break
            answers: list[Completion | Output] = []
            for step in cast("tuple[object, ...]", run.round):  # a plugin may yield anything
                if isinstance(step, Program) or not isinstance(step, Call):
                    answers.append(output)
                    continue
                taken = taken.plus(_demand(step, replies, settings))
                mark = f"mark{len(replies)}x"
                replies[mark] = settings.longest_reply(step)
                text = reply(len(replies)).replace("MARK", mark)
                answers.append(Completion(text, usage=Usage(10, 10)))
            run.advance(tuple(answers))
    return taken


def _demand(call: Call, replies: Mapping[str, int], settings: CallSettings) -> Demand:
    """Bound one call; a prompt that quotes earlier replies may be longer by all of them."""
    said = settings.system + "".join(message.content for message in call.messages)
    prompt = -(-len(said) // _CHARACTERS_A_TOKEN)
    longest = prompt + sum(most for mark, most in replies.items() if mark in said)
    output = settings.longest_reply(call)
    least = settings.prices.cost(Usage(prompt), call.model)
    most = settings.prices.cost(Usage(longest, output), call.model)
    counts = (Span(1, 1), Span(prompt, longest), Span(0, output))
    return Demand(*counts, Span(least.dollars, most.dollars), most.complete)
