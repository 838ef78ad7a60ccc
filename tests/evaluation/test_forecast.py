from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from sums import right, sums
from sums_run import execute, make_sums

from constraint_first import ModelRef, RunOptions, evaluate
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import Benchmark
from constraint_first.method.registry import make
from constraint_first.model.limit import Price, PriceList
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Completion, Message, Steps, Usage, ask
from constraint_first.run.forecast import (
    CallSettings,
    Demand,
    EarlierRuns,
    Span,
    bound_attempt,
    forecast,
    read_earlier_runs,
)
from constraint_first.run.grid import Experiment
from constraint_first.store.database import StoreError
from constraint_first.store.series import Series
from constraint_first.store.store import Store

PROBLEM = Problem("What is 4 + 1?")
PLAIN = CallSettings()


def bound(method: str, settings: CallSettings = PLAIN) -> Demand:
    return bound_attempt(make(method), PROBLEM, settings)


@pytest.mark.parametrize(
    ("method", "calls"),
    [
        ("cfr", Span(2, 2)),
        ("self-refine", Span(3, 3)),
        ("until-agreed(most=4)", Span(2, 4)),
        ("llm-router", Span(2, 3)),
    ],
)
def test_what_depends_on_replies_is_a_range(method: str, calls: Span) -> None:
    found = bound(method).calls
    assert found.least == calls.least
    assert found.most >= calls.most


def test_the_longest_reply_is_what_every_limit_allows() -> None:
    lowered = CallSettings(Decoding(max_tokens=500))
    assert bound("direct", lowered).output.most == 500
    small = CallSettings(contexts={None: 4_096})
    assert bound("direct", small).output.most == 4_096
    more = bound("cfr", CallSettings(system="x" * 300)).input.least
    assert more - bound("cfr").input.least == 200, "a system prompt is asked with every call"


class Quoting:
    """Asks twice; the second prompt repeats the first reply."""

    label: ClassVar[str] = "Quoting"

    def solve(self, problem: Problem) -> Steps[Solution]:
        first = Call((Message("user", "abc"),), "direct", 100)
        reply = yield from ask(first)
        yield from ask(Call((Message("user", reply.text),), "direct", 10, model="small"))
        return Solution(None, "")


def test_a_prompt_may_be_longer_by_the_reply_that_it_quotes() -> None:
    found = bound_attempt(Quoting(), PROBLEM, PLAIN)
    assert found.output == Span(0, 110)
    assert found.input.most > 100


def test_money_is_bounded_by_the_price_of_each_model() -> None:
    prices = PriceList(Price(0, 1), {"small": Price(0, 100)})
    found = bound_attempt(Quoting(), PROBLEM, CallSettings(prices=prices))
    assert found.dollars == Span(0, pytest.approx((100 + 10 * 100) / 1e6))  # pyright: ignore
    assert found.complete
    unknown = CallSettings(prices=PriceList(Price(0, 1)))
    assert not bound_attempt(Quoting(), PROBLEM, unknown).complete


def test_a_method_that_breaks_takes_what_it_took() -> None:
    class Breaking(Quoting):
        def solve(self, problem: Problem) -> Steps[Solution]:
            yield from ask(Call((Message("user", "abc"),), "direct", 100))
            raise ValueError

    assert bound_attempt(Breaking(), PROBLEM, PLAIN).calls == Span(1, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two sets of sums, of three and of one, and one whose tokens nobody counted."""
    with Store(str(tmp_path / "runs.db")) as store:
        for name, count, usage in (
            ("sums", 3, Usage(100, 10)),
            ("others", 1, Usage(500, 50)),
            ("uncounted", 1, Usage(1, 1, reported=False)),
        ):
            engine = Scripted(lambda _, used=usage: Completion(r"\boxed{1}", usage=used))
            make_sums(store, Series(name, "direct", "m"), count, 1, engine, width=1)
        yield store


def test_means_are_by_method_and_benchmark_or_by_method(store: Store) -> None:
    found = read_earlier_runs(store, "m")
    prices = PriceList(Price(1, 10))
    same, all_sets = (found.find("direct", name, prices) for name in ("sums", None))
    assert same is not None
    assert all_sets is not None
    one = same.demand
    assert (one.calls, one.input, one.output) == (Span(1, 1), Span(100, 100), Span(10, 10))
    assert one.dollars.most == pytest.approx(200e-6)  # pyright: ignore
    assert all_sets.demand.input == Span(200, 200)
    unpriced = found.find("direct", None, PriceList())
    assert unpriced
    assert not unpriced.demand.complete


def test_what_was_not_counted_or_is_of_another_model_tells_nothing(store: Store) -> None:
    found = read_earlier_runs(store, "m")
    assert found.find("direct", "uncounted", PriceList()) is None
    assert found.find("cfr", None, PriceList()) is None
    assert read_earlier_runs(store, "another") == EarlierRuns()


def test_attempts_at_the_same_time_are_counted(store: Store) -> None:
    execute(store, "UPDATE attempts SET seconds = 10.0, finished_at = 100.0")
    execute(store, "UPDATE attempts SET finished_at = 900.0 WHERE series = 3")
    # Four within ten seconds, and one within ten others.
    assert read_earlier_runs(store, "m").at_a_time == pytest.approx(2.5)  # pyright: ignore


SUMS = Benchmark("sums", "Sums", sums(4))
GRID = Experiment(benchmarks=(SUMS,), methods=("direct", "cfr"), runs=2)

REF = ModelRef("m", base_url="http://127.0.0.1:9/v1")  # nobody is there to be asked


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"))


def make_all(options: RunOptions, method: str = "direct", benchmark: Benchmark = SUMS) -> None:
    engine = Scripted(lambda call: right(call), name="m")
    assert evaluate(benchmark, method, runs=1, engine=engine, options=options).complete


def test_what_is_stored_is_not_to_be_made(options: RunOptions) -> None:
    make_all(options)
    before = Path(options.store).read_bytes()
    direct, always = forecast(GRID, REF, options).series
    assert (direct.missing, direct.basis, always.basis) == (4, "same set", "bounds")
    assert direct.demand.calls == Span(4, 4)
    assert direct.seconds is not None
    assert Path(options.store).read_bytes() == before
    only = forecast(replace(GRID, methods=("direct",), runs=1), REF, options)
    assert (only.missing, only.seconds) == (0, 0.0)


def test_other_sets_tell_where_the_same_does_not(options: RunOptions) -> None:
    make_all(options, benchmark=Benchmark("more", "More", sums(2)))
    direct, _ = forecast(GRID, REF, options).series
    assert (direct.missing, direct.basis) == (8, "other sets")


def test_a_changed_problem_is_refused_as_by_the_run(options: RunOptions) -> None:
    make_all(options)
    changed = Benchmark("sums", "Sums", (Problem("Another", id="p0", answer="1"),))
    with pytest.raises(StoreError, match="problem p0 of sums has another text there"):
        forecast(replace(GRID, benchmarks=(changed,)), REF, options)
