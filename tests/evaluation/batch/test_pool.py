from dataclasses import replace
from pathlib import Path

import pytest
from batch_server import BatchServer
from batch_sums import finds_sums
from sums import right, sums

from constraint_first import RunOptions, Scripted, aevaluate
from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import InputError
from constraint_first.model.client import OpenAI
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Endpoint
from constraint_first.run.batch import check_options
from constraint_first.run.grid import BatchOptions, Experiment

SUMS = Benchmark("sums", "Sums", sums(2))
BATCH = BatchOptions(batch=True, batch_poll=0.001)


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"), batch=BATCH)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"concurrency": 4}, "--concurrency: goes with single calls"),
        ({"requests_per_minute": 4.0}, "--requests-per-minute: goes with single calls"),
        ({"tokens_per_minute": 4.0}, "--tokens-per-minute: goes with single calls"),
        ({"batch": BatchOptions(batch=True, batch_dir="x")}, "--batch and --batch-dir: one or"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: RunOptions, given: dict[str, float], why: str
) -> None:
    check_options(options)
    with pytest.raises(InputError, match=why):
        check_options(replace(options, **given))


async def test_a_model_that_runs_here_has_no_batches(options: RunOptions) -> None:
    why = "--batch needs an endpoint with a batch API; name it with --base-url"
    with pytest.raises(InputError, match=why):
        await aevaluate(SUMS, "direct", options=options)
    with pytest.raises(InputError, match=why):
        await aevaluate(SUMS, "direct", engine=Scripted(right), options=options)


async def test_an_engine_that_somebody_made_is_asked_in_batches(options: RunOptions) -> None:
    provider = finds_sums()
    with BatchServer(provider) as server:
        engine = OpenAI(Endpoint(server.url, "m"))
        done = await aevaluate(SUMS, "direct", runs=1, engine=engine, options=options)
    assert done.complete
    assert len(provider.performed) == 2


async def test_each_model_has_batches_of_its_own(options: RunOptions) -> None:
    provider = finds_sums()
    method = "llm-router(model=small)"
    with BatchServer(provider) as server:
        ref = ModelRef("m", server.url)
        done = await aevaluate(SUMS, method, runs=1, model=ref, options=options)
    assert done.complete
    models = [
        {one["body"]["model"] for one in provider.requests(name)} for name in provider.batches
    ]
    assert models[0] == {"small"}
    assert all(len(one) == 1 for one in models)
    assert set().union(*models) == {"small", "m"}


async def test_several_models_of_a_grid_share_waves(options: RunOptions) -> None:
    provider = finds_sums()
    grid = Experiment(benchmarks=(SUMS,), methods=("direct",), models=("a", "b"), runs=1)
    with BatchServer(provider) as server:
        done = await aevaluate(grid, model=ModelRef(None, server.url), options=options)
    assert done.complete
    assert len(provider.batches) == 2
    assert set(provider.performed.values()) == {1}


async def test_a_budget_in_money_needs_a_price_in_a_folder_too(
    options: RunOptions, tmp_path: Path
) -> None:
    folder = BatchOptions(batch_dir=str(tmp_path / "waves"))
    with pytest.raises(InputError, match="model m: --max-cost needs its price"):
        await aevaluate(
            SUMS, "direct", model="m", options=replace(options, batch=folder, max_cost=1.0)
        )


async def test_batches_go_to_one_endpoint(options: RunOptions) -> None:
    with BatchServer(finds_sums()) as one, BatchServer(finds_sums()) as other:
        several = ModelRef("m", (one.url, other.url))
        with pytest.raises(InputError, match="model m: --batch goes to one endpoint, and several"):
            await aevaluate(SUMS, "direct", model=several, options=options)
