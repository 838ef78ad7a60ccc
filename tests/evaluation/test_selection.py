from sums import sums
from sums_run import SERIES, evaluate

from constraint_first.protocol import Usage
from constraint_first.store.query import problem_scores
from constraint_first.store.store import Store
from constraint_first.store.writer import SeriesShare, share_of, usage_columns


async def test_a_part_of_a_series_is_selected_by_its_problems_and_runs(url: str) -> None:
    with Store(url) as store:
        await evaluate(store)
        registered = store.register(SERIES, sums(5))
        two = problem_scores(store, *share_of(*registered, sums(2), 1).finished)
        every = problem_scores(store, *share_of(*registered, sums(5), 2).finished)
    assert two[registered.series] == {(1, 1): 2}
    assert every[registered.series] == {(2, 2): 5}


def test_all_problems_are_a_share_without_a_list(url: str) -> None:
    with Store(url) as store:
        registered = store.register(SERIES, sums(3))
    assert share_of(*registered, sums(3), 2) == SeriesShare(registered.series, 2)
    first = (registered.problems["p0"],)
    assert share_of(*registered, sums(1), 2) == SeriesShare(registered.series, 2, first)


def test_counts_have_a_column_each() -> None:
    assert list(usage_columns(Usage(1, 2, 3, 4)).values()) == [1, 2, 3, 4]
