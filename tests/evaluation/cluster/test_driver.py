import socket

import pytest

from constraint_first.run.cluster import DriverOrder, RayFailed, start_driver


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
