import click
from click.testing import CliRunner

from constraint_first.cli.options import call_options, grouped, speed_options
from constraint_first.run.grid import RunOptions
from constraint_first.store.writer import LEASE_SECONDS

found: list[RunOptions] = []


@click.command()
@grouped("options", "constraint_first.run.grid:RunOptions", *speed_options, *call_options)
def command(options: RunOptions) -> None:
    found.append(options)


def test_without_options_they_are_what_a_program_gets() -> None:
    assert CliRunner().invoke(command, []).exit_code == 0
    assert found.pop() == RunOptions()
    assert RunOptions().lease == LEASE_SECONDS


def test_each_is_a_field_of_the_run() -> None:
    given = "--concurrency 3 --requests-per-minute 60 --tokens-per-minute 9 --lease 5"
    assert CliRunner().invoke(command, given.split()).exit_code == 0
    expected = RunOptions(concurrency=3, requests_per_minute=60.0, tokens_per_minute=9.0, lease=5.0)
    assert found.pop() == expected
    assert CliRunner().invoke(command, ["--lease", "0"]).exit_code == 2
