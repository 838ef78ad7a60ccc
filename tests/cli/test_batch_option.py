"""Batches as a person meets them on the command line."""

import json
import shlex
from pathlib import Path

import pytest
from batch_files import run_batch
from batch_server import BatchServer
from batch_sums import finds_sums
from sums import write_sums

from .conftest import Run

ASKED = ("eval", "sums.jsonl", "--method", "cfr", "--runs", "1", "--model", "m")


def test_a_wave_is_shown_while_it_goes_on(cfr: Run, tmp_path: Path) -> None:
    write_sums(tmp_path / "sums.jsonl", 3)
    with BatchServer(finds_sums()) as server:
        ran = cfr(*ASKED, "--base-url", server.url, "--batch", "--batch-poll", "0.01")
    assert ran.code == 0, ran.err
    assert "wave 1: 0 of 3 requests done; batch_1 validating (0 of 3)\n" in ran.err
    assert "wave 1: 0 of 3 requests done; batch_1 in_progress (0 of 3); next look in" in ran.err
    assert "wave 2: 3 of 3 requests done; batch_2 completed (3 of 3)\n" in ran.err
    assert "3/3" in ran.out


def test_quiet_says_nothing_of_waves(cfr: Run, tmp_path: Path) -> None:
    write_sums(tmp_path / "sums.jsonl", 1)
    with BatchServer(finds_sums()) as server:
        given = ("--base-url", server.url, "--batch", "--batch-poll", "0.01", "--quiet")
        assert cfr(*ASKED, *given).err == ""


def test_a_folder_says_the_command_to_run_and_goes_on_after_it(cfr: Run, tmp_path: Path) -> None:
    write_sums(tmp_path / "sums.jsonl", 3)
    for wave in (1, 2):
        ran = cfr(*ASKED, "--batch-dir", "waves")
        assert ran.code == 7
        (line,) = [line for line in ran.err.splitlines() if line.startswith("vllm run-batch")]
        command = shlex.split(line)
        assert command[:3] == ["vllm", "run-batch", "-i"]
        assert ran.err.splitlines()[-1].startswith(
            f"cfr: wave {wave}: 3 requests in 1 file without"
        )
        run_batch(Path(command[3]), Path(command[5]))
    ran = cfr(*ASKED, "--batch-dir", "waves")
    assert ran.code == 0, ran.err
    assert "3/3" in ran.out


def test_what_cannot_be_is_refused_before_anything_is_asked(cfr: Run, tmp_path: Path) -> None:
    write_sums(tmp_path / "sums.jsonl", 1)
    ran = cfr(*ASKED[:-2], "--batch", "--batch-dir", "waves")
    assert (ran.code, "one or the other" in ran.err) == (2, True)
    ran = cfr(*ASKED, "--batch", "--batch-poll", "0")
    assert ran.code == 2
    ran = cfr(*ASKED[:-2], "--batch")
    assert ran.code == 2
    assert "--batch needs an endpoint with a batch API" in ran.err


def test_a_forecast_is_at_the_price_of_a_batch_and_needs_no_endpoint(
    cfr: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sums(tmp_path / "sums.jsonl", 3)
    (tmp_path / "models.toml").write_text("[m]\nprice = { input = 0, output = 1000 }\n")
    monkeypatch.setenv("CFR_MODELS", str(tmp_path / "models.toml"))
    given = (*ASKED, "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--json")

    def dollars(*more: str) -> float:
        return json.loads(cfr(*given, *more).out)["total"]["dollars"]["most"]

    assert dollars("--batch") == pytest.approx(dollars() / 2)  # pyright: ignore
    assert dollars("--batch-dir", "waves") == dollars()
    assert not (tmp_path / "waves").exists()
