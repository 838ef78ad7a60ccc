import pytest

from constraint_first.model.resolve import Cost, Price, PriceList, sum_costs, write_dollars
from constraint_first.protocol import Call, Completion, Exchange, Usage


def test_what_tokens_cost() -> None:
    usage = Usage(input=1_000_000, output=500_000, cached=400_000)
    assert Price(2, 4).cost(usage) == pytest.approx(4.0)  # pyright: ignore
    assert Price(2, 4, 0.5).cost(usage) == pytest.approx(3.4)  # pyright: ignore


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0.0, "$0"),
        (1.37, "$1.37"),
        (2.0, "$2.00"),
        (1234.5, "$1,234.50"),
        (0.05, "$0.05"),
        (0.5, "$0.50"),
        (0.0042, "$0.0042"),
        (0.004, "$0.004"),
        (0.000_999_9, "$0.001"),
        (0.000_012_3, "$0.000012"),
        (1e-9, "under $0.000001"),
        (0.999, "$1.00"),
    ],
)
def test_money_is_written_for_people(amount: float, written: str) -> None:
    assert write_dollars(amount) == written


def exchange(usage: Usage, model: str | None = None) -> Exchange:
    return Exchange(
        Call.user("?", stage="direct", max_tokens=9, model=model), Completion("", usage=usage)
    )


def test_each_call_is_priced_by_the_model_that_answered() -> None:
    listed = PriceList(Price(1, 1), {"small": Price(10, 10), "free": None})
    own, small = exchange(Usage(10**6)), exchange(Usage(0, 10**6), "small")
    assert listed.total([own, small]) == Cost(11.0)
    assert str(listed.total([own, small])) == "$11.00"


def test_what_is_not_known_makes_a_cost_incomplete() -> None:
    listed = PriceList(Price(1, 1), {"free": None})
    own = exchange(Usage(10**6))
    assert str(listed.total([own, exchange(Usage(5), "free")])) == "$1.00+"
    assert str(listed.total([own, exchange(Usage(reported=False))])) == "$1.00+"


def test_without_any_price_there_is_no_cost() -> None:
    assert PriceList(None, {"free": None}).total([exchange(Usage(5))]) is None


def test_costs_are_added_up_where_any_is_known() -> None:
    assert sum_costs([None, Cost(1.0), Cost(0.5, complete=False)]) == Cost(1.5, complete=False)
    assert sum_costs([None]) is None
