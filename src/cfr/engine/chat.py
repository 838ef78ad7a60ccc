"""OpenAI's chat completion format: requests from calls, completions from replies.

Pure translation, no I/O. Endpoints differ in where they put reasoning and token counts; all known
places are looked at here and nowhere else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

import orjson

from cfr.engine.engine import Decoding
from cfr.engine.error import BadReply, ServerFault
from cfr.problem import Json
from cfr.protocol import Call, Completion, Finish, Usage

__all__ = ["JsonMode", "StreamedReply", "completion_from", "error_message", "request_for"]

JsonMode: TypeAlias = Literal["schema", "object", "off"]
"""How a JSON reply is asked for: by its schema, as any object, or in the prompt alone."""

_FINISH: Final[dict[Json, Finish]] = {"stop": "stop", "length": "length", "max_tokens": "length"}


def request_for(call: Call, model: str, decoding: Decoding, mode: JsonMode) -> dict[str, Json]:
    """Build the request body of a call."""
    body: dict[str, Json] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in call.messages],
        "max_tokens": call.max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
    }
    if decoding.seed is not None:
        body["seed"] = decoding.seed + call.sample
    if call.json and mode == "schema" and call.schema:
        schema: Json = orjson.loads(call.schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": call.stage, "schema": schema, "strict": True},
        }
    elif call.json and mode != "off":
        body["response_format"] = {"type": "json_object"}
    return body


def completion_from(body: bytes) -> Completion:
    """Read a whole reply."""
    reply = StreamedReply()
    reply.add(body, key="message")
    return reply.completion()


def error_message(body: bytes) -> str:
    """Read what an error body says, in one short line; empty where it says nothing."""
    try:
        value: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _one_line(body.decode("utf-8", "replace"))
    if isinstance(value, dict):
        value = value.get("error") or value.get("detail") or value
    return _brief(value)


@dataclass(slots=True)
class StreamedReply:
    """A reply that is being received: the events of a stream, or one body, put together."""

    text: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])
    finish: Finish | None = None
    usage: Usage | None = None

    def add(self, data: bytes, key: str = "delta") -> tuple[str, str]:
        """Take one event (or a whole body) and return the text and reasoning that it brought."""
        event = _object(_decode(data))
        if "error" in event:
            raise ServerFault(f"the endpoint reported an error: {_brief(event['error'])}")
        self.usage = _usage(event) or self.usage
        choices = event.get("choices")
        if not isinstance(choices, list) or (not choices and key == "message"):
            raise BadReply(f"the endpoint's reply has no choices: {_brief(cast('Json', event))}")
        if not choices:  # the event at the end of a stream that only brings the token counts
            return "", ""
        choice = _object(choices[0])
        if (reason := choice.get("finish_reason")) is not None:
            self.finish = _FINISH.get(reason, "other") if isinstance(reason, str) else "other"
        message = _object(choice.get(key) or {})
        text = _text(message.get("content"))
        reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
        self.text.append(text)
        self.reasoning.append(reasoning)
        return text, reasoning

    def add_line(self, line: bytes) -> tuple[str, str]:
        """Take one line of a stream; lines that are not data bring nothing."""
        data = line[5:].strip() if line.startswith(b"data:") else b""
        return self.add(data) if data else ("", "")

    def completion(self) -> Completion:
        """Return what was received as a completion."""
        return Completion(
            text="".join(self.text),
            finish=self.finish or "other",
            reasoning="".join(self.reasoning),
            usage=self.usage or Usage(reported=False),
        )


def _decode(data: bytes) -> Json:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:  # orjson refuses half a surrogate pair, which a model can well produce
        return json.loads(data)
    except (ValueError, RecursionError):
        shown = data[:80].decode("utf-8", "replace")
        raise BadReply(f"the endpoint's reply is not JSON: {_one_line(shown)!r}") from None


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise BadReply(f"the endpoint's reply is not a chat completion: {_brief(value)}")
    return value


def _text(content: Json) -> str:
    """Read message content, which is a string, null, or a list of parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return _storable(content) if isinstance(content, str) else ""


def _storable(text: str) -> str:
    """Replace what no database takes, so that a stored reply equals the one a method saw."""
    if text.isascii():
        return text.replace("\0", "�")
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def _usage(event: dict[str, Json]) -> Usage | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    return Usage(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        reasoning=_count(usage, "completion_tokens_details", "reasoning_tokens"),
        cached=_count(usage, "prompt_tokens_details", "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens"),
    )


def _count(value: Json, *path: str) -> int:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def _brief(value: Json) -> str:
    if isinstance(value, dict) and isinstance(message := value.get("message"), str):
        return _one_line(message)
    return _one_line(orjson.dumps(value).decode())


def _one_line(text: str) -> str:
    return _storable(" ".join(text.split())[:200])
