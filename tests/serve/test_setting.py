import pytest

from constraint_first.error import InputError
from constraint_first.serve.setting import ServeSettings, is_loopback

ANYWHERE = "0.0.0.0"  # noqa: S104
TOKEN = "a-token"  # noqa: S105


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "a.localhost"]
)
def test_loopback_addresses(host: str) -> None:
    assert is_loopback(host)
    ServeSettings(host=host).check()


@pytest.mark.parametrize(
    "host", [ANYWHERE, "::", "192.168.1.2", "example.org", "", "localhost.evil"]
)
def test_any_other_address_needs_a_token(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(InputError, match="CFR_TOKEN"):
        ServeSettings(host=host).check()
    ServeSettings(host=host, token=TOKEN).check()


@pytest.mark.parametrize("token", ["two words", "tab\t", "schlüssel"])
def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="choose another") as error:
        ServeSettings(token=token).check()
    assert token not in str(error.value)


def test_the_token_is_shown_nowhere() -> None:
    assert TOKEN not in repr(ServeSettings(token=TOKEN))
