"""Files of requests in a folder, the journal of batches, and what goes on between two waves."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from batch_evaluation import GRID, rows
from batch_files import check_line, run_batch
from batch_server import BatchServer
from batch_sums import SEED, finds_sums, play_model
from loopback import Endpoint
from sums import right, sums
from sums_run import evaluate as make_all

from constraint_first import RunOptions, aevaluate
from constraint_first.error import InputError, OutputError
from constraint_first.model.batch import (
    BatchClient,
    BatchModel,
    Deferred,
    FileLimits,
    Place,
    Request,
    RequestId,
    ResultIndex,
)
from constraint_first.model.error import JournalMismatch, Rejected, Unauthorized
from constraint_first.model.limit import Budget, Price, Retry
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Bounds
from constraint_first.model.transport import Endpoint as Address
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.batch import OpenWave, ResultsAwaited, WaveMemory, replay_attempts
from constraint_first.run.batch_service import BatchLog, Folder, Provider, new_batch
from constraint_first.run.grid import BatchOptions, Experiment
from constraint_first.run.job import (
    BatchView,
    Evaluated,
    Job,
    WaveProgress,
    prepare,
    refuse_in_flight,
)
from constraint_first.store import database as schema
from constraint_first.store.query import saved_by_batches
from constraint_first.store.series import Series
from constraint_first.store.store import Store

NAME = RequestId(Place(1, 1, 0, 0), "0" * 12, "1" * 12)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened, opened.exclusively():
        yield opened


@pytest.fixture
def log(store: Store) -> BatchLog:
    return BatchLog(store)


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


async def test_an_unfinished_result_file_is_waited_for(options: RunOptions, folder: Path) -> None:
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


async def test_the_rest_of_a_deleted_file_is_written(options: RunOptions, folder: Path) -> None:
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


async def test_a_folder_needs_a_model_and_a_place(options: RunOptions, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name the model that the files are for with --model"):
        await aevaluate(GRID, options=options)
    (tmp_path / "file").write_text("")
    taken = replace(options, batch=BatchOptions(batch_dir=str(tmp_path / "file")))
    with pytest.raises(InputError, match="is not a folder"):
        await evaluate(taken)
    below = replace(options, batch=BatchOptions(batch_dir=str(tmp_path / "file" / "below")))
    with pytest.raises(OutputError, match="name another --batch-dir"):
        await evaluate(below)


async def test_a_file_that_is_not_in_the_store_is_kept(log: BatchLog, folder: Path) -> None:
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


async def test_a_provider_is_asked_what_it_has(log: BatchLog, tmp_path: Path) -> None:
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


NAMES = [RequestId(Place(1, n, 0, 0), "0" * 12, "1" * 12) for n in range(3)]


def states(store: Store) -> list[str]:
    return [row.state for row in store.read(sa.select(schema.batches.c.state))]


def statuses(store: Store) -> list[int | None]:
    table = schema.requests
    return [row.status for row in store.read(sa.select(table.c.status).order_by(table.c.problem))]


def test_a_batch_and_its_requests_are_there_before_anything_is_done(log: BatchLog) -> None:
    assert log.next_wave() == 1
    batch = new_batch("http://a", "m", 1, 3, 0.5)
    log.collect(batch, NAMES)
    assert log.open() == [batch]
    assert log.wanted(batch.tag) == set(map(str, NAMES))
    log.change(batch, state="created", batch="batch_1", status="validating")
    (found,) = log.open()
    assert found == replace(batch, state="created", batch="batch_1", status="validating")
    assert (batch.shown, found.shown) == (batch.tag, "batch_1")
    assert log.next_wave() == 2


def test_what_is_in_flight_elsewhere_is_not_asked_for(log: BatchLog, store: Store) -> None:
    batch = new_batch("http://a", "m", 1, 3, 0.5)
    log.collect(batch, NAMES)
    refuse_in_flight(store, [2], forget=False)
    refuse_in_flight(store, [1], [("http://a", "m")], forget=False)
    why = "1 batch has not been collected yet, of m at http://a; run the command that made"
    with pytest.raises(InputError, match=why):
        refuse_in_flight(store, [1], [("http://b", "m")], forget=False)
    log.collect(new_batch("http://a", "m", 1, 3, 0.5), NAMES)
    with pytest.raises(InputError, match="2 batches have not"):
        refuse_in_flight(store, [1, 2], forget=False)
    refuse_in_flight(store, [1], forget=True)
    assert states(store) == ["forgotten", "forgotten"]
    refuse_in_flight(store, [1], forget=False)


async def test_batches_save_the_rest_of_the_price_of_their_calls(store: Store) -> None:
    await make_all(store)
    given = schema.calls.update().values(input_tokens=100, output_tokens=10)
    store.change(lambda connection: connection.execute(given))
    assert saved_by_batches(store) == {}
    log = BatchLog(store)
    names = [RequestId(Place(1, n + 1, 0, 0), "0" * 12, "1" * 12) for n in range(2)]
    for factor in (0.25, 0.5):  # made again: it is one call all the same
        batch = new_batch("http://a", "m", 1, 2, factor)
        log.collect(batch, names)
    assert saved_by_batches(store) == {(1, ""): Usage(150, 15)}
    in_run_0 = schema.attempts.c.run == 1
    assert saved_by_batches(store, in_run_0) == {}
    log.change(batch, state="forgotten")
    for one in log.open():
        log.change(one, state="forgotten")
    assert saved_by_batches(store) == {}
    assert store.read(sa.select(sa.func.count()).select_from(schema.calls))[0][0] == 10


def test_the_tables_of_batches_stand_apart(tmp_path: Path) -> None:
    assert not set(schema.BATCHES.tables) & set(schema.METADATA.tables)
    path = str(tmp_path / "runs.db")
    with Store(path) as store:
        assert not sa.inspect(store.database).has_table("batches")
    with Store(path) as store, store.exclusively():
        BatchLog(store)
        assert sa.inspect(store.database).has_table("batch_requests")
    with Store(path, existing=True) as store:
        assert store.read(sa.select(schema.batches)) == []


SERIES = Series("sums", "self-consistency(samples=3)", "m")
MOST = 200


class Answering:
    """Has replies to some calls; the others wait for a wave."""

    def __init__(self, problems: set[int], error: Exception | None = None) -> None:
        self.problems = problems
        self.error = error
        self.asked = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        text = right(call)
        if int(text[text.index("{") + 1 : text.index("}")]) - 1 not in self.problems:
            raise Deferred
        if self.error:
            raise self.error
        return Completion(text)


async def replayed(store: Store, engine: Answering) -> tuple[Job, int]:
    job, counted = prepare(store, SERIES, sums(MOST), 1, engine), list[int]()
    await replay_attempts(store, job, BatchLog(store), lambda: counted.append(1))
    return job, len(counted)


async def test_a_refusal_fails_its_attempt_until_the_next_command(store: Store) -> None:
    job, counted = await replayed(store, Answering({1, 2}, Rejected("no")))
    assert (job.tally.failed, counted, job.tally.reasons) == (2, 2, {"no": 2})
    assert len(list(job.missing())) == MOST - 2
    job, _ = await replayed(store, Answering({1, 2}))
    assert job.tally.correct == 2


async def test_a_key_that_is_refused_at_once_fails_the_rest_unasked(store: Store) -> None:
    engine = Answering(set(range(MOST)), Unauthorized("wrong key"))
    job, counted = await replayed(store, engine)
    assert (job.tally.failed, counted) == (MOST, MOST)
    assert engine.asked < 3 * MOST


async def test_what_ends_the_run_ends_the_pass(store: Store) -> None:
    with pytest.raises(JournalMismatch):
        await replayed(store, Answering({7}, JournalMismatch("differs")))


PRICE = Price(1e6, 1e6)


def name(problem: int) -> RequestId:
    return RequestId(Place(1, problem, 0, 0), "a" * 12, "a" * 12)


def test_a_budget_pays_the_dearest_reply_and_gets_the_rest_back(tmp_path: Path) -> None:
    budget = Budget(max_tokens=25, max_cost=25.0)
    one = BatchModel(Address("http://a", "m"), "http://a", Bounds(), PRICE)
    results, limits = ResultIndex(1_000), FileLimits(requests=2)
    made = OpenWave(
        results, WaveMemory(budget), tmp_path, limits, lambda _model, _path, _names: None
    )
    for n in range(3):
        made.ask(Request(one, name(n), b"{}", Usage(4, 6)))
    assert (made.requests, budget.tokens, budget.cost) == (2, 20, 20.0)
    assert made.postponed is not None
    assert made.postponed.name == name(2)
    made.spent(name(0), Usage(4, 1), PRICE)
    made.spent(name(1), None, PRICE)  # nobody knows: all of it
    assert (budget.tokens, budget.cost) == (15, 15.0)
    made.spent(name(7), Usage(1, 1), PRICE)  # asked by an earlier run
    assert (budget.tokens, budget.cost) == (17, 17.0)


def test_a_provider_takes_half_of_the_price_unless_told_otherwise() -> None:
    assert BatchOptions(batch=True).price_factor == 0.5
    assert BatchOptions(batch_dir="waves").price_factor == 1.0
    assert BatchOptions(batch=True, batch_price_factor=0.25).price_factor == 0.25


def test_a_wave_says_how_far_it_is() -> None:
    one = BatchView("batch_1", "in_progress", 1_200, 300, 2)
    progress = WaveProgress(2, (one,), next_look=12.4)
    assert str(progress) == (
        "wave 2: 300 of 1,200 requests done, 2 failed; "
        "batch_1 in_progress (300 of 1,200, 2 failed); next look in 12 s"
    )
    assert (progress.requests, progress.done, progress.failed) == (1_200, 300, 2)
    several = [BatchView(f"batch_{n}", "completed" if n else "in_progress", 10) for n in range(4)]
    assert str(WaveProgress(1, tuple(several), trouble="cannot be reached")) == (
        "wave 1: 0 of 40 requests done; 4 batches (1 in_progress, 3 completed); cannot be reached"
    )
