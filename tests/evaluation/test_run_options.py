import pytest

from constraint_first.model.transport import Bounds
from constraint_first.run.grid import RunOptions


def test_the_bounds_of_a_call_are_the_engines_own_unless_told_otherwise() -> None:
    assert RunOptions().bounds == Bounds()
    assert RunOptions(call_timeout=5, max_reply_bytes=9).bounds == Bounds(seconds=5, reply_bytes=9)


@pytest.mark.parametrize(
    ("options", "bounded"),
    [
        (RunOptions(), False),
        (RunOptions(max_tokens_total=1), True),
        (RunOptions(max_cost=0.5), True),
        (RunOptions(tokens_per_minute=5), False),
    ],
)
def test_whether_there_is_a_limit_on_what_is_spent(options: RunOptions, *, bounded: bool) -> None:
    assert options.is_bounded is bounded
