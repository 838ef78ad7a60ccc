import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.serve.request import ModelName, rename_model, split_model


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
