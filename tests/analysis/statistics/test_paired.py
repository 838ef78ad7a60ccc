import importlib
import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_rows import DEEPSEEK, QWEN, the_differences

from constraint_first.report.statistics import (
    Interval,
    bootstrap,
    detectable,
    fewest_changes,
    flip_signs,
    holm,
    sample_signs,
)

stats: Any = importlib.import_module("scipy.stats")

# Gain, p, BCa, percentile: as given with the differences, from 100,000 resamples, but for two ends
# at which such a number of resamples is a matter of luck. At DeepSeek's pooled BCa end (13.6 there)
# the level asked for is 0.98701 and 13.33 is reached with 0.98714; at Qwen's AIME26 percentile
# (3.3 there) 3.33 has 0.02497 of the 0.025 asked for. The exact distribution decides both.
GOLDEN: dict[tuple[str, str], tuple[float, float, Interval, Interval]] = {
    ("DeepSeek", "AIME24"): (5.0, 0.25, (0.8, 15.0), (0.0, 11.7)),
    ("DeepSeek", "AIME25"): (10.8, 0.0078125, (5.0, 22.5), (4.2, 19.2)),
    ("DeepSeek", "AIME26"): (9.2, 0.046875, (2.5, 19.2), (1.7, 17.5)),
    ("DeepSeek", "pooled"): (8.3, 18 / 2**18, (4.7, 13.3), (4.4, 12.8)),
    ("Qwen", "AIME24"): (4.2, 0.458984375, (-3.3, 13.3), (-4.2, 12.5)),
    ("Qwen", "AIME25"): (9.2, 0.0859375, (1.7, 20.8), (0.8, 19.2)),
    ("Qwen", "AIME26"): (13.3, 0.0234375, (5.0, 25.8), (4.2, 24.2)),
    ("Qwen", "pooled"): (8.9, 0.0020160498, (3.9, 15.0), (3.6, 14.4)),
}


@pytest.mark.parametrize("which", GOLDEN, ids="-".join)
def test_the_papers_paired_rows(which: tuple[str, str]) -> None:
    gain, p, bca, percentile = GOLDEN[which]
    values = the_differences(*which)
    found = bootstrap(values, 25.0)
    assert round(found.observed, 1) == gain
    assert flip_signs(values) == pytest.approx(p, rel=1e-8)
    assert tuple(round(end, 1) for end in found.interval("bca")) == bca
    assert tuple(round(end, 1) for end in found.interval("percentile")) == percentile


def test_the_papers_holm_columns() -> None:
    years = ("AIME24", "AIME25", "AIME26", "pooled")
    qwen = holm([GOLDEN["Qwen", year][1] for year in years])
    assert [round(p, 4) for p in qwen] == [0.4590, 0.1719, 0.0703, 0.0081]
    # The paper's 0.00793 is four times its Monte Carlo 0.00198.
    assert round(holm([0.4590, 0.0859, 0.0234, 0.00198])[3], 5) == 0.00792
    # DeepSeek's family had a fifth test between the second and the third of these.
    deepseek = holm([*(GOLDEN["DeepSeek", year][1] for year in years), 0.02])
    assert [round(p, 5) for p in deepseek[:4]] == [0.25, 0.03125, 0.09375, 0.00034]


def test_the_differences_are_those_of_the_reference() -> None:
    path = Path(__file__).parents[4] / "shared" / "paper" / "paired-tables.md"
    if not path.is_file():
        pytest.skip("the recovered differences are not beside this checkout")
    text = path.read_text(encoding="utf-8").replace("−", "-")
    for rows in (DEEPSEEK, QWEN):
        for values in rows.values():
            assert f"| {' '.join(map(str, values))} |" in text


def brute_force(values: list[int]) -> float:
    observed = abs(sum(values))
    flips = itertools.product((-1, 1), repeat=len(values))
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in flips]
    return sum(total >= observed for total in sums) / len(sums)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_counting_by_sums_is_counting_every_flip(values: list[int]) -> None:
    assert flip_signs(values) == pytest.approx(brute_force(values), abs=1e-12)


def test_one_run_each_is_mcnemars_test() -> None:
    values = [1] * 14 + [-1] * 5 + [0] * 81
    assert flip_signs(values) == pytest.approx(stats.binomtest(5, 19).pvalue, rel=1e-12)


def test_scipy_agrees_on_the_randomization_test() -> None:
    values = the_differences("Qwen", "AIME25")
    result = stats.permutation_test(
        ([value for value in values if value],),
        np.sum,
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert flip_signs(values) == pytest.approx(float(result.pvalue), rel=1e-12)


def test_sampled_flips_come_near_the_exact_p() -> None:
    values = the_differences("Qwen", "pooled")
    found = sample_signs([float(v) for v in values], seed=1)
    assert found == pytest.approx(0.002016, abs=0.0006)
    assert sample_signs([0.0, 0.0], seed=1) == 1.0


def by_whole_numbers(values: list[int]) -> Fraction:
    """Count flips in one integer, a field of 1,024 bits for each sum: no rounding at all."""
    sizes = [abs(value) for value in values if value]
    packed = 1
    for size in sizes:
        packed += packed << (1_024 * size)
    total, field = sum(sizes), (1 << 1_024) - 1
    extreme = sum(
        (packed >> (1_024 * kept)) & field
        for kept in range(total + 1)
        if abs(2 * kept - total) >= abs(sum(values))
    )
    return Fraction(extreme, 2 ** len(sizes))


@pytest.mark.parametrize("pattern", [[1, -1, 2, 0, 4, -3, 1], [1, -1, 0, 2, -2, 0, 1]])
def test_674_problems_are_exact_too(pattern: list[int]) -> None:
    values = (pattern * 97)[:674]
    assert flip_signs(values) == pytest.approx(float(by_whole_numbers(values)), rel=1e-11)


def test_nothing_but_ties() -> None:
    assert flip_signs([0] * 30) == 1.0
    assert detectable([0.0] * 30) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_a_p_and_keeps_their_order(values: list[float]) -> None:
    corrected = holm(values)
    assert all(c >= v and c <= 1 for c, v in zip(corrected, values, strict=True))
    ranked = [c for _, c in sorted(zip(values, corrected, strict=True))]
    assert ranked == sorted(ranked)


def test_what_a_set_can_show() -> None:
    # A standard deviation of 10 points on 100 problems: 2.8 standard errors of one point.
    assert detectable([10.0, -10.0] * 50) == pytest.approx(2.8016 * 10.0504 / 10, rel=1e-3)
    changes = fewest_changes()
    assert changes == 6
    assert cast("float", flip_signs([1] * changes)) < 0.05 < cast("float", flip_signs([1] * 5))
