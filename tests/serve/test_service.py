import asyncio

import pytest

from constraint_first.serve.context import Served


def test_only_the_first_word_counts() -> None:
    served = Served()
    served.spoke()
    first = served.first
    served.spoke()
    assert first is not None
    assert served.first == first


@pytest.mark.parametrize(
    ("stopping", "said"), [(False, "not done after 3 s"), (True, "being stopped")]
)
async def test_why_a_request_ended(*, stopping: bool, said: str) -> None:
    served = Served(stopping=stopping, seconds=3)
    assert served.overdue is None
    assert served.why_cancelled == "the client went away"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0) as served.deadline:
            await asyncio.sleep(10)
    assert said in served.why_cancelled
