from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored import attempt
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.protocol import Usage
from constraint_first.run.job import Progress, prepare, progress_of, seconds_left
from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

CHEAP, DEAR = ("direct", "m"), ("vote", "m")


def part(method: tuple[str, str], made: int, left: int, cost: int = 0, **rest: float) -> Progress:
    return Progress(method, left=left, made=made, tokens=made * cost, **rest)  # pyright: ignore[reportArgumentType]


def test_nothing_is_known_before_the_first_attempt() -> None:
    assert seconds_left([part(CHEAP, 0, 10)], 5.0) is None
    assert seconds_left([], 5.0) is None


def test_without_token_counts_attempts_count_alike() -> None:
    assert seconds_left([part(CHEAP, 2, 14)], 10.0) == 70.0
    assert seconds_left([part(CHEAP, 2, 0), part(DEAR, 0, 14)], 10.0) == 70.0


def test_a_dear_method_that_comes_later_is_expected_to_be_dear() -> None:
    """A hundred attempts of cost 1 took 100 s; a hundred of cost 10 take 1,000 s."""
    on_another = part(DEAR, 1, 0, 1_000)
    known = [part(CHEAP, 100, 0, 100), on_another, part(DEAR, 0, 100)]
    assert seconds_left(known, 110.0) == pytest.approx(1_000)
    stored = [part(CHEAP, 100, 0, 100), part(DEAR, 0, 100, earlier=1_000.0)]
    assert seconds_left(stored, 100.0) == pytest.approx(1_000)
    resumed = Progress(DEAR, left=100, made=0, stored=3, tokens=3_000)
    assert seconds_left([part(CHEAP, 100, 0, 100), resumed], 100.0) == pytest.approx(1_000)


def test_a_cheap_method_that_comes_later_is_expected_to_be_cheap() -> None:
    parts = [part(DEAR, 100, 0, 1_000), part(CHEAP, 0, 100, earlier=100.0)]
    assert seconds_left(parts, 1_000.0) == pytest.approx(100)


def test_another_model_is_another_cost() -> None:
    other = part(("vote", "other"), 50, 0, 7)
    assert (
        seconds_left([part(CHEAP, 10, 0, 7), other, part(DEAR, 0, 60, earlier=7.0)], 60.0) == 60.0
    )


@given(
    st.lists(st.tuples(st.integers(1, 1_000), st.integers(1, 40)), min_size=1, max_size=5),
    st.data(),
)
def test_at_a_steady_pace_the_forecast_is_exact_in_every_moment(
    series: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Each token takes a tenth of a second; earlier runs know what each method takes."""
    attempts = [(at, cost) for at, (cost, count) in enumerate(series) for _ in range(count)]
    made = data.draw(st.integers(1, len(attempts)))
    parts: list[Progress] = []
    for at, (cost, count) in enumerate(series):
        own = sum(number == at for number, _ in attempts[:made])
        parts.append(part((f"m{at}", "m"), own, count - own, cost, earlier=cost))
    elapsed, rest = (
        sum(cost for _, cost in some) / 10 for some in (attempts[:made], attempts[made:])
    )
    assert seconds_left(parts, elapsed) == pytest.approx(rest)


def test_a_job_knows_what_its_method_took_in_other_series(tmp_path: Path) -> None:
    problems = sums(4)
    with Store(str(tmp_path / "runs.db")) as store:
        other = store.register(Series("earlier", "vote", "m"), problems)
        numbers = [*other.problems.values()]
        rows = [attempt(other.series, number, output_tokens=800) for number in numbers]
        with store.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)
        job = prepare(store, Series("sums", "vote", "m"), problems, 2, Scripted([]))
        assert progress_of(job) == Progress(DEAR, left=8, made=0, earlier=800.0)
        assert (
            prepare(store, Series("sums", "direct", "m"), problems, 2, Scripted([])).earlier is None
        )
        job.tally.ok, job.tally.usage = 3, Usage(5, 2_400)
        assert progress_of(job).cost == 800.0
        job.tally.usage = Usage(5, 2_400, reported=False)
        assert progress_of(job).cost is None
