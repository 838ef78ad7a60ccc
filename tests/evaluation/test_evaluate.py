import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubling import Doubling
from loopback import Endpoint as Server
from loopback import Reply, answer, failure, large
from sums import number_in, reply_right, sums, write_sums

import constraint_first
from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import InputError
from constraint_first.model.limit import Retry
from constraint_first.model.transport import DecodingRefused
from constraint_first.run.job import EvaluationWatcher
from constraint_first.store.query import attempt_rows, summaries
from constraint_first.store.store import Store


def right_when_checked(call: constraint_first.Call) -> constraint_first.Completion:
    text = r"\boxed{1}" if "check" in call.messages[-1].content.lower() else r"\boxed{0}"
    return constraint_first.Completion(text)


def ones(count: int = 3) -> Benchmark:
    problems = tuple(
        constraint_first.Problem(f"What is {n} - {n - 1}?", f"p{n}", "1", "ones")
        for n in range(count)
    )
    return Benchmark("ones", "Ones", problems)


@pytest.fixture
def options(tmp_path: Path) -> constraint_first.RunOptions:
    return constraint_first.RunOptions(store=str(tmp_path / "runs.db"))


async def test_methods_are_run_on_a_benchmark(options: constraint_first.RunOptions) -> None:
    engine = constraint_first.Scripted(right_when_checked)
    done = await constraint_first.aevaluate(
        ones(), ["direct", "check"], runs=2, engine=engine, options=options
    )
    assert done.complete
    assert [(one.series.method, one.accuracy) for one in done.series] == [
        ("direct", 0.0),
        ("check", 1.0),
    ]
    assert [one.tally.total for one in done.series] == [6, 6]
    assert done.series[0].series.model == engine.model == "scripted"
    assert len(engine.asked) == 12


async def test_what_is_stored_is_not_asked_again(options: constraint_first.RunOptions) -> None:
    first, second = (
        constraint_first.Scripted(right_when_checked),
        constraint_first.Scripted(right_when_checked),
    )
    once = await constraint_first.aevaluate(ones(), "direct", runs=1, engine=first, options=options)
    again = await constraint_first.aevaluate(
        ones(), "direct", runs=2, engine=second, options=options
    )
    assert (len(first.asked), len(second.asked)) == (3, 3)
    assert (once.series[0].tally.total, again.series[0].tally.total) == (3, 6)
    assert again.series[0].tally.resumed == 3


async def test_ordinary_code_runs_inside_an_event_loop_too(
    options: constraint_first.RunOptions,
) -> None:
    engine = constraint_first.Scripted(right_when_checked)
    assert constraint_first.evaluate(
        ones(), "check", runs=1, engine=engine, options=options
    ).complete


def test_a_method_that_has_no_name_goes_by_its_configuration(
    options: constraint_first.RunOptions,
) -> None:
    from constraint_first.method.baselines import Direct

    engine = constraint_first.Scripted(right_when_checked)
    done = constraint_first.evaluate(
        ones(), [Direct(budget=99)], runs=1, engine=engine, options=options
    )
    assert [one.series.method for one in done.series] == ["Direct(budget=99)"]
    assert {call.max_tokens for call in engine.asked} == {99}
    with Store(done.store) as store:
        assert [(one.series.method, one.series.label) for one in summaries(store)] == [
            ("Direct(budget=99)", "Direct CoT")
        ]


def test_an_endpoint_that_is_not_open_is_opened(
    endpoint: Server, tmp_path: Path, options: constraint_first.RunOptions
) -> None:
    endpoint.respond = reply_right
    path = tmp_path / "sums.jsonl"
    write_sums(path, 4)
    engine = constraint_first.OpenAI(constraint_first.Endpoint(endpoint.url, "m"))
    done = constraint_first.evaluate(str(path), "direct", runs=1, engine=engine, options=options)
    assert done.series[0].accuracy == 1.0
    assert done.usage.total > 0
    assert done.seconds > 0
    named = constraint_first.ModelRef("m", base_url=endpoint.url)
    other = constraint_first.RunOptions(store=str(tmp_path / "other.db"), limit=2)
    assert (
        constraint_first.evaluate(str(path), "direct", model=named, options=other)
        .series[0]
        .tally.total
        == 8
    )


def test_a_run_that_is_not_complete_says_why(
    endpoint: Server, options: constraint_first.RunOptions
) -> None:
    endpoint.script(failure(400, "no such thing"))
    problems = tuple(sums(2))
    benchmark = Benchmark("sums", "Sums", problems)
    ref = constraint_first.ModelRef("m", base_url=endpoint.url)
    done = constraint_first.evaluate(benchmark, "direct", runs=1, model=ref, options=options)
    assert not done.complete
    assert re.fullmatch(
        r"2 of 2 attempts failed and are not scored, 2 of them with: http\S+ HTTP 400"
        r".*no such thing.*; run the same command again",
        done.stopped,
    )
    assert done.series[0].accuracy is None


async def test_a_grid_is_an_experiment(options: constraint_first.RunOptions) -> None:
    grid = constraint_first.Experiment(
        benchmarks=(ones(1),), methods=("direct",), temperatures=(0.0, 1.0), seeds=(1, 2), runs=1
    )
    done = await constraint_first.aevaluate(
        grid, engine=constraint_first.Scripted(right_when_checked), options=options
    )
    assert {(s.series.decoding.temperature, s.series.decoding.seed) for s in done.series} == {
        (t, s) for t in (0.0, 1.0) for s in (1, 2)
    }


class Hearing(EvaluationWatcher):
    """A watcher that keeps what it is told about settings."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str]] = []

    def adapted(self, model: str, change: str) -> None:
        self.changes.append((model, change))


def refusing(body: dict[str, Any]) -> Reply:
    """Play a model that takes no temperature and no more than 4,096 tokens."""
    if "temperature" in body:
        return failure(400, "Unsupported value: 'temperature' is not supported with this model.")
    if body["max_tokens"] > 4_096:
        return failure(400, "max_tokens is too large. This model supports at most 4096.")
    return reply_right(body)


async def test_a_model_that_refuses_a_setting_has_series_without_it(
    endpoint: Server, options: constraint_first.RunOptions
) -> None:
    endpoint.respond = refusing
    benchmark, watcher = Benchmark("sums", "Sums", tuple(sums(6))), Hearing()
    for attempt in range(2):
        done = await constraint_first.aevaluate(
            benchmark,
            ["direct", "check"],
            runs=1,
            model=constraint_first.ModelRef("m", base_url=endpoint.url),
            options=options,
            watcher=watcher,
        )
        assert done.complete
        assert {one.series.decoding for one in done.series} == {
            constraint_first.Decoding(None, 0.95, max_tokens=4_096)
        }
        assert [change.split()[0] for _, change in watcher.changes] == (
            ["temperature", "max_tokens"] * (attempt + 1)
        )
        answered = [body for body in endpoint.requests if body["max_tokens"] <= 4_096]
        assert len([body for body in answered if "temperature" not in body]) == 12
    with Store(options.store) as store:
        decodings = [
            (one.series.method, one.tally.total, one.series.settings) for one in summaries(store)
        ]
    recorded = {"temperature": None, "top_p": 0.95, "seed": None, "max_tokens": 4_096}
    assert decodings == [("direct", 6, recorded), ("check", 6, recorded)]


async def test_what_was_made_with_a_setting_is_not_mixed_with_what_is_made_without(
    endpoint: Server, options: constraint_first.RunOptions
) -> None:
    endpoint.respond = lambda body: (
        refusing(body | {"max_tokens": 1}) if number_in(body) > 2 else reply_right(body)
    )
    benchmark = Benchmark("sums", "Sums", tuple(sums(6)))
    slow = replace(options, concurrency=1)
    engine = constraint_first.OpenAI(constraint_first.Endpoint(endpoint.url, "m"))
    done = await constraint_first.aevaluate(
        benchmark, "direct", runs=1, engine=engine, options=slow
    )
    assert done.complete
    assert [one.tally.total for one in done.series] == [6]
    with Store(options.store) as store:
        kept = {one.series.settings["temperature"]: one.tally.total for one in summaries(store)}
    assert kept[None] == 6
    assert kept.get(0.7, 0) <= 3


async def test_the_explicit_way_asks_nothing_that_is_refused(
    endpoint: Server, options: constraint_first.RunOptions
) -> None:
    endpoint.respond = refusing
    grid = constraint_first.Experiment(
        benchmarks=(Benchmark("sums", "Sums", tuple(sums(3))),),
        methods=("direct",),
        runs=1,
        temperatures=("none",),
        max_tokens=4_000,
    )
    engine = constraint_first.OpenAI(constraint_first.Endpoint(endpoint.url, "m"))
    assert (await constraint_first.aevaluate(grid, engine=engine, options=options)).complete
    assert len(endpoint.requests) == 3
    assert {body["max_tokens"] for body in endpoint.requests} == {4_000}


async def test_an_engine_that_refuses_for_ever_ends_the_run_with_its_reason(
    options: constraint_first.RunOptions,
) -> None:
    def refuse(_call: constraint_first.Call) -> constraint_first.Completion:
        raise DecodingRefused("no temperature; choose another", "scripted", "temperature")

    with pytest.raises(DecodingRefused, match="choose another"):
        await constraint_first.aevaluate(
            ones(), "direct", engine=constraint_first.Scripted(refuse), options=options
        )


def test_a_budget_holds_where_nothing_is_counted(
    endpoint: Server, options: constraint_first.RunOptions
) -> None:
    endpoint.respond = lambda body: answer(
        {"choices": [{"message": {"content": "\\boxed{1}"}, "finish_reason": "stop"}]}
    )
    limited = replace(options, max_tokens_total=100_000)
    benchmark = Benchmark("sums", "Sums", tuple(sums(20)))
    ref = constraint_first.ModelRef("m", base_url=endpoint.url)
    done = constraint_first.evaluate(benchmark, "direct", runs=1, model=ref, options=limited)
    assert done.stopped.startswith("the budget is spent: 98,")
    assert len(endpoint.requests) == 3


def test_a_budget_holds_where_calls_fail(
    endpoint: Server, options: constraint_first.RunOptions
) -> None:
    endpoint.script(answer({"choices": [{"finish_reason": "error"}]}))
    limited = replace(options, max_tokens_total=100_000, concurrency=1)
    benchmark = Benchmark("sums", "Sums", tuple(sums(20)))
    engine = constraint_first.OpenAI(
        constraint_first.Endpoint(endpoint.url, "m"), retry=Retry(first_pause=0.001)
    )
    done = constraint_first.evaluate(benchmark, "direct", runs=1, engine=engine, options=limited)
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
    options: constraint_first.RunOptions,
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    bounds: dict[str, Any],
    said: str,
) -> None:
    def hasty(seconds: float) -> Retry:
        return Retry(attempts=1, seconds=seconds)

    monkeypatch.setattr("constraint_first.model.client.Retry", hasty)
    endpoint.respond = lambda body: reply if number_in(body) == 1 else reply_right(body)
    benchmark = Benchmark("sums", "Sums", tuple(sums(3)))
    ref = constraint_first.ModelRef("m", base_url=endpoint.url)
    small = replace(options, **bounds)
    done = constraint_first.evaluate(benchmark, "direct", runs=1, model=ref, options=small)
    assert (done.series[0].tally.ok, done.series[0].tally.failed) == (2, 1)
    with Store(options.store) as store:
        (reason,) = [row["error"] for row in attempt_rows(store) if row["status"] == "failed"]
    assert said in reason


async def test_two_benchmarks_of_one_name_are_refused(options: constraint_first.RunOptions) -> None:
    engine = constraint_first.Scripted(right_when_checked)
    with pytest.raises(InputError, match="benchmark ones: two have this name"):
        await constraint_first.aevaluate([ones(), ones(2)], engine=engine, options=options)
    assert not engine.asked


async def test_two_wordings_in_one_process_do_not_meet(
    options: constraint_first.RunOptions, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("kind", "stern")]
    for folder in folders:
        folder.mkdir()
        (folder / "direct.txt").write_text(f"Be {folder.name}: [[problem]]")
    engines = [constraint_first.Scripted(lambda _: r"\boxed{1}") for _ in (*folders, None)]
    stores = [replace(options, store=str(tmp_path / f"{n}.db")) for n in range(3)]
    prompts = (*folders, None)
    found = await asyncio.gather(
        *(
            constraint_first.aevaluate(ones(), "direct", engine=engine, prompts=own, options=store)
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


def test_a_system_message_stands_in_the_place_of_the_benchmarks(
    options: constraint_first.RunOptions,
) -> None:
    asked: list[tuple[str, ...]] = []
    for system in (None, "Mine.", ""):
        engine = constraint_first.Scripted(lambda _: r"\boxed{1}")
        benchmark = replace(ones(1), system_prompt="Its own.")
        constraint_first.evaluate(
            benchmark, "direct", runs=1, engine=engine, system=system, options=options
        )
        (call,) = engine.asked
        asked.append(tuple(m.content for m in call.messages if m.role == "system"))
    assert asked == [("Its own.",), ("Mine.",), ()]


@pytest.mark.parametrize("ids", ["distinct", "x"])
@pytest.mark.parametrize("again", [0.01, 0.1])
async def test_no_problem_gets_the_reply_to_another(
    again: float, ids: str, options: constraint_first.RunOptions
) -> None:
    notes: list[str] = []

    class Noting(EvaluationWatcher):
        def noted(self, line: str) -> None:
            notes.append(line)

    with Doubling(again=again, ids=ids) as server:
        done = await constraint_first.aevaluate(
            Benchmark("sums", "Sums", sums(80)),
            "direct",
            model=constraint_first.ModelRef("m", server.url),
            options=replace(options, concurrency=8),
            watcher=Noting(),
        )
    assert done.complete
    assert done.series[0].accuracy == 1.0
    (note,) = notes
    assert "no longer kept alive" in note
