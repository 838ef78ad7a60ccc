import math

import pytest

from constraint_first.error import InputError
from constraint_first.run.grid import RayOptions


def test_no_cluster_is_wanted_unless_one_is_named() -> None:
    assert not RayOptions().wanted
    RayOptions().check()
    assert RayOptions("auto").wanted


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
    with pytest.raises(InputError, match="name cpus, gpus, or a resource of the cluster's own"):
        RayOptions("auto", resources={name: 1}).check()


@pytest.mark.parametrize("amount", [-1, 1.5, math.inf, math.nan])
def test_amounts_that_ray_does_not_take_are_refused(amount: float) -> None:
    with pytest.raises(InputError, match=r"cpus=.*give a whole number, or a part of one below 1"):
        RayOptions("auto", resources={"cpus": amount}).check()


def test_at_least_one_worker_is_needed() -> None:
    with pytest.raises(InputError, match="--ray-workers 0: at least one"):
        RayOptions("auto", workers=0).check()
