"""Shared prompts: one rule, whether an attempt is counted as it is made or read from a store."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from stored import attempt
from sums import number_in, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.query import attempt_rows, outcome_rows, shared_tokens, summaries
from constraint_first.store.series import Series
from constraint_first.store.store import Store

PROBLEMS = sums(4)
METHODS = [
    "direct",
    "cfr",
    "self-consistency(samples=3)",
    "self-consistency(base=cfr,samples=3)",
    "cfr(extractor=small)",
]


def reply(call: Call) -> Completion:
    """Answer; what a reply says, and what a prompt counts, differs from problem to problem."""
    number = number_in(call)
    return Completion(f"It is \\boxed{{{number + 1}}}.", usage=Usage(100 + number, 7))


@pytest.mark.parametrize("method", METHODS)
async def test_a_store_tells_what_was_counted_while_the_attempt_was_made(
    url: str, method: str
) -> None:
    with Store(url) as store:
        job = prepare(store, Series("sums", method, "m"), PROBLEMS, 2, Scripted(reply))
        await run(store, [job], width=4)
        counted = job.tally.usage.shared
        rows, told = list(attempt_rows(store)), list(outcome_rows(store))
        (summary,) = summaries(store)
        again = prepare(store, Series("sums", method, "m"), PROBLEMS, 2, Scripted(reply))
    assert sum(row["shared_tokens"] for row in rows) == counted
    assert sum(row["shared_tokens"] for row in told) == counted
    assert summary.tally.usage.shared == again.tally.usage.shared == counted
    assert (
        {type(row["shared_tokens"]) for row in told} == {type(summary.tally.usage.shared)} == {int}
    )
    prompts = sum(range(100, 104))
    # Of three samples two repeat each prompt; where a vote is over CFR, both stages do.
    expected = {METHODS[2]: 4 * prompts, METHODS[3]: 8 * prompts}
    assert counted == expected.get(method, 0)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


async def write(store: Store, *calls: tuple[str, str]) -> int:
    """Write an attempt with calls of so many messages and models; ask what they share."""
    registered = store.register(Series("sums", "direct", "m"), PROBLEMS)
    key = {"series": registered.series, "problem": registered.problems["p0"], "run": 0}
    await store.write_attempt(attempt(key["series"], key["problem"]))
    counts = {"input_tokens": 10, "output_tokens": 1, "reasoning_tokens": 0, "cached_tokens": 0}
    for ordinal, (messages, model) in enumerate(calls):
        row = {"stage": "direct", "digest": "0" * 64 + model, "messages": messages}
        rest = {"max_tokens": 9, "text": "", "reasoning": "", "finish": "stop"}
        await store.write_call(
            key | {"ordinal": ordinal, "reported": True, "seconds": 0.1} | row | rest | counts
        )
    ((found,),) = store.read(sa.select(shared_tokens()).select_from(schema.attempts))
    return found


async def test_the_first_call_with_a_prompt_pays_for_it(store: Store) -> None:
    assert await write(store, ("a", ""), ("b", ""), ("a", ""), ("a", ""), ("b", "")) == 30


async def test_two_models_share_no_prompt(store: Store) -> None:
    assert await write(store, ("a", ""), ("a", "@small"), ("a", "@tiny"), ("a", "@small")) == 10


async def test_an_attempt_without_calls_shares_nothing(store: Store) -> None:
    assert await write(store) == 0


async def test_runs_and_problems_share_no_prompt(store: Store) -> None:
    same = Scripted(lambda call: replace(reply(call), usage=Usage(10, 1)))
    job = prepare(store, Series("sums", "direct", "m"), PROBLEMS, 3, same)
    await run(store, [job], width=4)
    (summary,) = summaries(store)
    assert (summary.tally.usage.input, summary.tally.usage.shared) == (120, 0)
