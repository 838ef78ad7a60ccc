from types import SimpleNamespace
from typing import Any, cast

from constraint_first.protocol import Completion, Output, Usage
from constraint_first.store.writer import EXECUTED, StoredCall, calls_by_attempt


def row(problem: int, run: int, ordinal: int, **values: Any) -> Any:
    usual = {"digest": f"d{ordinal}", "text": "2", "reasoning": "", "finish": "stop"}
    counts = {"input_tokens": 1, "output_tokens": 2, "reasoning_tokens": 0, "cached_tokens": 0}
    key = {"problem": problem, "run": run, "ordinal": ordinal, "reported": True, "seconds": 0.5}
    return SimpleNamespace(**(key | usual | counts | values))


def test_calls_are_sorted_by_attempt_and_by_their_place_in_it() -> None:
    rows = [row(1, 0, 1), row(2, 3, 0), row(1, 0, 0, finish=EXECUTED, reasoning="no such name")]
    found = calls_by_attempt(cast("Any", rows))
    asked = StoredCall("d1", Completion("2", usage=Usage(1, 2)))
    ran = StoredCall("d0", Output("2", "no such name", 0.5))
    assert found == {
        (1, 0): {1: asked, 0: ran},
        (2, 3): {0: StoredCall("d0", Completion("2", usage=Usage(1, 2)))},
    }
