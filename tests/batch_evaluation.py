"""Evaluations in batches in the test's own process, and what they leave in a store."""

from typing import Any

import sqlalchemy as sa
from batch_server import BatchServer
from batch_sums import METHODS, SEED
from loopback import Endpoint
from sums import sums

import constraint_first
from constraint_first.benchmark.registry import Benchmark
from constraint_first.model.resolve import ModelRef
from constraint_first.run.grid import BatchOptions, Experiment
from constraint_first.run.job import Evaluated, EvaluationWatcher, WaveProgress
from constraint_first.store import database as schema
from constraint_first.store.query import outcome_rows
from constraint_first.store.store import Store

SUMS = Benchmark("sums", "Sums", sums(6))
GRID = Experiment(benchmarks=(SUMS,), methods=METHODS, runs=2, seeds=(SEED,))
BATCH = BatchOptions(batch=True, batch_poll=0.001)
CALLS = 6 * 2 * (1 + 2 + 3)


class Told(EvaluationWatcher):
    def __init__(self) -> None:
        self.waves: list[WaveProgress] = []
        self.notes: list[str] = []

    def batches(self, progress: WaveProgress) -> None:
        self.waves.append(progress)

    def noted(self, line: str) -> None:
        self.notes.append(line)


async def evaluate(
    server: BatchServer | Endpoint,
    options: constraint_first.RunOptions,
    grid: Experiment = GRID,
    **more: Any,
) -> Evaluated:
    ref = ModelRef("m", server.url, key="sk-very-secret-key")
    return await constraint_first.aevaluate(grid, model=ref, options=options, **more)


def rows(url: str) -> set[tuple[Any, ...]]:
    names = ("method", "problem", "run", "status", "verdict", "answer", "input_tokens")
    with Store(url, existing=True) as store:
        return {tuple(row[name] for name in names) for row in outcome_rows(store)}


def calls(url: str) -> set[tuple[Any, ...]]:
    c = schema.calls.c
    columns = (c.series, c.problem, c.run, c.ordinal, c.stage, c.digest, c.text, c.output_tokens)
    with Store(url, existing=True) as store:
        return {tuple(row) for row in store.read(sa.select(*columns))}


def batches(url: str) -> list[Any]:
    with Store(url, existing=True) as store:
        return list(store.read(sa.select(schema.batches).order_by("wave")))
