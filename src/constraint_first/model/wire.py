"""Calls and completions in OpenAI's chat format, and the protocol of what performs them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final, Literal, Protocol, TypeAlias, cast, runtime_checkable

import orjson

from constraint_first.model.error import NOTHING_SECRET, BadReply, Redaction, ServerFault, Transient
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Finish, Usage

SEEDS_A_RUN: Final = 1_000
"""The distance of the seeds of two runs: more than one run has samples."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sampling settings, the paper's by default, the same for all methods in a comparison."""

    temperature: float | None = 0.7
    """None where it is not sent, because the model refuses it; likewise below."""
    top_p: float | None = 0.95
    seed: int | None = None
    """Repeated exactly by llama.cpp with one call at a time, elsewhere as far as promised."""
    max_tokens: int | None = None
    """The most output tokens that any call asks for, whatever its method would."""
    extra: str = ""
    """Other fields of a request, such as ``stop`` or ``top_k``: a JSON object as text."""


Decode: TypeAlias = Callable[[Decoding, Call], Decoding]
"""How a call is decoded, given the model's own decoding."""


@dataclass(frozen=True, slots=True)
class SampledCall(Call):
    """Calls that differ only in consecutive samples; an engine without ``n`` performs the first."""

    samples: int = 1


@dataclass(frozen=True, slots=True)
class SampledCompletion(Completion):
    """The replies to a sampled call; in itself the first that is there, with the tokens of all."""

    replies: tuple[Completion | None, ...] = ()
    """By sample; None for one that is missing or unreadable."""


class Watcher:
    """An observer of one try after the other. Override what is of interest."""

    streams: bool = True
    """Whether pieces of replies are wanted; nothing is streamed for a watcher that ignores them."""

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Take the next piece of a reply as it is written."""

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Note that a call failed and starts anew after a pause; pieces seen so far are void."""

    def adapted(self, call: Call, change: str) -> None:
        """Note that the endpoint refused a setting, and what is done instead from now on."""


class _Silent(Watcher):
    streams = False


SILENT = _Silent()


class Engine(Protocol):
    """A performer of calls. It decides only how; what is asked comes from the method."""

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion: ...


def most_samples(engine: object, group: SampledCall) -> int:
    """Say how many samples of a group an engine would ask for in one request now; 1 for most."""
    ask: Callable[[SampledCall], int] | None = getattr(engine, "most_samples", None)
    return ask(group) if ask else 1


class Served(Protocol):
    """A model that is being served, here or elsewhere; it can sample each call differently."""

    @property
    def model(self) -> str: ...

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion: ...


@runtime_checkable
class Openable(Protocol):
    """An engine that holds connections or a server while it is open: ``async with engine``."""

    @property
    def is_open(self) -> bool: ...

    async def __aenter__(self) -> object: ...

    async def __aexit__(self, *_: object) -> None: ...


# Repetition in a stream: whether each of its events came twice.

_PAIRS_WITH_COUNT: Final = 2
_PAIRS_WITHOUT: Final = 8


@dataclass(slots=True)
class PairedEvents:
    """The events of one stream, as far as they come in equal pairs.

    The format numbers no events, and a model may well write the same piece twice, so that two equal
    events prove nothing. They do when all events are paired and they are more than the tokens that
    the endpoint counted; and, where it counted none, when many different pairs follow each other.
    """

    events: int = 0
    changes: int = 0
    """How often a pair differed from the one before it."""
    broken: bool = False
    _last: bytes = b""

    def add(self, event: bytes) -> None:
        self.events += 1
        same = event == self._last
        if self.events % 2 == 0:
            self.broken = self.broken or not same
        else:
            self.changes += not same
        self._last = event

    def doubled(self, tokens: int | None) -> bool:
        if self.broken or self.events % 2:
            return False
        if tokens is None:
            return self.changes >= _PAIRS_WITHOUT
        return self.changes >= _PAIRS_WITH_COUNT and self.events > tokens


# OpenAI's chat completion format: requests from calls, completions from replies.
#
# Pure translation, no I/O. Endpoints differ in where they put reasoning and token counts; all
# known places are looked at here and nowhere else. A reply without an answer is a fault,
# to be asked again, and never an empty answer.

JsonMode: TypeAlias = Literal["schema", "object", "off"]
"""How a JSON reply is asked for: by its schema, as any object, or in the prompt alone."""

_FINISH: Final[dict[Json, Finish]] = {"stop": "stop", "length": "length", "max_tokens": "length"}
_OPENINGS: Final = (b"{", b"[", b"<")
_MOST_TOKENS: Final = 2**31 - 1  # more is no count of one reply, nor a number that is stored


def request_for(call: Call, model: str, decoding: Decoding, mode: JsonMode) -> dict[str, Json]:
    """Build the request body of a call; what a decoding leaves open is not sent."""
    body: dict[str, Json] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in call.messages],
        "max_tokens": min(call.max_tokens, decoding.max_tokens or call.max_tokens),
    }
    if decoding.temperature is not None:
        body["temperature"] = decoding.temperature
    if decoding.top_p is not None:
        body["top_p"] = decoding.top_p
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
    return orjson.loads(decoding.extra) | body if decoding.extra else body


def completion_from(body: bytes, redaction: Redaction = NOTHING_SECRET) -> Completion:
    reply = StreamedReply(redaction)
    reply.add(body, key="message")
    return reply.completion()


# The choices of one reply: several samples of a prompt that were asked for in one request.
#
# Each choice is read by itself, so that an unreadable one does not cost the others. The endpoint
# counts tokens for the request as a whole: every sample has the whole prompt, and the output is
# divided by the lengths of the texts, so that the parts add up to what was counted.


def sampled_from(
    body: bytes, group: SampledCall, redaction: Redaction = NOTHING_SECRET
) -> tuple[SampledCompletion, int]:
    """Read a reply to a request for several samples, and count the choices that came.

    At least one of them must be readable. Where the endpoint counted the tokens of the first alone,
    the others are dropped: what they cost is unknown.
    """
    whole = StreamedReply(redaction)
    event = whole.event(body)
    choices = cast("list[Json]", event["choices"])
    if len(choices) > 1 and _counts_one(event, whole.usage):
        choices = choices[:1]
    read: list[Completion | None] = [None] * group.samples
    faults: list[BadReply] = []
    for place, choice in zip(_places(choices, group.samples), choices, strict=False):
        try:
            reply = StreamedReply(redaction)
            reply.take(choice, body)
            read[place] = reply.completion()
        except BadReply as fault:
            faults.append(fault)
    good = [one for one in read if one]
    if not good:
        raise faults[0]
    counted = iter(divide(whole.usage, [len(one.text) + len(one.reasoning) for one in good]))
    replies = tuple(replace(one, usage=next(counted)) if one else None for one in read)
    first = good[0]
    sampled = SampledCompletion(first.text, first.finish, first.reasoning, whole.usage, replies)
    return sampled, len(choices)


def divide(usage: Usage, lengths: Sequence[int]) -> list[Usage]:
    """Divide the output tokens by length; the prompt counts for each, the cache for the first."""
    output = _parts(usage.output, lengths)
    reasoning = _parts(usage.reasoning, output)
    return [
        Usage(usage.input, written, thought, 0 if n else usage.cached, usage.reported)
        for n, (written, thought) in enumerate(zip(output, reasoning, strict=True))
    ]


def _parts(amount: int, weights: Sequence[int]) -> list[int]:
    shares = weights if any(weights) else [1] * len(weights)
    total = sum(shares)
    ends = [0, *(amount * reached // total for reached in accumulate(shares))]
    return [end - start for start, end in pairwise(ends)]


def _counts_one(event: dict[str, Json], usage: Usage) -> bool:
    """Whether only one reply was counted: llama.cpp says how many tokens it predicted for it."""
    timings = event.get("timings")
    predicted = timings.get("predicted_n") if isinstance(timings, dict) else None
    return usage.reported and predicted == usage.output


def _places(choices: Sequence[Json], samples: int) -> list[int]:
    """Say which sample each choice is: by its index, or in order where indices make no sense."""
    indices = [choice.get("index") if isinstance(choice, dict) else None for choice in choices]
    named = [index for index in indices if type(index) is int and 0 <= index < samples]
    if len(set(named)) == len(choices):
        return named
    return list(range(min(len(choices), samples)))


def error_message(body: bytes) -> str:
    try:
        value = _parse(body)
    except (ValueError, RecursionError):
        return _decode(body)
    if isinstance(value, dict):
        value = value.get("error") or value.get("detail") or value
    return _brief(value, body)


_NOT_REPORTED: Final = Usage(reported=False)


class StreamedReply:
    """A reply that is being received: the events of a stream, or one body, put together."""

    __slots__ = ("_number", "_pairs", "_seen", "finish", "reasoning", "redaction", "text", "usage")

    def __init__(self, redaction: Redaction = NOTHING_SECRET) -> None:
        self.redaction = redaction
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.finish: Finish | None = None
        self.usage = _NOT_REPORTED
        self._pairs: PairedEvents | None = None
        self._seen: set[tuple[bytes, int]] = set()
        self._number = b""

    def add(self, data: bytes, key: str = "delta") -> tuple[str, str]:
        choices = cast("list[Json]", self.event(data, key)["choices"])
        if not choices:  # the event at the end of a stream that only brings the token counts
            return "", ""
        if key == "delta" and _is_another(self._object(choices[0], data)):
            return "", ""
        return self.take(choices[0], data, key)

    def event(self, data: bytes, key: str = "message") -> dict[str, Json]:
        """Read a body or an event that has a list of choices, and note the tokens it reports."""
        event = self._object(self._read(data), data)
        if error := event.get("error"):
            raise ServerFault(f"the endpoint reported an error: {self._quote(error, data)}")
        usage = _usage(event)
        if usage.reported or (usage.total and not self.usage.reported):
            self.usage = usage
        choices = event.get("choices")
        if not isinstance(choices, list) or (not choices and key == "message"):
            raise BadReply(f"the endpoint's reply has no choices: {self._quote(event, data)}")
        return event

    def take(self, value: Json, data: bytes, key: str = "message") -> tuple[str, str]:
        choice = self._object(value, data)
        text, reasoning = self._contents(choice, key, data)
        if text or reasoning:
            if self.finish is not None:  # what follows the end of a reply belongs to another
                raise BadReply(
                    "the endpoint's reply goes on after its end, as if it were sent twice"
                )
            if key == "delta":
                self._pairs = self._pairs or PairedEvents()
                self._pairs.add(data)
        reason = choice.get("finish_reason")
        if reason not in (None, ""):
            self.finish = _FINISH.get(reason, "other") if isinstance(reason, str) else "other"
        self.text.append(text)
        self.reasoning.append(reasoning)
        return text, reasoning

    def add_line(self, line: bytes) -> tuple[str, str]:
        """Take one line of a stream; lines that are not data bring nothing."""
        if line.lstrip()[:1] in _OPENINGS:
            raise self._unreadable(line, "a stream of events")
        name, _, value = (part.strip() for part in line.partition(b":"))
        if name == b"data" and value and not self._comes_again(value):
            return self.add(value)
        if name == b"id":
            self._number = value
        elif not name and not value:  # a blank line ends an event
            self._number = b""
        return "", ""

    def completion(self) -> Completion:
        if self._pairs and self._pairs.doubled(self.usage.output if self.usage.reported else None):
            raise BadReply("the endpoint's reply has every event twice, as a faulty proxy sends it")
        return Completion(
            text="".join(self.text),
            finish=self.finish or "other",
            reasoning="".join(self.reasoning),
            usage=self.usage,
        )

    def _comes_again(self, data: bytes) -> bool:
        if not self._number:
            return False
        event = self._number, hash(data)
        again = event in self._seen
        self._seen.add(event)
        return again

    def _contents(self, choice: dict[str, Json], key: str, data: bytes) -> tuple[str, str]:
        """Read the text and the reasoning of a choice; refuse one without a message."""
        error = choice.get("error")
        if error or choice.get("finish_reason") == "error":
            told = self._quote(error or cast("Json", choice), data)
            raise BadReply(f"the endpoint's reply ended in an error: {told}")
        message = choice.get(key)
        if message is None and key == "message":
            raise BadReply(f"the endpoint's reply has no message: {self._quote(choice, data)}")
        message = self._object({} if message is None else message, data)
        content = message.get("content")
        if content is None and isinstance(refused := message.get("refusal"), str):
            content = refused  # what the model says in place of an answer
        text = _text(content)
        if text is None:
            raise BadReply(f"the endpoint's reply has no text: {self._quote(content, data)}")
        return text, _text(message.get("reasoning_content") or message.get("reasoning")) or ""

    def _read(self, data: bytes) -> Json:
        try:
            return _parse(data)
        except (ValueError, RecursionError, MemoryError):
            raise self._unreadable(data, "JSON") from None

    def _unreadable(self, data: bytes, wanted: str) -> BadReply:
        said = self.redaction.quote(_decode(data[:1_000]))
        if not said:
            return BadReply("the endpoint's reply is empty")
        if data.lstrip()[:1] == b"<":
            return BadReply(f"the endpoint's reply is an HTML page; check the address: {said!r}")
        return BadReply(f"the endpoint's reply is not {wanted}: {said[:80]!r}")

    def _object(self, value: Json, data: bytes) -> dict[str, Json]:
        if not isinstance(value, dict):
            told = self._quote(value, data)
            raise BadReply(f"the endpoint's reply is not a chat completion: {told}")
        return value

    def _quote(self, value: Json, data: bytes) -> str:
        return self.redaction.quote(_brief(value, data))


def _parse(data: bytes) -> Json:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # It refuses half a surrogate pair and a byte order mark, which well-meant replies can have.
        return json.loads(data)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_another(choice: dict[str, Json]) -> bool:
    """Say whether a choice is not the first, and so one that was not asked for."""
    index = choice.get("index")
    return isinstance(index, int) and index > 0


def _text(content: Json) -> str | None:
    """Read a content, which is a string, null or a list of parts; None for anything else."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [
        part.get("text") if isinstance(part, dict) and part is not content else part
        for part in parts
    ]
    if not all(text is None or isinstance(text, str) for text in texts):
        return None
    return "".join(text for text in texts if isinstance(text, str))


def _usage(event: dict[str, Json]) -> Usage:
    """Read the token counts; a count that is missing or cannot be makes them unreported."""
    usage = event.get("usage")
    spent, written = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if spent is None or written is None:
        return Usage(spent or 0, written or 0, reported=False)
    cached = _count(usage, "prompt_tokens_details", "cached_tokens") or _count(
        usage, "prompt_cache_hit_tokens"
    )
    reasoning = _count(usage, "completion_tokens_details", "reasoning_tokens")
    return Usage(spent, written, min(reasoning or 0, written), min(cached or 0, spent))


def _count(value: Json, *path: str) -> int | None:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if value is None:
        return None
    digits = isinstance(value, str) and value.isdecimal() and len(value) <= len(str(_MOST_TOKENS))
    if digits or (isinstance(value, float) and value.is_integer()):
        value = int(cast("str | float", value))
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _brief(value: Json, data: bytes) -> str:
    """Write a part of a body for a message: its own message, or itself, or else all of the body."""
    if isinstance(value, dict) and isinstance(message := value.get("message"), str):
        return message
    try:
        return orjson.dumps(value).decode()
    except (TypeError, RecursionError):  # half a surrogate pair, a huge number, a deep nesting
        return _decode(data)
