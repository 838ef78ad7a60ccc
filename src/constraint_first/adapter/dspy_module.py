"""A DSPy module that answers a question with a method, on the LM that DSPy is configured with.

Its calls use that LM: DSPy's cache, retries, history and usage tracking work as with any other
module. Errors of the LM are DSPy's own; invalid arguments raise ValueError.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from constraint_first.answer.grade import grade
from constraint_first.attempt.solve import asolve, run_sync
from constraint_first.error import CfrError
from constraint_first.method.method import BUDGET, Method
from constraint_first.method.registry import make
from constraint_first.model.error import EngineError
from constraint_first.model.resolve import AUTO
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Finish, Usage
from constraint_first.thinking import without_thinking

try:
    dspy: Any = importlib.import_module("dspy")
    lm15: Any = importlib.import_module("dspy.lm15")
    _Parameter: Any = importlib.import_module("dspy.predict.parameter").Parameter
except ImportError as missing:
    raise ImportError(
        f"constraint_first.adapter.dspy_module needs DSPy from 3.4 on ({missing}): "
        "pip install 'constraint-first[dspy]'"
    ) from None


_CONNECTION: Final = frozenset(
    "api_key api_base base_url headers extra_headers timeout api_version azure_ad_token_provider "
    "organization project extra_query custom_llm_provider n num_generations rollout_id "
    "prompt_cache".split()
)
"""Settings of an LM for its connection or for DSPy, which are not sent in requests."""

_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_FINISH: Final[dict[str, Finish]] = {"stop": "stop", "length": "length"}
_SHORT: Final = BUDGET // 4
"""Output tokens that any model can write; only calls for a whole solution request more."""
_SAMPLES_A_ROLLOUT: Final = 1_000


class ConstraintFirst(dspy.Module, _Parameter):
    """A DSPy module with the signature ``question -> answer``, solved by any method.

    The prediction has ``answer`` (empty if the reply has none), ``reasoning`` (the reply),
    ``confidence``, ``checks``, ``constraints`` and, under ``details``, other notes of the method.
    It has no predictors, so optimizers have nothing to rewrite.
    """

    def __init__(self, method: str | Method = AUTO, *, lm: object = None) -> None:
        # No super().__init__(): DSPy's metaclass has initialized the module already.
        self.lm = lm
        """The LM that it calls; None for the one that DSPy is configured with."""
        self.method = _check_method(method)

    def forward(self, question: str) -> Any:
        # No streaming: DSPy streams only from AnyIO's threads, and our calls run in other threads.
        with dspy.context(send_stream=None):
            return run_sync(self._answer(question, _ask_in_thread))

    async def aforward(self, question: str) -> Any:
        with dspy.context(send_stream=None):
            return await self._answer(question, _ask)

    async def _answer(self, question: object, ask: _Ask) -> Any:
        lm = self.lm or dspy.settings.lm
        if lm is None:
            raise ValueError("no LM: dspy.configure(lm=dspy.LM(...)), or ConstraintFirst(lm=...)")
        if not isinstance(question, str):
            raise ValueError(f"question: a {type(question).__name__}; give the problem as text")
        if not question.strip():
            raise ValueError("question: empty; give the problem's text")
        try:
            solved = await asolve(question, self.method, engine=LMEngine(lm, ask))
        except EngineError as error:
            raise RuntimeError(str(error)) from None
        except CfrError as error:
            raise ValueError(str(error)) from None
        details: dict[str, Json] = dict(solved.solution.details)
        return dspy.Prediction(
            answer=solved.answer or "",
            reasoning=without_thinking(solved.solution.text).strip(),
            confidence=details.pop("confidence", 0.0),
            checks=details.pop("checks", []),
            constraints=details.pop("constraints", {}),
            details={"method": solved.method.label, **details},
        )

    # DSPy programs use these methods to save and load parameters, and to set their LM.

    def dump_state(self, json_mode: bool = True) -> dict[str, Json]:  # noqa: ARG002
        """Return the method's name, if it was given by name."""
        return {"method": self.method if isinstance(self.method, str) else None}

    def load_state(self, state: dict[str, Json], **_: object) -> None:
        if isinstance(name := state.get("method"), str):
            self.method = _check_method(name)

    def reset(self) -> None:
        """Do nothing: the module has no learned state."""


def grade_answer(example: Any, prediction: Any, trace: object = None) -> bool:  # noqa: ARG001
    """Judge a prediction against the example's ``answer`` with our grader: a metric for DSPy."""
    question = example.get("question", "") or ""
    return grade(prediction.answer or None, str(example.answer), str(question)).correct


_Ask = Callable[..., Awaitable[Any]]
"""Calls an LM with a request, and with options that are not sent."""


async def _ask(lm: Any, request: object, **options: object) -> Any:
    return await lm.acall(request, **options)


async def _ask_in_thread(lm: Any, request: object, **options: object) -> Any:
    # Synchronous programs use the synchronous LM, so that they share its cache and connections.
    return await asyncio.to_thread(partial(lm, request, **options))


@dataclass(frozen=True, slots=True)
class LMEngine:
    """An engine that calls a DSPy LM, with the decoding settings of that LM."""

    lm: Any
    ask: _Ask = _ask

    @property
    def model(self) -> str:
        return str(self.lm.model)

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call; its errors are DSPy's own."""
        options: dict[str, int] = {}
        rollout = self.lm.kwargs.get("rollout_id")
        if rollout is not None or call.sample:  # else the cache returns one reply for all
            options["rollout_id"] = (rollout or 0) * _SAMPLES_A_ROLLOUT + call.sample
        completion = _completion(await self.ask(self.lm, _request(self.lm, call), **options))
        watcher.wrote(call, completion.text, reasoning=False)
        return completion


def _request(lm: Any, call: Call) -> Any:
    """Make a request to an LM from a call, with all settings of the LM."""
    body: dict[str, Any] = {
        name: value
        for name, value in lm.kwargs.items()
        if name not in _CONNECTION and value is not None
    }
    body |= {
        "model": lm.model,
        "messages": [{"role": m.role, "content": m.content} for m in call.messages],
    }
    # If the LM sets no limit, only short calls send max_tokens: providers refuse a value above the
    # model's maximum, and the limits that methods set for whole solutions may be above it.
    if own := next((name for name in _LIMITS if name in body), None):
        body[own] = min(body[own], call.max_tokens)
    elif call.max_tokens <= _SHORT:
        body["max_tokens"] = call.max_tokens
    if "seed" in body:
        body["seed"] += call.sample
    if call.json and "response_format" in lm.supported_params:
        body.setdefault("response_format", {"type": "json_object"})
    try:
        return lm15.request_from_openai_chat(body)
    except (lm15.LM15Error, TypeError, ValueError) as error:
        raise ValueError(f"LM {lm.model!r}: {error}") from None


def _completion(response: Any) -> Completion:
    parts = response.message.parts
    text, reasoning = (
        "".join(part.text for part in parts if part.type == kind) for kind in ("text", "thinking")
    )
    used = response.usage
    counts = (used.input_tokens, used.output_tokens, used.reasoning_tokens, used.cache_read_tokens)
    usage = Usage(*(count or 0 for count in counts), reported=None not in counts[:2])
    return Completion(text, _FINISH.get(response.finish_reason, "other"), reasoning, usage)


def _check_method(method: str | Method) -> str | Method:
    """Refuse an unknown name when the module is constructed, not at its first question."""
    if isinstance(method, str) and method != AUTO:
        try:
            make(method)
        except CfrError as error:
            raise ValueError(str(error)) from None
    return method
