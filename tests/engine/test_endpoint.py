import base64

import pytest

from constraint_first.model.error import EngineError, Rejected, Unauthorized
from constraint_first.model.transport import Endpoint

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8801/v1",
        "https://api.example.com",
        "http://[::1]:8000/v1/",
        "http://under_score:80/v1",
        "http://münchen.example/v1",
        "http://me:hush@host/v1",
    ],
)
def test_an_address_that_can_be_asked(url: str) -> None:
    Endpoint(url, "m").check()


@pytest.mark.parametrize(
    ("url", "way_out"),
    [
        ("127.0.0.1:8801/v1", "begin with http:// or https://"),
        ("localhost:8000/v1", "begin with http:// or https://"),
        ("not an address", "begin with http://"),
        ("", "begin with http://"),
        ("ftp://host/v1", "begin with http://"),
        ("http://", "its host or its port cannot be"),
        ("http:///v1", "its host or its port cannot be"),
        ("http://a..b/v1", "its host or its port cannot be"),
        (f"http://{'a' * 64}.example/v1", "its host or its port cannot be"),
        (f"http://{'a.' * 130}b/v1", "its host or its port cannot be"),
        ("http://-host/v1", "its host or its port cannot be"),
        ("http://host:99999/v1", "its host or its port cannot be"),
        ("http://host:0/v1", "its host or its port cannot be"),
        ("http://[::1/v1", "its host or its port cannot be"),
        ("http://[zz::1]/v1", "its host or its port cannot be"),
        ("http://me:pa/ss@host/v1", "its host or its port cannot be"),
        ("http://ho st/v1", "a space or a control character"),
        ("http://host/v1\n", "a space or a control character"),
        ("http://host/\x1b[31m", "a space or a control character"),
        ("http://host/v1/chat/completions", "leave /chat/completions out"),
    ],
)
def test_an_address_that_cannot_be(url: str, way_out: str) -> None:
    with pytest.raises(Rejected) as caught:
        Endpoint(url, "m").check()
    assert way_out in str(caught.value)
    assert str(caught.value).isprintable()
    assert "pa/ss" not in str(caught.value)


@pytest.mark.parametrize("odd", ["\n", "\0", "\x7f", "…", "\udce9", "ключ"])
def test_a_key_that_cannot_be_sent(odd: str) -> None:
    with pytest.raises(Unauthorized, match=r"^MY_KEY: .*U\+[0-9A-F]{4}\); set it again$") as caught:
        Endpoint("http://h/v1", "m", KEY + odd, "MY_KEY").check()
    assert KEY[:8] not in str(caught.value)


def test_a_key_and_a_password_cannot_both_be_sent() -> None:
    with pytest.raises(Unauthorized, match="only one of them can be sent") as caught:
        Endpoint("http://me:hush@h/v1", "m", KEY).check()
    assert "hush" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_services_stand_ahead_of_the_query() -> None:
    endpoint = Endpoint("https://host/v1/?api-version=2024-02-01", "m")
    assert endpoint.url("models") == "https://host/v1/models?api-version=2024-02-01"
    assert Endpoint("http://h", "m").url("models") == "http://h/models"


def test_everything_that_is_sent_in_secret_is_blotted_out() -> None:
    endpoint = Endpoint("https://me:hush@host/v1?token=t0k3n-of-mine", "m", KEY)
    basic = base64.b64encode(b"me:hush").decode()
    said = f"no {KEY} and hush and {basic} and t0k3n-of-mine"
    assert endpoint.redaction.quote(said) == "no [key] and [key] and [key] and [key]"
    assert KEY not in repr(endpoint)


@pytest.mark.parametrize("url", ["http://[::1/v1", "me@x", ""])
def test_whatever_the_address_it_can_be_shown(url: str) -> None:
    with pytest.raises(EngineError):
        Endpoint(url, "m").check()
    assert "me" not in Endpoint(url, "m").shown
