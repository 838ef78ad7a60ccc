"""Evaluations whose requests are files in a folder, and the steps of a provider's batch."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch_files import check_line, run_batch
from batch_server import BatchServer
from batch_sums import METHODS, SEED, finds_sums, play_model
from loopback import Endpoint
from sums import sums

from constraint_first import RunOptions, aevaluate
from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import InputError, OutputError
from constraint_first.model.batch import BatchClient, Place, RequestId
from constraint_first.model.limit import Retry
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Bounds
from constraint_first.model.transport import Endpoint as Address
from constraint_first.run.batch import ResultsAwaited
from constraint_first.run.batch_service import BatchLog, Folder, Provider, new_batch
from constraint_first.run.grid import BatchOptions, Experiment
from constraint_first.run.job import Evaluated
from constraint_first.store.query import outcome_rows
from constraint_first.store.store import Store

GRID = Experiment(
    benchmarks=(Benchmark("sums", "Sums", sums(6)),), methods=METHODS, runs=2, seeds=(SEED,)
)
NAME = RequestId(Place(1, 1, 0, 0), "0" * 12, "1" * 12)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "waves"


@pytest.fixture
def options(tmp_path: Path, folder: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"), batch=BatchOptions(batch_dir=str(folder)))


async def evaluate(options: RunOptions, grid: Experiment = GRID) -> Evaluated:
    return await aevaluate(grid, model=ModelRef("m"), options=options)


def waiting(folder: Path) -> list[Path]:
    files = [path for path in sorted(folder.iterdir()) if ".results." not in path.name]
    return [path for path in files if not results(path).exists()]


def results(path: Path) -> Path:
    return path.with_suffix(".results.jsonl")


def rows(url: str) -> set[tuple[Any, ...]]:
    names = ("method", "problem", "run", "status", "verdict", "answer", "input_tokens")
    with Store(url, existing=True) as store:
        return {tuple(row[name] for name in names) for row in outcome_rows(store)}


async def test_files_for_vllm_are_written_and_their_results_read_wave_by_wave(
    options: RunOptions, folder: Path, endpoint: Endpoint
) -> None:
    asked: list[set[str]] = []
    for count in (60, 12):
        said = rf"{count} requests in 1 file without results; make them \(vllm run-batch -i "
        with pytest.raises(ResultsAwaited, match=said):
            await evaluate(options)
        with pytest.raises(ResultsAwaited, match=said) as caught:
            await evaluate(options)  # the same command again changes nothing
        (path,) = waiting(folder)
        assert f"-i {path} -o {results(path)} --model m" in str(caught.value)
        asked.append(run_batch(path, results(path)))
        assert len(asked[-1]) == count
    assert (await evaluate(options)).complete
    assert not asked[0] & asked[1]
    endpoint.respond = play_model
    ordinary = replace(options, store=options.store + "2", batch=BatchOptions())
    alike = ModelRef("m", endpoint.url)
    assert (await aevaluate(GRID, model=alike, options=ordinary)).complete
    assert rows(options.store) == rows(ordinary.store)


async def test_every_line_is_as_documented(options: RunOptions, folder: Path) -> None:
    grid = replace(GRID, temperatures=(0.7, "none"), max_tokens=77, system="Think.")
    with pytest.raises(ResultsAwaited):
        await evaluate(options, grid)
    (path,) = waiting(folder)
    lines = [check_line(line) for line in path.read_text().splitlines()]
    assert len(lines) == len({line.custom_id for line in lines}) == 120
    assert {line.body["model"] for line in lines} == {"m"}
    assert {line.body["max_tokens"] for line in lines} == {77}
    assert {line.body["messages"][0]["content"] for line in lines} == {"Think."}
    assert sum("temperature" in line.body for line in lines) == 60
    samples = [line for line in lines if line.custom_id.startswith("s3-p1-r1")]
    assert [line.body["seed"] - SEED for line in samples] == [1_000, 1_001, 1_002]
    assert all("n" not in line.body for line in lines)


async def test_a_result_file_that_is_not_done_yet_is_waited_for(
    options: RunOptions, folder: Path
) -> None:
    grid = replace(GRID, methods=("direct",))
    with pytest.raises(ResultsAwaited):
        await evaluate(options, grid)
    (path,) = waiting(folder)
    run_batch(path, results(path), most=5)
    with results(path).open("a") as file:
        file.write('{"id": "vllm-1", "cust')
    with pytest.raises(ResultsAwaited, match="12 requests in 1 file"):
        await evaluate(options, grid)
    run_batch(path, results(path))
    assert (await evaluate(options, grid)).complete


async def test_of_a_file_that_was_taken_away_what_is_missing_is_written_anew(
    options: RunOptions, folder: Path
) -> None:
    grid = replace(GRID, methods=("direct",))
    with pytest.raises(ResultsAwaited):
        await evaluate(options, grid)
    (path,) = waiting(folder)
    run_batch(path, results(path), most=5)
    path.unlink()
    with pytest.raises(ResultsAwaited, match="7 requests in 1 file"):
        await evaluate(options, grid)
    (rest,) = waiting(folder)
    assert len(run_batch(rest, results(rest))) == 7
    assert (await evaluate(options, grid)).complete


async def test_what_vllm_refuses_fails_with_its_words(options: RunOptions, folder: Path) -> None:
    grid = replace(GRID, methods=("direct",), runs=1)
    with pytest.raises(ResultsAwaited):
        await evaluate(options, grid)
    (path,) = waiting(folder)
    run_batch(path, results(path), refuse="2 + 1")
    done = await evaluate(options, grid)
    assert (done.series[0].tally.scored, done.series[0].tally.failed) == (5, 1)
    assert re.search(r"waves: HTTP 400 \(This is refused\.\)", done.stopped)
    with pytest.raises(ResultsAwaited, match="1 request in 1 file"):
        await evaluate(options, grid)


async def test_a_folder_needs_the_name_of_a_model_and_a_place_to_write(
    options: RunOptions, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="name the model that the files are for with --model"):
        await aevaluate(GRID, options=options)
    (tmp_path / "file").write_text("")
    taken = replace(options, batch=BatchOptions(batch_dir=str(tmp_path / "file")))
    with pytest.raises(InputError, match="is not a folder"):
        await evaluate(taken)
    below = replace(options, batch=BatchOptions(batch_dir=str(tmp_path / "file" / "below")))
    with pytest.raises(OutputError, match="name another --batch-dir"):
        await evaluate(below)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[BatchLog]:
    with Store(str(tmp_path / "log.db")) as store, store.exclusively():
        yield BatchLog(store)


async def test_a_file_that_was_written_before_the_store_heard_of_it_is_kept(
    log: BatchLog, folder: Path
) -> None:
    service, batch = Folder(folder, log, 1_000), new_batch(str(folder), "m", 1, 1, 1.0)
    log.collect(batch, [NAME])
    assert await service.recover(batch) is None  # nothing was written
    assert log.open() == []
    log.collect(batch, [NAME])
    folder.mkdir()
    service.input_file(batch).write_text("{}\n")
    kept = await service.recover(batch)
    assert kept is not None
    assert [one.state for one in log.open()] == ["created"]
    assert await service.recover(kept) == kept


async def test_a_provider_is_asked_what_it_has_before_anything_is_made(
    log: BatchLog, tmp_path: Path
) -> None:
    provider = finds_sums()
    path = tmp_path / "requests.jsonl"
    line: dict[str, Any] = {"custom_id": str(NAME), "body": {}}
    with BatchServer(provider) as server:
        async with BatchClient(Address(server.url, "m"), Bounds(), Retry()) as client:
            service, batch = Provider(client, log), new_batch(server.url, "m", 1, 1, 0.5)
            log.collect(batch, [NAME])
            assert await service.recover(batch) is None
            assert server.asked == []
            log.collect(batch, [NAME])
            path.write_text(json.dumps(line) + "\n")
            made = await service.submit(batch, path)
            assert log.open() == [made]
            assert not path.exists()
            before = replace(made, state="uploaded", batch="", status="")
            found = await service.recover(before)
            assert found == made
            assert server.asked == ["upload", "create", "list"]
            provider.states = ("validating", "failed")
            ended, view = await service.look(made)
            assert (view.status, ended.state, ended.output_file) == ("failed", "ended", "")
            assert ended.reason == "token_limit_exceeded: too many tokens are enqueued"
            assert log.open() == [ended]
            assert await service.fetch(ended, tmp_path) == []
            assert (await service.look(ended))[0] == ended
