"""Any OpenAI-compatible endpoint: DeepSeek, Qwen, vLLM, llama.cpp, LM Studio and the rest.

One connection pool for all calls, on aiohttp: the request and the reply are two small JSON texts,
and a general client spends more on its own objects than on the wire.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType

import aiohttp
import orjson

from cfr.engine.address import without_secrets
from cfr.engine.chat import JsonMode, StreamedReply, completion_from, request_for
from cfr.engine.engine import SILENT, Decoding, Watcher
from cfr.engine.error import (
    BadReply,
    EngineError,
    ModelNotFound,
    PromptTooLong,
    Rejected,
    StreamCut,
    TimedOut,
    Unreachable,
)
from cfr.engine.refusal import ParameterRefused, refusal
from cfr.engine.retry import Retry
from cfr.problem import Json
from cfr.protocol import Call, Completion

__all__ = ["Endpoint", "OpenAI"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model that is served elsewhere, and what is known about it."""

    base_url: str
    model: str
    """May be empty where the endpoint serves a single model."""
    key: str = field(default="", repr=False)
    key_name: str = "OPENAI_API_KEY"
    """The environment variable that the key comes from; messages name it and never the key."""
    context: int | None = None
    """Input and output tokens together, where it is known."""
    json_mode: JsonMode = "object"

    @property
    def shown(self) -> str:
        """The address without anything that could be a secret."""
        return without_secrets(self.base_url)


class OpenAI:
    """An engine for one model behind one endpoint: ``async with OpenAI(endpoint) as engine``."""

    def __init__(
        self,
        endpoint: Endpoint,
        decoding: Decoding | None = None,
        retry: Retry | None = None,
        *,
        silence: float = 600.0,
        connections: int = 256,
    ) -> None:
        self.endpoint = endpoint
        self.decoding = decoding or Decoding()
        self._retry = retry or Retry()
        self._context = endpoint.context
        self._refused: set[str] = set()
        self._session: aiohttp.ClientSession | None = None
        # No limit on the whole: a long solution is not a fault. Silence is.
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=silence)
        self._connections = connections

    async def __aenter__(self) -> OpenAI:
        key = self.endpoint.key
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections),
            timeout=self._timeout,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            read_bufsize=2**20,
        )
        try:
            if not self.endpoint.model:
                self.endpoint = replace(self.endpoint, model=await self._only_model())
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    @property
    def is_open(self) -> bool:
        """Whether calls can be performed now."""
        return self._session is not None

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        return self.endpoint.model

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        """Perform a call, with another decoding than the engine's own if one is given."""
        return await self._retry.run(
            lambda: self._attempt(call, watcher, decoding or self.decoding),
            lambda fault, pause: watcher.retrying(call, fault, pause),
        )

    async def models(self) -> list[dict[str, Json]]:
        """List what the endpoint serves; the entries are as it describes them."""
        async with self._ask("GET", "models") as response:
            body = await response.read()
        try:
            listed = orjson.loads(body)["data"]
            return [entry for entry in listed if isinstance(entry, dict)]
        except (orjson.JSONDecodeError, LookupError, TypeError):
            raise BadReply(
                f"{self.endpoint.shown}: its list of models cannot be read; name one with --model"
            ) from None

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session:
            await session.close()

    async def _only_model(self) -> str:
        """Find the model's name, which need not be given where the endpoint serves just one."""
        names = [name for entry in await self.models() if isinstance(name := entry.get("id"), str)]
        if len(names) != 1:
            choice = f"it serves {', '.join(names[:8])}" if names else "it lists none"
            raise ModelNotFound(f"{self.endpoint.shown}: name a model with --model; {choice}")
        return names[0]

    async def _attempt(self, call: Call, watcher: Watcher, decoding: Decoding) -> Completion:
        """Ask once; where the endpoint refuses something we can do without, ask without it."""
        while True:
            context, refused = self._context, len(self._refused)
            try:
                body = self._body(call, decoding, stream=watcher.streams)
                return await self._post(body, call, watcher)
            except ParameterRefused as refusal:
                self._refused.add(refusal.parameter)
                if len(self._refused) == refused:
                    raise
            except PromptTooLong as refusal:
                self._context = refusal.limit or context
                if self._context == context:
                    raise

    def _body(self, call: Call, decoding: Decoding, *, stream: bool) -> dict[str, Json]:
        body = request_for(call, self.endpoint.model, decoding, self.endpoint.json_mode)
        body["max_tokens"] = self._budget(call)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = body["max_tokens"]
        return {name: value for name, value in body.items() if name not in self._refused}

    def _budget(self, call: Call) -> int:
        """Lower a call's budget to what the context leaves beside its prompt."""
        if self._context is None:
            return call.max_tokens
        # A token of mathematics is longer than two bytes and a chat template shorter than 64
        # tokens, so this overestimates the prompt; where it would leave nothing the endpoint, which
        # has the tokenizer, decides whether it fits.
        prompt = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) // 2 + 64
        return min(call.max_tokens, max(self._context - prompt, self._context // 4, 1))

    async def _post(self, body: dict[str, Json], call: Call, watcher: Watcher) -> Completion:
        try:
            data = orjson.dumps(body)
        except TypeError as error:  # a lone surrogate
            raise Rejected(f"the problem cannot be sent: {error}; save it as UTF-8") from None
        async with self._ask("POST", "chat/completions", data) as response:
            if not watcher.streams:
                return completion_from(await response.read())
            reply = StreamedReply()
            async for line in response.content:
                if _ends_stream(line):
                    break
                text, reasoning = reply.add_line(line)
                if reasoning:
                    watcher.wrote(call, reasoning, reasoning=True)
                if text:
                    watcher.wrote(call, text, reasoning=False)
        if reply.finish is None:
            raise StreamCut(f"{self.endpoint.shown}: the stream ended before the reply did")
        return reply.completion()

    @asynccontextmanager
    async def _ask(
        self, verb: str, path: str, data: bytes | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Send a request and yield its answer if that is a 200; all faults become ours."""
        if self._session is None:
            raise RuntimeError("use the engine inside `async with`")
        where, model = self.endpoint.shown, self.endpoint.model
        url = f"{self.endpoint.base_url.rstrip('/')}/{path}"
        headers = {"Content-Type": "application/json"}
        try:
            async with self._session.request(
                verb, url, data=data, headers=headers, allow_redirects=False
            ) as response:
                if response.status != 200:
                    body = await response.content.read(4096)
                    name, status = self.endpoint.key_name, response.status
                    raise refusal(where, model, name, status, response.headers, body)
                yield response
        except EngineError as error:
            error.args = (self._without_key(str(error)),)
            raise
        except TimeoutError:
            raise TimedOut(f"{where}: nothing came for too long; try again later") from None
        except aiohttp.InvalidURL:
            raise Rejected(f"{where}: not an address; write it as http://HOST:PORT/v1") from None
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
            raise StreamCut(f"{where}: the connection was cut in the middle of a reply") from None
        except aiohttp.ClientError as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise Unreachable(
                f"{where}: cannot be reached ({reason}); check the address and that it is running"
            ) from None

    def _without_key(self, message: str) -> str:
        """Blot out the key where an endpoint echoes it in what it says."""
        return message.replace(self.endpoint.key, "[key]") if self.endpoint.key else message


def _ends_stream(line: bytes) -> bool:
    return line.startswith(b"data:") and line[5:].strip() == b"[DONE]"
