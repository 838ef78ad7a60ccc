"""The snapshot of CPython in WebAssembly: made once, whole, and replaced when it is not."""

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import Mock

import pytest

from constraint_first.protocol import Program
from constraint_first.sandbox import snapshot
from constraint_first.sandbox.interpreter import SandboxMissing
from constraint_first.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.skipif(not find_spec("eryx"), reason="eryx is not installed")

BROKEN = "raise ValueError('nothing\\nworks')"


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CFR_CACHE", str(tmp_path))
    return tmp_path / "programs"


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a few bytes in place of a snapshot."""

    def make(path: Path) -> None:
        path.write_text("snapshot")

    monkeypatch.setattr(snapshot, "_make", make)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make snapshots without sympy, in less time."""
    monkeypatch.setattr(snapshot, "_PACKAGES", ("absent",))


@pytest.mark.long
@pytest.mark.usefixtures("cache", "small")
def test_a_damaged_snapshot_is_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    path = snapshot.prepare()
    assert capsys.readouterr().err.startswith("preparing the sandbox for programs (once")
    made = path.stat().st_mtime_ns
    assert snapshot.prepare() == path
    assert path.stat().st_mtime_ns == made
    assert capsys.readouterr().err == ""
    os.truncate(path, 1_000)
    with Sandbox(count=1, interpreter="cpython") as sandbox:
        assert sandbox.run_now(Program("print(6 * 7)")).text == "42\n"
        assert sandbox.run_now(Program("import sympy")).error.startswith("ModuleNotFoundError")
    assert sorted(one.name for one in path.parent.iterdir()) == sorted(
        ("eryx-embedded", "lock", "sha256", "snapshot")
    )


@pytest.mark.usefixtures("made_up")
def test_snapshots_that_nothing_used_for_a_day_are_removed(cache: Path) -> None:
    for name, age in (("old", 90_000), ("recent", 80_000)):
        (cache / name).mkdir(parents=True)
        (cache / name / "snapshot").touch()
        os.utime(cache / name, (time.time(), time.time() - age))
    used = snapshot.prepare().parent
    assert {one.name for one in cache.iterdir()} == {"recent", used.name}


@pytest.mark.parametrize("part", ["_version", "_guest", "_cpu"])
@pytest.mark.usefixtures("cache", "made_up")
def test_each_part_of_a_snapshot_is_in_its_name(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = snapshot.prepare()
    monkeypatch.setattr(snapshot, part, Mock(return_value="another"))
    assert snapshot.prepare().parent != one.parent


@pytest.mark.slow
@pytest.mark.usefixtures("cache", "small")
def test_a_snapshot_that_fails_is_tried_once_and_ends_the_series(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def guest(name: str) -> str:
        tried.append(name)
        return BROKEN

    monkeypatch.setattr(snapshot, "_key", lambda: "key")
    monkeypatch.setattr(snapshot, "_guest", guest)
    with Sandbox(count=1, interpreter="cpython") as sandbox:
        for _ in range(3):
            with pytest.raises(SandboxMissing, match=r"\(works\); install it anew") as failed:
                sandbox.run_now(Program("print(1)"))
            assert failed.value.ends == "series"
    assert len(tried) == 2  # the guest's two modules, once


@pytest.mark.long
def test_processes_that_start_at_once_share_one_snapshot(cache: Path) -> None:
    program = (
        "from constraint_first.sandbox.sandbox import *\n"
        "print(Sandbox(count=1, interpreter='cpython').run_now("
        "Program('from sympy import *\\nprint(factor(Symbol(chr(120))**2 - 1))')).text)"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.communicate()[0] == "\\left(x - 1\\right) \\left(x + 1\\right)\n\n"
    (folder,) = cache.iterdir()
    assert not list(folder.glob("making-*"))
