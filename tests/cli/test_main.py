import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from package_modules import import_all
from snapshot import Golden

from constraint_first.cli import COMMANDS, main, root
from constraint_first.cli.options import (
    call_options,
    columns_option,
    grouped,
    number_or_none,
    ray_options,
    speed_options,
)
from constraint_first.error import CfrError
from constraint_first.run.grid import RayOptions, RunOptions
from constraint_first.store.writer import LEASE_SECONDS

from .conftest import Run

HEAVY = {"aiohttp", "xllamacpp", "numpy", "matplotlib", "rich", "sympy", "orjson", "asyncio"}


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return set(ast.literal_eval(done.stdout.decode().splitlines()[-1]))


def test_help_imports_nothing_heavy() -> None:
    ask_for_help = (
        "from constraint_first.cli import root\n"
        "import sys\n"
        "try: root.main(['--help'], standalone_mode=False)\n"
        "except SystemExit: pass"
    )
    assert not HEAVY & modules_after(ask_for_help)


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not HEAVY & modules_after("import constraint_first")


def test_an_evaluation_begins_without_the_libraries_of_its_report() -> None:
    begun = modules_after("import constraint_first.cli.progress, constraint_first.run.run")
    assert not {"numpy", "matplotlib", "sympy"} & begun


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_says_what_each_says_itself(name: str) -> None:
    context = click.Context(root)
    command = root.get_command(context, name)
    assert command is not None
    assert command.help is not None
    assert command.help.splitlines()[0] == COMMANDS[name][1]
    assert command.name == name


def helps(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    context = command.make_context(name, [], parent, resilient_parsing=True, terminal_width=100)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            if inner := command.get_command(context, one):
                yield from helps(inner, one, context)


def test_the_help_of_every_command(golden: Golden) -> None:
    # In a process of its own: tests that ran before have registered methods and read presets.
    script = (
        "from __future__ import annotations\nimport click\nfrom constraint_first.cli import root\n"
        + inspect.getsource(helps)
        + "print('\\n\\n'.join(helps(root, 'cfr')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert ran.stdout == golden("help.txt")


def test_an_unknown_command_or_option_is_one_clear_message(cfr: Run) -> None:
    for arguments in (["sovle"], ["solve", "--modell", "x"]):
        ran = cfr(*arguments)
        assert ran.code == 2
        assert "No such" in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (CfrError("x.db\x1b[2J:\nno"), 1, "cfr: x.db�[2J: no\n"),
        (click.UsageError("No such\x9b option"), 2, "Error: No such� option\n"),
        (click.ClickException("x\x1b"), 1, "cfr: x�\n"),
        (KeyboardInterrupt(), 130, "cfr: stopped\n"),
        (ValueError("\x1b[2J\ud800"), 1, "Traceback (most recent call last):"),
    ],
)
def test_no_error_drives_the_terminal(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(**_: object) -> None:
        raise raised

    monkeypatch.setattr(root, "main", fail)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    err = capsys.readouterr().err
    assert said in err
    assert not set(err) & {"\x1b", "\x9b", "\ud800"}


def codes(kind: type[CfrError]) -> set[int]:
    return {kind.exit_code}.union(*map(codes, kind.__subclasses__()))


def test_every_exit_code_is_documented() -> None:
    import_all()
    text = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
    table = text.partition("| exit code | meaning |")[2].partition("\n\n")[0]
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    of_click = {click.UsageError.exit_code, click.ClickException.exit_code}
    assert documented == codes(CfrError) | of_click | {0, 130, 141}


@pytest.mark.parametrize("arguments", [["bench", "show", "--json"], ["models"]])
def test_a_reader_that_goes_away_is_no_mistake(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "constraint_first", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    "command",
    ["runs --store ~no-one/x.db", "solve 2+2 --model ~no-one/x.gguf", "route ~no-one/x.jsonl"],
)
def test_the_home_of_nobody_is_one_line(command: str, cfr: Run) -> None:
    ran = cfr(*command.split())
    assert ran.code in (2, 3, 5)
    assert ran.err.startswith("cfr: ~no-one/x.")
    assert ran.err.count("\n") == 1


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


def read_ray(*given: str) -> tuple[list[RayOptions], str]:
    found: list[RayOptions] = []

    @click.command()
    @ray_options
    def command(ray: RayOptions) -> None:
        found.append(ray)

    ran = CliRunner().invoke(command, given)
    return found, ran.output


def test_the_options_of_a_cluster_become_one_value() -> None:
    assert read_ray()[0] == [RayOptions()]
    assert read_ray("--ray", "auto")[0] == [RayOptions("auto", None, {"cpus": 1.0})]
    given = ("--ray", "head:6379", "--ray-workers", "8", "--ray-resources", "cpus=4, gpus=0.5")
    assert read_ray(*given)[0] == [RayOptions("head:6379", 8, {"cpus": 4.0, "gpus": 0.5})]


@pytest.mark.parametrize("text", ["", "4", "cpus", "cpus=", "=4", "cpus=many", "cpus=1,cpus=2"])
def test_resources_that_cannot_be_read_are_refused(text: str) -> None:
    found, said = read_ray("--ray", "auto", "--ray-resources", text)
    assert not found
    assert "is not a list of resources such as cpus=4,gpus=1" in said


@pytest.mark.parametrize(
    "given", [("--ray-workers", "2"), ("--ray-resources", "cpus=1"), ("--ray-workers", "0")]
)
def test_workers_need_a_cluster_and_a_number(given: tuple[str, ...]) -> None:
    found, said = read_ray(*given)
    assert not found
    assert given[0] in said


found: list[RunOptions] = []


@click.command()
@grouped("options", "constraint_first.run.grid:RunOptions", *speed_options, *call_options)
def run_command(options: RunOptions) -> None:
    found.append(options)


def test_without_options_they_are_what_a_program_gets() -> None:
    assert CliRunner().invoke(run_command, []).exit_code == 0
    assert found.pop() == RunOptions()
    assert RunOptions().lease == LEASE_SECONDS
