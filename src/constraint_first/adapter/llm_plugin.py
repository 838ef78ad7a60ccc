"""The plugin for ``llm``: methods as models ``cfr/NAME``, and the tool ``check_answer``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, Final, cast

import llm
from pydantic import Field

from constraint_first.error import CfrError, InputError

if TYPE_CHECKING:
    from llm.parts import StreamEvent

    from constraint_first.adapter.answer_stream import Question, Streamed
    from constraint_first.engine.dispatch import Dispatch
    from constraint_first.engine.resolve import Resolved
    from constraint_first.protocol import Message
    from constraint_first.serve.reply import ServedAnswer

# Everything else of ours is imported where it is used: llm imports its plugins for every command.

__all__ = ["AsyncMethodModel", "MethodModel", "check_answer", "register_models", "register_tools"]

_PREFIX: Final = "cfr/"


class _Options(llm.Options):
    """What ``-o NAME VALUE`` sets, as the options of ``cfr solve`` do."""

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
    """What both kinds of model have: a name, options, and a key only where one is given."""

    can_stream = True
    Options = _Options

    def __init__(self, name: str) -> None:
        self.name = name
        self.model_id = _PREFIX + name

    def __str__(self) -> str:
        return f"Constraint-First: {self.model_id}"

    def get_key(self, explicit_key: str | None = None) -> str | None:
        """Take the key of ``--key``, or the stored one that it names; otherwise the endpoint's."""
        return llm.get_key(explicit_key=explicit_key) if explicit_key else None


class MethodModel(_Named, llm.KeyModel):
    """A method as a model."""

    def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,  # noqa: ARG002 — pieces come as they are made in any case
        response: llm.Response,
        conversation: llm.Conversation | None,  # noqa: ARG002 — the prompt has all of it
        key: str | None,
    ) -> Generator[StreamEvent]:
        """Answer a prompt, piece by piece."""
        from constraint_first.adapter.answer_stream import iterate, stream_answer

        try:
            question = _question(self.name, prompt)
            source = stream_answer(question, _engine(question, prompt, key))
            for one in iterate(source):
                yield from _told(one, response)
        except CfrError as error:
            raise llm.ModelError(str(error)) from None


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
        """Answer a prompt, piece by piece."""
        from constraint_first.adapter.answer_stream import stream_answer

        try:
            question = _question(self.name, prompt)
            engine = await asyncio.to_thread(_engine, question, prompt, key)
            async for one in stream_answer(question, engine):
                for event in _told(one, response):
                    yield event
        except CfrError as error:
            raise llm.ModelError(str(error)) from None


def _question(name: str, prompt: llm.Prompt) -> Question:
    """Take the last message of a user as the problem, and what comes before as context."""
    from constraint_first.adapter.answer_stream import Question
    from constraint_first.problem import Problem

    said = list(_texts(cast("Any", prompt).messages))
    last = said.pop() if said else None
    if last is None or last.role != "user" or not last.content.strip():
        raise InputError("the prompt has no text; give the problem, as an argument or on stdin")
    options = cast("_Options", prompt.options)
    return Question(Problem(last.content), options.method or name, tuple(said))


def _texts(messages: Iterable[llm.Message]) -> Generator[Message]:
    """Read a conversation: its texts alone, without the work that led to earlier answers."""
    from llm.parts import TextPart

    from constraint_first.protocol import Message

    for one in messages:
        text = "\n".join(part.text for part in one.parts if isinstance(part, TextPart))
        if one.role in ("system", "user", "assistant"):
            yield Message(one.role, text)


def _engine(question: Question, prompt: llm.Prompt, key: str | None) -> Dispatch[Resolved]:
    """Choose the engine as ``cfr solve`` does; a model for this machine is fetched."""
    from constraint_first.engine.automatic import AUTO
    from constraint_first.engine.dispatch import serve
    from constraint_first.engine.engine import Decoding
    from constraint_first.engine.resolve import ModelRef, resolve
    from constraint_first.method import make
    from constraint_first.method.method import models_of

    given = cast("_Options", prompt.options)
    ref = ModelRef(given.model, given.base_url, given.key_env, given.context, key or "")
    named = {name: getattr(given, name) for name in ("temperature", "top_p", "seed", "max_tokens")}
    decoding = Decoding(**{name: value for name, value in named.items() if value is not None})
    others = () if question.method == AUTO else models_of(make(question.method))
    return serve(ref, others, lambda one: resolve(one, decoding, progress=_Fetching()))


class _Fetching:
    """Says on standard error how much of a model is there, a line for every tenth."""

    def __init__(self) -> None:
        self._told = ("", -1)

    def __call__(self, done: int, total: int, doing: str) -> None:
        tenth = doing, 10 * done // max(total, 1)
        if tenth != self._told:
            self._told = tenth
            amount = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            print(f"cfr: {doing}, {amount}", file=sys.stderr)  # noqa: T201


def _told(one: Streamed, response: llm.Response | llm.AsyncResponse) -> Generator[StreamEvent]:
    """Pass a piece on; of the end, note the tokens and what led to the answer."""
    from llm.parts import StreamEvent

    from constraint_first.adapter.answer_stream import Piece

    if isinstance(one, Piece):
        yield StreamEvent(type="reasoning" if one.is_work else "text", chunk=one.text)
    else:
        _note(one, response)


def _note(answer: ServedAnswer, response: llm.Response | llm.AsyncResponse) -> None:
    usage = answer.solved.usage
    counted = {"reasoning": usage.reasoning, "cached": usage.cached, "shared": usage.shared}
    details = {name: count for name, count in counted.items() if count}
    cast("Any", response).set_usage(input=usage.input, output=usage.output, details=details or None)
    if answer.upstream:
        response.set_resolved_model(answer.upstream)
    response.response_json = answer.to_json()


@llm.hookimpl
def register_models(register: Callable[..., None]) -> None:
    """Register ``cfr/auto`` and a model for every method."""
    from constraint_first.engine.automatic import AUTO
    from constraint_first.method import names

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
    from constraint_first.adapter.tool_result import check_answer as check

    return check(problem, answer).model_dump_json()
