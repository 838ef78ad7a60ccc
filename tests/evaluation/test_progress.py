from dataclasses import replace
from pathlib import Path

import pytest
from sums import right, sums

import constraint_first
from constraint_first.model.resolve import Cost, Price
from constraint_first.protocol import Usage
from constraint_first.run.job import EvaluationProgress


def counted(call: constraint_first.Call) -> constraint_first.Completion:
    return constraint_first.Completion(right(call), usage=Usage(1_000, 500))


@pytest.fixture
def options(tmp_path: Path) -> constraint_first.RunOptions:
    return constraint_first.RunOptions(store=str(tmp_path / "runs.db"))


def evaluate(options: constraint_first.RunOptions, runs: int = 1) -> list[EvaluationProgress]:
    told: list[EvaluationProgress] = []
    benchmark = constraint_first.Benchmark("sums", "Sums", sums(3))
    engine = constraint_first.Scripted(counted)
    constraint_first.evaluate(
        benchmark, "direct", runs=runs, engine=engine, options=options, progress=told.append
    )
    return told


def test_each_attempt_is_told(options: constraint_first.RunOptions) -> None:
    told = evaluate(options)
    assert [(one.done, one.total, one.tokens) for one in told] == [
        (0, 3, 0),
        (1, 3, 1_500),
        (2, 3, 3_000),
        (3, 3, 4_500),
    ]
    assert {one.cost for one in told} == {None}
    assert str(replace(told[-1], seconds=2.0)) == "3 of 3 attempts, 4,500 tokens, 2 s"


def test_what_was_there_before_counts_as_done(options: constraint_first.RunOptions) -> None:
    evaluate(options)
    assert [one.done for one in evaluate(options, runs=2)] == [3, 4, 5, 6]


def test_with_a_price_dollars_are_told(
    options: constraint_first.RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def price(*_: object) -> Price:
        return Price(1.0, 2.0)

    monkeypatch.setattr("constraint_first.run.model_pool.ModelPool._price", price)
    last = evaluate(options)[-1]
    assert last.cost == Cost(pytest.approx(0.006))  # pyright: ignore
    assert ", $0.006, " in str(last)


def test_with_several_models_each_counts_at_its_own_price(
    options: constraint_first.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "models.toml"
    path.write_text("[scripted]\nprice = { input = 1000, output = 0 }\n")
    monkeypatch.setenv("CFR_MODELS", str(path))

    def cost_at_the_end(runs: int) -> str:
        told: list[EvaluationProgress] = []
        small = constraint_first.Scripted(
            lambda _: constraint_first.Completion('{"restrictive": "no"}', usage=Usage(10, 1_000))
        )
        constraint_first.evaluate(
            constraint_first.Benchmark("sums", "Sums", sums(1)),
            "llm-router(model=small)",
            runs=runs,
            engine=constraint_first.Client(constraint_first.Scripted(counted), {"small": small}),
            options=options,
            progress=told.append,
        )
        return str(told[-1].cost)

    assert cost_at_the_end(1) == "$1.00+"  # nobody knows what the small one costs
    path.write_text(path.read_text() + "[small]\nprice = { input = 0, output = 500 }\n")
    assert cost_at_the_end(2) == "$3.00"


def test_failed_attempts_are_told_as_such() -> None:
    moment = EvaluationProgress(1_200, 2_000, 3, Usage(10, 5), Cost(0.5), 61.4)
    assert str(moment) == "1,200 of 2,000 attempts, 3 failed, 15 tokens, $0.50, 61 s"


def test_what_the_function_raises_ends_the_run_and_loses_nothing(
    options: constraint_first.RunOptions,
) -> None:
    def stop(moment: EvaluationProgress) -> None:
        if moment.done == 2:
            raise KeyError("enough")

    benchmark = constraint_first.Benchmark("sums", "Sums", sums(9))
    slow = replace(options, concurrency=1)
    with pytest.raises(KeyError, match="enough"):
        constraint_first.evaluate(
            benchmark,
            "direct",
            runs=1,
            engine=constraint_first.Scripted(counted),
            options=slow,
            progress=stop,
        )
    engine = constraint_first.Scripted(counted)
    done = constraint_first.evaluate(benchmark, "direct", runs=1, engine=engine, options=slow)
    assert done.complete
    assert done.series[0].tally.resumed >= 2
