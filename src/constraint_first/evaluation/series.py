"""A series: one method on one benchmark with one model and one decoding, over several runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Final, cast

from constraint_first.engine.engine import Decoding
from constraint_first.engine.journal import digest
from constraint_first.method import Method, make
from constraint_first.method.calibrated import Calibrated
from constraint_first.method.former import spelled
from constraint_first.method.method import prompts_of
from constraint_first.method.rewording import Wording, reword, worded_name
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Call, Completion, Output, Program, Run, Usage

__all__ = ["Series", "all_probe_calls", "fingerprint", "own_prompts", "probe_calls"]


@dataclass(frozen=True, slots=True)
class Series:
    """What all attempts of one row in a table have in common."""

    benchmark: str
    method: str
    """As written on the command line: ``routed-cfr(reply=json)``."""
    model: str
    decoding: Decoding = field(default_factory=Decoding)
    system: str = ""
    """A system prompt that goes ahead of every call; the paper's main runs have none."""
    given: Method | None = field(default=None, compare=False)
    """The method itself, where it was given as an object and cannot be made from its name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", spelled(self.method))

    @property
    def settings(self) -> dict[str, Json]:
        """How it is decoded, in a form that can be stored and compared."""
        decoding = asdict(self.decoding)
        for name in ("max_tokens", "extra"):
            if not decoding[name]:  # as in stores that were made before there was one
                del decoding[name]
        return decoding | ({"system": self.system} if self.system else {})

    def build(self) -> Method:
        """Make the method."""
        return self.given or make(self.method)

    def reworded(self, wording: Wording) -> Series:
        """Return the series with own prompts, under a name that says so; itself without any."""
        method = self.build()
        own = reword(method, wording)
        if own is method:
            return self
        return replace(self, method=worded_name(self.method, wording), given=own)


# One problem with cues and one without, so that both branches of a router are seen.
_PROBES: Final = (
    Problem("Find the remainder when $2^{10}$ is divided by 7.", benchmark="probe"),
    Problem("Compute $1 + 1$.", benchmark="probe"),
)
_REQUEST: Final = Problem(
    "Write about rain in at least 40 words. Do not use any commas. Your entire response should be "
    "in German.",
    benchmark="probe",
)
"""For methods that reply to requests, which have no fingerprints in older stores."""
_PROBE_REPLY: Final = Completion(
    '{"raw_constraints": [{"id": "C1", "type": "domain", "description": "an integer"}],'
    ' "answer_format": "integer", "final_answer": "2"}\n\\boxed{2}',
    usage=Usage(10, 10),
)
_CONSTRAINTS: Final = (
    '{"restrictive": "yes", "raw_constraints": [{"id": "C1", "type": "domain", "description": '
    '"an integer"}], "answer_format": "integer", "final_answer": "2"}'
)
# A method asks for different stages after different replies. The first of these is an answer, a
# list of constraints and a router's yes in one; the second is nothing, which a router takes for a
# no and which sends a method with two stages to its fallback; the third is an answer that breaks a
# constraint; the fourth asks back.
_REPLIES: Final = tuple(
    Completion(text, usage=Usage(10, 10))
    for text in (
        f"{_CONSTRAINTS}\n\\boxed{{2}}",
        "",
        r"\boxed{-1/2}",
        f"QUESTION: Of what?\n{_CONSTRAINTS}",
    )
)
_LATER_STAGES: Final = frozenset({"program", "translate", "correct", "clarify", "explore"})
"""Stages of methods that are known by all that they may ask. Those that are older have their
fingerprints in stores already, made of what they ask after one reply."""
_PROBE_OUTPUT: Final = Output("2")
_MOST_ROUNDS: Final = 64


def fingerprint(method: Method) -> str:
    """Name a method by its configuration and by all that it asks: prompts, budgets, formats.

    Two versions of the code that would ask anything different have different fingerprints.
    """
    seen = hashlib.sha256(repr(method).encode("utf-8", "surrogatepass"))
    for own in own_prompts(method).items():  # also one that the probes below do not lead to
        seen.update(repr(own).encode("utf-8", "surrogatepass"))
    calls, more = [*probe_calls(method)], [*all_probe_calls(method)]
    if any(call.stage in _LATER_STAGES for call in more):
        calls += more
    if any(call.stage == "reply" for call in more):
        calls += probe_calls(method, problems=(_REQUEST,))
    for call in calls:
        seen.update(digest(call).encode("utf-8", "surrogatepass"))
    return seen.hexdigest()[:16]


def own_prompts(method: Method) -> dict[str, str]:
    """Return the texts of the prompts that were replaced in a method, by name."""
    return {prompt.name: prompt.text for prompt in prompts_of(method) if prompt.replaced}


def all_probe_calls(method: Method) -> Iterator[Call]:
    """List what a method asks about two small problems after replies of several kinds.

    Of a policy, it is what each of its methods asks: its rules are for other problems than these.
    """
    made = (*method.methods, method.otherwise) if isinstance(method, Calibrated) else (method,)
    for one in made:
        for reply in _REPLIES:
            yield from probe_calls(one, reply)


def probe_calls(
    method: Method, reply: Completion = _PROBE_REPLY, problems: tuple[Problem, ...] = _PROBES
) -> Iterator[Call]:
    """List what a method asks about two small problems, where every reply is the same.

    One that breaks on a reply is known by what it asked until then; its attempts will say why.
    """
    for problem in problems:
        with suppress(Exception):
            run = Run(method.solve(problem))
            for _ in range(_MOST_ROUNDS):
                if run.done:
                    break
                asked = cast("tuple[object, ...]", run.round)  # a plugin may yield anything
                yield from (step for step in asked if isinstance(step, Call))
                run.advance(
                    tuple(_PROBE_OUTPUT if isinstance(step, Program) else reply for step in asked)
                )
