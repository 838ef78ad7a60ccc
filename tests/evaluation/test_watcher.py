from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sums import sums

import constraint_first
from constraint_first.benchmark.registry import Benchmark
from constraint_first.model.limit import Limiter
from constraint_first.run.job import EvaluationWatcher, Job


async def test_a_watcher_sees_the_series_while_they_are_run(tmp_path: Path) -> None:
    seen: list[int] = []

    class Counting(EvaluationWatcher):
        @asynccontextmanager
        async def running(
            self, jobs: Sequence[Job], limiters: Sequence[Limiter]
        ) -> AsyncGenerator[None]:
            seen.append(jobs[0].tally.scored)
            yield
            seen.append(jobs[0].tally.scored)
            assert len(limiters) == 1

    await constraint_first.aevaluate(
        Benchmark("sums", "Sums", tuple(sums(3))),
        "direct",
        runs=1,
        engine=constraint_first.Scripted("The answer is 1."),
        options=constraint_first.RunOptions(store=str(tmp_path / "runs.db")),
        watcher=Counting(),
    )
    assert seen == [0, 3]
