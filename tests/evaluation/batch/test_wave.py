import json
from collections.abc import Sequence
from pathlib import Path

from constraint_first.model.batch import (
    BatchModel,
    FileLimits,
    Place,
    Request,
    RequestId,
    ResultIndex,
)
from constraint_first.model.limit import Budget, Price
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.protocol import Usage
from constraint_first.run.batch import OpenWave, WaveMemory
from constraint_first.run.grid import BatchOptions
from constraint_first.run.job import BatchView, WaveProgress

A, B = "a" * 12, "b" * 12
PRICE = Price(1e6, 1e6)


def model(name: str = "m") -> BatchModel:
    return BatchModel(Endpoint("http://a", name), "http://a", Bounds(), PRICE)


def name(problem: int, asked: str = A, body: str = A) -> RequestId:
    return RequestId(Place(1, problem, 0, 0), asked, body)


class Collected:
    def __init__(self) -> None:
        self.files: list[tuple[str, list[str], list[int]]] = []

    def __call__(self, model: BatchModel, path: Path, names: Sequence[RequestId]) -> None:
        lines = [json.loads(line)["custom_id"] for line in path.read_text().splitlines()]
        self.files.append((model.model, lines, [one.place.problem for one in names]))


def wave(
    folder: Path,
    collected: Collected,
    memory: WaveMemory | None = None,
    results: Sequence[tuple[RequestId, int]] = (),
) -> OpenWave:
    path = folder / "results.jsonl"
    rows = [
        {"custom_id": str(one), "response": {"status_code": status, "body": "x"}}
        for one, status in results
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = ResultIndex(1_000)
    index.read([path], {str(one) for one, _ in results})
    return OpenWave(index, memory or WaveMemory(), folder, FileLimits(requests=2), collected)


def test_a_budget_pays_for_the_dearest_reply_and_gets_back_what_was_not_used(
    tmp_path: Path,
) -> None:
    budget = Budget(max_tokens=25, max_cost=25.0)
    made, one = wave(tmp_path, Collected(), WaveMemory(budget)), model()
    for n in range(3):
        made.ask(Request(one, name(n), b"{}", Usage(4, 6)))
    assert (made.requests, budget.tokens, budget.cost) == (2, 20, 20.0)
    assert made.postponed is not None
    assert made.postponed.name == name(2)
    made.spent(name(0), Usage(4, 1), PRICE)
    made.spent(name(1), None, PRICE)  # nobody knows: all of it
    assert (budget.tokens, budget.cost) == (15, 15.0)
    made.spent(name(7), Usage(1, 1), PRICE)  # asked by an earlier run
    assert (budget.tokens, budget.cost) == (17, 17.0)


def test_a_provider_takes_half_of_the_price_unless_told_otherwise() -> None:
    assert BatchOptions(batch=True).price_factor == 0.5
    assert BatchOptions(batch_dir="waves").price_factor == 1.0
    assert BatchOptions(batch=True, batch_price_factor=0.25).price_factor == 0.25


def test_a_wave_says_how_far_it_is() -> None:
    one = BatchView("batch_1", "in_progress", 1_200, 300, 2)
    progress = WaveProgress(2, (one,), next_look=12.4)
    assert str(progress) == (
        "wave 2: 300 of 1,200 requests done, 2 failed; "
        "batch_1 in_progress (300 of 1,200, 2 failed); next look in 12 s"
    )
    assert (progress.requests, progress.done, progress.failed) == (1_200, 300, 2)


def test_many_batches_are_counted_by_status_and_trouble_is_told() -> None:
    several = [BatchView(f"batch_{n}", "completed" if n else "in_progress", 10) for n in range(4)]
    assert str(WaveProgress(1, tuple(several), trouble="cannot be reached")) == (
        "wave 1: 0 of 40 requests done; 4 batches (1 in_progress, 3 completed); cannot be reached"
    )
