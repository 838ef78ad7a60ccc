import asyncio
import os
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE

import pytest

from constraint_first.error import InputError
from constraint_first.run import cluster as ray_process
from constraint_first.run.cluster import RayFailed, RayProcess, require_ray, start_driver

from .test_driver import make_order


async def test_a_driver_that_is_gone_is_told_with_its_last_words() -> None:
    with tempfile.TemporaryFile() as said:
        code = "import sys; print('lost the head', file=sys.stderr)"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code), stdin=PIPE, stdout=PIPE, stderr=said
        )
        driver = RayProcess(process, "head:1", said)
        with pytest.raises(RayFailed, match=r"broke off \(lost the head\).*same command again"):
            await driver.next()
        await driver.close()
        driver.start(1)  # nobody listens any more, and nothing happens


async def test_a_driver_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_process, "_CONNECT", 0.1)
    monkeypatch.setattr(ray_process, "_END", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        async with start_driver(make_order(address)) as driver:
            pid = driver.pid
            with pytest.raises(RayFailed, match=r"no answer in 0 seconds"):
                await driver.connected()
            os.kill(pid, 0)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_ray_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_process, "find_spec", dict[str, None]().get)
    with pytest.raises(InputError, match=r"pip install 'constraint-first\[ray\]'"):
        require_ray()
