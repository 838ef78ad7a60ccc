import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from constraint_first.attempt.drive import Scripted, digest, drive, put_ahead
from constraint_first.method.registry import make
from constraint_first.model.batch import (
    BatchModel,
    FileLimits,
    FoundResult,
    Place,
    PlacedCall,
    Request,
    RequestId,
    Result,
    ResultIndex,
)
from constraint_first.model.error import JournalMismatch
from constraint_first.model.limit import Budget, Price
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.problem import Problem
from constraint_first.protocol import Message, Usage
from constraint_first.run.batch import OpenWave, WaveMemory, placed
from constraint_first.run.batch_service import BatchView, WaveProgress
from constraint_first.run.grid import BatchOptions

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


def test_a_reply_is_that_of_its_place_and_a_refusal_that_of_its_body(tmp_path: Path) -> None:
    made = wave(tmp_path, Collected(), results=[(name(1), 200), (name(2), 400)])
    assert made.find(name(1, body=B)) == Result(200, b"x")
    assert made.find(name(2)) == Result(400, b"x")
    assert made.find(name(2, body=B)) is None
    assert made.find(name(3)) is None
    with pytest.raises(JournalMismatch, match="call 0 differs"):
        made.find(name(1, asked=B))


def test_requests_without_a_line_and_earlier_refusals_are_found_too(tmp_path: Path) -> None:
    made = wave(tmp_path, Collected(), results=[(name(1), 200)])
    made.missing = {name(2).place: FoundResult(name(2), Result(0, b"lost"))}
    made.refused = {
        name(1).place: FoundResult(name(1), Result(400, b"old")),
        name(3).place: FoundResult(name(3), Result(400, b"old")),
    }
    assert made.find(name(1)) == Result(200, b"x")
    assert made.find(name(2)) == Result(0, b"lost")
    assert made.find(name(3)) == Result(400, b"old")


def test_a_request_is_made_three_times_at_the_most(tmp_path: Path) -> None:
    made = wave(tmp_path, Collected())
    assert [made.failed(name(1)) for _ in range(3)] == [True, True, False]
    assert made.failed(name(2))


def test_requests_go_into_files_by_model_within_the_limits(tmp_path: Path) -> None:
    collected = Collected()
    made, one, other = wave(tmp_path, collected), model(), model("n")
    for n in range(3):
        made.ask(Request(one, name(n), b"{}", Usage(1, 1)))
    made.ask(Request(other, name(9), b"{}", Usage(1, 1)))
    made.finish()
    assert collected.files == [
        ("m", [str(name(0)), str(name(1))], [0, 1]),
        ("m", [str(name(2))], [2]),
        ("n", [str(name(9))], [9]),
    ]
    assert made.requests == 4


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


async def test_every_call_has_its_place_and_is_a_request_of_its_own() -> None:
    engine = Scripted(lambda _: r"\boxed{2}")
    as_sent = placed((1, 1, 2), put_ahead((Message("system", "be brief"),), 2_000))
    steps = make("self-consistency(samples=2)").solve(Problem("What is 1 + 1?"))
    run = await drive(steps, engine, as_sent=as_sent)
    for ordinal, (sent, exchange) in enumerate(zip(engine.asked, run.exchanges, strict=True)):
        assert isinstance(sent, PlacedCall)
        assert sent.place == Place(1, 1, 2, ordinal)
        assert sent.asked == digest(exchange.call)
        assert (sent.sample, sent.messages[0].content) == (2_000 + ordinal, "be brief")


def test_calls_are_single_unless_somebody_wants_batches() -> None:
    assert not BatchOptions().wanted
    assert BatchOptions(batch=True).wanted
    assert BatchOptions(batch=True).folder is None
    assert BatchOptions().limits == FileLimits(50_000, 200_000_000)


def test_a_folder_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = BatchOptions(batch_dir="waves", batch_file_requests=3, batch_file_bytes=9)
    assert options.wanted
    assert options.folder == tmp_path / "waves"
    assert options.limits == FileLimits(3, 9)


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
