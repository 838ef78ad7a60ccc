import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loopback import Endpoint, Reply

from constraint_first.cli.output import Stopped, run_interruptible, typed_command

# A shell that runs the tests in the background has its children ignore interrupts.
LAUNCH = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
WORK = """
import asyncio, sys
from constraint_first.cli.output import INTERRUPTED, Stopped, run_interruptible

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


def test_work_that_is_cancelled_has_stopped() -> None:
    async def cancel() -> None:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await asyncio.sleep(0)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(Stopped, match="said"):
            run_interruptible(cancel(), lambda: "said")
    finally:
        signal.signal(signal.SIGINT, before)


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
