import importlib
import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_rows import the_differences

from constraint_first.report.statistics import bootstrap, drawn

stats: Any = importlib.import_module("scipy.stats")


def every_resample(values: list[int]) -> dict[Fraction, Fraction]:
    """Go through all n^n resamples: how likely each mean is."""
    n = len(values)
    sums = Counter(map(sum, itertools.product(values, repeat=n)))
    return {Fraction(total, n): Fraction(many, n**n) for total, many in sorted(sums.items())}


@pytest.mark.parametrize("values", [[0, 1, 3], [-2, 0, 0, 1], [4, -1, -1, 2, 0]])
def test_the_distribution_is_that_of_all_resamples(values: list[int]) -> None:
    found = bootstrap(values, unit=25.0)
    expected = every_resample(values)
    reached = dict(
        zip((round(mean, 9) for mean in found.means), np.diff(found.below, prepend=0), strict=True)
    )
    assert found.exact
    for mean, share in expected.items():
        assert reached.pop(round(25.0 * float(mean), 9)) == pytest.approx(float(share), abs=1e-12)
    assert all(share == pytest.approx(0, abs=1e-12) for share in reached.values())


def test_a_percentile_interval_cuts_off_the_tails() -> None:
    # Two draws of 0 and 1: a mean of 0, 0.5 or 1 with 1/4, 1/2 and 1/4.
    found = bootstrap([0, 1])
    assert found.interval("percentile", confidence=0.6) == (0.0, 1.0)
    assert found.interval("percentile", confidence=0.4) == (0.5, 0.5)


def test_the_acceleration_is_that_of_the_jackknife() -> None:
    values = [0, 0, 0, 1, 5]
    means = [(sum(values) - one) / 4 for one in values]
    centre = sum(means) / 5
    cubes, squares = (sum((centre - mean) ** power for mean in means) for power in (3, 2))
    assert bootstrap(values).acceleration == pytest.approx(cubes / (6 * squares**1.5))


def test_nothing_but_ties_have_no_spread() -> None:
    assert bootstrap([0] * 30).interval("bca") == (0.0, 0.0)
    assert bootstrap([2]).interval("bca") == (2.0, 2.0)


@pytest.mark.parametrize("method", ["BCa", "percentile"])
@pytest.mark.parametrize("which", [("DeepSeek", "AIME25"), ("Qwen", "pooled")], ids="-".join)
def test_scipy_agrees_on_the_intervals(which: tuple[str, str], method: str) -> None:
    values = np.asarray(the_differences(*which)) * 25.0
    kind = "bca" if method == "BCa" else "percentile"
    peer = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method=method, rng=3, batch=2_000
    ).confidence_interval
    ours = bootstrap(the_differences(*which), 25.0).interval(kind)
    step = 25.0 / len(values)
    assert ours == pytest.approx((float(peer.low), float(peer.high)), abs=1.01 * step)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=40))
def test_an_interval_lies_among_the_values(values: list[int]) -> None:
    for kind in ("bca", "percentile"):
        low, high = bootstrap(values).interval(kind)
        assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
        assert not math.isnan(low + high)


def test_drawn_resamples_come_near_the_exact_distribution_and_repeat() -> None:
    values = the_differences("Qwen", "AIME24")
    exact = bootstrap(values, 25.0).interval("bca")
    found = drawn([25.0 * v for v in values], seed=7, resamples=20_000)
    assert found.interval("bca") == pytest.approx(exact, abs=1.0)
    assert found.interval() == drawn([25.0 * v for v in values], 7, 20_000).interval()


def test_what_is_too_large_to_write_down_is_drawn() -> None:
    values = [0, 840, 420, 7] * 5_000
    found = bootstrap(values, 100 / 840)
    assert not found.exact
    assert found.observed == pytest.approx(100 * 1267 / 4 / 840)
    assert found.interval() == bootstrap(values, 100 / 840).interval()
    assert bootstrap(values[:40]).exact
