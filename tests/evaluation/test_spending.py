import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.client import Client
from constraint_first.model.resolve import Cost, Price, PriceList
from constraint_first.protocol import Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store.query import cost_of, series_costs, use_by_model
from constraint_first.store.series import Series
from constraint_first.store.store import Store

METHOD = "llm-router(model=small)"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two attempts at sums, of which a small model decided how they are made."""
    small = Scripted(lambda _: Completion('{"restrictive": "no"}', usage=Usage(100, 10)))
    main = Scripted(lambda _: Completion(r"\\boxed{1}", usage=Usage(50, 500, cached=40)))
    with Store(str(tmp_path / "runs.db")) as store:
        series, engine = Series("sums", METHOD, "large"), Client(main, {"small": small})
        prices = PriceList(Price(1, 10, 0.5), {"small": Price(2, 2)})
        job = prepare(store, series, sums(2), 1, engine, prices)
        asyncio.run(run(store, [job], 1))
        assert job.tally.cost == again(store, engine, prices)
        yield store


def again(store: Store, engine: Client, prices: PriceList) -> Cost | None:
    return prepare(store, Series("sums", METHOD, "large"), sums(2), 1, engine, prices).tally.cost


def test_calls_are_added_up_by_the_model_that_answered(store: Store) -> None:
    (used,) = use_by_model(store).values()
    assert {model: (use.calls, use.usage) for model, use in used.items()} == {
        "": (2, Usage(100, 1_000, cached=80)),
        "small": (2, Usage(200, 20)),
    }
    prices = PriceList(Price(1, 10, 0.5), {"small": Price(2, 2)})
    own, small = 20 * 1 + 80 * 0.5 + 1_000 * 10, 220 * 2
    assert cost_of(used, prices) == Cost(pytest.approx((own + small) / 10**6))  # pyright: ignore
    assert cost_of(used, PriceList()) is None


def test_series_cost_what_models_cost_today(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert series_costs(store, {1: "large", 2: "none"}) == {1: None, 2: None}
    path = tmp_path / "models.toml"
    monkeypatch.setenv("CFR_MODELS", str(path))
    path.write_text("[large]\nprice = { input = 0, output = 1000 }\n")
    found = series_costs(store, {1: "large", 2: "none"})
    assert str(found[1]) == "$1.00+"  # nobody knows what the small one costs
    assert found[2] is None
    path.write_text(path.read_text() + "[small]\nprice = { input = 0, output = 1000 }\n")
    assert str(series_costs(store, {1: "large"})[1]) == "$1.02"
