"""The snapshot that sandboxes start from: CPython in WebAssembly with sympy imported and used.

Made once, in a process of its own (about 30 s of processor time, 80 MB), and kept in the project's
cache folder under a name that holds a hash of all its parts. Nothing of it is imported or run here.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from filelock import FileLock

from constraint_first.model.local import model_folder, sha256_of

_GUEST: Final = ("cfr_harness", "cfr_warm_up")
_PACKAGES: Final = ("sympy", "mpmath")
_UNUSED: Final = 86_400.0
"""Seconds after which a snapshot of other versions is removed if no process has used it."""


class SnapshotFailed(Exception):
    """The snapshot could not be made."""


def folder() -> Path:
    """Return the folder for snapshots."""
    return model_folder().with_name("programs")


def prepare() -> Path:
    """Make the snapshot unless it is there and undamaged; return its path.

    Its own folder also holds what the interpreter unpacks there (TMPDIR).
    """
    path = folder() / _key() / "snapshot"
    if not _is_whole(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _reported(), FileLock(path.with_name("lock")):
            if not _is_whole(path):  # another process may have made it meanwhile
                _make(path)
    os.utime(path.parent)
    _remove_unused()
    return path


def _make(path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="making-") as name:
        made = Path(name) / "snapshot"
        _collect(Path(name) / "site")
        maker = subprocess.run(  # noqa: S603 — our own interpreter
            [sys.executable, "-P", "-c", _MAKE, str(Path(name) / "site"), str(made)],
            env={**_environment(), "TMPDIR": str(path.parent)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if maker.returncode or not made.is_file():
            # The guest's traceback comes before the code that it ran.
            said = maker.stderr.partition("\n\nCode:\n")[0].split("\n")
            raise SnapshotFailed(next(filter(None, reversed(said)), "its maker was killed"))
        path.with_name("sha256").write_text(sha256_of(made))
        made.replace(path)


_MAKE: Final = """
import sys, eryx
eryx.SandboxFactory(site_packages=sys.argv[1], imports=["cfr_warm_up"]).save(sys.argv[2])
"""


def _environment() -> dict[str, str]:
    search = os.pathsep.join(path for path in sys.path if path)
    return {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": search}


def _collect(site: Path) -> None:
    """Copy what the guest imports: sympy and mpmath without their tests, and our own modules."""
    site.mkdir()
    for name in _PACKAGES if all(map(find_spec, _PACKAGES)) else ():
        shutil.copytree(_package(name), site / name, ignore=_without_tests)
    for name in _GUEST:
        (site / f"{name}.py").write_text(_guest(name), "utf-8")


def _without_tests(folder: str, names: list[str]) -> list[str]:
    """Name what is not copied; each worker would unpack files of data, and leave them there."""
    return [
        name
        for name in names
        if name in ("tests", "__pycache__")
        or not (name.endswith(".py") or (Path(folder) / name).is_dir())
    ]


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SnapshotFailed(f"{name} is not installed")
    return Path(spec.origin).parent


def _guest(name: str) -> str:
    source = files("constraint_first.sandbox").joinpath("guest", f"{name}.py.txt")
    return source.read_text("utf-8")


def _key() -> str:
    versions = map(_version, ("pyeryx", *_PACKAGES))
    parts = [_cpu(), sys.version, *versions, *map(_guest, _GUEST)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _cpu() -> str:
    """Name what the machine code in a snapshot is compiled for."""
    flags = ""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.system()} {platform.machine()} {flags or platform.processor()}"


def _is_whole(path: Path) -> bool:
    try:
        return path.with_name("sha256").read_text() == sha256_of(path)
    except OSError:
        return False


def _remove_unused() -> None:
    for path in folder().iterdir():
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _UNUSED:
                shutil.rmtree(path)


@contextmanager
def _reported() -> Generator[None]:
    """Show that the snapshot is being made: in a terminal with the seconds, else one line."""
    done = threading.Event()
    text = "preparing the sandbox for programs (once, about half a minute)"
    if not sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)  # noqa: T201
        yield
        return

    def report() -> None:
        began = time.monotonic()
        while not done.wait(1):
            sys.stderr.write(f"\r{text} ... {time.monotonic() - began:.0f} s")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
