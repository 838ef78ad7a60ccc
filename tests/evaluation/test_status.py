from dataclasses import fields

import pytest

from constraint_first.attempt.judge import STATUSES
from constraint_first.store.query import Summary, Tally


def test_the_statuses_are_those_of_the_docs() -> None:
    assert STATUSES == ("ok", "truncated", "unparsed", "failed")


@pytest.mark.parametrize("counted", [Tally, Summary])
def test_whoever_counts_attempts_counts_each_status_in_this_order(
    counted: type[Tally | Summary],
) -> None:
    names = [field.name for field in fields(counted)]
    assert tuple(name for name in names if name in STATUSES) == STATUSES
