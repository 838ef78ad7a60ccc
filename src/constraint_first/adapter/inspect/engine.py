"""An engine on top of Inspect's model: a call in, a completion out.

Inspect performs the request, so that its log, limits, retries, cache and token counts hold for our
methods as for any other solver. What a model refuses and a call can do without is left out from
then on, as our own engine does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.util import JSONSchema, span

from constraint_first.adapter.inspect.internal import settings_of
from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.engine import SEEDS_A_RUN, SILENT, Watcher
from constraint_first.engine.error import BadReply, EngineError, PromptTooLong, Rejected
from constraint_first.engine.openai import fitting_budget
from constraint_first.engine.refusal import DecodingRefused, ParameterRefused, refusal
from constraint_first.file.printable import printable
from constraint_first.protocol import Call, Completion, Finish, Message, Usage

__all__ = ["Adaptation", "InspectEngine", "completion_from", "config_for"]

_FINISH: Final[dict[str, Finish]] = {
    "stop": "stop",
    "max_tokens": "length",
    "model_length": "length",
}
_NOT_REPLIES: Final = ("model_length", "content_filter")
_BAD_REQUEST: Final = (400, 413, 422)
_LONGEST_REASON: Final = 400
_MESSAGES: Final = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class _Schema(JSONSchema, extra="allow"):
    """A JSON Schema with all that it says; Inspect's own knows nothing of a list's length."""

    items: _Schema | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    properties: dict[str, _Schema] | None = (  # pyright: ignore[reportIncompatibleVariableOverride]
        None
    )


@dataclass(slots=True)
class Adaptation:
    """What one model was found not to take. Samples share it, so that it is refused once."""

    context: int | None = None
    """Tokens that a prompt and its reply have together."""
    most: int | None = None
    """The most output tokens that may be asked for."""
    json: bool = True
    """Whether it can be held to JSON."""

    def learn(self, refused: EngineError | None) -> None:
        """Note what a refusal is about, if a call can do without it."""
        match refused:
            case PromptTooLong(limit=int(limit)):
                self.context = limit
            case DecodingRefused(setting="max_tokens", most=int(most)):
                self.most = most
            case ParameterRefused(parameter="response_format"):
                self.json = False
            case _:
                pass


@dataclass(frozen=True, slots=True)
class InspectEngine:
    """The model that Inspect evaluates, and others by the names or roles that calls have."""

    served: Model
    epoch: int = 1
    """Which run of the sample it is, from 1: each has seeds of its own where a seed is fixed."""
    adaptations: dict[str, Adaptation] = field(default_factory=dict[str, Adaptation])

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.served.name

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:  # noqa: ARG002
        """Have Inspect perform a call; what it raises (a limit, a provider's error) is its own."""
        model, settings = self._asked(call)
        known = self.adaptations.setdefault(str(model), Adaptation())
        own = replace(call, sample=call.sample + (self.epoch - 1) * SEEDS_A_RUN)
        messages = [_message(one) for one in call.messages]
        async with span(call.stage):
            while True:
                asked = replace(known)
                config = config_for(own, settings, asked)
                try:
                    output = await model.generate(
                        messages, config=config, cache=_cache(settings, call)
                    )
                    return completion_from(output)
                except Exception as error:
                    known.learn(_refusal(error, str(model)))
                    if known == asked:  # nobody has learnt anything since
                        raise

    def _asked(self, call: Call) -> tuple[Model, GenerateConfig]:
        """Find the model that a call is for; all are decoded alike, unless they say otherwise."""
        settings = settings_of(self.served)
        if call.model is None:
            return self.served, settings
        role = call.model in model_roles()
        model = get_model(role=call.model) if role else get_model(call.model)
        return model, settings.merge(model.config)


def config_for(call: Call, settings: GenerateConfig, known: Adaptation) -> GenerateConfig:
    """Set how a call is decoded. A budget that was set for all calls bounds that of this one."""
    bounds = (call.max_tokens, settings.max_tokens, known.most)
    wanted = min(bound for bound in bounds if bound)
    return GenerateConfig(
        max_tokens=fitting_budget(call, wanted, known.context),
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=None if settings.seed is None else settings.seed + call.sample,
        response_schema=_schema(call) if call.json and known.json else None,
        extra_body=_any_object(settings) if call.json and known.json and not call.schema else None,
    )


def _schema(call: Call) -> ResponseSchema | None:
    if not call.schema:
        return None
    schema = _Schema.model_validate_json(call.schema)
    return ResponseSchema(name=call.stage, json_schema=schema, strict=True)


def _any_object(settings: GenerateConfig) -> dict[str, Any]:
    """Ask for JSON of any kind. Inspect has no setting for it: OpenAI's own field is sent."""
    return {**(settings.extra_body or {}), "response_format": {"type": "json_object"}}


def _message(message: Message) -> ChatMessage:
    return _MESSAGES[message.role](content=message.content)


def _cache(settings: GenerateConfig, call: Call) -> bool | CachePolicy:
    """Keep samples of one prompt apart in Inspect's cache: they are meant to differ."""
    if not settings.cache:
        return False
    policy = settings.cache if isinstance(settings.cache, CachePolicy) else CachePolicy()
    scopes = {**policy.scopes, "cfr-sample": str(call.sample)}
    return policy.model_copy(update={"scopes": scopes})


def completion_from(output: ModelOutput) -> Completion:
    """Read what the model replied. Where it did not reply, that is an error and no empty answer."""
    if not output.choices:
        raise BadReply(f"{output.model}: its reply has no choices")
    said, reason = output.message.text, output.stop_reason
    if output.usage is None and reason in _NOT_REPLIES:
        # Inspect makes an output of a refused request, and the endpoint's words its text.
        raise _no_reply(output.model, reason, said)
    return Completion(
        text=said,
        finish=_FINISH.get(reason, "other"),
        reasoning=_reasoning(output.message),
        usage=_usage(output.usage),
    )


def _reasoning(message: ChatMessageAssistant) -> str:
    parts: Sequence[object] = [] if isinstance(message.content, str) else message.content
    return "\n\n".join(part.reasoning for part in parts if isinstance(part, ContentReasoning))


def _usage(usage: ModelUsage | None) -> Usage:
    """Count tokens as we do: those from the prompt cache are part of the input."""
    if usage is None:
        return Usage(reported=False)
    cached = usage.input_tokens_cache_read or 0
    read = usage.input_tokens + cached + (usage.input_tokens_cache_write or 0)
    return Usage(read, usage.output_tokens, usage.reasoning_tokens or 0, cached)


def _no_reply(model: str, reason: str, said: str) -> EngineError:
    found = _classify(model, 400, said)
    said = printable(" ".join(said.split())[:_LONGEST_REASON])
    if reason == "content_filter":
        return Rejected(f"{model}: a content filter refused the prompt ({said})")
    limit = found.limit if isinstance(found, PromptTooLong) else None
    return PromptTooLong(
        f"{model}: the problem does not fit into its context ({said}); shorten it, or lower "
        "--max-tokens",
        limit,
    )


def _refusal(error: Exception, model: str) -> EngineError | None:
    """Read out of a provider's error what the endpoint refuses; None for all other errors."""
    if isinstance(error, EngineError):
        return error
    cause = error.__cause__ or error
    status = getattr(cause, "status_code", None)
    return _classify(model, status, str(cause)) if status in _BAD_REQUEST else None


def _classify(model: str, status: int, said: str) -> EngineError:
    return refusal(Endpoint("", model), status, {}, said.encode("utf-8", "replace"))
