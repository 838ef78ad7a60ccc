"""The header of a GGUF file: enough to tell a whole model from a broken one before loading it."""

from __future__ import annotations

import asyncio
import importlib
import os
import stat
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from constraint_first.error import InputError
from constraint_first.model.error import ModelFileError
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Bounds, Endpoint, Transport
from constraint_first.model.wire import Decoding

_STRING, _ARRAY = 8, 9
# Bytes of each scalar type, by its number in the format.
_WIDTH: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_LONGEST_HEADER: Final = 2**26
_MOST_DIMENSIONS: Final = 16
_TOO_MUCH: Final = (MemoryError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class GGUF:
    """A model file's own description: its architecture and context limit."""

    architecture: str
    context: int | None
    """The most tokens of context that it was trained with, where it says so."""


def inspect(path: Path) -> GGUF:
    """Read a model file's header, and refuse a file that is missing, foreign or cut short."""
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
    values = dict(_pair(file) for _ in range(pairs))
    last = max((_tensor_offset(file) for _ in range(tensors)), default=0)
    if file.tell() + last >= path.stat().st_size:
        raise ModelFileError(f"{path}: cut short; fetch it again")
    architecture = str(values.get("general.architecture", ""))
    context = values.get(f"{architecture}.context_length")
    return GGUF(architecture, context if isinstance(context, int) else None)


def _pair(file: BinaryIO) -> tuple[str, str | int | None]:
    name = _string(file)
    (kind,) = _unpack(file, "I")
    return name, _value(file, kind)


def _value(file: BinaryIO, kind: int) -> str | int | None:
    """Read a value; arrays and fractions are passed over."""
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
    # How many entries there are is the file's own word, and a false one is not followed for ever.
    if file.tell() > _LONGEST_HEADER:
        raise struct.error
    layout = "<" + layout
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


# A GGUF model in this process: llama.cpp's own HTTP server, asked like any other endpoint.

CONTEXT: Final = 4_096
"""Tokens of context for each call that runs at the same time, where none are asked for and the
file's own limit is not smaller."""


_CONNECTIONS: Final = 256


class Local(OpenAI):
    """An engine for a GGUF file: ``async with Local(path) as engine``.

    A seed repeats a reply exactly only with one slot, that is, with calls one at a time. Samples
    are asked for one by one: of several in one request llama.cpp counts the tokens of the first,
    and its cache has the prompt for the others.
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
        # The server stops when it is collected, and waits for its threads as it does so.
        server, self._server = self._server, None
        await asyncio.to_thread(_drop, [server])

    def _usable_context(self) -> int:
        """Choose the context; beyond the limit that it was trained with a model writes nonsense."""
        limit = inspect(self.path).context
        if limit and self.context and self.context > limit:
            raise InputError(
                f"{self.path}: its limit is {limit} tokens of context, and {self.context} are "
                f"asked for; give a smaller --context, {limit} at the most"
            )
        return self.context or min(CONTEXT, limit or CONTEXT)

    def _start(self, context: int) -> object:
        # With its default spinning, a contested core slows a small model down tenfold. OpenMP reads
        # this once, when the library is loaded.
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        try:
            xllamacpp: Any = importlib.import_module("xllamacpp")
        except ImportError as error:
            way = "pip install 'constraint-first[local]'"
            if "libgomp" in str(error):  # it is here, and a library of the system is not
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
    # What hands out parts of a machine, such as Ray, says so in this variable.
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads):
        return int(threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _drop(held: list[object]) -> None:
    held.clear()
