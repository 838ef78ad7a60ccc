from dataclasses import dataclass

import click
from click.testing import CliRunner

from constraint_first.cli.options import columns_option, grouped, number_or_none


@dataclass(frozen=True)
class Pair:
    left: int
    right: str


def test_options_reach_their_command_as_one_value() -> None:
    seen: list[tuple[str, Pair, bool]] = []

    @click.command()
    @click.argument("name")
    @grouped(
        "pair",
        Pair,
        click.option("--left", type=int, default=1),
        click.option("--right", default="r"),
    )
    @click.option("--flag", is_flag=True)
    def command(name: str, pair: Pair, *, flag: bool) -> None:
        seen.append((name, pair, flag))

    assert CliRunner().invoke(command, ["a", "--left", "5", "--flag"]).exit_code == 0
    assert CliRunner().invoke(command, ["b", "--right", "x"]).exit_code == 0
    assert seen == [("a", Pair(5, "r"), True), ("b", Pair(1, "x"), False)]


def test_a_setting_is_a_number_in_its_range_or_none() -> None:
    seen: list[object] = []

    @click.command()
    @click.option("--warmth", type=number_or_none(0, 2), default=0.7)
    def command(warmth: object) -> None:
        seen.append(warmth)

    for given in ([], ["--warmth", "1.5"], ["--warmth", "none"]):
        assert CliRunner().invoke(command, given).exit_code == 0
    assert seen == [0.7, 1.5, "none"]
    for wrong in ("3", "nothing", "nan"):
        failed = CliRunner().invoke(command, ["--warmth", wrong])
        assert failed.exit_code == 2
        assert "'--warmth'" in failed.output


def test_help_lists_the_options_of_a_group_in_order_and_makes_nothing() -> None:
    def fail() -> type[Pair]:
        raise AssertionError("a help text needs no value")

    @click.command()
    @grouped("pair", fail, click.option("--left"), click.option("--right"))
    def command(pair: Pair) -> None:
        raise AssertionError(pair)

    shown = CliRunner().invoke(command, ["--help"])
    assert shown.exit_code == 0
    assert shown.output.index("--left") < shown.output.index("--right")


def test_columns_are_pairs_of_a_field_and_a_column() -> None:
    seen: list[dict[str, str]] = []

    @click.command()
    @columns_option("a=b")
    def command(columns: dict[str, str]) -> None:
        seen.append(columns)

    given = ["--columns", " Problem = the question ,answer=a=b", "--columns", "id=Nr."]
    assert CliRunner().invoke(command, given).exit_code == 0
    assert CliRunner().invoke(command, []).exit_code == 0
    assert seen == [{"problem": "the question", "answer": "a=b", "id": "Nr."}, {}]
    for wrong in ("", "problem", "problem=", "=x", "a=b,", "a=b,a=c"):
        failed = CliRunner().invoke(command, ["--columns", wrong])
        assert f"--columns {wrong!r}: write each field once" in str(failed.exception)
