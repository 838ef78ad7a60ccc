"""The Makefile's choice of a Python and its checks, with pythons and tools that are not real."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"
MAKE = shutil.which("make")
TOOLS = ("seq", "mkdir", "touch", "basename", "getconf")
pytestmark = pytest.mark.skipif(MAKE is None, reason="make is not here")

PYTHON = """#!/bin/sh
case "$1" in
  -c) [ {usable} -ge "$3" ] ;;
  --version) echo "Python {version}" ;;
  -m) mkdir -p .venv/bin && touch .venv/bin/python ;;
esac
"""


def add_python(folder: Path, name: str, version: str, *, usable: bool = True) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PYTHON.format(version=version, usable=version.split(".")[1] if usable else 0))
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is all that there is on PATH."""
    shutil.copy(MAKEFILE, tmp_path)
    path = tmp_path / "bin"
    path.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (path / tool).symlink_to(found)
    return path


def make(
    folder: Path, *arguments: str, target: str = ".venv/bin/python"
) -> subprocess.CompletedProcess[str]:
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    surroundings |= {"HOME": str(folder.parent), "PYENV_ROOT": str(folder.parent / "pyenv")}
    return subprocess.run(
        [str(MAKE), target, *arguments],
        cwd=folder.parent,
        env=surroundings | {"PATH": str(folder), "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_newest_python_that_has_venv_is_taken_and_named(folder: Path) -> None:
    for minor in (10, 11, 12, 13):
        add_python(folder, f"python3.{minor}", f"3.{minor}.1")
    add_python(folder, "python3.14", "3.14.0", usable=False)
    ran = make(folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "python3.13, the Python 3.13.1" in ran.stdout
    assert (folder.parent / ".venv" / "bin" / "python").exists()


def test_a_python_without_a_number_in_its_name_will_do(folder: Path) -> None:
    add_python(folder, "python3", "3.12.3")
    assert "made with python3, the Python 3.12.3" in make(folder).stdout


def test_an_old_python_gives_way_to_one_of_pyenvs_whose_shims_fail(folder: Path) -> None:
    add_python(folder, "python3", "3.11.7")
    add_python(folder, "python3.11", "3.11.7")
    said = make(folder).stdout
    assert "made with python3.11, the Python 3.11.7" in said
    assert "programs run without sympy there; Python 3.12 or newer has it" in said
    for minor in (12, 13):  # as pyenv's shims do for versions that are not chosen
        add_python(folder, f"python3.{minor}", f"3.{minor}.0", usable=False)
    for place in ("pyenv", ".pyenv"):
        shutil.rmtree(folder.parent / ".venv")
        other = folder.parent / place / "versions"
        add_python(other / "3.10.9" / "bin", "python", "3.10.9")
        add_python(other / "3.12.1" / "bin", "python", "3.12.1")
        said = make(folder).stdout
        assert f"made with {other}/3.12.1/bin/python, the Python 3.12.1" in said
        assert "sympy" not in said
        add_python(other / "3.13.0" / "bin", "python", "3.13.0")
        add_python(folder, "python3.12", "3.12.9")
        (folder.parent / ".venv" / "bin" / "python").unlink()
        assert "made with python3.12, the Python 3.12.9" in make(folder).stdout
        add_python(folder, "python3.12", "3.12.9", usable=False)
        shutil.rmtree(other)


def test_one_that_is_named_is_taken(folder: Path) -> None:
    for minor in (11, 12):
        add_python(folder, f"python3.{minor}", f"3.{minor}.1")
    assert "python3.11, the Python 3.11.1" in make(folder, "PYTHON=python3.11").stdout


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ((), "no Python from 3.11 on that has venv is here; install one"),
        (("PYTHON=python3.12",), "python3.12 is not here, older than 3.11 or without venv"),
        (("PYTHON=python3.10",), "python3.10 is not here, older than 3.11 or without venv"),
    ],
)
def test_where_there_is_none_the_way_out_is_named(
    folder: Path, named: tuple[str, ...], said: str
) -> None:
    add_python(folder, "python3.10", "3.10.1", usable=False)
    ran = make(folder, *named)
    assert ran.returncode != 0
    assert said in ran.stdout
    assert "PYTHON=/path/to/python3" in ran.stdout
    assert not (folder.parent / ".venv").exists()


CHECKS = (
    "ruff format",
    "ruff check",
    "vulture",
    "basedpyright",
    "lint-imports",
    "python -m pytest",
)
TOOL = """#!/bin/sh
echo "ran $(basename "$0") $*"
case "$(basename "$0") $*" in "{failing}"*) exit 1 ;; esac
"""


@pytest.mark.parametrize("failing", [None, *CHECKS])
def test_every_check_runs_and_one_that_fails_is_enough(folder: Path, failing: str | None) -> None:
    tools = folder.parent / ".venv" / "bin"
    tools.mkdir(parents=True)
    for name in {check.split()[0] for check in CHECKS}:
        (tools / name).write_text(TOOL.format(failing=failing))
        (tools / name).chmod(0o755)
    for path in ("pyproject.toml", "lock/dev.txt", ".venv/dev.ok"):
        (folder.parent / path).parent.mkdir(exist_ok=True)
        (folder.parent / path).touch()
    ran = make(folder, target="test")
    assert (ran.returncode == 0) is (failing is None), ran.stdout
    for check in CHECKS if failing is None else [failing]:
        assert f"ran {check}" in ran.stdout
