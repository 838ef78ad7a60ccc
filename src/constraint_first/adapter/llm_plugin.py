"""The plugin for ``llm``: methods as models ``cfr/NAME``, and the tool ``check_answer``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import llm
from pydantic import Field

from constraint_first.attempt.attempt import Attempt, attempt
from constraint_first.attempt.events import Ended
from constraint_first.attempt.solve import iterate
from constraint_first.error import CfrError, InputError
from constraint_first.method.policy import in_conversation
from constraint_first.method.registry import make
from constraint_first.model.client import Client
from constraint_first.model.resolve import AUTO, choose_for, price_list, serve
from constraint_first.problem import Problem
from constraint_first.protocol import Message
from constraint_first.serve.attempt import REASONING, Outbox, StreamWriter
from constraint_first.serve.reply import describe_start, own_part

if TYPE_CHECKING:
    from llm.parts import StreamEvent

# Everything else of ours is imported where it is used: llm imports its plugins for every command.


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


def _engine(question: Question, prompt: llm.Prompt, key: str | None) -> Client:
    """Choose the engine as ``cfr solve`` does; a model for this machine is fetched."""
    from constraint_first.method.method import models_of
    from constraint_first.method.registry import make
    from constraint_first.model.resolve import AUTO, ModelRef, resolve
    from constraint_first.model.wire import Decoding

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

    if isinstance(one, Piece):
        yield StreamEvent(type="reasoning" if one.is_work else "text", chunk=one.text)
    else:
        _note(one, response)


def _note(made: Attempt, response: llm.Response | llm.AsyncResponse) -> None:
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
    from constraint_first.method.registry import names
    from constraint_first.model.resolve import AUTO

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


# An answer as it is made: the work and the solution in pieces, then the whole of it.


@dataclass(frozen=True, slots=True)
class Question:
    """A problem, the method that is to answer it, and what was said before."""

    problem: Problem
    method: str = AUTO
    context: tuple[Message, ...] = ()
    """System messages and earlier turns, which go ahead of every call."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The next words: of the work before the solution, or of the solution."""

    text: str
    is_work: bool


Streamed: TypeAlias = Piece | Attempt
"""What comes out of a stream: pieces, and at its end the answer with all that led to it."""


async def stream_answer(question: Question, engine: Client) -> AsyncGenerator[Streamed]:
    """Answer a question; the split into work and solution is that of ``cfr serve``."""
    problem, name = question.problem, question.method
    async with engine as opened:
        if name == AUTO:
            name = choose_for(opened).method
        method = in_conversation(make(name), question.context)
        outbox, prices = Outbox(), price_list(opened.model, opened.others)
        writer = StreamWriter(outbox, 0, method, describe_start(method, problem))
        events = attempt(method, problem, opened, ahead=question.context, prices=prices)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Ended):
                    writer.conclude(replace(event.attempt, name=name, model=opened.model))
                else:
                    writer.tell(event)
                for words in outbox.take():
                    yield words.ended or Piece(words.text.getvalue(), words.name == REASONING)
