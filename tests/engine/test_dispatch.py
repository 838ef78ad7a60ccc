from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Endpoint as Server
from loopback import completion

import constraint_first
from constraint_first.attempt.drive import MemoryJournal, Scripted, drive
from constraint_first.method.registry import make
from constraint_first.model.client import Client, accompanied, engine_beside, serve
from constraint_first.model.error import (
    EngineError,
    JournalMismatch,
    ModelNotFound,
    ServerFault,
    Transient,
    Unauthorized,
)
from constraint_first.model.local import Local
from constraint_first.model.openai import OpenAI
from constraint_first.model.pull import DEFAULT_MODEL
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import (
    ModelRef,
    refs_beside,
)
from constraint_first.model.transport import Endpoint
from constraint_first.model.wire import SILENT, Decoding, Watcher
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.")
CONSTRAINTS = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "in 0..6"}]}'
SOLUTION = r"So \boxed{5}."
CALL = Call.user("x", stage="stage1", max_tokens=9, model="small")
METHOD = "cfr(extractor=small)"


def scripts() -> tuple[Scripted, Scripted]:
    return Scripted([SOLUTION], name="large"), Scripted([CONSTRAINTS], name="small")


async def test_each_call_goes_to_the_model_that_it_names() -> None:
    large, small = scripts()
    outcome = await drive(make(METHOD).solve(PROBLEM), Client(large, {"small": small}))
    assert outcome.result.answer == "5"
    assert [call.stage for call in small.asked] == ["stage1"]
    assert [call.stage for call in large.asked] == ["stage2"]
    assert [one.call.model for one in outcome.exchanges] == ["small", None]


async def test_for_its_own_engine_a_call_names_no_model() -> None:
    large, small = scripts()
    await Client(large, {"small": small}).complete(CALL)
    assert [call.model for call in small.asked] == [None]


async def test_a_call_is_never_answered_by_a_model_that_it_does_not_name() -> None:
    large, small = scripts()
    with pytest.raises(ModelNotFound, match=r"'small': a stage1 call is for it.*other_models"):
        await Client(large, {"tiny": small}).complete(CALL)
    assert large.asked == small.asked == []


async def test_a_watcher_hears_of_a_call_as_it_was_asked() -> None:
    heard: list[Call] = []

    class Listens(Watcher):
        def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
            heard.append(call)

        def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
            heard.append(call)

        def adapted(self, call: Call, change: str) -> None:
            heard.append(call)

    class Tells:
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            watcher.wrote(call, "a", reasoning=False)
            watcher.retrying(call, ServerFault("away"), 1.0)
            watcher.adapted(call, "seed is not sent")
            return Completion("a")

    await Client(Tells(), {"small": Tells()}).complete(CALL, Listens())
    assert len(heard) == 3
    assert all(call is CALL for call in heard)


async def test_a_stored_reply_of_another_model_is_no_reply() -> None:
    journal = MemoryJournal()
    large, small = scripts()
    both = Client(large, {"small": small})
    first = await drive(make(METHOD).solve(PROBLEM), both, journal=journal)
    nothing = Client(Scripted([]), {"small": Scripted([])})
    again = await drive(make(METHOD).solve(PROBLEM), nothing, journal=journal)
    assert (again.result, again.transcript) == (first.result, first.transcript)
    for other in ("cfr", "cfr(extractor=tiny)"):
        with pytest.raises(JournalMismatch, match="model"):
            await drive(make(other).solve(PROBLEM), nothing, journal=journal)


async def test_all_engines_are_opened_once_and_closed(endpoint: Server) -> None:
    main = OpenAI(Endpoint(endpoint.url, "large"))
    other = OpenAI(Endpoint(endpoint.url, "small"))
    engines = Client(main, {"small": other, "little": other, "large": main})
    async with engines:
        assert main.is_open
        assert other.is_open
        await engines.complete(CALL)
    assert not main.is_open
    assert not other.is_open
    assert [body["model"] for body in endpoint.requests] == ["small"]


async def test_an_engine_of_one_model_refuses_calls_for_another(endpoint: Server) -> None:
    async with OpenAI(Endpoint(endpoint.url, "large")) as engine:
        with pytest.raises(ModelNotFound, match=r"'small': .* asks 'large' alone; .* Client"):
            await engine.complete(CALL)
    assert endpoint.requests == []


def recorded() -> tuple[list[ModelRef], Callable[[ModelRef], Scripted]]:
    made: list[ModelRef] = []

    def make_engine(ref: ModelRef) -> Scripted:
        made.append(ref)
        return Scripted([], name=ref.model or "")

    return made, make_engine


def test_a_model_that_is_named_twice_is_made_once() -> None:
    made, make_engine = recorded()
    ref = ModelRef("large", "http://h/v1")
    served = serve(ref, ["small", "large"], make_engine)
    assert made == [ref, ModelRef("small", "http://h/v1")]
    assert served.others["large"] is served.main
    assert serve(ModelRef(), [DEFAULT_MODEL], make_engine).others[DEFAULT_MODEL].model == ""


def test_nothing_is_made_before_every_name_is_known(pulled: list[str]) -> None:
    made, make_engine = recorded()
    with pytest.raises(EngineError, match=r"'gpt-7': no \.gguf file .*--base-url"):
        serve(ModelRef(), ["gpt-7"], make_engine)
    with pytest.raises(Unauthorized, match="DEEPSEEK_API_KEY is not set"):
        serve(ModelRef(), ["deepseek-chat"], make_engine)
    assert made == []
    assert pulled == []


def test_names_beside_a_model_mean_what_they_would_alone() -> None:
    ref = ModelRef("large", "http://h/v1", "KEY", 9_000)
    found = refs_beside(ref, ["justrl-1.5b", "smollm2-135m-instruct", "org/small:7b"])
    assert found == {
        "justrl-1.5b": ModelRef("justrl-1.5b"),
        "smollm2-135m-instruct": ModelRef("smollm2-135m-instruct"),
        "org/small:7b": ModelRef("org/small:7b", "http://h/v1", "KEY", 9_000),
    }


def test_models_beside_an_engine_that_somebody_made(pulled: list[str]) -> None:
    main = OpenAI(Endpoint("http://h/v1", "large", "key", context=9), Decoding(0.1))
    assert engine_beside(main, "large") is None
    other = engine_beside(main, "small")
    assert isinstance(other, OpenAI)
    assert other.endpoint == Endpoint("http://h/v1", "small", "key")
    assert other.decoding == Decoding(0.1)
    local = engine_beside(main, "smollm2-135m-instruct")
    assert isinstance(local, Local)
    assert (local.decoding, pulled) == (Decoding(0.1), ["smollm2-135m-instruct"])
    with pytest.raises(EngineError, match=r"'small': no \.gguf file"):
        engine_beside(Scripted([]), "small")


def test_a_dispatch_keeps_the_engines_that_it_was_given() -> None:
    large, small = scripts()
    given = accompanied(Client(large, {"small": small}), ["small", "large"])
    assert (given.main, given.others) == (large, {"small": small, "large": large})


@pytest.mark.parametrize("method", [METHOD, "routed-cfr(extractor='small')"])
async def test_stage_1_and_stage_2_on_one_server(endpoint: Server, method: str) -> None:
    endpoint.respond = lambda body: completion(
        {"small": CONSTRAINTS, "large": SOLUTION}[body["model"]]
    )
    solved = await constraint_first.asolve(PROBLEM, method, model="large", base_url=endpoint.url)
    assert solved.answer == "5"
    assert [body["model"] for body in endpoint.requests] == ["small", "large"]


async def test_a_router_on_a_server_of_its_own_with_its_own_key(
    endpoint: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "large-key")
    monkeypatch.setenv("ROUTER_KEY", "router-key")
    with Server() as other:
        own = f'["openai/gpt-4o-mini"]\nbase_url = "{other.url}"\nkey_env = "ROUTER_KEY"\n'
        (tmp_path / "models.toml").write_text(own + 'model = "gpt-4o-mini"\n')
        monkeypatch.setenv("CFR_MODELS", str(tmp_path / "models.toml"))
        other.script(completion('{"restrictive": "no"}'))
        endpoint.script(completion(SOLUTION))
        method = "llm-router(model=openai/gpt-4o-mini)"
        solved = await constraint_first.asolve(
            PROBLEM, method, model="large", base_url=endpoint.url
        )
        assert [body["model"] for body in other.requests] == ["gpt-4o-mini"]
        assert other.headers[0]["Authorization"] == "Bearer router-key"
    assert solved.answer == "5"
    assert [body["model"] for body in endpoint.requests] == ["large"]
    assert endpoint.headers[0]["Authorization"] == "Bearer large-key"


async def test_a_second_model_is_asked_for_at_all_endpoints_of_the_first() -> None:
    main = Balanced([Endpoint(f"http://{host}/v1", "large", context=9) for host in "ab"])
    beside = engine_beside(main, "small")
    assert isinstance(beside, Balanced)
    assert [(one.base_url, one.model, one.context) for one in beside.endpoints] == [
        ("http://a/v1", "small", None),
        ("http://b/v1", "small", None),
    ]
    assert engine_beside(main, "large") is None
