import json
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from batch_files import run_batch
from batch_server import BatchServer
from batch_sums import finds_sums
from loopback import Endpoint, Reply, completion, failure
from loopback import Endpoint as Server
from sums import number_in, reply_right, write_sums

from constraint_first.cli import run_interruptible, typed_command
from constraint_first.cli.progress import TerminalWatcher

from .conftest import Ran, Run


def eval_evaluate(cfr: Run, server: Server, *options: str) -> Ran:
    given = ("--method", "direct", "--runs", "2", "--base-url", server.url, "--model", "m")
    return cfr("eval", "sums.jsonl", *given, *options)


def listed(cfr: Run) -> list[dict[str, Any]]:
    return json.loads(cfr("runs", "--json").out)


def test_what_auto_stands_for_is_said_and_stored(cfr: Run, served: Server) -> None:
    given = ("sums.jsonl", "--runs", "1", "--base-url", served.url, "--model", "m")
    ran = cfr("eval", *given)
    assert ran.code == 0, ran.err
    assert (
        "m: auto is calibrated(policy=unmeasured): no policy comes with the package for m,"
        in ran.err
    )
    assert [one["method"] for one in listed(cfr)] == ["direct", "calibrated(policy=unmeasured)"]
    asked = len(served.requests)
    named = "calibrated(policy=unmeasured)"
    again = cfr("eval", *given, "--method", "auto", "--method", named, "--quiet")
    assert (again.code, again.err) == (0, "")
    assert len(served.requests) == asked  # both are the one that is there


def test_a_file_of_ones_own_is_evaluated_and_not_asked_again(cfr: Run, served: Server) -> None:
    ran = eval_evaluate(cfr, served)
    assert ran.code == 0, ran.err
    assert "12/12" in ran.out
    assert "100.0%" in ran.out
    assert len(served.requests) == 12
    assert {body["temperature"] for body in served.requests} == {0.7}
    again = eval_evaluate(cfr, served)
    assert (again.code, again.out) == (0, ran.out)
    assert len(served.requests) == 12


def test_failed_attempts_are_said_not_scored_and_made_again(cfr: Run, served: Server) -> None:
    faults = {
        1: failure(429, "slow down", Retry_After="0"),
        2: failure(500, "out of order", Retry_After="0"),
        3: failure(400, "no such thing"),
        4: completion("Let us think", "length"),
    }

    def faulty(body: dict[str, Any]) -> Reply:
        return faults.get(number_in(body)) or reply_right(body)

    served.respond = faulty
    ran = eval_evaluate(cfr, served)
    assert ran.code == 7
    assert "6 of 12 attempts failed and are not scored, 2 of them with: http" in ran.err
    assert ran.err.endswith("; run the same command again; 'cfr runs --failures' lists why\n")
    assert "Traceback" not in ran.err
    (row,) = listed(cfr)
    assert [row[s] for s in ("attempts", "ok", "truncated", "failed")] == [12, 4, 2, 6]
    assert row["accuracy"] == pytest.approx(4 / 6)  # pyright: ignore
    served.respond = reply_right
    served.requests.clear()
    assert eval_evaluate(cfr, served).code == 0
    assert sorted(map(number_in, served.requests)) == [1, 1, 2, 2, 3, 3]


def test_a_router_on_a_server_of_its_own(cfr: Run, served: Server, tmp_path: Path) -> None:
    with Server() as other:
        other.script(completion('{"restrictive": "no"}'))
        preset = f'["openai/gpt-4o-mini"]\nbase_url = "{other.url}"\nmodel = "gpt-4o-mini"\n'
        (tmp_path / "models.toml").write_text(preset)
        methods = ("--method", "direct", "--method", "llm-router(model=openai/gpt-4o-mini)")
        given = ("--runs", "1", "--base-url", served.url, "--model", "m", *methods)
        ran = cfr("eval", "sums.jsonl", *given, CFR_MODELS=str(tmp_path / "models.toml"))
        assert ran.code == 0, ran.err
        assert [body["model"] for body in other.requests] == ["gpt-4o-mini"] * 6
    assert [body["model"] for body in served.requests] == ["m"] * 12
    assert [(row["method"], row["model"]) for row in listed(cfr)] == [
        ("direct", "m"),
        ("llm-router(model=openai/gpt-4o-mini)", "m"),
    ]
    ran = cfr("report", "-o", "report", "--no-figures")
    assert ran.code == 0, ran.err
    assert "router 1,024 by openai/gpt-4o-mini" in (tmp_path / "report" / "report.md").read_text()


def test_seeds_and_temperatures_sweep(cfr: Run, served: Server) -> None:
    sweep = ("--temperature", "0", "--temperature", "1", "--seed", "1", "--seed", "2")
    assert eval_evaluate(cfr, served, *sweep, "--limit", "1").code == 0
    assert len(listed(cfr)) == 4
    told = {(body["temperature"], body["seed"]) for body in served.requests}
    assert told == {(t, s + r) for t in (0, 1) for s in (1, 2) for r in (0, 1000)}


@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        ("127.0.0.1:8801/v1", "", "cfr: 127.0.0.1:8801/v1: not an address: begin with http://"),
        ("http://me:hush@[::1/v1", "", "cfr: http://[::1/v1: not an address"),
        ("http://a..b/v1", "", "cfr: http://a..b/v1: not an address"),
        ("http://me:hush@h/v1", "a-key-that-is-set", "only one of them can be sent"),
        ("URL", "sk-hush\nhush", "OPENAI_API_KEY: the key holds a character that no key can have"),
    ],
)
def test_an_address_or_a_key_that_cannot_be_is_one_line(
    cfr: Run, served: Server, monkeypatch: pytest.MonkeyPatch, url: str, key: str, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    ran = cfr("eval", "sums.jsonl", "--model", "m", "--base-url", url.replace("URL", served.url))
    assert ran.code == 3
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert "hush" not in ran.err
    assert not served.requests


def test_an_address_without_its_last_part_suggests_it(cfr: Run, served: Server) -> None:
    bare = served.url.removesuffix("/v1")
    ran = cfr("eval", "sums.jsonl", "--model", "m", "--base-url", bare, "--runs", "1")
    assert ran.code == 7
    assert f"most addresses end in /v1: try {served.url}" in ran.err


def test_an_experiment_is_a_file_and_options_beside_it_win(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    grid = 'benchmarks = ["sums.jsonl"]\nmethods = ["direct", "check"]\nmodels = ["m"]\nruns = 3\n'
    (tmp_path / "grid.toml").write_text(grid)
    ran = cfr("eval", "grid.toml", "--runs", "1", "--base-url", served.url)
    assert ran.code == 0, ran.err
    assert [(row["method"], row["attempts"]) for row in listed(cfr)] == [
        ("direct", 6),
        ("check", 6),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grid.toml"], "grid.toml: cannot be read"),
        (["grid.toml", "aime24"], "an experiment's file names its benchmarks itself"),
        (["sums.jsonl", "./sums.jsonl"], "benchmark sums: two have this name"),
        (["none.jsonl"], "none.jsonl: cannot be read"),
        (["aime2024x"], "benchmark 'aime2024x': not known"),
        (["sums.jsonl", "--method", "direkt"], "did you mean 'direct'"),
        (["sums.jsonl", "--dry-run", "--method", "direkt"], "did you mean 'direct'"),
        (["sums.jsonl", "--runs", "0"], "--runs"),
        (["sums.jsonl", "--json"], "--json: goes with --dry-run"),
        (["sums.jsonl", "--max-cost", "1"], "--max-cost needs its price"),
        (["sums.jsonl", "--batch", "--batch-dir", "waves"], "one or the other"),
        (["sums.jsonl", "--batch", "--batch-poll", "0"], "--batch-poll"),
    ],
)
def test_a_mistake_costs_nothing(
    arguments: list[str], message: str, cfr: Run, served: Server
) -> None:
    ran = cfr("eval", *arguments, "--base-url", served.url, "--model", "m")
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert not served.requests


def test_a_store_that_another_run_holds_is_left_alone(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    from constraint_first.store.store import Store

    with Store(str(tmp_path / "runs.db")) as store, store.exclusively():
        ran = eval_evaluate(cfr, served)
    assert ran.code == 5
    assert "another run is using this store" in ran.err
    assert not served.requests


def test_several_endpoints_are_one_model(cfr: Run, served: Server) -> None:
    with Server() as other:
        other.respond, other.served = reply_right, [{"id": "test-model", "max_model_len": 4_096}]
        served.served = [{"id": "test-model", "max_model_len": 8_192}]
        both = ("--base-url", served.url, "--base-url", other.url)
        ran = cfr("eval", "sums.jsonl", "--method", "direct", "--runs", "2", *both)
        assert ran.code == 0, ran.err
        assert f"{other.url}: 4096 tokens of context, and {served.url} has 8192" in ran.err
        assert len(served.requests) + len(other.requests) == 12
        assert min(len(served.requests), len(other.requests)) > 0
    again = cfr("eval", "sums.jsonl", "--method", "direct", "--runs", "2", *both[:2])
    assert again.code == 0, again.err
    assert [(one["model"], one["attempts"]) for one in listed(cfr)] == [("test-model", 12)]


def test_who_stops_before_anything_was_asked_is_told_so() -> None:
    said = TerminalWatcher(quiet=True).stopped("postgresql://me:secret@host/runs")
    assert said.startswith("stopped before anything was asked; to begin anew: cfr")


# A shell that runs the tests in the background has its children ignore interrupts.
LAUNCH = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
WORK = """
import asyncio, sys
from constraint_first.cli import INTERRUPTED, Stopped, run_interruptible

async def work():
    print("ready", flush=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("ending", flush=True)
        if sys.argv[1] == "stubborn":
            await asyncio.Event().wait()
        raise

try:
    run_interruptible(work(), lambda: "all is safe", lambda: print("noticed", flush=True))
except Stopped as stopped:
    print(stopped, flush=True)
    sys.exit(INTERRUPTED)
"""


def start(*command: str, folder: Path | None = None) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_the_first_interrupt_ends_the_work_in_good_order() -> None:
    process = start(sys.executable, "-c", LAUNCH + WORK, "willing")
    assert line(process) == "ready"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (out.split("\n"), err) == (["noticed", "ending", "all is safe", ""], "")
    assert process.returncode == 130


def test_the_second_ends_at_once() -> None:
    process = start(sys.executable, "-c", LAUNCH + WORK, "stubborn")
    assert line(process) == "ready"
    process.send_signal(signal.SIGINT)
    assert [line(process), line(process)] == ["noticed", "ending"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (out, err, process.returncode) == ("", "cfr: stopped at once\n", 130)


async def seven() -> int:
    return 7


def test_work_that_is_not_interrupted_has_its_result() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert run_interruptible(seven(), lambda: "") == 7
    assert signal.getsignal(signal.SIGINT) is before
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(run_interruptible(seven(), lambda: "")))
    thread.start()
    thread.join()
    assert found == [7], "also where no signal ever comes"


def test_the_command_that_was_typed_without_the_password_of_a_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "postgresql://me:secret@host/runs"
    monkeypatch.setattr(sys, "argv", ["/bin/cfr", "eval", "a b.jsonl", "--store", address])
    assert typed_command() == "cfr eval 'a b.jsonl' --store 'postgresql://me:***@host/runs'"


def test_an_interrupted_solution_says_what_there_is(endpoint: Endpoint, tmp_path: Path) -> None:
    half = 'data: {"choices": [{"delta": {"content": "It is "}}]}\n\n'
    endpoint.script(Reply(chunks=[half], endless=b": wait\n\n"))
    process = start(
        *(sys.executable, "-u", "-c", LAUNCH + "from constraint_first.cli import main; main()"),
        *("solve", "Compute 2 + 2.", "--method", "direct", "--base-url", endpoint.url),
        folder=tmp_path,
    )
    while line(process) != "Solution":
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    said = "cfr: stopped; 0 of 1 problem solved, and nothing is stored; to begin anew: cfr solve "
    assert err == f"{said}'Compute 2 + 2.' --method direct --base-url {endpoint.url}\n"
    assert out in {"\n", "It is\n", "It is \n"}
    assert process.returncode == 130


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


def test_a_folder_says_the_command_to_run_and_goes_on_after_it(cfr: Run, tmp_path: Path) -> None:
    write_sums(tmp_path / "sums.jsonl", 3)
    here = cfr(*ASKED[:-2], "--batch")
    assert (here.code, "--batch needs an endpoint with a batch API" in here.err) == (2, True)
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
