"""What a client asks for: names of models and methods, and the fields of a request."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.method.method import MethodError
from constraint_first.protocol import Message
from constraint_first.serve import request as method_choice
from constraint_first.serve.request import (
    ChatRequest,
    MethodChoice,
    ModelName,
    RequestError,
    check_length,
    is_foreign,
    read_request,
    rename_model,
    split_model,
)


@pytest.mark.parametrize(
    ("name", "method", "upstream"),
    [
        ("routed-cfr@deepseek-chat", "routed-cfr", "deepseek-chat"),
        ("auto@local", "auto", "local"),
        ("direct@", "direct", ""),
        (
            "vote(base=program,samples=3)@org/model@v2",
            "vote(base=program,samples=3)",
            "org/model@v2",
        ),
    ],
)
def test_a_method_and_a_model(name: str, method: str, upstream: str) -> None:
    assert split_model(name) == ModelName(method, upstream)
    assert str(ModelName(method, upstream)) == name


@pytest.mark.parametrize(
    "name",
    ["gpt-4o", "direct", "@cf/meta/llama", "claude@2024", "a b@c", "cfr(extractor=a@b)@c", "@"],
)
def test_any_other_name_is_the_endpoints_own(name: str) -> None:
    assert split_model(name) is None


BODY = (
    b'{ "messages": [{"role": "user", "model": "inner", "content": "a \\"model\\": \\"x\\""}],'
    b' "n": 1.0, "big": 123456789012345678901234567890, "model" : "direct@m" , "x": {"model": "y"},'
    b' "e": 1e5, "twice": 1, "twice": 2 }'
)


def test_only_the_name_is_changed() -> None:
    assert rename_model(BODY, "m") == BODY.replace(b'"direct@m"', b'"m"')


def test_a_name_that_is_written_oddly_or_twice() -> None:
    body = b'{"mod\\u0065l": "direct@\\u006d", "a": ["model", "b"], "model": "direct@m"}'
    renamed = b'{"mod\\u0065l": "m\\"", "a": ["model", "b"], "model": "m\\""}'
    assert rename_model(body, 'm"') == renamed


def test_a_request_without_a_name_gets_one() -> None:
    assert json.loads(rename_model(b' {"n": 1}', "m")) == {"model": "m", "n": 1}
    assert json.loads(rename_model(b"{}", "m")) == {"model": "m"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("model"), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES), st.booleans(), st.text())
def test_any_request_keeps_all_else(fields: dict[str, object], ascii_only: bool, name: str) -> None:
    fields["model"] = "direct@m"
    body = json.dumps(fields, ensure_ascii=ascii_only).encode()
    assert json.loads(rename_model(body, name)) == fields | {"model": name}


CHOICE = MethodChoice(("auto", "vote(samples=5)"), 8)


def test_auto_is_what_measured_best_on_the_model() -> None:
    assert CHOICE.choose("auto", "nobody-knows-it").name == "calibrated(policy=unmeasured)"
    assert CHOICE.choose("auto", "Qwen/Qwen3.5-9B").name == "calibrated(policy=paper)"
    shipped = CHOICE.choose("auto", "qwen2.5-coder-1.5b-instruct")
    assert shipped.family == "calibrated"


def test_a_mistake_in_the_servers_own_methods_shows_at_once() -> None:
    with pytest.raises(MethodError, match="did you mean 'direct'"):
        MethodChoice(("dirct",), 8).check()
    CHOICE.check()


def test_what_a_client_may_not_name(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    for name in (f"calibrated(policy={policy})", f"checked(base=calibrated(policy='{policy}'))"):
        with pytest.raises(RequestError, match="policy files"):
            CHOICE.choose(name, "m")
    for name in ("cfr(extractor=gpt-4o)", "checked(base=llm-router(model=x))"):
        with pytest.raises(RequestError, match="other models"):
            CHOICE.choose(name, "m")
    for name in (
        "vote(samples=9)",
        "self-refine(iterations=999999999)",
        "self-consistency(base=self-consistency(samples=3),samples=3)",
        "prove(base=checked(base=self-consistency(samples=4)),samples=4)",
    ):
        with pytest.raises(RequestError, match=r"more than the 8 calls .*--max-calls"):
            CHOICE.choose(name, "m")
    with pytest.raises(RequestError, match="n=9 needs more than the 8"):
        CHOICE.choose("direct", "m", 9)
    assert CHOICE.choose("self-consistency(samples=8)", "m").family == "self-consistency"


@pytest.mark.parametrize(
    "name",
    [
        "calibrated(policy=/etc/passwd)",
        "calibrated(policy=../../../etc/passwd)",
        "calibrated(policy='/etc/passwd')",
        "checked(base=calibrated(policy=~/secret))",
        "direct(" * 400,
        "self-refine(iterations=" + "9" * 5_000 + ")",
        "self-consistency(samples=99999999)",
        "\ud800",
    ],
)
def test_names_that_cannot_be_made_are_refused_in_words(name: str) -> None:
    with pytest.raises((RequestError, MethodError)) as refused:
        CHOICE.choose(name, "m")
    assert "\n" not in str(refused.value)


def test_whoever_starts_the_server_may_name_anything_that_can_end() -> None:
    own = ("cfr(extractor=gpt-4o)",)
    choice = MethodChoice(own, 8)
    assert choice.other_models == ("gpt-4o",)
    assert choice.choose(own[0], "m").others == ("gpt-4o",)
    with pytest.raises(RequestError, match="--max-calls"):
        MethodChoice(("self-consistency(samples=9)",), 8).check()


def test_names_that_are_made_up_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_choice, "_KEPT", 2)
    choice = MethodChoice(("auto",), 8)
    first = choice.choose("direct", "m")
    for rounds in range(5):
        choice.choose(f"extended(rounds={rounds})", "m")
        choice.choose("auto", f"model-{rounds}")
    assert choice.choose("direct", "m") is not first


def test_a_method_that_costs_too_much_is_played_through_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[int] = []

    def too_many(_: object, most: int) -> bool:
        played.append(most)
        return True

    monkeypatch.setattr(method_choice, "needs_more_calls", too_many)
    choice = MethodChoice(("auto",), 8)
    for _ in range(3):
        with pytest.raises(RequestError, match="needs more than the 8 calls"):
            choice.choose("self-refine(iterations=99)", "m")
    assert played == [8]


USER = {"role": "user", "content": "What is 2 + 2?"}


def asking(*before: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "direct@m", "messages": [*before, USER], **fields}


def test_the_last_message_is_the_problem_and_all_before_it_its_context() -> None:
    asked = read_request(
        asking(
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "!"}],
            },
            {"role": "assistant", "content": None, "reasoning_content": "hm"},
        )
    )
    assert asked == ChatRequest(
        "What is 2 + 2?",
        (Message("system", "Be brief."), Message("user", "Hi\n!"), Message("assistant", "")),
    )


def test_settings_and_fields_that_we_do_not_know() -> None:
    asked = read_request(
        asking(
            temperature=0, top_p=0.5, seed=7, max_tokens=100, max_completion_tokens=50, n=3,
            stop="END", stream=True, stream_options={"include_usage": True}, user="u", top_k=4,
            response_format={"type": "text"}, tools=[], logprobs=False,
        )
    )  # fmt: skip
    assert asked.chosen == {"temperature": 0, "top_p": 0.5, "seed": 7}
    assert (asked.max_tokens, asked.n, asked.stop) == (50, 3, ("END",))
    assert (asked.stream, asked.include_usage) == (True, True)
    assert asked.extra == {"user": "u", "top_k": 4}


def test_null_is_what_is_not_there() -> None:
    nothing = dict.fromkeys(
        "temperature top_p seed max_tokens n stop stream stream_options tools logprobs "
        "response_format modalities".split()
    )
    assert not is_foreign(asking(**nothing))
    assert read_request(asking(**nothing)) == ChatRequest("What is 2 + 2?")


FOREIGN: list[dict[str, Any]] = [
    {"tools": [{"type": "function"}]},
    {"functions": [{}]},
    {"response_format": {"type": "json_object"}},
    {"response_format": {"type": "json_schema", "json_schema": {}}},
    {"logprobs": True},
    {"modalities": ["text", "audio"]},
    {"audio": {"voice": "x"}},
    {"guided_json": {"type": "object"}},
    {"grammar": "root ::= x"},
    {"messages": [USER, {"role": "assistant", "content": "It is"}]},
    {"messages": [{"role": "system", "content": "Be brief."}]},
    {"messages": [{"role": "tool", "content": "4"}, USER]},
    {"messages": [{"role": "assistant", "tool_calls": [{}]}, USER]},
    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
    {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}, USER]},
]


@pytest.mark.parametrize("fields", FOREIGN)
def test_what_no_method_gives_passes_through(fields: dict[str, Any]) -> None:
    assert is_foreign(asking() | fields)


def test_a_book_is_no_problem() -> None:
    long = {"role": "user", "content": "x" * 200_001}
    with pytest.raises(RequestError, match="200,001 characters") as error:
        check_length(read_request({"messages": [long]}))
    assert error.value.code == "context_length_exceeded"
    assert read_request({"messages": [long, USER]}).context


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "boss", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"messages": [{"role": ["user"], "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": {"text": "hi"}}]}, "messages[0].content"),
        ({"modalities": 5}, "modalities"),
        ({"stop": [None]}, "stop"),
        ({"n": True}, "n"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": -1}, "top_p"),
        ({"seed": 1.5}, "seed"),
        ({"seed": 2**70}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"n": 0}, "n"),
        ({"n": 129}, "n"),
        ({"stop": 5}, "stop"),
        ({"stop": [""]}, "stop"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "include_usage"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    assert not is_foreign(asking() | fields)
    with pytest.raises(RequestError, match="must") as error:
        read_request(asking() | fields)
    assert (error.value.status, error.value.param) == (400, param)
