import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from package_modules import import_all
from snapshot import assert_unchanged

from constraint_first.cli import COMMANDS, main, root
from constraint_first.error import CfrError

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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_says_what_each_says_itself(name: str) -> None:
    context = click.Context(root)
    command = root.get_command(context, name)
    assert command is not None
    assert command.help is not None
    assert command.help.splitlines()[0] == COMMANDS[name][1]
    assert command.name == name


def helps(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, terminal_width=100)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            if inner := command.get_command(context, one):
                yield from helps(inner, f"{name} {one}")


def test_the_help_of_every_command() -> None:
    assert_unchanged("help.txt", "\n\n".join(helps(root, "cfr")) + "\n")


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
