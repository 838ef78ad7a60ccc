from cfr.benchmark import Benchmark
from cfr.engine.engine import Decoding
from cfr.engine.limit import Limited, Limiter
from cfr.engine.refusal import DecodingRefused
from cfr.engine.scripted import Scripted
from cfr.evaluation.budget import Budget, Budgeted
from cfr.evaluation.experiment import Experiment
from cfr.evaluation.served_model import ServedModel

SUMS = Benchmark("sums", "Sums", ())
WARM = DecodingRefused("no", "m", "temperature")
LONG = DecodingRefused("no", "m", "max_tokens", 4096)


def served() -> ServedModel:
    return ServedModel(Scripted([], name="m"), Limiter(1), None)


def test_all_series_of_a_model_are_decoded_alike() -> None:
    model, grid = served(), Experiment(methods=("direct", "cfr"), seeds=(1, 2))
    assert len(model.series(grid, SUMS)) == 4
    assert model.adapt(WARM)
    assert model.adapt(LONG)
    found = model.series(grid, SUMS)
    assert {(one.method, one.decoding.seed) for one in found} == {
        (method, seed) for method in ("direct", "cfr") for seed in (1, 2)
    }
    assert {(one.decoding.temperature, one.decoding.max_tokens) for one in found} == {(None, 4096)}


def test_a_sweep_that_comes_down_to_one_decoding_is_run_once() -> None:
    model, grid = served(), Experiment(methods=("direct",), temperatures=(0.0, 0.5, 1.0))
    assert len(model.series(grid, SUMS)) == 3
    model.adapt(WARM)
    assert [one.decoding for one in model.series(grid, SUMS)] == [Decoding(None)]


def test_a_refusal_is_news_once_and_to_its_own_model() -> None:
    model = served()
    assert not model.adapt(DecodingRefused("no", "another", "temperature"))
    assert model.adapt(WARM)
    assert not model.adapt(WARM)


def test_only_what_has_a_budget_pays() -> None:
    assert isinstance(served().engine(Decoding(), None), Limited)
    assert isinstance(served().engine(Decoding(), Budget(5)), Budgeted)
