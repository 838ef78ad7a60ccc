"""The exact paired test and the exact bootstrap, beside scipy's random ones.

python perf/paired.py
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy import stats

from constraint_first.report.statistics import bootstrap, flip_signs

RESAMPLES = 10_000


def milliseconds(function: Callable[[], object], rounds: int) -> float:
    """The best of several rounds: other work on the machine only ever adds time."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def gains(problems: int) -> list[int]:
    """Differences of four runs a problem: some up, fewer down, the rest tied."""
    draw = random.Random(1)  # noqa: S311
    return draw.choices(range(-4, 5), [1, 2, 4, 8, 40, 10, 6, 3, 2], k=problems)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'problems × 4 runs':36}{'90':>12}{'674':>12}{'5,000':>12}")
    rows: dict[str, list[float]] = {}
    for problems in (90, 674, 5_000):
        values = gains(problems)
        points = np.asarray(values, dtype=float)
        peer = 3 if problems < 5_000 else 1
        for name, function, rounds in (
            ("flip_signs (exact)", lambda v=values: flip_signs(v), 20),
            (f"scipy permutation_test, {RESAMPLES:,}", lambda p=points: permuted(p), peer),
            ("bootstrap, BCa (exact)", lambda v=values: bootstrap(v).interval("bca"), 20),
            (f"scipy bootstrap, BCa, {RESAMPLES:,}", lambda p=points: resampled(p), peer),
        ):
            rows.setdefault(name, []).append(milliseconds(function, rounds))
    for name, times in rows.items():
        print(f"{name:36}" + "".join(f"{value:9.2f} ms" for value in times))
    exact, drawn, ours, theirs = rows.values()
    for name, one, other in (("test", drawn, exact), ("interval", theirs, ours)):
        ratios = "".join(f"{a / b:11.0f}x" for a, b in zip(one, other, strict=True))
        print(f"{'scipy / cfr, ' + name:36}{ratios}")


def permuted(points: np.ndarray) -> object:
    return stats.permutation_test(
        (points,), np.sum, permutation_type="samples", n_resamples=RESAMPLES, batch=500, rng=1
    )


def resampled(points: np.ndarray) -> object:
    return stats.bootstrap((points,), np.mean, n_resamples=RESAMPLES, batch=500, rng=1)


if __name__ == "__main__":
    main()
