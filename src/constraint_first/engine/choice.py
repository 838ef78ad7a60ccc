"""The choices of one reply: several samples of a prompt that were asked for in one request.

Each choice is read by itself, so that one that nobody can read costs no other. The endpoint counts
tokens for the request as a whole: every sample has the whole prompt, and what was written is
divided by how much text each has, so that the parts add up to what was counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import cast

from constraint_first.engine.chat import StreamedReply
from constraint_first.engine.engine import SampledCall, SampledCompletion
from constraint_first.engine.error import BadReply
from constraint_first.engine.redaction import NOTHING_SECRET, Redaction
from constraint_first.problem import Json
from constraint_first.protocol import Completion, Usage

__all__ = ["divide", "sampled_from"]


def sampled_from(
    body: bytes, group: SampledCall, redaction: Redaction = NOTHING_SECRET
) -> tuple[SampledCompletion, int]:
    """Read a reply to a request for several samples, and count the choices that came.

    At least one of them must be readable. Where the endpoint counted the tokens of the first alone,
    the others are as good as not there: nobody could say what they cost.
    """
    whole = StreamedReply(redaction)
    event = whole.event(body)
    choices = cast("list[Json]", event["choices"])
    if len(choices) > 1 and _counts_one(event, whole.usage):
        choices = choices[:1]
    read: list[Completion | None] = [None] * group.samples
    faults: list[BadReply] = []
    for place, choice in zip(_places(choices, group.samples), choices, strict=False):
        try:
            read[place] = _completion(choice, body, redaction)
        except BadReply as fault:
            faults.append(fault)
    good = [one for one in read if one]
    if not good:
        raise faults[0]
    counted = iter(divide(whole.usage, [len(one.text) + len(one.reasoning) for one in good]))
    replies = tuple(replace(one, usage=next(counted)) if one else None for one in read)
    first = good[0]
    sampled = SampledCompletion(first.text, first.finish, first.reasoning, whole.usage, replies)
    return sampled, len(choices)


def divide(usage: Usage, lengths: Sequence[int]) -> list[Usage]:
    """Divide the tokens of a request among its replies by their lengths, without any remainder.

    The input is that of every reply. What came from the cache did so once, for the first.
    """
    output = _parts(usage.output, lengths)
    reasoning = _parts(usage.reasoning, output)
    return [
        Usage(usage.input, written, thought, 0 if n else usage.cached, usage.reported)
        for n, (written, thought) in enumerate(zip(output, reasoning, strict=True))
    ]


def _parts(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide a number in proportion to weights; no part is more than a rounding away from it."""
    shares = weights if any(weights) else [1] * len(weights)
    total = sum(shares)
    ends = [0, *(amount * reached // total for reached in accumulate(shares))]
    return [end - start for start, end in pairwise(ends)]


def _counts_one(event: dict[str, Json], usage: Usage) -> bool:
    """Say whether the count is that of one reply alone, as servers of llama.cpp give it.

    They say beside it how many tokens they predicted for that reply.
    """
    timings = event.get("timings")
    predicted = timings.get("predicted_n") if isinstance(timings, dict) else None
    return usage.reported and predicted == usage.output


def _places(choices: Sequence[Json], samples: int) -> list[int]:
    """Say which sample each choice is: by its index, or in order where indices make no sense."""
    indices = [choice.get("index") if isinstance(choice, dict) else None for choice in choices]
    named = [index for index in indices if type(index) is int and 0 <= index < samples]
    if len(set(named)) == len(choices):
        return named
    return list(range(min(len(choices), samples)))


def _completion(choice: Json, body: bytes, redaction: Redaction) -> Completion:
    reply = StreamedReply(redaction)
    reply.take(choice, body)
    return reply.completion()
