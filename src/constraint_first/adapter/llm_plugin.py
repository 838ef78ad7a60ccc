"""The plugin for ``llm``: methods as models ``cfr/NAME``, and the tool ``check_answer``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import llm
from pydantic import Field

from constraint_first.attempt.attempt import Attempt, attempt
from constraint_first.attempt.events import Ended
from constraint_first.attempt.solve import iterate
from constraint_first.error import CfrError, InputError
from constraint_first.method.method import models_of
from constraint_first.method.policy import in_conversation
from constraint_first.method.registry import make, names
from constraint_first.model.client import Client
from constraint_first.model.resolve import AUTO, ModelRef, choose_for, price_list, resolve, serve
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem
from constraint_first.protocol import Message
from constraint_first.serve.attempt import REASONING, Outbox, StreamWriter, describe_start, own_part

if TYPE_CHECKING:
    from llm.parts import StreamEvent

_PREFIX: Final = "cfr/"


class _Options(llm.Options):
    """The options for ``-o NAME VALUE``, named as those of ``cfr solve``."""

    method: str | None = Field(
        default=None,
        description="A method in place of the model's own, with options: vote(samples=5)",
    )
    model: str | None = Field(
        default=None,
        description="The model to ask: a preset, a catalogue name, a .gguf file, an endpoint's",
    )
    base_url: str | None = Field(
        default=None, description="The OpenAI-compatible endpoint to ask, else OPENAI_BASE_URL"
    )
    key_env: str | None = Field(
        default=None, description="The variable that holds the endpoint's key"
    )
    context: int | None = Field(default=None, ge=256, description="Tokens of context")
    temperature: float | None = Field(default=None, ge=0, le=2, description="0.7 where not set")
    top_p: float | None = Field(default=None, ge=0, le=1, description="0.95 where not set")
    seed: int | None = Field(default=None, description="Sample repeatably")
    max_tokens: int | None = Field(default=None, ge=1, description="Most output tokens of any call")


class _Named:
    """The base of both kinds of model: a name, options, and an optional key."""

    can_stream = True
    Options = _Options

    def __init__(self, name: str) -> None:
        self.name = name
        self.model_id = _PREFIX + name

    def __str__(self) -> str:
        return f"Constraint-First: {self.model_id}"

    def get_key(self, explicit_key: str | None = None) -> str | None:
        """Return the key of ``--key`` or the stored key that it names; else the endpoint's."""
        return llm.get_key(explicit_key=explicit_key) if explicit_key else None


class MethodModel(_Named, llm.KeyModel):
    def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,  # noqa: ARG002 — replies are streamed in any case
        response: llm.Response,
        conversation: llm.Conversation | None,  # noqa: ARG002 — the prompt contains it
        key: str | None,
    ) -> Generator[StreamEvent]:
        yield from iterate(_answer(self.name, prompt, response, key))


class AsyncMethodModel(_Named, llm.AsyncKeyModel):
    """A method as a model, for asynchronous programs."""

    async def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,  # noqa: ARG002
        response: llm.AsyncResponse,
        conversation: llm.AsyncConversation | None,  # noqa: ARG002
        key: str | None,
    ) -> AsyncGenerator[StreamEvent]:
        async with aclosing(_answer(self.name, prompt, response, key)) as events:
            async for event in events:
                yield event


async def _answer(
    name: str, prompt: llm.Prompt, response: llm.Response | llm.AsyncResponse, key: str | None
) -> AsyncGenerator[StreamEvent]:
    """Stream the answer to a prompt; reasoning and content are split as by ``cfr serve``."""
    from llm.parts import StreamEvent

    options = cast("_Options", prompt.options)
    name = options.method or name
    try:
        *ahead, problem = _read(prompt)
        async with await asyncio.to_thread(_client, name, options, key) as opened:
            name = choose_for(opened).method if name == AUTO else name
            method = in_conversation(make(name), ahead)
            outbox, prices = Outbox(), price_list(opened.model, opened.others)
            posed = Problem(problem.content)
            writer = StreamWriter(outbox, 0, method, describe_start(method, posed))
            events = attempt(method, posed, opened, ahead=tuple(ahead), prices=prices)
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Ended):
                        writer.conclude(replace(event.attempt, name=name, model=opened.model))
                    else:
                        writer.tell(event)
                    for words in outbox.take():
                        if words.ended:
                            _note(words.ended, response)
                        else:
                            kind = "reasoning" if words.name == REASONING else "text"
                            yield StreamEvent(type=kind, chunk=words.text.getvalue())
    except CfrError as error:
        raise llm.ModelError(str(error)) from None


def _read(prompt: llm.Prompt) -> list[Message]:
    """Read the conversation before the problem: its texts without the reasoning."""
    from llm.parts import TextPart

    found: list[Message] = []
    for one in cast("Any", prompt).messages:
        text = "\n".join(part.text for part in one.parts if isinstance(part, TextPart))
        if one.role in ("system", "user", "assistant"):
            found.append(Message(one.role, text))
    if not found or found[-1].role != "user" or not found[-1].content.strip():
        raise InputError("the prompt has no text; give the problem, as an argument or on stdin")
    return found


def _client(method: str, given: _Options, key: str | None) -> Client:
    """Choose the model as ``cfr solve`` does; a local model is downloaded."""
    ref = ModelRef(given.model, given.base_url, given.key_env, given.context, key or "")
    named = {name: getattr(given, name) for name in ("temperature", "top_p", "seed", "max_tokens")}
    decoding = Decoding(**{name: value for name, value in named.items() if value is not None})
    others = () if method == AUTO else models_of(make(method))
    shown: list[tuple[str, int]] = []

    def show(done: int, total: int, doing: str) -> None:
        """Print the progress of a download, one line for each 10 %."""
        tenth = doing, 10 * done // max(total, 1)
        if tenth not in shown[-1:]:
            shown.append(tenth)
            amount = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            print(f"cfr: {doing}, {amount}", file=sys.stderr)  # noqa: T201

    return serve(ref, others, lambda one: resolve(one, decoding, progress=show))


def _note(made: Attempt, response: llm.Response | llm.AsyncResponse) -> None:
    """Log the tokens of an attempt and its reasoning."""
    usage = made.usage
    counted = {"reasoning": usage.reasoning, "cached": usage.cached, "shared": usage.shared}
    details = {name: count for name, count in counted.items() if count}
    cast("Any", response).set_usage(input=usage.input, output=usage.output, details=details or None)
    if made.model:
        response.set_resolved_model(made.model)
    response.response_json = own_part(made)


@llm.hookimpl
def register_models(register: Callable[..., None]) -> None:
    """Register ``cfr/auto`` and a model for every method."""
    for name in (AUTO, *names()):
        register(MethodModel(name), AsyncMethodModel(name))


@llm.hookimpl
def register_tools(register: Callable[..., None]) -> None:
    """Register the tool that checks an answer."""
    register(check_answer)


def check_answer(problem: str, answer: str) -> str:
    """Check an answer against what the text of its problem demands (integer, range, …).

    Give the whole text of the problem and the final answer alone. The result says which demands
    the answer breaks. An answer that breaks none may still be wrong.
    """
    from constraint_first.adapter.mcp_server import check_answer as check

    return check(problem, answer).model_dump_json()
