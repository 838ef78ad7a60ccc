"""Inspect's model as an engine: what is asked, what is read, what is learnt from a refusal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from inspecting import MODELS, NEEDS_INSPECT, chat
from loopback import Endpoint, Reply, failure

from constraint_first.constraint.stage1 import FEW, schema_for
from constraint_first.model.error import PromptTooLong, Rejected
from constraint_first.protocol import Call, Completion, Usage

pytestmark = NEEDS_INSPECT
pytest.importorskip("inspect_ai", reason="inspect_ai (the extra `inspect`) is not installed")

import loopback_model  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    CachePolicy,
    ChatCompletionChoice,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
)

from constraint_first.adapter.inspect import Adaptation, InspectEngine, completion_from, config_for  # noqa: E402

CALL = Call.user("What is 2 + 2?", stage="direct", max_tokens=500)
STAGE1 = Call.user("List.", stage="stage1", max_tokens=500, json=True, schema=schema_for(FEW))
NOTHING = Adaptation()


def output(text: str, reason: StopReason, usage: ModelUsage | None = None) -> ModelOutput:
    made = ModelOutput.from_content("m", text, reason)
    made.usage = usage or ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def test_thinking_and_tokens_are_read() -> None:
    content: list[Content] = [ContentReasoning(reasoning="hm"), ContentText(text="so")]
    choice = ChatCompletionChoice(message=ChatMessageAssistant(content=content), stop_reason="stop")
    usage = ModelUsage(
        input_tokens=10,
        output_tokens=7,
        total_tokens=22,
        input_tokens_cache_read=3,
        input_tokens_cache_write=2,
        reasoning_tokens=4,
    )
    read = completion_from(ModelOutput(model="m", choices=[choice], usage=usage))
    assert read == Completion("so", reasoning="hm", usage=Usage(15, 7, 4, 3))
    silent = completion_from(ModelOutput(model="m", choices=[choice]))
    assert not silent.usage.reported


@pytest.mark.parametrize(
    ("reason", "said", "kind"),
    [
        ("model_length", "This model's maximum context length is 4096 tokens", PromptTooLong),
        ("model_length", "too much", PromptTooLong),
        ("content_filter", "blocked", Rejected),
    ],
)
def test_a_refused_request_is_no_reply(
    reason: StopReason, said: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=said):
        completion_from(ModelOutput.from_content("m", said, reason))


def test_decoding_is_that_of_the_evaluation() -> None:
    settings = GenerateConfig(temperature=0.3, top_p=0.8, seed=5, max_tokens=200)
    made = config_for(Call(CALL.messages, "direct", 500, sample=2), settings, NOTHING)
    assert (made.temperature, made.top_p, made.seed, made.max_tokens) == (0.3, 0.8, 7, 200)
    assert config_for(CALL, GenerateConfig(), NOTHING).max_tokens == 500
    assert config_for(CALL, GenerateConfig(), NOTHING).seed is None
    assert config_for(CALL, settings, Adaptation(most=100)).max_tokens == 100
    assert config_for(CALL, settings, Adaptation(context=160)).max_tokens == 89


def test_a_schema_is_sent_whole() -> None:
    made = config_for(STAGE1, GenerateConfig(), NOTHING).response_schema
    assert made
    assert made.json_schema.model_dump(exclude_none=True) == json.loads(STAGE1.schema)
    assert config_for(STAGE1, GenerateConfig(), Adaptation(json=False)).response_schema is None


def test_json_without_a_schema_is_asked_for_in_openais_way() -> None:
    call = Call.user("List.", stage="stage1", max_tokens=5, json=True)
    made = config_for(call, GenerateConfig(extra_body={"top_k": 1}), NOTHING)
    assert made.extra_body == {"top_k": 1, "response_format": {"type": "json_object"}}
    assert config_for(CALL, GenerateConfig(), NOTHING).extra_body is None


@pytest.fixture(params=MODELS)
async def served(request: pytest.FixtureRequest, endpoint: Endpoint) -> AsyncIterator[Model]:
    assert loopback_model  # it is registered by being imported
    async with get_model(request.param, base_url=endpoint.url, memoize=False) as model:
        yield model


async def test_a_call_goes_over_the_wire(served: Model, endpoint: Endpoint) -> None:
    endpoint.script(chat("It is \\boxed{4}."))
    read = await InspectEngine(served).complete(CALL)
    assert read == Completion("It is \\boxed{4}.", usage=Usage(11, 7))
    (sent,) = endpoint.requests
    assert sent["max_tokens"] == 500
    assert sent["messages"] == [{"role": "user", "content": "What is 2 + 2?"}]


async def test_a_reply_cut_off_is_told_from_an_empty_one(served: Model, endpoint: Endpoint) -> None:
    endpoint.script(chat("", "length"), chat("", "stop"), chat(None, "content_filter"))
    engine = InspectEngine(served)
    read = [await engine.complete(CALL) for _ in range(3)]
    assert [(one.text, one.finish) for one in read] == [("", "length"), ("", "stop"), ("", "other")]


async def test_each_epoch_and_sample_has_a_seed_of_its_own(endpoint: Endpoint) -> None:
    endpoint.script(chat("so"))
    settings = GenerateConfig(seed=3)
    model = get_model("loopback/test-model", base_url=endpoint.url, config=settings, memoize=False)
    for epoch, sample in ((1, 0), (1, 1), (2, 0)):
        call = Call(CALL.messages, "direct", 5, sample=sample)
        await InspectEngine(model, epoch).complete(call)
    assert [one["seed"] for one in endpoint.requests] == [3, 4, 1003]


async def test_json_that_is_refused_is_asked_for_in_words_alone(
    served: Model, endpoint: Endpoint
) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        refused = failure(400, "response_format is not supported")
        return refused if "response_format" in body else chat("{}")

    endpoint.respond = respond
    engine = InspectEngine(served)
    assert (await engine.complete(STAGE1)).text == "{}"
    assert (await engine.complete(STAGE1)).text == "{}"
    assert ["response_format" in one for one in endpoint.requests] == [True, False, False]


async def test_a_budget_beyond_the_context_is_lowered(served: Model, endpoint: Endpoint) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        told = "This model's maximum context length is 400 tokens"
        return failure(400, told) if body["max_tokens"] > 350 else chat("so")

    endpoint.respond = respond
    assert (await InspectEngine(served).complete(CALL)).text == "so"
    assert [one["max_tokens"] for one in endpoint.requests] == [500, 329]


async def test_other_refusals_stay_errors_of_inspect(served: Model, endpoint: Endpoint) -> None:
    endpoint.script(failure(400, "no such thing"))
    with pytest.raises(Exception, match="no such thing") as raised:
        await InspectEngine(served).complete(STAGE1)
    assert not type(raised.value).__module__.startswith("cfr")
    assert len(endpoint.requests) == 1


async def test_samples_are_kept_apart_in_the_cache(endpoint: Endpoint) -> None:
    endpoint.script(chat("first"), chat("second"), chat("third"))
    policy = GenerateConfig(cache=CachePolicy(per_epoch=False))
    model = get_model("loopback/test-model", base_url=endpoint.url, config=policy, memoize=False)
    calls = [Call(CALL.messages, "direct", 5, sample=sample) for sample in (0, 1, 0, 1)]
    engine = InspectEngine(model)
    assert [(await engine.complete(one)).text for one in calls] == [
        *("first", "second"),
        *("first", "second"),
    ]


async def test_another_model_is_found_by_its_name(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script(chat("so"))
    monkeypatch.setenv("LOOPBACK_BASE_URL", endpoint.url)
    settings = GenerateConfig(temperature=0.4)
    model = get_model("loopback/test-model", base_url=endpoint.url, config=settings, memoize=False)
    call = Call.user("List.", stage="stage1", max_tokens=5, model="loopback/other")
    await InspectEngine(model).complete(call)
    assert [(one["model"], one["temperature"]) for one in endpoint.requests] == [("other", 0.4)]
