import click
import pytest
from click.testing import CliRunner

from constraint_first.cli.options import ray_options
from constraint_first.run.grid import RayOptions


def read(*given: str) -> tuple[list[RayOptions], str]:
    found: list[RayOptions] = []

    @click.command()
    @ray_options
    def command(ray: RayOptions) -> None:
        found.append(ray)

    ran = CliRunner().invoke(command, given)
    return found, ran.output


def test_the_options_become_one_value() -> None:
    assert read()[0] == [RayOptions()]
    assert read("--ray", "auto")[0] == [RayOptions("auto", None, {"cpus": 1.0})]
    given = ("--ray", "head:6379", "--ray-workers", "8", "--ray-resources", "cpus=4, gpus=0.5")
    assert read(*given)[0] == [RayOptions("head:6379", 8, {"cpus": 4.0, "gpus": 0.5})]


@pytest.mark.parametrize("text", ["", "4", "cpus", "cpus=", "=4", "cpus=many", "cpus=1,cpus=2"])
def test_resources_that_cannot_be_read_are_refused(text: str) -> None:
    found, said = read("--ray", "auto", "--ray-resources", text)
    assert not found
    assert "is not a list of resources such as cpus=4,gpus=1" in said


@pytest.mark.parametrize(
    "given", [("--ray-workers", "2"), ("--ray-resources", "cpus=1"), ("--ray-workers", "0")]
)
def test_they_need_a_cluster_and_a_number(given: tuple[str, ...]) -> None:
    found, said = read(*given)
    assert not found
    assert given[0] in said
