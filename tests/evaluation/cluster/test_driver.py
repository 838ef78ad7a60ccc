import asyncio
import math
import os
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE

import pytest

from constraint_first.error import InputError
from constraint_first.run import cluster as ray_process
from constraint_first.run.cluster import (
    DriverOrder,
    RayFailed,
    RayProcess,
    require_ray,
    start_driver,
)
from constraint_first.run.grid import RayOptions


def make_order(address: str) -> DriverOrder:
    return {
        "address": address,
        "resources": {"CPU": 1.0},
        "seconds": 10.0,
        "settings": {"store": "postgresql://db/x", "limits": {}, "series": [], "base_url": []},
    }


@pytest.fixture
def closed() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


async def test_a_cluster_that_does_not_answer_is_told_in_a_line(closed: str) -> None:
    async with start_driver(make_order(closed)) as driver:
        with pytest.raises(RayFailed, match=f"--ray {closed}: .* does not answer .*'ray status'"):
            await driver.connected()


async def test_the_address_in_the_environment_is_tried_first(
    closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", closed)
    async with start_driver(make_order("auto")) as driver:
        with pytest.raises(RayFailed, match=f"--ray auto: .*{closed} does not answer"):
            await driver.connected()


async def test_what_ray_says_against_an_address_is_told() -> None:
    async with start_driver(make_order("nonsense")) as driver:
        with pytest.raises(RayFailed, match=r"\(Invalid address format: nonsense\)"):
            await driver.connected()


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


def test_resources_have_the_names_that_ray_has_for_them() -> None:
    asked = RayOptions("auto", resources={"cpus": 4, "gpus": 0.5, "fast_disk": 1})
    asked.check()
    assert asked.requested == {"CPU": 4, "GPU": 0.5, "fast_disk": 1}
    assert RayOptions("auto").requested == {"CPU": 1}


@pytest.mark.parametrize("address", ["auto", "head:6379", "10.0.0.1:6379", "[::1]:6379"])
def test_addresses_that_are_taken(address: str) -> None:
    RayOptions(address).check()


@pytest.mark.parametrize("address", ["", "local", "head", "ray://head:10001", "http://head:8265"])
def test_other_addresses_are_refused_in_a_line(address: str) -> None:
    with pytest.raises(InputError, match=r"not an address of a cluster; give HOST:PORT .* or auto"):
        RayOptions(address).check()


@pytest.mark.parametrize("name", ["", "CPU", "gpu", "memory", "node:10.0.0.1"])
def test_resources_that_are_rays_own_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="name cpus, gpus, or a resource that the cluster names"):
        RayOptions("auto", resources={name: 1}).check()


@pytest.mark.parametrize("amount", [-1, 1.5, math.inf, math.nan])
def test_amounts_that_ray_does_not_take_are_refused(amount: float) -> None:
    with pytest.raises(InputError, match=r"cpus=.*give a whole number, or a part of one below 1"):
        RayOptions("auto", resources={"cpus": amount}).check()


def test_at_least_one_worker_is_needed() -> None:
    with pytest.raises(InputError, match="--ray-workers 0: at least one"):
        RayOptions("auto", workers=0).check()
