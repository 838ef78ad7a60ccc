from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sums import sums

import cfr
from cfr.benchmark import Benchmark
from cfr.engine.limit import Limiter
from cfr.evaluation.job import Job
from cfr.evaluation.watcher import EvaluationWatcher


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

    await cfr.aevaluate(
        Benchmark("sums", "Sums", tuple(sums(3))),
        "direct",
        runs=1,
        engine=cfr.Scripted("The answer is 1."),
        options=cfr.RunOptions(store=str(tmp_path / "runs.db")),
        watcher=Counting(),
    )
    assert seen == [0, 3]
