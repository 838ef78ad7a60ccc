"""An endpoint: its address and API key, HTTP requests to it, errors for its refusals."""

from __future__ import annotations

import asyncio
import base64
import copy
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias, cast
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

import aiohttp

from constraint_first.model.connection import Connections, Host, Response
from constraint_first.model.error import (
    BadReply,
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Redaction,
    Rejected,
    ServerFault,
    StreamCut,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.limit import parse_retry_after
from constraint_first.model.wire import Decoding, JsonMode, error_message
from constraint_first.pattern import lazy_pattern

_SCHEMES: Final = ("http://", "https://")
_EXAMPLE: Final = "write it as http://HOST:PORT/v1"
_UNWRITABLE: Final = lazy_pattern(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")
_LABEL: Final = lazy_pattern(r"(?!-)[\w-]{1,63}(?<!-)", re.ASCII)
_LONGEST_HOST: Final = 253
_SHORTEST_TOKEN: Final = 8


def without_secrets(base_url: str) -> str:
    """Drop parts of an address that may hold a secret: user name and password, the query."""
    scheme, separator, rest = base_url.partition("://")
    if not separator:
        scheme, rest = "", base_url
    place = re.split(r"[?#]", rest.rpartition("@")[2])[0]
    return "".join(filter(str.isprintable, f"{scheme}{separator}{place}"))


def secrets_in(base_url: str) -> tuple[str, ...]:
    parts = urlsplit(base_url)
    user, password = (unquote(part or "") for part in (parts.username, parts.password))
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    others = (user, *(value for _, value in parse_qsl(parts.query)))
    tokens = (value for value in others if len(value) >= _SHORTEST_TOKEN)
    return (*((password, basic) if password else ()), *tokens)


@lru_cache(maxsize=256)
def join(base_url: str, path: str) -> str:
    """Append a path to an address, before its query; the path may have a query, too."""
    parts = urlsplit(base_url)
    path, _, asked = path.partition("?")
    whole = f"{parts.path.rstrip('/')}/{path}"
    query = "&".join(filter(None, (parts.query, asked)))
    return urlunsplit((parts.scheme, parts.netloc, whole, query, ""))


def fault_in(base_url: str) -> str:
    """Say why an address is malformed, and the way out; empty where it is not."""
    if not base_url.lower().startswith(_SCHEMES):
        return f"not an address: begin with http:// or https://; {_EXAMPLE}"
    if _UNWRITABLE.search(base_url):
        return f"not an address: it holds a space or a control character; {_EXAMPLE}"
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # its message may quote a password
        return f"not an address: its host or its port cannot be; {_EXAMPLE}"
    if not _can_be_host(host) or port == 0:
        return f"not an address: its host or its port cannot be; {_EXAMPLE}"
    if parts.path.rstrip("/").endswith("/chat/completions"):
        return "leave /chat/completions out of the address; it is added to it"
    return ""


def _can_be_host(host: str) -> bool:
    if ":" in host:  # an IPv6 address, which urlsplit has checked
        return True
    try:
        name = host.encode("idna").decode()
    except UnicodeError:
        return False
    return len(name) <= _LONGEST_HOST and all(
        _LABEL.fullmatch(label) for label in name.removesuffix(".").split(".")
    )


# An endpoint: the address of a model, its name there and the API key.


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a served model, with its name, API key and context."""

    base_url: str
    model: str
    """May be empty where the endpoint serves a single model."""
    key: str = field(default="", repr=False)
    key_name: str = "OPENAI_API_KEY"
    """The environment variable that the key comes from; messages name it and never the key."""
    context: int | None = None
    """The context window (input and output tokens together), where it is known."""
    json_mode: JsonMode = "object"

    @property
    def shown(self) -> str:
        return without_secrets(self.base_url)

    @property
    def redaction(self) -> Redaction:
        return Redaction((*((self.key,) if self.key else ()), *secrets_in(self.base_url)))

    def url(self, path: str) -> str:
        return join(self.base_url, path)

    def check(self) -> None:
        """Refuse an address or a key that cannot be sent; the error shows no secret."""
        if fault := fault_in(self.base_url):
            raise Rejected(f"{self.shown}: {fault}")
        odd = next((c for c in self.key if not (c.isascii() and c.isprintable())), "")
        if odd:
            raise Unauthorized(
                f"{self.key_name or 'the key'}: the key holds a character that no key can have "
                f"(U+{ord(odd):04X}); set it again"
            )
        if self.key and "@" in self.base_url.partition("://")[2].partition("/")[0]:
            raise Unauthorized(
                f"{self.shown}: its address carries a user name, and {self.key_name} holds a key; "
                "only one of them can be sent, so leave the other out"
            )


# Errors for unsuccessful HTTP statuses; each message names what the user can do.

Setting: TypeAlias = Literal["temperature", "top_p", "seed", "max_tokens"]
"""A setting of a decoding that a model may refuse."""

_TRANSIENT: Final = frozenset({408, 409, 425, 429})

# Optional parameters that some endpoints do not support, with the words of a refusal. Settings of
# the decoding are not among them: without one, other things would be compared.
_DISPENSABLE: Final = {
    "response_format": lazy_pattern(r"response_format|json_object|json_schema|json mode", re.I),
    "stream_options": lazy_pattern(r"stream_options|include_usage", re.I),
    "max_tokens": lazy_pattern(r"max_completion_tokens. instead", re.I),
}
# Refusals of several samples in one request: llama.cpp's (a 500 in some versions), and others'.
_ONE_SAMPLE: Final = lazy_pattern(r"only one completion choice|\bn_cmpl\b", re.I)
_SAMPLES: Final = lazy_pattern(
    r"[`'\"]n[`'\"]|\bparameter:? n\b|\bn (?:parameter|value|must|should|is not)\b|\bn ?[=>]"
    r"|multi-choice|multiple (?:choices|completions)",
    re.I,
)
_UNWANTED: Final = (
    r"\b(?:not? (?:be )?(?:support|allow|permit|accept|available)|unsupported|cannot|can't|only"
    r"|unknown|unrecogni[sz]ed|unexpected|deprecated)"
)
# Of two settings that exclude each other, the first is omitted.
_SAMPLING: Final[dict[Setting, str]] = {
    "top_p": r"\btop_?p\b",
    "temperature": r"\btemperature\b",
    "seed": r"\bseed\b",
}
_MOST_OUTPUT: Final = lazy_pattern(
    r"max_(?:completion_)?tokens.{0,200}?"
    r"(?:at most|maximum\D{0,40}|less than or equal to|<=|\[ ?\d{1,9} ?,|\d >)[ `'\"]*(\d{1,9})\b",
    re.I | re.S,
)
_CONTEXT_LIMIT: Final = lazy_pattern(r"maximum context length (?:is|of) (\d{1,9})\b", re.I)
_TOO_LONG: Final = lazy_pattern(
    r"context.{0,10}(?:length|size|window)|too long|too many tokens", re.I
)
_TIME: Final = lazy_pattern(
    r"per[ _-]?(?:second|minute|hour|day)|(?:retry|again) (?:in|after)", re.I
)
_SECONDS: Final = lazy_pattern(r"(?:retry|again) (?:in|after) (\d{1,6}(?:\.\d+)?) ?s\b", re.I)
_LOOKED_AT: Final = 2_000


class ParameterRefused(Rejected):
    """A refusal of a parameter that the call can do without."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class DecodingRefused(Rejected):
    """A refusal of a setting of the decoding; the model accepts calls without it or lower."""

    ends = "run"

    def __init__(self, message: str, model: str, setting: Setting, most: int | None = None) -> None:
        super().__init__(message)
        self.model = model
        self.setting: Setting = setting
        self.most = most
        """The highest value of the setting; None where it must be left out."""

    @property
    def change(self) -> str:
        if self.most is None:
            return f"{self.setting} is refused by the model and not sent"
        return f"{self.setting} is lowered to {self.most}, the most that the model takes"

    def adapt(self, decoding: Decoding) -> Decoding:
        """Leave the setting out or lower it; a ``max_tokens`` that is set already is kept."""
        if self.setting == "max_tokens" and decoding.max_tokens is not None:
            return decoding
        return replace(decoding, **{self.setting: self.most})


def refusal(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes
) -> EngineError:
    error = _named(endpoint, status, headers, body)
    error.status = status
    return error


def _named(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes) -> EngineError:
    said = error_message(body)[:_LOOKED_AT]
    reason = endpoint.redaction.quote(said)
    message = f"{endpoint.shown}: HTTP {status}" + (f" ({reason})" if reason else "")
    if status in (401, 403):
        key_name = endpoint.key_name or "a variable and name it with --key-env"
        return Unauthorized(f"{message}; put a valid key into {key_name}")
    if status in (404, 405):
        way_out = f"check the model name {endpoint.model!r} and the address"
        if not urlsplit(endpoint.base_url).path.strip("/"):
            way_out = f"most addresses end in /v1: try {endpoint.shown.rstrip('/')}/v1"
        return ModelNotFound(f"{message}; {way_out}")
    if 300 <= status < 400:
        return Rejected(f"{message}; it redirects elsewhere: give the final address")
    if status in (400, 500) and _ONE_SAMPLE.search(said):
        return ParameterRefused(message, "n")
    if status in _TRANSIENT or status < 200 or status >= 500:
        return _fault(message, said, status, headers.get("Retry-After"))
    return _bad_request(message, said, endpoint.model)


def _fault(message: str, said: str, status: int, retry_after: str | None) -> EngineError:
    pause = parse_retry_after(retry_after)
    if status == 429 and "quota" in said.lower() and pause is None and not _TIME.search(said):
        return Rejected(f"{message}; the account has nothing left to spend")
    if pause is None and (told := _SECONDS.search(said)):
        pause = float(told[1])
    kind = RateLimited if status == 429 else ServerFault
    return kind(f"{message}; try again later", pause)


def _bad_request(message: str, said: str, model: str) -> Rejected:
    for parameter, named in _DISPENSABLE.items():
        if named.search(said):
            return ParameterRefused(message, parameter)
    if limit := _CONTEXT_LIMIT.search(said):
        return PromptTooLong(f"{message}; shorten the problem", int(limit[1]))
    if (most := _MOST_OUTPUT.search(said)) and int(most[1]):
        lower = f"{message}; lower it with --max-tokens"
        return DecodingRefused(lower, model, "max_tokens", int(most[1]))
    for setting, name in _SAMPLING.items():
        if re.search(name, said, re.I):
            return _refused_setting(message, said, model, setting)
    if _TOO_LONG.search(said):
        return PromptTooLong(
            f"{message}; shorten the problem or give the model more context (--context)"
        )
    return ParameterRefused(message, "n") if _SAMPLES.search(said) else Rejected(message)


def _refused_setting(message: str, said: str, model: str, setting: Setting) -> Rejected:
    """Distinguish a refusal of the setting itself from one of its value."""
    option = f"--{setting.replace('_', '-')}"
    way_out = "leave --seed out" if setting == "seed" else f"choose another {option}, or none"
    name = _SAMPLING[setting]
    if re.search(f"{name}.{{0,80}}{_UNWANTED}|{_UNWANTED}.{{0,80}}{name}", said, re.I | re.S):
        return DecodingRefused(f"{message}; {way_out}", model, setting)
    return Rejected(f"{message}; {way_out}")


# HTTP requests to one endpoint, bounded in time and size; every failure becomes an EngineError.
#
# On aiohttp, with one connection pool for all calls: requests and replies are small JSON texts,
# and a richer HTTP client spends more time on its own objects than on the network.

_MEGABYTE: Final = 10**6
CALL_SECONDS: Final = 3_600.0
REPLY_BYTES: Final = 16 * _MEGABYTE
"""The default limit of a reply in bytes: a hundred times the longest usual one."""

# At most this much of an error's body is read. Larger replies are read one at a time, so that the
# memory of hundreds of connections stays bounded even if a hostile server floods all of them.
_ERROR_BYTES: Final = 2**16
_SMALL_BYTES: Final = 2**20
_HEADERS: Final = {"Content-Type": "application/json"}
COMPLETIONS: Final = "chat/completions"
_DOCUMENTS: Final = (b"{", b"[", b"<")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the time of a call and the size of its reply."""

    silence: float = 600.0
    """Seconds without a byte."""
    seconds: float = CALL_SECONDS
    """Seconds for the whole reply; after that, a call is not retried."""
    reply_bytes: int = REPLY_BYTES
    """The most bytes of a reply after decompression; of a stream, of its text."""


class Incoming:
    """The body of an HTTP response, read only as far as the bounds allow."""

    def __init__(self, response: Response, most: int, turn: asyncio.Lock) -> None:
        self._content = response.content
        self._took = response.took
        self._head = b""
        self._most = most
        self._turn = turn
        self._size = 0
        if (response.content_length or 0) > most:
            raise self.too_large()

    async def is_document(self) -> bool:
        """Wait for the first bytes and return whether they begin a JSON document, not a stream."""
        while not self._head.strip() and (piece := self._took(await self._content.readany())):
            self._head = piece.removeprefix(_BYTE_ORDER_MARK)
        self._size = len(self._head)
        return self._head.lstrip()[:1] in _DOCUMENTS

    async def read(self) -> bytes:
        pieces = [self._head]
        if not await self._fill(pieces, min(_SMALL_BYTES, self._most)):
            async with self._turn:
                if not await self._fill(pieces, self._most):
                    raise self.too_large()
        return b"".join(pieces)

    async def lines(self) -> AsyncGenerator[bytes]:
        """Read line by line, with any line ending; the last line may lack it."""
        unfinished: list[bytes] = []
        piece, size = self._head or self._took(await self._content.readany()), 0
        while piece:
            first, *others = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            unfinished.append(first)
            size += len(first)
            if size > self._most:
                raise self.too_large()
            for line in others:
                yield b"".join(unfinished)
                unfinished, size = [line], len(line)
            piece = self._took(await self._content.readany())
        yield b"".join(unfinished)

    def end(self) -> None:
        self._took(b"")

    def too_large(self) -> BadReply:
        return BadReply(
            f"the endpoint's reply is larger than {self._most / _MEGABYTE:g} MB and was not read "
            "further; allow more with --max-reply-bytes"
        )

    async def _fill(self, pieces: list[bytes], most: int) -> bool:
        while self._size <= most:
            piece = self._took(await self._content.readany())
            if not piece:
                return True
            pieces.append(piece)
            self._size += len(piece)
        return False


class Transport:
    """A connection pool for one endpoint, between ``open`` and ``close``."""

    def __init__(self, endpoint: Endpoint, bounds: Bounds, connections: int) -> None:
        self.endpoint = endpoint
        self.bounds = bounds
        self.redaction = Redaction()
        self.host = Host(endpoint.shown)
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None
        self._turn = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        return self._session is not None

    def open(self) -> None:
        self.endpoint.check()
        self.redaction = self.endpoint.redaction
        key = self.endpoint.key
        self._session = aiohttp.ClientSession(
            connector=Connections(self.host, self._connections),
            response_class=Response,
            cookie_jar=aiohttp.DummyCookieJar(),
            # A long reply is no fault, silence is. The time of a whole call is limited elsewhere.
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=10, sock_read=self.bounds.silence
            ),
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )

    def lend(self, endpoint: Endpoint) -> Transport:
        """Return a transport for another model of the endpoint that shares the connections."""
        lent = copy.copy(self)
        lent.endpoint = endpoint
        return lent

    async def close(self) -> None:
        session, self._session = self._session, None
        if session:
            await session.close()

    def send(
        self,
        verb: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        headers: Mapping[str, str] = _HEADERS,
    ) -> AbstractAsyncContextManager[Response]:
        """Send a request; it raises aiohttp's errors, which ``named`` converts."""
        if self._session is None:
            raise RuntimeError("use the engine inside `async with`")
        url = self.endpoint.url(path)
        sent = self._session.request(verb, url, data=data, headers=headers, allow_redirects=False)
        return cast("AbstractAsyncContextManager[Response]", sent)  # its response_class

    @asynccontextmanager
    async def exchange(
        self,
        verb: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        headers: Mapping[str, str] = _HEADERS,
    ) -> AsyncGenerator[Response]:
        """Send a request and yield the response of any status; raise EngineError for faults."""
        try:
            async with self.send(verb, path, data, headers) as response:
                response.compares = path == COMPLETIONS
                yield response
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self.named(error) from None

    async def accept(self, response: Response) -> Incoming:
        if not 200 <= response.status < 300:
            await self.require_success(response)
        return Incoming(response, self.bounds.reply_bytes, self._turn)

    async def require_success(self, response: Response) -> None:
        if not 200 <= response.status < 300:
            body = await read_beginning(response)
            raise refusal(self.endpoint, response.status, response.headers, body)

    def named(self, error: aiohttp.ClientError | OSError) -> EngineError:
        where = self.endpoint.shown
        if isinstance(error, TimeoutError):
            return TimedOut(f"{where}: nothing came for too long; try again later")
        if isinstance(error, aiohttp.InvalidURL):
            return Rejected(f"{where}: not an address; write it as http://HOST:PORT/v1")
        if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
            return StreamCut(
                f"{where}: the connection was cut in the middle of a reply, or damaged it"
            )
        if isinstance(error, aiohttp.ClientResponseError):
            return BadReply(
                f"{where}: its answer cannot be read as HTTP "
                f"({self.redaction.quote(error.message)}); check the address, its port and "
                "whether it begins with http:// or https://"
            )
        reason = getattr(error, "strerror", None) or type(error).__name__
        if isinstance(error, aiohttp.ClientConnectorError):
            return Unreachable(
                f"{where}: cannot be reached ({reason}); check the address and that it is running"
            )
        return StreamCut(f"{where}: the connection was cut ({reason})")


async def read_beginning(response: aiohttp.ClientResponse) -> bytes:
    """Read the beginning of an error's body, as much of it as arrives."""
    body = b""
    try:
        while len(body) < _ERROR_BYTES and (piece := await response.content.readany()):
            body += piece
    except (aiohttp.ClientError, TimeoutError):  # the status alone is enough
        pass
    return body[:_ERROR_BYTES]
