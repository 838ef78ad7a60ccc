"""A chat request read for a method: the problem, what came before it, how it is to be decoded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from constraint_first.problem import Json
from constraint_first.protocol import Message
from constraint_first.serve.error_reply import RequestError

__all__ = ["ChatRequest", "Fields", "check_length", "is_foreign", "read_request"]

Fields: TypeAlias = Mapping[str, Any]
"""A request's JSON object."""

_Role: TypeAlias = Literal["system", "user", "assistant"]
_ROLES: Final[dict[str, _Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_KNOWN: Final = frozenset(
    "model messages stream stream_options n temperature top_p seed max_tokens "
    "max_completion_tokens stop response_format tools tool_choice parallel_tool_calls functions "
    "function_call logprobs top_logprobs modalities audio".split()
)
# What asks for more than a text, or for a text in a form of the client's own. A method's stages
# have forms of theirs.
_FOREIGN: Final = frozenset(
    "tools functions audio prediction web_search_options logprobs top_logprobs grammar json_schema "
    "structured_outputs continue_final_message".split()
)
_MOST_STOPS: Final = 16
_LONGEST: Final = 200_000
"""Characters of a problem: a method reads all of it for cues before anything is asked."""
_DEEPEST: Final = 64
_SEED: Final = 2**62


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question, and how it is to be answered."""

    problem: str
    """The last user message."""
    context: tuple[Message, ...] = ()
    """All that comes before it."""
    chosen: Mapping[str, float | int] = field(default_factory=dict[str, float])
    """Settings of the decoding that the client chose."""
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Fields that we do not know, for the endpoint."""
    max_tokens: int | None = None
    n: int = 1
    stream: bool = False
    include_usage: bool = False


def is_foreign(fields: Fields) -> bool:
    """Say whether a request wants something that no method gives, and so passes through."""
    if any(fields.get(name) for name in _FOREIGN):
        return True
    if any(name.startswith("guided_") and fields[name] for name in fields):
        return True
    form = fields.get("response_format")
    if isinstance(form, dict) and cast("Fields", form).get("type") != "text":
        return True
    modes = fields.get("modalities")
    if isinstance(modes, list) and any(mode != "text" for mode in cast("list[Any]", modes)):
        return True
    messages = fields.get("messages")
    return isinstance(messages, list) and _is_foreign_talk(cast("list[Any]", messages))


def _is_foreign_talk(messages: Sequence[Any]) -> bool:
    """Say whether a conversation has more than texts, or does not end with a question."""
    told = [cast("Fields", one) for one in messages if isinstance(one, dict)]
    if any(one.get("role") in ("tool", "function") or one.get("tool_calls") for one in told):
        return True
    parts = [part for one in told if isinstance(content := one.get("content"), list)
             for part in cast("list[Any]", content)]  # fmt: skip
    if any(isinstance(one, dict) and cast("Fields", one).get("type") != "text" for one in parts):
        return True
    return bool(told) and told[-1].get("role") in ("assistant", "system", "developer")


def read_request(fields: Fields) -> ChatRequest:
    """Read a request; whatever is wrong with it is refused by name."""
    messages = _messages(fields.get("messages"))
    problem = messages[-1].content
    if not problem.strip():
        raise _bad("messages", "the last message is empty; it must hold the problem")
    chosen = {
        name: value
        for name, value in (
            ("temperature", _number(fields, "temperature", 0, 2)),
            ("top_p", _number(fields, "top_p", 0, 1)),
            ("seed", _whole(fields, "seed", -_SEED, _SEED)),
        )
        if value is not None
    }
    if not isinstance(fields.get("modalities") or [], list):
        raise _bad("modalities", "must be a list")
    extra = {name: value for name, value in fields.items() if name not in _KNOWN}
    for name, value in extra.items():
        _check_depth(name, value)
    budgets = (_whole(fields, name, 1) for name in ("max_completion_tokens", "max_tokens"))
    stream = _truth(fields, "stream")
    options: Any = fields.get("stream_options")
    return ChatRequest(
        problem=problem,
        context=tuple(messages[:-1]),
        chosen=chosen,
        stop=_stops(fields.get("stop")),
        extra=extra,
        max_tokens=next((budget for budget in budgets if budget), None),
        n=_whole(fields, "n", 1, 128) or 1,
        stream=stream,
        include_usage=stream and _truth(_object(options), "include_usage"),
    )


def _check_depth(name: str, value: Any) -> None:
    """Refuse a field that nests deeper than what has to write it again."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [one for held in level for one in _held(held)]
        if not level:
            return
    raise _bad(name, f"nests deeper than {_DEEPEST} levels")


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("Fields", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def check_length(asked: ChatRequest) -> None:
    """Refuse a text that is longer than what methods read."""
    if len(asked.problem) > _LONGEST:
        raise RequestError(
            f"messages: the last message has {len(asked.problem):,} characters; methods take "
            f"{_LONGEST:,} at most, a plain model's name passes more on",
            code="context_length_exceeded",
            param="messages",
        )


def _object(value: Any) -> Fields:
    return cast("Fields", value) if isinstance(value, dict) else {}


def _messages(value: Any) -> list[Message]:
    if not isinstance(value, list) or not value:
        raise _bad("messages", "must be a list of messages, the problem last")
    return [_message(number, one) for number, one in enumerate(cast("list[Any]", value))]


def _message(number: int, value: Any) -> Message:
    where = f"messages[{number}]"
    if not isinstance(value, dict):
        raise _bad(where, "must be an object with a role and a content")
    fields = cast("Fields", value)
    named = fields.get("role")
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None:
        raise _bad(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
    return Message(role, _text(f"{where}.content", fields.get("content")))


def _text(where: str, content: Any) -> str:
    """Read a content: a text, or parts that are texts."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = cast("list[Any]", content) if isinstance(content, list) else [None]
    texts = [cast("Fields", part).get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise _bad(where, "must be a text, or a list of texts")
    return "\n".join(cast("list[str]", texts))


def _stops(value: Any) -> tuple[str, ...]:
    stops = cast("list[Any]", [value] if isinstance(value, str) else value or [])
    fits = isinstance(stops, list) and len(stops) <= _MOST_STOPS  # pyright: ignore[reportUnnecessaryIsInstance]
    if not fits or not all(isinstance(one, str) and one for one in stops):
        raise _bad("stop", f"must be a text, or a list of at most {_MOST_STOPS} texts")
    return tuple(stops)


def _number(fields: Fields, name: str, least: float, most: float) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise _bad(name, f"must be a number from {least:g} to {most:g}")
    return value


def _whole(fields: Fields, name: str, least: int, most: int = 2**31 - 1) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not int or not least <= value <= most:
        raise _bad(name, f"must be a whole number from {least} to {most}")
    return value


def _truth(fields: Fields, name: str) -> bool:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise _bad(name, "must be true or false")
    return bool(value)


def _bad(param: str, must: str) -> RequestError:
    return RequestError(f"{param}: {must}", param=param, code="invalid_value")
