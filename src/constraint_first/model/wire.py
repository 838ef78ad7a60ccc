"""Calls and completions in OpenAI's chat format, and the protocols of engines."""

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
"""The distance of the seeds of two runs: larger than the number of samples of one run."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sampling settings, the paper's by default, the same for all methods in a comparison."""

    temperature: float | None = 0.7
    """None where it is not sent, because the model refuses it; so for the fields below."""
    top_p: float | None = 0.95
    seed: int | None = None
    """Exactly reproducible with llama.cpp, one call at a time; elsewhere best effort."""
    max_tokens: int | None = None
    """An upper limit on the output tokens of each call, below its method's budget."""
    extra: str = ""
    """Other fields of a request, such as ``stop`` or ``top_k``: a JSON object as text."""


Decode: TypeAlias = Callable[[Decoding, Call], Decoding]
"""A function from the model's own decoding to that of a call."""


@dataclass(frozen=True, slots=True)
class SampledCall(Call):
    """Calls that differ only in consecutive samples; an engine without ``n`` performs the first."""

    samples: int = 1


@dataclass(frozen=True, slots=True)
class SampledCompletion(Completion):
    """The replies to a sampled call; as a completion, the first reply with the tokens of all."""

    replies: tuple[Completion | None, ...] = ()
    """By sample; None for one that is missing or unreadable."""


class Watcher:
    """An observer of the tries of a call. Override the methods of interest."""

    streams: bool = True
    """Whether replies are streamed; a watcher that ignores the pieces needs no streaming."""

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Take the next piece of a reply as it is written."""

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Note that a call failed and is retried after a pause; pieces seen so far are void."""

    def adapted(self, call: Call, change: str) -> None:
        """Note that the endpoint refused a setting, and what is sent instead from now on."""


class _Silent(Watcher):
    streams = False


SILENT = _Silent()


class Engine(Protocol):
    """An engine performs calls: it decides how, while their content comes from the method."""

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion: ...


def most_samples(engine: object, group: SampledCall) -> int:
    """Return how many samples of a group an engine requests at once now; 1 for most engines."""
    ask: Callable[[SampledCall], int] | None = getattr(engine, "most_samples", None)
    return ask(group) if ask else 1


class Served(Protocol):
    """A model that is served, here or elsewhere; each call may have a decoding of its own."""

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


# Repetition in a stream: a faulty proxy may send each event twice.

_PAIRS_WITH_COUNT: Final = 2
_PAIRS_WITHOUT: Final = 8


@dataclass(slots=True)
class PairedEvents:
    """The events of one stream, as far as they come in equal pairs.

    Events have no numbers, and a model may well write the same piece twice, so two equal events
    prove nothing. Repetition is certain when all events are paired and there are more of them than
    the reported tokens, or, without a token count, when there are many different pairs.
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
# known fields are read here and nowhere else. A reply without content is a fault to be retried,
# never an empty answer.

JsonMode: TypeAlias = Literal["schema", "object", "off"]
"""How a JSON reply is requested: by a schema, as any object, or by the prompt alone."""

_FINISH: Final[dict[Json, Finish]] = {"stop": "stop", "length": "length", "max_tokens": "length"}
_OPENINGS: Final = (b"{", b"[", b"<")
_MOST_TOKENS: Final = 2**31 - 1  # a higher count is an error, and too large for an INTEGER column


def request_for(call: Call, model: str, decoding: Decoding, mode: JsonMode) -> dict[str, Json]:
    """Build the request body of a call; settings that are None are not sent."""
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


# The choices of one reply: several samples of a prompt from one request (``n``).
#
# Each choice is parsed by itself, so that an unreadable one does not invalidate the others. The
# endpoint counts tokens for the whole request: every sample gets the whole prompt, and the output
# is divided in proportion to the lengths of the texts, so that the parts add up to the count.


def sampled_from(
    body: bytes, group: SampledCall, redaction: Redaction = NOTHING_SECRET
) -> tuple[SampledCompletion, int]:
    """Read a reply to a request for several samples, and count its choices.

    At least one of them must be readable. Where the endpoint counted only the first one's tokens,
    the others are dropped, because their cost is unknown.
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
    """Whether the count is of one reply only: llama.cpp's timings show the tokens of that one."""
    timings = event.get("timings")
    predicted = timings.get("predicted_n") if isinstance(timings, dict) else None
    return usage.reported and predicted == usage.output


def _places(choices: Sequence[Json], samples: int) -> list[int]:
    """Return the sample of each choice: by its index, or in order where indices are invalid."""
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
    """A reply while it is received: the events of a stream joined, or one body."""

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
        if not choices:  # the last event of a stream has only the token counts
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
            if self.finish is not None:  # events after the end of a reply belong to another
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
        """Add one line of a stream; lines that are not data are ignored."""
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
            content = refused  # the model's refusal, in place of an answer
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
        # orjson refuses lone surrogates and byte-order marks, which valid replies can have.
        return json.loads(data)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_another(choice: dict[str, Json]) -> bool:
    """Whether a choice is not the first, and so was not requested."""
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
    """Read the token counts; a missing or impossible count makes them unreported."""
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
    """Quote part of a body: its own error message, else the part, else the whole body."""
    if isinstance(value, dict) and isinstance(message := value.get("message"), str):
        return message
    try:
        return orjson.dumps(value).decode()
    except (TypeError, RecursionError):  # a lone surrogate, a huge number, deep nesting
        return _decode(data)
