import asyncio
import os
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from constraint_first import process
from constraint_first.protocol import Program
from constraint_first.sandbox import interpreter
from constraint_first.sandbox.interpreter import Interpreter, SandboxMissing
from constraint_first.sandbox.sandbox import Limits, Sandbox


def test_a_program_runs_and_the_next_one_too_after_a_hostile_one(interpreter: Interpreter) -> None:
    with Sandbox(Limits(seconds=0.3), count=1, interpreter=interpreter) as sandbox:
        assert sandbox.run_now(Program("print(6 * 7)")).text == "42\n"
        stopped = sandbox.run_now(Program("x = 10\nwhile True: x = x * x"))
        assert stopped.error == "TimeoutError: stopped after 0.3 s"
        after = sandbox.run_now(Program("print('still here')"))
    assert (after.text, after.error) == ("still here\n", "")
    assert after.seconds > 0


async def test_programs_run_side_by_side(interpreter: Interpreter) -> None:
    with Sandbox(Limits(seconds=5), count=2, interpreter=interpreter) as sandbox:
        outputs = await asyncio.gather(*(sandbox.run(Program(f"print({n})")) for n in range(64)))
    assert [output.text for output in outputs] == [f"{n}\n" for n in range(64)]


def test_a_program_prints_the_same_whenever_it_is_run(interpreter: Interpreter) -> None:
    source = "import random, time\nprint(random.random(), time.time(), {'a', 'b', 'c'}, hash('x'))"
    made = partial(Sandbox, interpreter=interpreter)
    with made(count=2) as one, made(count=1) as other:
        seen = {box.run_now(Program(source)).text for box in (one, one, other)}
    assert len(seen) == 1


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes under /proc")
def test_keys_are_not_in_the_environment_of_any_process_of_it(
    interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    processes = {"cpython": 1, "monty": 2}[interpreter]  # Monty's interpreter is one of its own
    with Sandbox(count=1, interpreter=interpreter) as sandbox:
        thread = threading.Thread(target=sandbox.run_now, args=(Program("while True: pass"),))
        thread.start()
        found = environments_below(os.getpid(), wanted=processes)
        thread.join()
    assert b"PYTHONPATH" in b"".join(found)
    assert b"sk-secret" not in b"".join(found)


def environments_below(parent: int, wanted: int) -> list[bytes]:
    """Wait until a worker has as many processes as wanted, and read their environments."""
    while True:
        parents = {int(p.parent.name): _parent_of(p) for p in Path("/proc").glob("[0-9]*/stat")}
        for worker in (pid for pid, above in parents.items() if above == parent):
            own = [worker, *(pid for pid, above in parents.items() if above == worker)]
            # A process may end between the list and the look.
            with suppress(FileNotFoundError, ProcessLookupError):
                if (
                    len(own) == wanted
                    and b"sandbox" in Path(f"/proc/{worker}/cmdline").read_bytes()
                ):
                    return [Path(f"/proc/{pid}/environ").read_bytes() for pid in own]
        time.sleep(0.01)


def _parent_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended meanwhile
        return -1


def test_where_the_interpreter_is_missing_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{interpreter.__name__}.find_spec", Mock(return_value=None))
    with pytest.raises(SandboxMissing, match=r"pip install 'constraint-first\[programs\]'"):
        Sandbox()


@pytest.mark.parametrize(
    ("interpreter", "binary", "said"),
    [
        ("monty", "/nowhere/monty", "cannot be run"),
        ("monty", "/bin/true", "cannot be run"),
        ("nothing", "", "does not start"),
    ],
)
def test_a_worker_or_interpreter_that_does_not_run_is_no_output(
    interpreter: Interpreter, binary: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONTY_BIN", binary)
    with (
        Sandbox(count=1, interpreter=interpreter) as sandbox,
        pytest.raises(SandboxMissing, match=said),
    ):
        sandbox.run_now(Program("print(1)"))


def test_a_machine_without_room_for_a_worker_is_no_output(
    interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Sandbox(Limits(seconds=0.3), count=1, interpreter=interpreter) as sandbox:
        full = Mock(side_effect=BlockingIOError("no more processes"))
        monkeypatch.setattr(process, "Worker", full)
        with pytest.raises(SandboxMissing, match="does not start"):
            sandbox.run_now(Program("print(1)"))
        monkeypatch.undo()
        assert sandbox.run_now(Program("print(2)")).text == "2\n"
