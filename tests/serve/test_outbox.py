import asyncio
import tracemalloc

from constraint_first.attempt.solve import Solved
from constraint_first.method.baselines import Direct
from constraint_first.problem import Problem, Solution
from constraint_first.serve.attempt import Outbox
from constraint_first.serve.reply import ServedAnswer

ANSWER = ServedAnswer(Solved(Problem("?"), Direct(), Solution("4", "4"), (), 0.1), "direct", "m")


async def test_words_are_merged_while_nobody_takes_them() -> None:
    outbox = Outbox()
    for index, name, text in (
        (0, "content", "a"), (0, "content", "b"), (1, "content", "c"), (0, "content", "d"),
        (0, "reasoning_content", "e"),
    ):  # fmt: skip
        outbox.write(index, name, text)
    outbox.end(0, ANSWER)
    taken = await outbox.take(1)
    assert taken is not None
    assert [(one.index, one.name, one.text.getvalue()) for one in taken] == [
        (0, "content", "ab"),
        (1, "content", "c"),
        (0, "content", "d"),
        (0, "reasoning_content", "e"),
        (0, "", ""),
    ]
    assert taken[-1].ended is ANSWER


async def test_whoever_waits_is_woken_by_words_and_by_the_end() -> None:
    outbox = Outbox()
    assert await outbox.take(0.001) is None
    waiting = asyncio.create_task(outbox.take(10))
    await asyncio.sleep(0)
    outbox.write(0, "content", "a")
    taken = await waiting
    assert taken is not None
    assert len(taken) == 1
    assert not outbox.is_drained
    waiting = asyncio.create_task(outbox.take(10))
    await asyncio.sleep(0)
    outbox.close()
    assert await waiting == []
    assert outbox.is_drained


async def test_a_client_that_does_not_read_costs_what_it_was_told() -> None:
    outbox = Outbox()
    tracemalloc.start()
    for _ in range(500_000):
        outbox.write(0, "content", "word ")
    taken = await outbox.take(1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken is not None
    assert len(taken[0].text.getvalue()) == 2_500_000
    assert peak < 40_000_000
