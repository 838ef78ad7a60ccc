import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa
from doubling import Doubling
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from instructed import NO_COMMA
from loopback import Endpoint as Server
from loopback import Reply, answer, choices, completion, failure, large
from postgres import Postgres
from sums import number_in, reply_right, right, sums, write_sums
from sums_run import execute, run_sums

from constraint_first import aevaluate, evaluate
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import Benchmark, names, write_instructions
from constraint_first.error import InputError
from constraint_first.method.baselines import Direct
from constraint_first.method.registry import METHODS
from constraint_first.model.client import Client, OpenAI, ServedModel
from constraint_first.model.error import JournalMismatch
from constraint_first.model.limit import Budget, BudgetSpent, Limiter, Price, Retry
from constraint_first.model.resolve import ModelRef, presets
from constraint_first.model.transport import Bounds, DecodingRefused, Endpoint
from constraint_first.model.wire import SILENT, Decoding, Engine, Watcher
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.grid import Changes, Experiment, RunOptions, read_experiment
from constraint_first.run.job import (
    EvaluationProgress,
    EvaluationWatcher,
    Job,
    Progress,
    prepare,
    run,
    seconds_left,
)
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows, outcome_rows, summaries
from constraint_first.store.series import Series
from constraint_first.store.store import Store


def right_when_checked(call: Call) -> Completion:
    text = r"\boxed{1}" if "check" in call.messages[-1].content.lower() else r"\boxed{0}"
    return Completion(text)


def ones(count: int = 3) -> Benchmark:
    problems = tuple(Problem(f"What is {n} - {n - 1}?", f"p{n}", "1", "ones") for n in range(count))
    return Benchmark("ones", "Ones", problems)


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"))


async def test_methods_are_run_on_a_benchmark(options: RunOptions) -> None:
    engine, watcher = Scripted(right_when_checked), Hearing()
    methods = ["direct", "check"]
    done = await aevaluate(ones(), methods, runs=2, engine=engine, options=options, watcher=watcher)
    assert done.complete
    assert watcher.scored == [0, 6]
    assert [(one.series.method, one.accuracy) for one in done.series] == [
        ("direct", 0.0),
        ("check", 1.0),
    ]
    assert [one.tally.total for one in done.series] == [6, 6]
    assert done.series[0].series.model == engine.model == "scripted"
    assert len(engine.asked) == 12


async def test_ordinary_code_runs_inside_an_event_loop_too(options: RunOptions) -> None:
    engine = Scripted(right_when_checked)
    assert evaluate(ones(), "check", runs=1, engine=engine, options=options).complete


def test_a_method_that_has_no_name_goes_by_its_configuration(options: RunOptions) -> None:
    engine = Scripted(right_when_checked)
    done = evaluate(ones(), [Direct(budget=99)], runs=1, engine=engine, options=options)
    assert [one.series.method for one in done.series] == ["Direct(budget=99)"]
    assert {call.max_tokens for call in engine.asked} == {99}
    with Store(done.store) as store:
        assert [(one.series.method, one.series.label) for one in summaries(store)] == [
            ("Direct(budget=99)", "Direct CoT")
        ]


def test_an_endpoint_is_opened(endpoint: Server, tmp_path: Path, options: RunOptions) -> None:
    endpoint.respond = reply_right
    path = tmp_path / "sums.jsonl"
    write_sums(path, 4)
    engine = OpenAI(Endpoint(endpoint.url, "m"))
    done = evaluate(str(path), "direct", runs=1, engine=engine, options=options)
    assert done.series[0].accuracy == 1.0
    assert done.usage.total > 0
    assert done.seconds > 0
    named = ModelRef("m", base_url=endpoint.url)
    other = RunOptions(store=str(tmp_path / "other.db"), limit=2)
    assert evaluate(str(path), "direct", model=named, options=other).series[0].tally.total == 8


class Hearing(EvaluationWatcher):
    """Keeps what it is told, and how far the first series is."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.scored: list[int] = []

    def adapted(self, model: str, change: str) -> None:
        self.changes.append((model, change))

    def noted(self, line: str) -> None:
        self.notes.append(line)

    @asynccontextmanager
    async def running(
        self, jobs: Sequence[Job], limiters: Sequence[Limiter]
    ) -> AsyncGenerator[None]:
        self.scored.append(jobs[0].tally.scored)
        yield
        self.scored.append(jobs[0].tally.scored)
        assert len(limiters) == 1


def refusing(body: dict[str, Any]) -> Reply:
    """Play a model that takes no temperature and no more than 4,096 tokens."""
    if "temperature" in body:
        return failure(400, "Unsupported value: 'temperature' is not supported with this model.")
    if body["max_tokens"] > 4_096:
        return failure(400, "max_tokens is too large. This model supports at most 4096.")
    return reply_right(body)


async def test_a_refused_setting_names_the_series(endpoint: Server, options: RunOptions) -> None:
    endpoint.respond = refusing
    benchmark, watcher = Benchmark("sums", "Sums", sums(6)), Hearing()
    for nth in range(2):
        done = await aevaluate(
            benchmark,
            ["direct", "check"],
            runs=1,
            model=ModelRef("m", base_url=endpoint.url),
            options=options,
            watcher=watcher,
        )
        assert done.complete
        assert {one.series.decoding for one in done.series} == {
            Decoding(None, 0.95, max_tokens=4_096)
        }
        assert [change.split()[0] for _, change in watcher.changes] == (
            ["temperature", "max_tokens"] * (nth + 1)
        )
        answered = [body for body in endpoint.requests if body["max_tokens"] <= 4_096]
        assert len([body for body in answered if "temperature" not in body]) == 12
    recorded = {"temperature": None, "top_p": 0.95, "seed": None, "max_tokens": 4_096}
    with Store(options.store) as store:
        for one in summaries(store):
            assert (one.tally.total, one.series.settings) == (6, recorded)


async def test_series_with_and_without_a_setting(endpoint: Server, options: RunOptions) -> None:
    endpoint.respond = lambda body: (
        refusing(body | {"max_tokens": 1}) if number_in(body) > 2 else reply_right(body)
    )
    benchmark = Benchmark("sums", "Sums", sums(6))
    slow = replace(options, concurrency=1)
    engine = OpenAI(Endpoint(endpoint.url, "m"))
    done = await aevaluate(benchmark, "direct", runs=1, engine=engine, options=slow)
    assert done.complete
    assert [one.tally.total for one in done.series] == [6]
    with Store(options.store) as store:
        kept = {one.series.settings["temperature"]: one.tally.total for one in summaries(store)}
    assert kept[None] == 6
    assert kept.get(0.7, 0) <= 3


async def test_an_engine_that_always_refuses_ends_the_run(options: RunOptions) -> None:
    def refuse(_call: Call) -> Completion:
        raise DecodingRefused("no temperature; choose another", "scripted", "temperature")

    with pytest.raises(DecodingRefused, match="choose another"):
        await aevaluate(ones(), "direct", engine=Scripted(refuse), options=options)


def test_a_budget_holds_where_nothing_is_counted(endpoint: Server, options: RunOptions) -> None:
    endpoint.respond = lambda body: answer(
        {"choices": [{"message": {"content": "\\boxed{1}"}, "finish_reason": "stop"}]}
    )
    limited = replace(options, max_tokens_total=100_000)
    benchmark = Benchmark("sums", "Sums", sums(20))
    ref = ModelRef("m", base_url=endpoint.url)
    done = evaluate(benchmark, "direct", runs=1, model=ref, options=limited)
    assert done.stopped.startswith("the budget is spent: 98,")
    assert len(endpoint.requests) == 3


def test_a_budget_holds_where_calls_fail(endpoint: Server, options: RunOptions) -> None:
    endpoint.script(answer({"choices": [{"finish_reason": "error"}]}))
    limited = replace(options, max_tokens_total=100_000, concurrency=1)
    benchmark = Benchmark("sums", "Sums", sums(20))
    engine = OpenAI(Endpoint(endpoint.url, "m"), retry=Retry(first_pause=0.001))
    done = evaluate(benchmark, "direct", runs=1, engine=engine, options=limited)
    assert done.stopped.startswith("the budget is spent")
    assert len(endpoint.requests) <= 3


@pytest.mark.parametrize(
    ("reply", "bounds", "said"),
    [
        (Reply(endless=b" "), {"call_timeout": 0.2}, "not done after 0.2 s"),
        (large(1), {"max_reply_bytes": 50_000}, "larger than 0.05 MB"),
    ],
)
def test_a_call_is_bounded_and_fails_its_attempt_alone(
    endpoint: Server,
    options: RunOptions,
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    bounds: dict[str, Any],
    said: str,
) -> None:
    def hasty(seconds: float) -> Retry:
        return Retry(attempts=1, seconds=seconds)

    monkeypatch.setattr("constraint_first.model.client.Retry", hasty)
    endpoint.respond = lambda body: reply if number_in(body) == 1 else reply_right(body)
    benchmark = Benchmark("sums", "Sums", sums(3))
    ref = ModelRef("m", base_url=endpoint.url)
    small = replace(options, **bounds)
    done = evaluate(benchmark, "direct", runs=1, model=ref, options=small)
    assert (done.series[0].tally.ok, done.series[0].tally.failed) == (2, 1)
    with Store(options.store) as store:
        (reason,) = [row["error"] for row in attempt_rows(store) if row["status"] == "failed"]
    assert said in reason


async def test_two_wordings_in_one_process_do_not_meet(options: RunOptions, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("kind", "stern")]
    for folder in folders:
        folder.mkdir()
        (folder / "direct.txt").write_text(f"Be {folder.name}: [[problem]]")
    engines = [Scripted(lambda _: r"\boxed{1}") for _ in (*folders, None)]
    stores = [replace(options, store=str(tmp_path / f"{n}.db")) for n in range(3)]
    prompts = (*folders, None)
    found = await asyncio.gather(
        *(
            aevaluate(ones(), "direct", engine=engine, prompts=own, options=store)
            for engine, own, store in zip(engines, prompts, stores, strict=True)
        )
    )
    assert [one.series[0].series.method for one in found] == [
        "direct(wording=kind)",
        "direct(wording=stern)",
        "direct",
    ]
    asked = [{call.messages[0].content[:8] for call in engine.asked} for engine in engines]
    assert asked == [{"Be kind:"}, {"Be stern"}, {"Solve th"}]


def test_a_system_message_stands_in_the_place_of_the_benchmarks(options: RunOptions) -> None:
    asked: list[tuple[str, ...]] = []
    for system in (None, "Mine.", ""):
        engine = Scripted(lambda _: r"\boxed{1}")
        benchmark = replace(ones(1), system_prompt="Its own.")
        evaluate(benchmark, "direct", runs=1, engine=engine, system=system, options=options)
        (call,) = engine.asked
        asked.append(tuple(m.content for m in call.messages if m.role == "system"))
    assert asked == [("Its own.",), ("Mine.",), ()]


@pytest.mark.parametrize("ids", ["distinct", "x"])
@pytest.mark.parametrize("again", [0.01, 0.1])
async def test_replies_are_never_swapped(again: float, ids: str, options: RunOptions) -> None:
    watcher = Hearing()
    with Doubling(again=again, ids=ids) as server:
        done = await aevaluate(
            Benchmark("sums", "Sums", sums(80)),
            "direct",
            model=ModelRef("m", server.url),
            options=replace(options, concurrency=8),
            watcher=watcher,
        )
    assert done.complete
    assert done.series[0].accuracy == 1.0
    (note,) = watcher.notes
    assert "no longer kept alive" in note


EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))


def written(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def test_the_settings_of_a_file(tmp_path: Path) -> None:
    experiment = read_experiment(written(tmp_path, ""))
    assert experiment == Experiment()
    assert experiment.runs == 4
    assert list(experiment.decodings()) == [Decoding(0.7, 0.95, None)]
    path = written(
        tmp_path,
        'methods = ["direct", "cfr(reply=json)"]\ntemperatures = [0, 0.7]\nseeds = [1, 2, 3]\n',
    )
    sums = Benchmark("sums", "Sums", (), system_prompt="Be brief.")
    series = list(read_experiment(path).series(sums, "m"))
    assert len(series) == len(set(series)) == 12
    assert {s.decoding.seed for s in series} == {1, 2, 3}
    assert {s.system for s in series} == {"Be brief."}
    path = written(tmp_path, 'runs = 4\nmodels = ["deepseek-chat"]\n')
    experiment = read_experiment(path, Changes(runs=1, methods=("check",)))
    assert (experiment.runs, experiment.methods) == (1, ("check",))
    assert experiment.models == ("deepseek-chat",)
    path = written(tmp_path, 'methods = ["cfr", "direct", "cfr"]\nseeds = [1, 1]\n')
    experiment = read_experiment(path)
    assert experiment.methods == ("cfr", "direct"), "named twice, run once"
    assert len(list(experiment.series(sums, "m"))) == 2


@pytest.mark.parametrize("gold", ["4", write_instructions([NO_COMMA]), None])
def test_auto_does_not_go_by_what_is_judged(gold: str | None) -> None:
    asked = Benchmark("own", "Own", (Problem("Write 2 + 2.", answer=gold),))
    (series,) = Experiment(methods=("auto",)).series(asked, "nobody-knows-it")
    assert series.method == "calibrated(policy=unmeasured)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs = ", "not TOML"),
        ("runs = 0", "runs: 0"),
        ("runs = true", "'runs' must be a whole number, not True"),
        ('runs = "four"', "'runs' must be a whole number, not 'four'"),
        ("runs = [4]", "'runs' must be a whole number, not [4]"),
        ('methods = "direct"', "'methods' must be a list of texts, not 'direct'"),
        ("methods = []", "methods: none; an experiment needs at least one"),
        ('methods = ["direkt"]', "method 'direkt': not known; did you mean 'direct'"),
        ('methods = ["cfr(reply=xml)"]', "option 'reply': 'xml' is not one of"),
        ("temperatures = [0.7, 9]", "temperatures: 9 is not between 0 and 2"),
        ("temperatures = [true]", 'must be a list of numbers or "none", not [True]'),
        ('temperatures = ["no"]', "must be a list of numbers or \"none\", not ['no']"),
        ('top_p = "nope"', "'top_p' must be a number or \"none\", not 'nope'"),
        ("max_tokens = 0", "max_tokens: 0; a reply needs at least one"),
        ("top_p = 0", "top_p: 0 is not above 0"),
        ("metods = []", "there is no 'metods'; did you mean 'methods'?"),
        ("zzz = []", "there is no 'zzz'; choose from title"),
        ("  'runs' = 10_000_000", "runs: 10000000 is not between 1 and 1,000,000"),
        (f"seeds = [1, {2**64}]", f"seeds: {2**64} is not between -2^62 and 2^62"),
        (f"seeds = [-{2**63}]", f"seeds: -{2**63} is not between -2^62 and 2^62"),
        ('models = ["a\\u0000"]', "'models' has a NUL character as character 2"),
        (f'models = ["{"x" * 501}"]', "'models' has 501 characters; 500 are the most"),
        ("methods = ['cfr(extractor=\"a)']", "must end with the quotation mark"),
        (f"methods = ['cfr(extractor={'x' * 501})']", "'methods' has 501 characters; 500 are the"),
        ("temperatures = [nan]", "temperatures: nan is not between 0 and 2"),
        ("top_p = inf", "top_p: inf is not above 0 and at most 1"),
        ("[methods]\na = 1", "'methods' must be a list of texts, not {'a': 1}"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_key(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"# a grid\n{text}\n")
    with pytest.raises(InputError) as caught:
        read_experiment(path)
    line = "" if "not TOML" in message or "[methods]" in text else ", line 2"
    assert str(caught.value).startswith(f"{path}{line}: ")
    assert message in str(caught.value)


def test_what_is_given_beside_a_file_is_checked_too() -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_experiment(Path("none.toml"))
    with pytest.raises(InputError, match="'models' has half a surrogate pair as character 1"):
        Experiment().changed(Changes(models=("\udcff",)))
    with pytest.raises(InputError, match=r"seeds: \d+ is not between"):
        Experiment().changed(Changes(seeds=(2**62 + 1,)))
    seeds = (2**62, -(2**62), 0)
    assert Experiment().changed(Changes(seeds=seeds)).seeds == seeds


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_experiment_of_the_paper_can_be_run(path: Path) -> None:
    experiment = read_experiment(path)  # which checks the methods
    assert experiment.title
    assert "Table " in experiment.about
    assert set(experiment.benchmarks) <= set(names())
    assert set(experiment.models) <= set(presets())
    assert experiment.runs == 4
    for method in map(str, experiment.methods):
        assert "brief" not in method, f"{method} is not the paper's"


SERIES = Series("sums", "direct", "model-a")
HASTY = Retry(attempts=2, first_pause=0.0)

# What the endpoint does to the nth problem, how the attempt must end, and what its reason must say.
FAULTS: dict[int, tuple[Reply, str, str]] = {
    0: (failure(429, "slow down", Retry_After="0"), "failed", "HTTP 429"),
    1: (failure(500, "out of order"), "failed", "HTTP 500"),
    2: (Reply(body="{}", delay=30), "failed", "nothing came for too long"),
    3: (completion(""), "unparsed", ""),
    4: (completion("First, we note that", "length"), "truncated", ""),
    5: (Reply(body='{"choices": [{"mess'), "failed", "not JSON"),
    6: (Reply(chunks=['{"choices": [{"message": '], cut=True), "failed", "cut in the middle"),
    7: (failure(400, "a \0 in what it says"), "failed", "HTTP 400"),
    8: (completion(None), "unparsed", ""),
}


def faulty(body: dict[str, Any]) -> Reply:
    n = number_in(body)
    return FAULTS[n][0] if n in FAULTS else reply_right(body)


async def over_http(
    store: Store, server: Server, count: int, respond: Callable[[dict[str, Any]], Reply]
) -> Job:
    """Run the series of sums against the server, at most eight calls at a time."""
    server.respond = respond
    server.requests.clear()
    async with OpenAI(
        Endpoint(server.url, "model-a"), retry=HASTY, bounds=Bounds(silence=0.5)
    ) as served:
        engine = Client(ServedModel(served, Limiter(8)), decoding=Decoding())
        return await run_sums(store, SERIES, count, 1, engine, width=16)


async def test_every_fault_has_its_own_status(url: str, endpoint: Server) -> None:
    with Store(url) as store:
        job = await over_http(store, endpoint, 40, faulty)
        rows = {int(row["problem"][1:]): row for row in attempt_rows(store)}
        (summary,) = summaries(store)
    assert len(rows) == 40
    for n, (_, status, reason) in FAULTS.items():
        assert rows[n]["status"] == status, n
        assert reason in (rows[n]["error"] or ""), n
        failed = status == "failed"
        assert (rows[n]["verdict"] is None) == failed, n
        assert bool(rows[n]["error"]) == failed, n
    healthy = [rows[n] for n in rows if n not in FAULTS]
    assert {(row["status"], row["verdict"]) for row in healthy} == {("ok", "correct")}
    assert (summary.tally.failed, summary.scores.total()) == (6, 34)
    assert not job.tally.complete
    assert (job.tally.failed, job.tally.scored) == (6, 34)


async def test_failed_attempts_are_made_again_and_no_others(url: str, endpoint: Server) -> None:
    with Store(url) as store:
        await over_http(store, endpoint, 12, faulty)
        job = await over_http(store, endpoint, 12, reply_right)
        again = sorted(map(number_in, endpoint.requests))
        (summary,) = summaries(store)
    assert again == [n for n, (_, status, _) in FAULTS.items() if status == "failed"]
    assert job.tally.complete
    assert (summary.tally.total, summary.tally.failed) == (12, 0)


async def test_a_refused_key_is_not_tried_everywhere(url: str, endpoint: Server) -> None:
    with Store(url) as store:
        job = await over_http(store, endpoint, 100, lambda _: failure(401, "bad key"))
        asked = len(endpoint.requests)
        again = await over_http(store, endpoint, 100, reply_right)
    assert asked <= 16  # those that were under way at once
    assert (job.tally.failed, job.tally.scored) == (100, 0)
    assert "HTTP 401" in job.tally.refused
    assert again.tally.complete


async def test_a_fault_that_passes_leaves_no_trace(url: str, endpoint: Server) -> None:
    seen: Counter[int] = Counter()

    def at_first(body: dict[str, Any]) -> Reply:
        n = number_in(body)
        seen[n] += 1
        passing = n in (0, 1, 5, 6) and seen[n] == 1
        return FAULTS[n][0] if passing else reply_right(body)

    with Store(url) as store:
        job = await over_http(store, endpoint, 8, at_first)
        rows = list(attempt_rows(store))
    assert job.tally.complete
    assert {(row["status"], row["verdict"], row["error"]) for row in rows} == {
        ("ok", "correct", None)
    }
    assert sum(seen.values()) == 12


async def test_a_spent_budget_stops_the_run_and_a_larger_one_goes_on(url: str) -> None:
    async def spend(budget: Budget) -> int:
        metered = Scripted(lambda call: Completion(right(call), usage=Usage(500, 500)))
        engine = Client(metered, budget=budget)
        stops = pytest.raises(BudgetSpent) if budget is small else nullcontext()
        with stops:
            await run_sums(store, SERIES, 30, 1, engine, width=8)
        return len(metered.asked)

    with Store(url) as store:
        small, large = Budget(45_000), Budget(1_000_000)
        paid = await spend(small)
        assert 0 < paid < 30
        assert small.tokens == 1_000 * paid
        assert len(calls_stored(store)) == paid  # nothing that was paid for is lost
        assert await spend(large) == 30 - paid
        assert {row["status"] for row in attempt_rows(store)} == {"ok"}
        assert len(list(attempt_rows(store))) == 30


class PowerCut(BaseException):
    """What no attempt can be blamed for: it ends the run."""


def dies(after: int, text: str = "") -> Scripted:
    """Make an engine that takes the whole run with it after so many calls."""
    left = iter(range(after))

    def reply(call: Call) -> Completion:
        if next(left, None) is None:
            raise PowerCut
        return Completion(text or right(call), usage=Usage(3, 4))

    return Scripted(reply)


def calls_stored(store: Store) -> list[tuple[Any, ...]]:
    """Read the transcript: all that was asked and answered, without timings."""
    columns = [column for column in schema.calls.c if column.name != "seconds"]
    order = [schema.calls.c[name] for name in ("series", "problem", "run", "ordinal")]
    return [tuple(row) for row in store.read(sa.select(*columns).order_by(*order))]


async def complete(store: Store, method: str, engine: Engine) -> None:
    await run_sums(store, replace(SERIES, method=method), 2, 2, engine, width=1)


@pytest.mark.parametrize("method", ["cfr", "self-refine", "self-consistency(base=cfr,samples=2)"])
async def test_a_crash_between_two_calls_loses_neither(method: str, url: str) -> None:
    with Store(url) as store:
        for after in (1, 2):
            with pytest.raises(PowerCut):
                await complete(store, method, dies(after))
            stored = calls_stored(store)
        rest = Scripted(lambda call: Completion(right(call), usage=Usage(3, 4)))
        await complete(store, method, rest)
        whole = calls_stored(store)
        rows = list(attempt_rows(store))
    assert 0 < len(stored) < len(whole)
    assert set(stored) < set(whole)
    assert len(rest.asked) == len(whole) - len(stored)
    # What was replayed is paid for all the same, and counts.
    assert sum(row["input_tokens"] for row in rows) == 3 * len(whole)
    assert len(rows) == 4


@pytest.mark.parametrize("method", METHODS)
async def test_every_store_one_transcript(method: str, postgres: str, tmp_path: Path) -> None:
    transcripts: list[list[tuple[Any, ...]]] = []
    endings: list[list[tuple[Any, ...]]] = []
    for address in (str(tmp_path / "runs.db"), postgres):
        with Store(address) as store:
            await complete(store, method, Scripted(lambda call: right(call)))
            # PostgreSQL numbers go on from one test to the next.
            transcripts.append([row[2:] for row in calls_stored(store)])
            endings.append(
                [
                    (row["problem"], row["run"], row["status"], row["answer"], row["details"])
                    for row in attempt_rows(store)
                ]
            )
            schema.METADATA.drop_all(store.database)
    assert transcripts[0] == transcripts[1]
    assert endings[0] == endings[1]
    assert len(endings[0]) == 4


async def test_a_stored_call_that_no_longer_fits_ends_the_run(url: str) -> None:
    with Store(url) as store:
        with pytest.raises(PowerCut):
            await complete(store, "cfr", dies(1))
        execute(store, schema.calls.update().values(digest="of another prompt"))
        with pytest.raises(JournalMismatch, match="start a new run"):
            await complete(store, "cfr", dies(9))


async def test_a_store_that_cannot_be_written_ends_the_run_in_words(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        refuse = "BEGIN SELECT RAISE(FAIL, 'the disk is full'); END"
        execute(store, f"CREATE TRIGGER full BEFORE INSERT ON calls {refuse}")
        with pytest.raises(StoreError, match=r"cannot be written.*the disk is full"):
            await run_sums(store, SERIES)


async def test_a_run_goes_on_when_its_server_was_restarted(frail_postgres: Postgres) -> None:
    asked: Counter[int] = Counter()

    class Steady:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            asked[number_in(call)] += 1
            if asked.total() == 20:
                await asyncio.to_thread(frail_postgres.stop)
                await asyncio.to_thread(frail_postgres.start)
            await asyncio.sleep(0.01)
            return Completion(right(call))

    with Store(frail_postgres.url) as store, store.exclusively():
        job = await run_sums(store, SERIES, 60, 1, Steady(), width=4)
        rows = list(attempt_rows(store))
        schema.METADATA.drop_all(store.database)
    assert job.tally.complete
    assert {(row["status"], row["verdict"]) for row in rows} == {("ok", "correct")}
    assert len(rows) == len(asked) == asked.total() == 60


async def test_attempts_that_could_not_be_stored_before_are_completed(url: str) -> None:
    # Such attempts failed on every resume: their calls were stored, and they never were.
    odd = r'{"raw_constraints": [{"id": "C1", "type": "x", "desc": "half \ud83d, nul \u0000"}]}'
    with Store(url) as store:
        with pytest.raises(PowerCut):
            await complete(store, "cfr", dies(1, odd))
        spoilt = {"input_tokens": 2**31 - 1, "output_tokens": -500}
        execute(store, schema.calls.update().values(spoilt))
        rest = Scripted(lambda call: odd if call.stage == "stage1" else right(call))
        await complete(store, "cfr", rest)
        rows = list(attempt_rows(store))
    assert {row["verdict"] for row in rows} == {"correct"}
    assert len(rest.asked) == 7
    assert rows[0]["input_tokens"] == 2**31 - 1
    assert rows[0]["output_tokens"] == 0
    assert "half \ufffd, nul \ufffd" in rows[0]["details"]


def counted(call: Call) -> Completion:
    return Completion(right(call), usage=Usage(1_000, 500))


def moments(options: RunOptions, runs: int = 1) -> list[EvaluationProgress]:
    told: list[EvaluationProgress] = []
    benchmark = Benchmark("sums", "Sums", sums(3))
    engine = Scripted(counted)
    evaluate(benchmark, "direct", runs=runs, engine=engine, options=options, progress=told.append)
    return told


def test_each_attempt_is_told_and_earlier_ones_count(options: RunOptions) -> None:
    told = moments(options)
    assert [(one.done, one.total, one.tokens) for one in told] == [
        (n, 3, 1_500 * n) for n in range(4)
    ]
    assert {one.cost for one in told} == {None}
    assert str(replace(told[-1], seconds=2.0)) == "3 of 3 attempts, 4,500 tokens, 2 s"
    assert [one.done for one in moments(options, runs=2)] == [3, 4, 5, 6]


def test_with_several_models_each_counts_at_its_own_price(
    options: RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "models.toml"
    path.write_text("[scripted]\nprice = { input = 1000, output = 0 }\n")
    monkeypatch.setenv("CFR_MODELS", str(path))

    def cost_at_the_end(runs: int) -> str:
        told: list[EvaluationProgress] = []
        small = Scripted(lambda _: Completion('{"restrictive": "no"}', usage=Usage(10, 1_000)))
        evaluate(
            Benchmark("sums", "Sums", sums(1)),
            "llm-router(model=small)",
            runs=runs,
            engine=Client(Scripted(counted), {"small": small}),
            options=options,
            progress=told.append,
        )
        return str(told[-1].cost)

    assert cost_at_the_end(1) == "$1.00+"  # nobody knows what the small one costs
    path.write_text(path.read_text() + "[small]\nprice = { input = 0, output = 500 }\n")
    assert cost_at_the_end(2) == "$3.00"


def test_what_the_function_raises_ends_the_run_and_loses_nothing(options: RunOptions) -> None:
    def stop(moment: EvaluationProgress) -> None:
        if moment.done == 2:
            raise KeyError("enough")

    benchmark = Benchmark("sums", "Sums", sums(9))
    slow = replace(options, concurrency=1)
    with pytest.raises(KeyError, match="enough"):
        evaluate(benchmark, "direct", runs=1, engine=Scripted(counted), options=slow, progress=stop)
    engine = Scripted(counted)
    done = evaluate(benchmark, "direct", runs=1, engine=engine, options=slow)
    assert done.complete
    assert done.series[0].tally.resumed >= 2


CHEAP, DEAR = ("direct", "m"), ("vote", "m")


def part(method: tuple[str, str], made: int, left: int, cost: int = 0, **rest: float) -> Progress:
    return Progress(method, left=left, made=made, tokens=made * cost, **rest)  # pyright: ignore[reportArgumentType]


def test_a_dear_method_that_comes_later_is_expected_to_be_dear() -> None:
    """A hundred attempts of cost 1 took 100 s; a hundred of cost 10 take 1,000 s."""
    on_another = part(DEAR, 1, 0, 1_000)
    known = [part(CHEAP, 100, 0, 100), on_another, part(DEAR, 0, 100)]
    assert seconds_left(known, 110.0) == pytest.approx(1_000)
    stored = [part(CHEAP, 100, 0, 100), part(DEAR, 0, 100, earlier=1_000.0)]
    assert seconds_left(stored, 100.0) == pytest.approx(1_000)
    resumed = Progress(DEAR, left=100, made=0, stored=3, tokens=3_000)
    assert seconds_left([part(CHEAP, 100, 0, 100), resumed], 100.0) == pytest.approx(1_000)


@given(
    st.lists(st.tuples(st.integers(1, 1_000), st.integers(1, 40)), min_size=1, max_size=5),
    st.data(),
)
def test_steady_pace_exact_forecast(series: list[tuple[int, int]], data: st.DataObject) -> None:
    """Each token takes a tenth of a second; earlier runs know what each method takes."""
    attempts = [(at, cost) for at, (cost, count) in enumerate(series) for _ in range(count)]
    made = data.draw(st.integers(1, len(attempts)))
    parts: list[Progress] = []
    for at, (cost, total) in enumerate(series):
        own = sum(number == at for number, _ in attempts[:made])
        parts.append(part((f"m{at}", "m"), own, total - own, cost, earlier=cost))
    elapsed, rest = (
        sum(cost for _, cost in some) / 10 for some in (attempts[:made], attempts[made:])
    )
    assert seconds_left(parts, elapsed) == pytest.approx(rest)


SERIES_SAMPLES = Series("sums", "self-consistency(samples=3)", "m", Decoding(seed=5))


def sampling(body: dict[str, Any]) -> Reply:
    """Play an endpoint that has ``n``, and says in each reply which seed it had."""
    number, count = number_in(body), body.get("n") or 1
    texts = [f"Seed {body['seed'] + n}: \\boxed{{{number + 1}}}" for n in range(count)]
    return choices(*texts)


async def evaluate_samples(url: str, server: Server, budget: Budget | None = None) -> Job:
    retry = Retry(first_pause=0.001)
    async with OpenAI(Endpoint(server.url, "m"), retry=retry) as engine:
        served = ServedModel(engine, Limiter(4), Price(1.0, 1.0))
        with Store(url) as store, store.exclusively():
            asking = Client(served, decoding=SERIES_SAMPLES.decoding, budget=budget)
            return await run_sums(store, SERIES_SAMPLES, 6, 2, asking, width=8)


def stored(url: str) -> Counter[tuple[int, int, int, str]]:
    calls = schema.calls.c
    query = sa.select(calls.problem, calls.run, calls.ordinal, calls.text)
    with Store(url) as store:
        return Counter(tuple(row) for row in store.read(query))


def expected() -> Counter[tuple[int, int, int, str]]:
    return Counter(
        (n + 1, run, sample, f"Seed {5 + 1_000 * run + sample}: \\boxed{{{n + 1}}}")
        for n in range(6)
        for run in range(2)
        for sample in range(3)
    )


async def test_a_vote_is_one_request_and_three_calls(url: str, endpoint: Server) -> None:
    endpoint.respond = sampling
    job = await evaluate_samples(url, endpoint)
    assert [body["n"] for body in endpoint.requests] == [3] * 12
    assert {body["seed"] for body in endpoint.requests} == {5, 1_005}
    assert job.tally.correct == 12
    assert stored(url) == expected()
    usage = job.tally.usage
    assert (usage.input, usage.shared, usage.output) == (36 * 11, 24 * 11, 36 * 7)


async def test_only_missing_samples_are_asked_for_again(url: str, endpoint: Server) -> None:
    endpoint.respond = sampling
    await evaluate_samples(url, endpoint)
    with Store(url) as store:
        execute(store, "DELETE FROM attempts")
        execute(store, "DELETE FROM calls WHERE problem = 1 AND ordinal > 0")
        execute(store, "DELETE FROM calls WHERE problem = 2 AND ordinal = 2")
    endpoint.requests.clear()
    job = await evaluate_samples(url, endpoint)
    asked = Counter((body.get("n"), body["seed"]) for body in endpoint.requests)
    assert asked == Counter([(2, 6), (2, 1_006), (None, 7), (None, 1_007)])
    assert stored(url) == expected()
    assert (job.tally.usage.input, job.tally.usage.shared) == (36 * 11, 24 * 11)


async def test_a_budget_pays_the_prompt_of_a_group_once(url: str, endpoint: Server) -> None:
    endpoint.respond = sampling
    budget = Budget(max_tokens=10**9)
    await evaluate_samples(url, endpoint, budget)
    assert budget.tokens == 12 * (11 + 3 * 7)


@pytest.mark.parametrize("fault", [failure(503, "busy"), None])
async def test_no_sample_is_lost(url: str, endpoint: Server, fault: Reply | None) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        return fault if fault and "n" in body else sampling({**body, "n": 1})

    endpoint.respond = respond
    async with asyncio.timeout(60):
        job = await evaluate_samples(url, endpoint)
    assert job.tally.complete
    assert stored(url) == expected()


VARIANTS = (
    *METHODS,
    "cfr(reply=prose)",
    "cfr-brief(reply=json)",
    "self-consistency(base=cfr,samples=2)",
)

UNWORRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
TEXTS = st.text() | st.text(st.sampled_from('0a{}[]"\\boxed\0\x1b\ud83d\ude00\U0001f600é'))

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, -1, 9**99, 1e308])
    | st.floats()
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def replied(content: Any, **changes: Any) -> bytes:
    """Write a completion, with something else in one of its places."""
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    whole = {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    for place, value in changes.items():
        target: dict[str, Any] = whole if place in ("choices", "usage", "error") else choice
        target[place] = value
    return json.dumps(whole).encode()


PLACES = st.sampled_from(["choices", "usage", "error", "message", "finish_reason"])

SPECS = st.fixed_dictionaries(
    {}, optional={"raw_constraints": JSON, "answer_format": JSON, "final_answer": JSON}
)

BODIES = st.one_of(
    JSON.map(lambda value: json.dumps(value).encode()),
    st.binary(),
    JSON.map(replied),
    st.tuples(PLACES, JSON).map(lambda at: replied("\\boxed{4}", **{at[0]: at[1]})),
    (JSON | SPECS).map(lambda value: replied(json.dumps(value))),  # what a model takes for JSON
    TEXTS.map(replied),
    st.binary().map(lambda data: replied("@").replace(b"@", data)),
)


@dataclass
class Bench:
    """A store and a server that last for all examples; each has a benchmark of its own."""

    store: Store
    server: Server
    names: Iterator[int]

    async def run(self, name: str) -> list[Job]:
        """Run every method once on one problem of a benchmark."""
        endpoint, hasty = Endpoint(self.server.url, "m"), Retry(attempts=1)
        async with OpenAI(endpoint, retry=hasty) as served:
            engine = Client(served, decoding=Decoding())
            jobs = [
                prepare(self.store, Series(name, method, "m"), sums(1), 1, engine)
                for method in VARIANTS
            ]
            await run(self.store, jobs, width=8)
        return jobs

    def survives(self, body: bytes) -> None:
        """Run all methods on this reply, and once more on a healthy one."""
        name = f"example-{next(self.names)}"
        for reply in (Reply(body=body), None):
            self.server.respond = (lambda _, sent=reply: sent) if reply else reply_right
            jobs = asyncio.run(self.run(name))
            rows = [row for row in outcome_rows(self.store) if row["benchmark"] == name]
            assert sorted(row["method"] for row in rows) == sorted(VARIANTS)
            assert all(job.tally.scored + job.tally.failed == 1 for job in jobs)
            assert all(isinstance(orjson.loads(row["details"]), dict) for row in rows)
        assert [job.tally.complete for job in jobs] == [True] * len(VARIANTS)
        assert "failed" not in {row["status"] for row in rows}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="module")
def on_sqlite(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    path: Path = tmp_path_factory.mktemp("any") / "runs.db"
    with Store(str(path)) as store:
        with store.database.connect() as connection:
            connection.execute(sa.text("PRAGMA synchronous=OFF"))
        yield Bench(store, server, count())


@pytest.fixture(scope="module")
def on_postgres(server: Server, postgres: str) -> Iterator[Bench]:
    with Store(postgres) as store:
        yield Bench(store, server, count())
        schema.METADATA.drop_all(store.database)


@pytest.mark.slow
@given(BODIES)
@example(b"[" * 100_000)
@example(replied("[" * 3_000))
@example(
    replied(r'{"raw_constraints": [{"id": "\ud83d", "desc": "\u0000"}], "final_answer": "\ud83d"}')
)
@settings(max_examples=40, deadline=None, suppress_health_check=UNWORRIED)
def test_any_reply_on_sqlite(on_sqlite: Bench, body: bytes) -> None:
    on_sqlite.survives(body)


@pytest.mark.slow
@given(BODIES)
@example(
    replied(r'{"raw_constraints": [{"id": "\ud83d", "desc": "\u0000"}], "final_answer": "\u0000"}')
)
@example(replied("4", usage={"prompt_tokens": 3 * 10**9, "completion_tokens": -1}))
@settings(max_examples=10, deadline=None, suppress_health_check=UNWORRIED)
def test_any_reply_on_postgresql(on_postgres: Bench, body: bytes) -> None:
    on_postgres.survives(body)
