"""Batches: their files, the HTTP API for them, and an engine whose calls go through them.

An input file has one request a line, an output file one result a line. The format is OpenAI's,
which vLLM's ``run_batch`` and other providers read and write too. A result has a response with its
HTTP status, or an error where the request was never performed; vLLM gives both where it refused a
request.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar
from urllib.parse import quote, urlencode

import aiohttp
import orjson

from constraint_first.error import InputError, OutputError
from constraint_first.model.client import OpenAI, written
from constraint_first.model.error import (
    NOTHING_SECRET,
    BadReply,
    ModelNotFound,
    Redaction,
    Rejected,
    ServerFault,
    StreamCut,
    Transient,
)
from constraint_first.model.limit import Price, Retry, most_usage
from constraint_first.model.transport import Bounds, Endpoint, Transport, refusal
from constraint_first.model.wire import error_message
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Usage

ENDPOINT: Final = "/v1/chat/completions"
"""The path that every request of a batch is sent to."""
NOT_PERFORMED: Final = 0
"""The status of a request that got no HTTP response: it expired, or its batch failed."""
_CANCELLED: Final = "batch_cancelled"


class BadResult(ValueError):
    """A line of an output file is not a result; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Result:
    status: int
    """The HTTP status, or ``NOT_PERFORMED``."""
    body: bytes
    """The body of the HTTP response, or of the error in its place."""
    cancelled: bool = False

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300


def request_line(custom_id: str, body: bytes) -> bytes:
    """Write a request as a line of a batch's input file; ``body`` is its JSON text."""
    line = {
        "custom_id": custom_id,
        "method": "POST",
        "url": ENDPOINT,
        "body": orjson.Fragment(body),
    }
    return orjson.dumps(line) + b"\n"


def read_result(line: bytes) -> tuple[str, Result]:
    try:
        value: Json = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise BadResult("not JSON") from None
    if not isinstance(value, dict):
        raise BadResult("not a JSON object")
    custom_id = value.get("custom_id")
    if not isinstance(custom_id, str):
        raise BadResult("no custom_id")
    return custom_id, _result(value.get("response"), value.get("error"))


def _result(response: Json, error: Json) -> Result:
    if isinstance(response, dict):
        status = response.get("status_code")
        if type(status) is not int or not 100 <= status < 600:
            raise BadResult("no status_code in its response")
        body = response.get("body")
        return Result(status, _said(error) if body is None else _written(body))
    if error is None:
        raise BadResult("neither a response nor an error")
    cancelled = isinstance(error, dict) and error.get("code") == _CANCELLED
    return Result(NOT_PERFORMED, _said(error), cancelled)


def _said(error: Json) -> bytes:
    """Write an error as the body of an HTTP error response, so that both are read alike."""
    inner = error.get("error") if isinstance(error, dict) else None
    return orjson.dumps({"error": inner if inner is not None else error})


def _written(body: Json) -> bytes:
    return body.encode() if isinstance(body, str) else orjson.dumps(body)


# The status of a batch, as its provider reports it.

_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_LONGEST_ID: Final = 256


@dataclass(frozen=True, slots=True)
class BatchStatus:
    id: str
    status: str
    """validating, failed, in_progress, finalizing, completed, expired, cancelling, cancelled."""
    input_file: str = ""
    output_file: str = ""
    error_file: str = ""
    done: int = 0
    failed: int = 0
    created_at: float = 0.0
    tag: str = ""
    """Our own name for it, where the provider stores metadata."""
    reason: str = ""
    """Why the whole batch failed; empty otherwise."""

    @property
    def has_ended(self) -> bool:
        return self.status in _ENDED


def read_status(value: Json, tag_key: str, redaction: Redaction = NOTHING_SECRET) -> BatchStatus:
    """Read a batch object; malformed fields are left out, but id and status are required."""
    if not isinstance(value, dict) or not _text(value, "id") or not _text(value, "status"):
        raise BadReply("the endpoint's reply is not a batch: it has no id or no status")
    counts, metadata = value.get("request_counts"), value.get("metadata")
    return BatchStatus(
        id=_text(value, "id"),
        status=_text(value, "status"),
        input_file=_text(value, "input_file_id"),
        output_file=_text(value, "output_file_id"),
        error_file=_text(value, "error_file_id"),
        done=_count(counts, "completed"),
        failed=_count(counts, "failed"),
        created_at=float(_count(value, "created_at")),
        tag=_text(metadata, tag_key) if isinstance(metadata, dict) else "",
        reason=redaction.quote(_reason(value.get("errors"))),
    )


def _text(value: dict[str, Json], name: str) -> str:
    """Read a name; empty where it cannot be stored or is too long for a name."""
    found = value.get(name)
    if not isinstance(found, str) or not found.isprintable() or len(found) > _LONGEST_ID:
        return ""
    return found if found.encode("utf-8", "replace").decode() == found else ""


def _count(value: Json, name: str) -> int:
    found = value.get(name) if isinstance(value, dict) else None
    return found if type(found) is int and 0 <= found < 2**53 else 0


def _reason(errors: Json) -> str:
    listed = errors.get("data") if isinstance(errors, dict) else errors
    first = listed[0] if isinstance(listed, list) and listed else listed
    if isinstance(first, dict):
        said = [first.get("code"), first.get("message")]
        return ": ".join(one for one in said if isinstance(one, str))
    return first if isinstance(first, str) else ""


# The client of a batch API: upload files, create and poll batches, download results.
#
# Every request may be retried after a fault. A second upload of a file costs nothing, but a second
# batch would be paid for: before creation is retried, the endpoint's list is searched for a batch
# with our tag or input file.

T = TypeVar("T")

_TAG: Final = "cfr"
"""The key in a batch's metadata that holds our own name for it."""
_WINDOW: Final = "24h"
_PAGE: Final = 100
_MOST_PAGES: Final = 10_000
_CONNECTIONS: Final = 4
_JSON: Final = {"Content-Type": "application/json"}
_CLOCKS_APART: Final = 86_400.0


class CannotList(ModelNotFound):
    """An endpoint that does not list its batches."""


@dataclass
class BatchClient:
    """The batch API of one endpoint: ``async with BatchClient(endpoint) as client``."""

    endpoint: Endpoint
    bounds: Bounds
    retry: Retry

    def __post_init__(self) -> None:
        self._transport = Transport(self.endpoint, self.bounds, _CONNECTIONS)

    async def __aenter__(self) -> BatchClient:
        self._transport.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.close()

    async def upload(self, path: Path, name: str) -> str:
        async def send() -> str:
            with path.open("rb") as file:
                form = aiohttp.FormData()
                form.add_field("purpose", "batch")
                form.add_field("file", file, filename=name, content_type="application/jsonl")
                found = (await self._json("POST", "files", form, {})).get("id")
            if not isinstance(found, str) or not found or not found.isprintable():
                raise BadReply(f"{self.endpoint.shown}: its reply to an upload has no id")
            return found

        return await self._again(send)

    async def create(
        self, input_file: str, tag: str, since: float, *, made_before: bool
    ) -> BatchStatus:
        """Create a batch from an uploaded file, or find the one that an earlier try created."""
        body = {
            "input_file_id": input_file,
            "endpoint": ENDPOINT,
            "completion_window": _WINDOW,
            "metadata": {_TAG: tag},
        }
        headers = {**_JSON, "Idempotency-Key": tag}
        unsure = made_before

        async def make() -> BatchStatus:
            nonlocal unsure
            if unsure and (found := await self.find(input_file, tag, since)):
                return found
            unsure = True
            return self._status(await self._json("POST", "batches", orjson.dumps(body), headers))

        return await self._again(make)

    async def find(self, input_file: str, tag: str, since: float) -> BatchStatus | None:
        """Find a batch in the endpoint's list, newest first; of two the newer one is cancelled."""
        found = [
            one
            async for one in self._listed(since - _CLOCKS_APART)
            if one.tag == tag or (one.input_file and one.input_file == input_file)
        ]
        found.sort(key=lambda one: (one.status == "cancelled", one.created_at))
        for extra in found[1:]:
            if not extra.has_ended and extra.status != "cancelling":
                await self._json("POST", f"batches/{_in_path(extra.id)}/cancel", b"", _JSON)
        return found[0] if found else None

    async def look(self, batch: str) -> BatchStatus:
        return self._status(await self._json("GET", f"batches/{_in_path(batch)}"))

    async def download(self, file: str, path: Path) -> None:
        """Stream a file of results to disk; raise an error where it is incomplete."""

        async def fetch() -> None:
            size, place = 0, f"files/{_in_path(file)}/content"
            async with self._transport.exchange("GET", place) as response:
                await self._transport.require_success(response)
                with path.open("wb") as saved:
                    async for piece in response.pieces():
                        size += len(piece)
                        await asyncio.to_thread(_write, saved, piece)
            packed = "Content-Encoding" in response.headers
            if not packed and response.content_length not in (None, size):
                raise StreamCut(f"{self.endpoint.shown}: a file of results was cut")

        await self._again(fetch)

    async def _listed(self, since: float) -> AsyncGenerator[BatchStatus]:
        after = ""
        for _ in range(_MOST_PAGES):
            query = urlencode({"limit": _PAGE} | ({"after": after} if after else {}))
            try:
                page = await self._json("GET", f"batches?{query}")
            except ModelNotFound as error:
                raise CannotList(str(error)) from None
            entries = page.get("data")
            if not isinstance(entries, list):
                raise BadReply(f"{self.endpoint.shown}: its list of batches cannot be read")
            listed = [self._status(entry) for entry in entries]
            for one in listed:
                yield one
            last = listed[-1].id if listed else ""
            old = bool(listed) and 0 < listed[-1].created_at < since
            if page.get("has_more") is not True or not last or last == after or old:
                return
            after = last

    def _status(self, value: Json) -> BatchStatus:
        return read_status(value, _TAG, self._transport.redaction)

    async def _again(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await replace(self.retry).run(operation)

    async def _json(
        self,
        verb: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        headers: Mapping[str, str] = _JSON,
    ) -> dict[str, Json]:
        async with self._transport.exchange(verb, path, data, headers) as response:
            body = await (await self._transport.accept(response)).read()
        try:
            value: Json = orjson.loads(body)
        except orjson.JSONDecodeError:
            value = None
        if not isinstance(value, dict):
            said = self._transport.redaction.quote(body[:200].decode("utf-8", "replace"))
            raise BadReply(f"{self.endpoint.shown}: its reply is not a JSON object: {said!r}")
        return value


def _write(file: BinaryIO, piece: bytes) -> None:
    with _writing(file.name):
        file.write(piece)


@contextmanager
def _writing(name: Path | str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{name}: cannot be written ({error.strerror}); make room there"
        ) from None


def _in_path(name: str) -> str:
    return quote(name, safe="")


# Request files: the input of batches, each within the limits of its provider.

MOST_REQUESTS: Final = 50_000
"""The most requests that OpenAI accepts in one file."""
MOST_BYTES: Final = 200_000_000
"""The most bytes that OpenAI accepts in one file."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    requests: int = MOST_REQUESTS
    size: int = MOST_BYTES


@dataclass(slots=True)
class RequestFile:
    path: Path
    limits: FileLimits = field(default_factory=FileLimits)
    requests: int = 0
    size: int = 0

    def has_room(self, line: bytes) -> bool:
        fits = self.size + len(line) <= self.limits.size
        return not self.requests or (self.requests < self.limits.requests and fits)

    def add(self, line: bytes) -> None:
        with _writing(self.path), self.path.open("ab", buffering=2**16) as file:
            file.write(line)
        self.requests += 1
        self.size += len(line)


# Places of calls: a request's ``custom_id`` names the attempt and the call that it belongs to.
#
# Results come back in any order, perhaps a day later, so the ``custom_id`` alone must identify the
# call and, by two hashes, the request.

_WRITTEN: Final = lazy_pattern(
    r"s(\d{1,10})-p(\d{1,10})-r(\d{1,10})-c(\d{1,10})-([0-9a-f]{12})-([0-9a-f]{12})"
)
_DIGITS: Final = 12
"""Hexadecimal digits of a hash of the request: it need only be unique within one call."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A call within a store, as its ``custom_id`` names it."""

    series: int
    problem: int
    run: int
    ordinal: int

    def __str__(self) -> str:
        return f"s{self.series}-p{self.problem}-r{self.run}-c{self.ordinal}"


@dataclass(frozen=True, slots=True)
class PlacedCall(Call):
    """A call with its place, for a model that is called in batches."""

    place: Place = Place(0, 0, 0, 0)
    asked: str = ""


@dataclass(frozen=True, slots=True)
class RequestId:
    place: Place
    asked: str
    body: str

    def __str__(self) -> str:
        return f"{self.place}-{self.asked}-{self.body}"

    @property
    def digests(self) -> str:
        return f"{self.asked}-{self.body}"


def parse_request_id(written: str) -> RequestId | None:
    """Read a ``custom_id``; None where it is not one of ours."""
    found = _WRITTEN.fullmatch(written)
    if found is None:
        return None
    *numbers, asked, body = found.groups()
    return RequestId(Place(*map(int, numbers)), asked, body)


def short_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


# Result files: output and error files of batches on disk, indexed by the places of calls.
#
# A file may have hundreds of megabytes. It is scanned once, and only the file offset of each
# result is stored; the result is read when its call is replayed.


@dataclass(frozen=True, slots=True)
class FoundResult:
    request: RequestId
    result: Result


@dataclass(slots=True)
class ReadBatch:
    failed: list[FoundResult] = field(default_factory=list[FoundResult])
    """Requests whose result is an error."""
    missing: set[str] = field(default_factory=set[str])
    answered: int = 0
    odd: Counter[str] = field(default_factory=Counter[str])
    """Lines that could not be used, counted by reason."""

    def __str__(self) -> str:
        return "; ".join(f"{count:,} × {what}" for what, count in self.odd.items())


class ResultIndex:
    """The file offset of each result, by its call's place; longer lines are left out."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._lines: dict[Place, tuple[RequestId, Path, int, int]] = {}
        """The request, and the file, offset and length of its line."""

    def __len__(self) -> int:
        return len(self._lines)

    def read(self, paths: Iterable[Path], wanted: set[str]) -> ReadBatch:
        """Read the files of one batch; of two lines for a request the first success counts."""
        found = ReadBatch(missing=set(wanted))
        failures: dict[Place, FoundResult] = {}
        good: set[Place] = set()
        for path in paths:
            for start, line in self._lines_of(path, found):
                if (read := self._read(line, wanted, found)) is None:
                    continue
                place = read.request.place
                if place in good or (place in failures and not read.result.succeeded):
                    found.odd["a second line for one request"] += 1
                    continue
                if read.result.succeeded:
                    good.add(place)
                    failures.pop(place, None)
                else:
                    failures[place] = read
                self._lines[place] = read.request, path, start, len(line)
        found.failed, found.answered = list(failures.values()), len(good)
        return found

    def find(self, place: Place) -> FoundResult | None:
        if place not in self._lines:
            return None
        request, path, start, length = self._lines[place]
        try:
            with path.open("rb") as file:
                file.seek(start)
                _, result = read_result(file.read(length))
        except (OSError, BadResult):
            raise InputError(
                f"{path}: changed while it was read; leave it alone and run the same command again"
            ) from None
        return FoundResult(request, result)

    def _read(self, line: bytes, wanted: set[str], found: ReadBatch) -> FoundResult | None:
        try:
            custom_id, result = read_result(line)
        except BadResult as error:
            found.odd[f"a line that is no result ({error})"] += 1
            return None
        request = parse_request_id(custom_id) if custom_id in wanted else None
        if request is None:
            found.odd["a result that nobody asked for"] += 1
            return None
        found.missing.discard(custom_id)
        return FoundResult(request, result)

    def _lines_of(self, path: Path, found: ReadBatch) -> Iterator[tuple[int, bytes]]:
        start = 0
        try:
            with path.open("rb") as file:
                while line := file.readline(self._longest):
                    size = len(line)
                    if size == self._longest and not line.endswith(b"\n"):
                        found.odd[f"a line larger than {self._longest / 10**6:g} MB"] += 1
                        while not line.endswith(b"\n") and (line := file.readline(self._longest)):
                            size += len(line)
                    elif line.strip():
                        yield start, line
                    start += size
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None


# A model called in batches: a call already has its result, or its request joins the next wave.
#
# Requests are built, and replies and refusals handled, by the engine for single calls; only the
# transport differs.


class Deferred(BaseException):
    """The call has no reply yet and is replayed after the next wave.

    It is a BaseException so that ``except Exception`` in a method does not catch it.
    """


@dataclass(frozen=True, slots=True)
class Request:
    model: BatchModel
    name: RequestId
    body: bytes
    most: Usage


class Wave(Protocol):
    """The results of the last wave, and the requests of the next."""

    def find(self, name: RequestId) -> Result | None: ...

    def failed(self, name: RequestId) -> bool:
        """Count a failed request; return whether it may be retried."""
        ...

    def spent(self, name: RequestId, used: Usage | None, price: Price | None) -> None:
        """Note the tokens of a request; None counts the most that it can have used."""
        ...

    def ask(self, request: Request) -> None: ...


class BatchModel(OpenAI):
    """A model whose requests are collected in a wave, for an endpoint or a folder."""

    def __init__(
        self, endpoint: Endpoint, where: str, bounds: Bounds, price: Price | None = None
    ) -> None:
        # No retries here: a failed request is repeated in the next wave. No ``n`` either: each
        # sample is a request of its own.
        super().__init__(endpoint, retry=Retry(attempts=1), bounds=bounds)
        self._refused.add("n")
        self.where = where
        self.price = price
        self.wave: Wave | None = None

    def _known(self, body: dict[str, Json], call: Call) -> Completion:
        wave = self.wave
        if wave is None or not isinstance(call, PlacedCall):
            raise RuntimeError("a batch takes calls of an evaluation, between two waves")
        data = written(body)
        name = RequestId(call.place, short_digest(call.asked.encode()), short_digest(data))
        if (result := wave.find(name)) is not None:
            try:
                return self._taken(wave, name, result, call, body)
            except Transient:
                if not wave.failed(name):
                    raise
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        most = replace(call, max_tokens=limit) if isinstance(limit, int) else call
        wave.ask(Request(self, name, data, most_usage(most)))
        raise Deferred

    def _taken(
        self, wave: Wave, name: RequestId, result: Result, call: Call, body: dict[str, Json]
    ) -> Completion:
        if not result.succeeded:
            wave.spent(name, Usage(), self.price)
            if result.status != NOT_PERFORMED:
                raise refusal(self.endpoint, result.status, {}, result.body)
            said = self.endpoint.redaction.quote(error_message(result.body))
            kind = Rejected if result.cancelled else ServerFault
            raise kind(f"{self.where}: the request was not performed ({said})")
        try:
            completion = self._read(result.body, call, body)
        except Transient:
            wave.spent(name, None, self.price)
            raise
        used = completion.usage if completion.usage.reported else None
        wave.spent(name, used, self.price)
        return completion
