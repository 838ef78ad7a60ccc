from dataclasses import replace
from pathlib import Path

import pytest
from sums import right, sums

import constraint_first
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import Benchmark
from constraint_first.problem import Problem
from constraint_first.run.forecast import Span, forecast
from constraint_first.run.grid import Experiment
from constraint_first.store.database import StoreError

SUMS = Benchmark("sums", "Sums", sums(4))
GRID = Experiment(benchmarks=(SUMS,), methods=("direct", "cfr"), runs=2)
REF = constraint_first.ModelRef(
    "m", base_url="http://127.0.0.1:9/v1"
)  # nobody is there to be asked


@pytest.fixture
def options(tmp_path: Path) -> constraint_first.RunOptions:
    return constraint_first.RunOptions(store=str(tmp_path / "runs.db"))


def run(
    options: constraint_first.RunOptions, method: str = "direct", benchmark: Benchmark = SUMS
) -> None:
    engine = Scripted(lambda call: right(call), name="m")
    assert constraint_first.evaluate(
        benchmark, method, runs=1, engine=engine, options=options
    ).complete


def test_without_a_store_everything_is_to_be_made(options: constraint_first.RunOptions) -> None:
    found = forecast(GRID, REF, options)
    assert [(one.series.method, one.missing) for one in found.series] == [("direct", 8), ("cfr", 8)]
    assert {one.basis for one in found.series} == {"bounds"}
    assert (found.demand.calls, found.seconds) == (Span(24, 24), None)
    assert not Path(options.store).exists()


def test_what_is_stored_is_not_to_be_made(options: constraint_first.RunOptions) -> None:
    run(options)
    before = Path(options.store).read_bytes()
    direct, always = forecast(GRID, REF, options).series
    assert (direct.missing, direct.basis, always.basis) == (4, "same set", "bounds")
    assert direct.demand.calls == Span(4, 4)
    assert direct.seconds is not None
    assert Path(options.store).read_bytes() == before
    only = forecast(replace(GRID, methods=("direct",), runs=1), REF, options)
    assert (only.missing, only.seconds) == (0, 0.0)


def test_other_sets_tell_where_the_same_does_not(options: constraint_first.RunOptions) -> None:
    run(options, benchmark=Benchmark("more", "More", sums(2)))
    direct, _ = forecast(GRID, REF, options).series
    assert (direct.missing, direct.basis) == (8, "other sets")


def test_bounds_of_many_problems_are_scaled(options: constraint_first.RunOptions) -> None:
    many = replace(GRID, benchmarks=(Benchmark("many", "Many", sums(250)),), methods=("direct",))
    (one,) = forecast(many, REF, options).series
    assert one.demand.calls.most == pytest.approx(500)  # pyright: ignore


def test_auto_is_what_it_stands_for(options: constraint_first.RunOptions) -> None:
    (one,) = forecast(replace(GRID, methods=("auto",)), REF, options).series
    assert one.series.method == "calibrated(policy=unmeasured)"


def test_a_changed_problem_is_refused_as_by_the_run(options: constraint_first.RunOptions) -> None:
    run(options)
    changed = Benchmark("sums", "Sums", (Problem("Another", id="p0", answer="1"),))
    with pytest.raises(StoreError, match="problem p0 of sums has another text there"):
        forecast(replace(GRID, benchmarks=(changed,)), REF, options)
