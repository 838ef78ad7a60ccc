from dataclasses import replace

from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import Benchmark
from constraint_first.model.budget import Budget
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import Limiter
from constraint_first.model.resolve import Price
from constraint_first.model.transport import DecodingRefused
from constraint_first.model.wire import SILENT, Decoding, Watcher
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.grid import Experiment
from constraint_first.run.model_pool import series_of

SUMS = Benchmark("sums", "Sums", ())
WARM = DecodingRefused("no", "m", "temperature")
LONG = DecodingRefused("no", "m", "max_tokens", 4096)


def served() -> ServedModel:
    return ServedModel(Scripted([], name="m"), Limiter(1), None)


def test_all_series_of_a_model_are_decoded_alike() -> None:
    model, grid = served(), Experiment(methods=("direct", "cfr"), seeds=(1, 2))
    assert len(series_of(model, grid, SUMS)) == 4
    assert model.adapt(WARM)
    assert model.adapt(LONG)
    found = series_of(model, grid, SUMS)
    assert {(one.method, one.decoding.seed) for one in found} == {
        (method, seed) for method in ("direct", "cfr") for seed in (1, 2)
    }
    assert {(one.decoding.temperature, one.decoding.max_tokens) for one in found} == {(None, 4096)}


def test_a_sweep_that_comes_down_to_one_decoding_is_run_once() -> None:
    model, grid = served(), Experiment(methods=("direct",), temperatures=(0.0, 0.5, 1.0))
    assert len(series_of(model, grid, SUMS)) == 3
    model.adapt(WARM)
    assert [one.decoding for one in series_of(model, grid, SUMS)] == [Decoding(None)]


def test_a_refusal_is_news_once_and_to_its_own_model() -> None:
    model = served()
    assert not model.adapt(DecodingRefused("no", "another", "temperature"))
    assert model.adapt(WARM)
    assert not model.adapt(WARM)


async def test_each_model_pays_its_own_price_out_of_one_budget() -> None:
    used = Completion("4", usage=Usage(1_000_000, 1_000_000))
    router = ServedModel(Scripted([used], name="r"), Limiter(1), Price(0.25, 0.5))
    model = ServedModel(
        Scripted([used], name="m"), Limiter(1), Price(3.0, 4.0), others={"router": router}
    )
    budget = Budget(max_cost=100.0)
    engine = Client(model, decoding=Decoding(), budget=budget)
    call = Call.user("x", stage="direct", max_tokens=10)
    await engine.complete(replace(call, model="router"))
    assert budget.cost == 0.75
    await engine.complete(call)
    assert budget.cost == 7.75
    assert budget.tokens == 4_000_000


async def test_a_model_beside_another_is_decoded_alike_as_far_as_it_lets_itself() -> None:
    decodings: list[Decoding | None] = []

    class Notes(Scripted):
        async def complete(
            self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
        ) -> Completion:
            decodings.append(decoding)
            return await super().complete(call, watcher, decoding)

    router = ServedModel(Notes(["4"], name="r"), Limiter(1), None)
    model = ServedModel(Notes(["4"], name="m"), Limiter(1), None, others={"router": router})
    assert model.adapt(DecodingRefused("no", "r", "temperature"))
    assert not model.adapt(DecodingRefused("no", "r", "temperature"))
    (series,) = series_of(model, Experiment(methods=("direct",)), SUMS)
    assert series.decoding == Decoding()
    call = Call.user("x", stage="direct", max_tokens=10)
    engine = Client(model, decoding=series.decoding)
    await engine.complete(replace(call, model="router"))
    await engine.complete(call)
    assert decodings == [Decoding(None), Decoding()]
