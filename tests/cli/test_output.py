"""What commands write, and that they write it in no other way."""

import ast
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import constraint_first.cli
from constraint_first.cli.output import print_error, print_json, print_note, print_text

HOSTILE = "\x1b[2J\x9b2J\u202e\x00\ud800[red]x[/red]"
SHOWN = "�[2J�2J���[red]x[/red]"
MODULES = sorted(Path(constraint_first.cli.__file__).parent.glob("*.py"))


def test_text_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    print_text(f"a\n{HOSTILE}")
    print_text(Path("x"))
    print_text()
    print_note(f"a\n{HOSTILE}\tb")
    print_error(f"a\n{HOSTILE}")
    said = capsys.readouterr()
    assert said.out == f"a\n{SHOWN}\nx\n\n"
    assert said.err == f"a {SHOWN} b\na\n{SHOWN}\n"


def test_json_is_exact_and_safe_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"é": [HOSTILE, "a\nb"]})
    said = capsys.readouterr().out
    assert json.loads(said) == {"é": [HOSTILE, "a\nb"]}
    assert said.isascii() is False
    assert said.removesuffix("\n").isprintable()


@given(st.text(st.characters()))
def test_any_text_survives_an_output_that_holds_few_signs(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for encoding in ("utf-8", "latin-1", "ascii"):
            raw = io.BytesIO()
            stream = io.TextIOWrapper(raw, encoding, errors="replace", write_through=True)
            patch.setattr(sys, "stdout", stream)
            print_json([text], indent=2)
            assert json.loads(raw.getvalue().decode(encoding)) == [text]


def test_rows_for_programs_are_laid_out_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([1], indent=2)
    assert capsys.readouterr().out == "[\n  1\n]\n"


# What writes to a terminal without our looking at it, by the name under which it is called.
BYPASSES = {"echo", "secho", "print_exc", "from_markup", "from_ansi", "confirm", "prompt", "pager"}
NEEDS_CONSOLE = {"Live", "Progress", "track"}


def bypasses(source: str) -> list[str]:
    """Find the ways to a terminal that go around ``output`` and ``console``."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="rich.console" | "rich", names=names):
                banned = {"Console", "print", "print_json", "get_console", "console"}
                found += [one.name for one in names if one.name in banned]
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
                found += [name] * called_wrongly(node, name)
            case ast.Attribute(ast.Attribute(ast.Name("sys"), "stdout" | "stderr"), "write"):
                found.append("sys.write")
            case _:
                pass
    return found


def called_wrongly(call: ast.Call, name: str) -> bool:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and name == "print":
        return True
    if "markup" in given:
        return not isinstance(markup := given["markup"], ast.Constant) or markup.value is not False
    return name in BYPASSES or (name in NEEDS_CONSOLE and "console" not in given)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_command_writes_in_another_way(path: Path) -> None:
    found = bypasses(path.read_text())
    allowed = {"output.py": ["echo"] * 4, "console.py": ["console"]}
    assert found == allowed.get(path.name, [])


@pytest.mark.parametrize(
    "line",
    [
        "click.echo(x)",
        "print(x)",
        "sys.stderr.write(x)",
        "from rich.console import Console",
        "from rich import print",
        "Text.from_markup(x)",
        "console.print(x, markup=True)",
        "track(x)",
        "Progress(a, b)",
    ],
)
def test_a_way_around_is_found(line: str) -> None:
    assert bypasses(line)
    assert not bypasses("console.print(x, markup=False)\ntrack(x, console=c)\nprint_text(x)")
