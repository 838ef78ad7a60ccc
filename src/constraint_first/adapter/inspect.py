"""Inspect: methods as solvers, our grader as a scorer, benchmarks as tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import orjson
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError as PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    ChatCompletionChoice,
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
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, span
from rich.markup import escape

from constraint_first.answer.grade import GradingCase, Verdict, grade_all
from constraint_first.attempt.attempt import make_attempt
from constraint_first.attempt.events import Event, Executed
from constraint_first.benchmark.registry import load
from constraint_first.benchmark.registry import names as benchmark_names
from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import printable, storable_json, storable_text
from constraint_first.method.method import Method
from constraint_first.method.policy import in_conversation
from constraint_first.method.registry import METHODS, make, names, read_system
from constraint_first.model.client import fitting_budget
from constraint_first.model.error import BadReply, EngineError, PromptTooLong, Rejected
from constraint_first.model.resolve import AUTO, choose_for
from constraint_first.model.transport import DecodingRefused, Endpoint, ParameterRefused, refusal
from constraint_first.model.wire import SEEDS_A_RUN, SILENT, Decoding, Watcher
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Finish, Message, Usage
from constraint_first.serve.attempt import final_text


def qualify(factory: Callable[..., Any], name: str) -> str:
    """Return the name ``cfr/NAME`` for a solver, scorer or task, and make Inspect keep it as it is.

    Inspect prefixes the top-level package of the factory's module, which would give
    ``constraint_first/NAME``. The module name set here does not exist, so Inspect adds no prefix.
    """
    factory.__module__ = "cfr (inspect)"
    return f"cfr/{name}"


@contextmanager
def as_prerequisite(*, in_sample: bool = False) -> Generator[None]:
    """Raise our errors as PrerequisiteError, which Inspect prints in one line."""
    try:
        yield
    except CfrError as error:
        # Outside a sample rich prints the message, and would parse square brackets as markup.
        raise PrerequisiteError(str(error) if in_sample else escape(str(error))) from None


# An engine on top of Inspect's model: a call in, a completion out.
#
# Inspect performs the request, so that its log, limits, retries, cache and token counts hold for
# our methods as for any other solver. A parameter that a model refuses and a call does not need is
# left out from then on, as by our own engine.

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
    """A JSON Schema with all keywords; Inspect's own drops the length of a list."""

    items: _Schema | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    properties: dict[str, _Schema] | None = (  # pyright: ignore[reportIncompatibleVariableOverride]
        None
    )


@dataclass(slots=True)
class Adaptation:
    """Limits of a model, learnt from refusals; shared by samples, so that each is learnt once."""

    context: int | None = None
    """The context length: tokens of a prompt and its reply together."""
    most: int | None = None
    """The largest accepted max_tokens."""
    json: bool = True
    """Whether it accepts a JSON response format."""

    def learn(self, error: Exception, model: str) -> None:
        """Learn from a refusal, if the call can be repeated without the refused setting."""
        refused: Exception = error
        if not isinstance(error, EngineError):
            cause = error.__cause__ or error
            status = getattr(cause, "status_code", None)
            refused = _classify(model, str(cause), status) if status in _BAD_REQUEST else error
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
    served: Model
    epoch: int = 1
    """The epoch of the sample, from 1: with a fixed seed each epoch has its own seeds."""
    adaptations: dict[str, Adaptation] = field(default_factory=dict[str, Adaptation])

    @property
    def model(self) -> str:
        return self.served.name

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:  # noqa: ARG002
        """Have Inspect perform a call; its own errors (a limit, a provider's) pass through."""
        model, settings = self._asked(call)
        known = self.adaptations.setdefault(str(model), Adaptation())
        own = replace(call, sample=call.sample + (self.epoch - 1) * SEEDS_A_RUN)
        messages: list[ChatMessage] = [
            _MESSAGES[one.role](content=one.content) for one in call.messages
        ]
        async with span(call.stage):
            while True:
                asked = replace(known)
                config = config_for(own, settings, asked)
                try:
                    cache = _cache(settings, call)
                    output = await model.generate(messages, config=config, cache=cache)
                    return completion_from(output)
                except Exception as error:
                    known.learn(error, str(model))
                    if known == asked:  # no other sample has changed the limits since
                        raise

    def _asked(self, call: Call) -> tuple[Model, GenerateConfig]:
        """Find the model that a call is for; all are decoded alike unless their configs differ."""
        settings = self.served.config.merge(active_generate_config())
        if call.model is None:
            return self.served, settings
        role = call.model in model_roles()
        model = get_model(role=call.model) if role else get_model(call.model)
        return model, settings.merge(model.config)


def config_for(call: Call, settings: GenerateConfig, known: Adaptation) -> GenerateConfig:
    """Set how a call is decoded. Inspect's max_tokens is an upper limit on that of the call."""
    bounds = (call.max_tokens, settings.max_tokens, known.most)
    wanted = min(bound for bound in bounds if bound)
    schema = body = None
    if call.json and known.json and call.schema:
        read = _Schema.model_validate_json(call.schema)
        schema = ResponseSchema(name=call.stage, json_schema=read, strict=True)
    elif call.json and known.json:
        # Inspect has no setting for JSON without a schema, so OpenAI's field is sent.
        body = {**(settings.extra_body or {}), "response_format": {"type": "json_object"}}
    return GenerateConfig(
        max_tokens=fitting_budget(call, wanted, known.context),
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=None if settings.seed is None else settings.seed + call.sample,
        response_schema=schema,
        extra_body=body,
    )


def _cache(settings: GenerateConfig, call: Call) -> bool | CachePolicy:
    """Distinguish samples of one prompt in Inspect's cache: they must differ."""
    if not settings.cache:
        return False
    policy = settings.cache if isinstance(settings.cache, CachePolicy) else CachePolicy()
    scopes = {**policy.scopes, "cfr-sample": str(call.sample)}
    return policy.model_copy(update={"scopes": scopes})


def completion_from(output: ModelOutput) -> Completion:
    """Read a model's reply; raise if the output is an error."""
    if not output.choices:
        raise BadReply(f"{output.model}: its reply has no choices")
    said, reason = output.message.text, output.stop_reason
    if output.usage is None and reason in _NOT_REPLIES:
        # Inspect turns a refused request into an output, with the endpoint's message as text.
        shown = printable(" ".join(said.split())[:_LONGEST_REASON])
        if reason == "content_filter":
            raise Rejected(f"{output.model}: a content filter refused the prompt ({shown})")
        found = _classify(output.model, said)
        raise PromptTooLong(
            f"{output.model}: the problem does not fit into its context ({shown}); shorten it, or "
            "lower --max-tokens",
            found.limit if isinstance(found, PromptTooLong) else None,
        )
    content = output.message.content
    parts: Sequence[object] = [] if isinstance(content, str) else content
    return Completion(
        text=said,
        finish=_FINISH.get(reason, "other"),
        reasoning="\n\n".join(one.reasoning for one in parts if isinstance(one, ContentReasoning)),
        usage=_usage(output.usage),
    )


def _usage(usage: ModelUsage | None) -> Usage:
    """Count tokens as we do: those from the prompt cache are part of the input."""
    if usage is None:
        return Usage(reported=False)
    cached = usage.input_tokens_cache_read or 0
    read = usage.input_tokens + cached + (usage.input_tokens_cache_write or 0)
    return Usage(read, usage.output_tokens, usage.reasoning_tokens or 0, cached)


def _classify(model: str, said: str, status: int = 400) -> EngineError:
    return refusal(Endpoint("", model), status, {}, said.encode("utf-8", "replace"))


# Every method as a solver of Inspect: ``cfr/auto``, ``cfr/vote``, ``cfr/method``.

NOTES: Final = "cfr"
"""The key of a solver's notes in the sample's store, and of the answer in its output."""

_ROLES: Final = ("system", "user", "assistant")


def _method(name: str = AUTO) -> Solver:
    """Any method by its whole name, options included: ``vote(samples=3,check=off)``."""
    return _solve_with(spell_name(name, {}))


method: Final = solver(qualify(_method, "method"))(_method)


def _register_method(name: str) -> None:
    """Register the solver of one method; its parameters are the method's options."""

    def factory(**options: Any) -> Solver:
        return _solve_with(spell_name(name, options))

    factory.__doc__ = METHODS[name].__doc__ if name in METHODS else None
    solver(qualify(factory, name))(factory)


for _name in (AUTO, *names()):
    _register_method(_name)


def spell_name(name: object, options: dict[str, Any]) -> str:
    """Write a method's name with its options as ``cfr`` reads it.

    Inspect parses values of its command line as YAML: ``off`` becomes False, and a value with
    commas becomes a list.
    """
    words = ((option, _word(value)) for option, value in options.items())
    spelt = [
        f'{option}="{word}"' if "," in word and not {"(", '"'} & {*word} else f"{option}={word}"
        for option, word in words
    ]
    return f"{_word(name)}({','.join(spelt)})" if spelt else _word(name)


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_word, cast("list[object]", value)))
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _solve_with(name: str) -> Solver:
    with as_prerequisite():
        chosen = None if name == AUTO else make(name)
    adaptations: dict[str, Adaptation] = {}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        with as_prerequisite(in_sample=True):
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                raise InputError(
                    "INSPECT_ASYNC_BACKEND: solvers of cfr need asyncio; leave it out, or set it "
                    "to asyncio"
                ) from None
            engine = InspectEngine(get_model(), state.epoch, adaptations)
            problem, ahead = _read_problem(state)
            noted: dict[str, Json] = {"method": name}
            if chosen is None:
                choice = choose_for(engine)
                noted |= {"method": choice.method, "why": choice.why}
            solving = in_conversation(chosen or make(str(noted["method"])), ahead)
            made = await make_attempt(solving, problem, engine, ahead=ahead, tell=_record)
        _note(state, solving, made.solution, noted)
        return state

    return solve


def _record(event: Event) -> None:
    """Add executed programs to Inspect's transcript, which has the calls already."""
    if isinstance(event, Executed):
        program, output = event.program, event.output
        ran = {"program": program.source, "printed": output.text, "error": output.error}
        transcript().info(orjson.loads(storable_json(ran)), source="cfr")


def _read_problem(state: TaskState) -> tuple[Problem, tuple[Message, ...]]:
    asked = [n for n, one in enumerate(state.messages) if isinstance(one, ChatMessageUser)]
    if not asked:
        raise InputError(f"sample {state.sample_id}: has no message of a user, so no problem")
    *ahead, problem = [_text(state, one) for one in state.messages[: asked[-1] + 1]]
    if not problem.content.strip():
        raise InputError(f"sample {state.sample_id}: its input is empty; give a problem's text")
    return Problem(problem.content, id=str(state.sample_id)), tuple(ahead)


def _text(state: TaskState, message: ChatMessage) -> Message:
    parts = [] if isinstance(message.content, str) else message.content
    odd = [part.type for part in parts if part.type not in ("text", "reasoning")]
    if odd or message.role not in _ROLES:
        kind = odd[0] if odd else f"{message.role} message"
        raise InputError(
            f"sample {state.sample_id}: has a part of the kind {kind!r}, and methods of cfr read "
            "text alone"
        )
    return Message(message.role, message.text)


def _note(state: TaskState, solved_by: Method, solution: Solution, noted: dict[str, Json]) -> None:
    """Write the solution to the sample's output, and the method's notes to its store."""
    answered: dict[str, Json] = {"answer": solution.answer, "truncated": solution.truncated}
    whole = noted | {"label": solved_by.label} | answered | {"details": {**solution.details}}
    state.store.set(NOTES, orjson.loads(storable_json(whole)))
    text, model = final_text(solution), str(state.model)
    reply = ChatMessageAssistant(content=text, model=model, source="generate")
    reason = "max_tokens" if solution.truncated else "stop"
    state.messages.append(reply)
    state.output = ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=reply, stop_reason=reason)],
        metadata={NOTES: orjson.loads(storable_json(answered))},
    )


# Our grader as a scorer of Inspect: ``cfr/grade``.

_TRUNCATED: Final = ("max_tokens", "model_length")
_VALUES: Final[dict[str, str | float]] = {
    "correct": CORRECT,
    "incorrect": INCORRECT,
    # Inspect excludes NaN from all metrics and counts the sample as unscored.
    "undecided": float("nan"),
}


def _grade() -> Scorer:
    """Judge the answer against the target, by value and not by wording.

    The answer is the one that a solver of cfr noted, else the final answer in the reply. It is
    right if it matches any of several targets.
    """

    async def score(state: TaskState, target: Target) -> Score:
        with as_prerequisite(in_sample=True):
            cases = [_case(state, gold) for gold in target if gold.strip()]
            if not cases:
                raise InputError(
                    f"sample {state.sample_id}: has no target, and cfr/grade compares with one"
                )
            return _score(await grade_all(cases), state)

    return score


grade: Final = scorer(metrics=[accuracy(), stderr()], name=qualify(_grade, "grade"))(_grade)


def _case(state: TaskState, gold: str) -> GradingCase:
    problem, output = state.input_text, state.output
    if NOTES in (output.metadata or {}):  # a solver of cfr has extracted the answer
        answer = _noted(state)["answer"]
        return GradingCase(None if answer is None else storable_text(answer), gold, problem)
    truncated = bool(output.choices) and output.stop_reason in _TRUNCATED
    return GradingCase.from_reply(
        storable_text(output.completion), gold, problem, truncated=truncated
    )


def _noted(state: TaskState) -> dict[str, Any]:
    return cast("dict[str, Any]", (state.output.metadata or {}).get(NOTES, {}))


def _score(verdicts: Sequence[Verdict], state: TaskState) -> Score:
    """Write the best of several verdicts as a score, with the confidence of a solver of cfr."""
    order = ("correct", "undecided", "incorrect")
    best = min(verdicts, key=lambda one: order.index(one.verdict))
    metadata = {"verdict": best.verdict, "tier": best.tier}
    noted = cast("dict[str, Any]", state.store.get(NOTES, None) or {}) if _noted(state) else {}
    details = cast("dict[str, Any]", noted.get("details", {}))
    return Score(
        value=_VALUES[best.verdict],
        answer=best.answer,
        explanation=f"{best.verdict}: {best.why}",
        metadata=metadata | {n: value for n, value in details.items() if n == "confidence"},
    )


# Every benchmark as a task of Inspect: ``cfr/constraintbench``, ``cfr/benchmark -T file=…``.


def _benchmark(name: str = "", file: str = "", columns: Any = "", system: Any = None) -> Task:
    """Any benchmark by its name, or a file of your own problems: ``-T file=mine.jsonl``.

    ``columns`` says which columns of the file hold what ("problem=question,answer=gold"),
    ``system`` is a message ahead of every call.
    """
    with as_prerequisite():
        if bool(name) == bool(file):
            raise InputError(
                "cfr/benchmark: name a benchmark (-T name=aime24) or a file (-T file=mine.jsonl)"
            )
        return _task(str(name or file), system, _read_columns(columns))


benchmark: Final = task(name=qualify(_benchmark, "benchmark"))(_benchmark)


def _register_benchmark(name: str) -> None:
    """Register the task of one benchmark, which is loaded when the task is made."""

    def factory(system: Any = None) -> Task:
        with as_prerequisite():
            return _task(name, system)

    factory.__doc__ = f"The benchmark {name}; ``system`` is a message ahead of every call."
    task(name=qualify(factory, name))(factory)


for _name in benchmark_names():
    _register_benchmark(_name)


def _read_columns(given: object) -> Mapping[str, str]:
    if isinstance(given, dict):
        return cast("dict[str, str]", given)
    split = [one.partition("=") for one in _joined(given).split(",") if one]
    if not all(name.strip() and column.strip() for name, _, column in split):
        raise InputError(f"columns {given!r}: write FIELD=COLUMN, such as answer=gold")
    return {name.strip().lower(): column.strip() for name, _, column in split}


def _joined(value: object) -> str:
    """Join a value with commas, which Inspect splits into a list on its command line."""
    return (
        ",".join(map(str, cast("list[object]", value)))
        if isinstance(value, list | tuple)
        else str(value)
    )


def _task(name: str, system: object, columns: Mapping[str, str] | None = None) -> Task:
    """Make a task with the decoding of ``cfr eval``, unless Inspect overrides it."""
    own = None if system is None else read_system(_joined(system))
    loaded, usual = load(name, system_prompt=own, columns=columns or {}), Decoding()
    ahead = [ChatMessageSystem(content=loaded.system_prompt)] if loaded.system_prompt else []
    samples = [
        Sample(
            id=one.id,
            input=[*ahead, ChatMessageUser(content=one.text)] if ahead else one.text,
            target=one.answer or "",
            metadata={"benchmark": one.benchmark},
        )
        for one in loaded.problems
    ]
    return Task(
        dataset=MemoryDataset(samples, name=loaded.name),
        solver=method(),
        scorer=grade(),
        config=GenerateConfig(temperature=usual.temperature, top_p=usual.top_p),
    )
