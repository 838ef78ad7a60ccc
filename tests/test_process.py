"""Both sides of the pipe between a pool and its workers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from constraint_first import process
from constraint_first.process import OnePerProcess, Pool, Undecided

# Tasks that do what their arguments say, under limits of a fraction of a second.
PROGRAM = """
import os, resource, signal, sys, warnings
from constraint_first.process import OnePerProcess, serve

def spin():
    while True: pass

def loud(text):
    print(text)
    os.write(1, b"raw " + text.encode())
    return text

tasks = {
    "pid": lambda: os.getpid(),
    "names": lambda: sorted(os.environ),
    "child": lambda: __import__("subprocess").Popen(["sleep", "1000"]).pid,
    "wait": lambda: __import__("time").sleep(1000),
    "add": lambda *numbers: sum(numbers),
    "spin": spin,
    "grow": lambda: len(bytearray(3 << 30)),
    "loud": loud,
    "fail": lambda: 1 / 0,
    "limits": lambda: [resource.getrlimit(resource.RLIMIT_AS)[0],
                       resource.getrlimit(resource.RLIMIT_CORE)[0]],
    "clock": lambda: signal.getitimer(signal.ITIMER_PROF)[0] > 0,
}
serve(tasks, cpu_seconds=0.3)
"""


def serve(
    *requests: object, program: tuple[str, ...] = ("-c", PROGRAM)
) -> tuple[int, list[str], str]:
    """Send requests; return the exit status, the lines of the reply, and standard error."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(
        [sys.executable, *program],
        input=lines.encode(),
        capture_output=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        check=False,
    )
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def test_it_is_ready_and_ends_with_its_input() -> None:
    assert serve() == (0, ["ready"], "")


def test_tasks_are_done_one_after_another() -> None:
    code, lines, _ = serve(["add", 1, 2], ["add"], ["add", 1.5, 1])
    assert (code, lines) == (0, ["ready", "3", "0", "2.5"])


def test_what_a_task_prints_is_not_its_reply() -> None:
    code, lines, error = serve(["loud", "[true]"], ["add", 1])
    assert (code, lines) == (0, ["ready", '"[true]"', "1"])
    assert error.count("[true]") == 2


@pytest.mark.parametrize(
    ("task", "message"), [("grow", "MemoryError"), ("fail", "ZeroDivisionError"), ("none", "none")]
)
def test_a_task_that_fails_ends_the_process_without_a_reply(task: str, message: str) -> None:
    code, lines, error = serve(["add", 1], [task], ["add", 2])
    assert code != 0
    assert lines == ["ready", "1"], "half a reply would be taken for a whole one"
    assert message in error


def test_a_task_that_takes_too_long_is_ended_by_the_system() -> None:
    code, lines, _ = serve(["add", 1], ["spin"], ["add", 2])
    assert code < 0, "by a signal"
    assert lines == ["ready", "1"]


def test_the_limits_hold_while_a_task_runs() -> None:
    _, lines, _ = serve(["limits"], ["clock"])
    assert [json.loads(line) for line in lines[1:]] == [[1 << 30, 0], True]


def test_the_time_of_a_task_is_its_own() -> None:
    """Many tasks together may take longer than one may."""
    busy = ["add", *range(200_000)]
    code, lines, _ = serve(*[busy] * 40)
    assert code == 0
    assert set(lines[1:]) == {str(sum(range(200_000)))}
    assert len(lines) == 41


def test_a_pool_asks_a_worker_and_replaces_it_where_a_task_kills_it() -> None:
    with Pool(("-c", PROGRAM), 1) as pool:
        assert pool.ask("add", 1, 2) == 3
        with pytest.raises(Undecided):
            pool.ask("spin")
        with pytest.raises(Undecided, match=r"no reply within 0\.2 s"):
            pool.ask("wait", patience=0.2)
        assert pool.ask("add", 1, 2) == 3


def test_a_worker_that_died_while_it_was_idle_is_replaced_without_a_word() -> None:
    with Pool(("-c", PROGRAM), 1) as pool:
        pid = pool.ask("pid")
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert pool.ask("add", 1) == 1


def test_a_worker_is_handed_the_environment_that_it_is_given() -> None:
    with Pool(("-c", PROGRAM), 1, {"HOME": "/nowhere"}) as pool:
        names = pool.ask("names")
    assert isinstance(names, list)
    assert [name for name in names if name != "LC_CTYPE"] == ["HOME", "PYTHONPATH"]


def test_processes_that_a_worker_started_end_with_it() -> None:
    with Pool(("-c", PROGRAM), 1) as pool:
        child = pool.ask("child")
    stat = Path(f"/proc/{child}/stat")  # it may stay as a zombie until somebody asks for it
    for _ in range(1_000):
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.01)
    pytest.fail("it goes on")


def test_a_worker_that_cannot_be_replaced_at_once_is_replaced_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object, **__: object) -> None:
        raise BlockingIOError("no more processes")

    with Pool(("-c", PROGRAM), 1) as pool:
        assert pool.ask("add", 1, 2) == 3
        monkeypatch.setattr(process, "Worker", full)
        with pytest.raises(Undecided):
            pool.ask("fail")
        monkeypatch.undo()
        assert pool.ask("add", 3, 4) == 7


def test_a_process_has_one_and_a_forked_child_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []

    class Made:
        def close(self) -> None:
            closed.append(1)

    own = OnePerProcess(Made)
    first = own()
    assert own() is first
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert own() is not first
    assert not closed
