import pytest

from constraint_first.model.transport import without_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://me:hush@host:8000/v1", "https://host:8000/v1"),
        ("https://hush@host/v1", "https://host/v1"),
        ("https://me:hu@sh@host/v1", "https://host/v1"),
        ("https://host/v1?token=hush", "https://host/v1"),
        ("https://host/v1#hush", "https://host/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://me:hush@[::1/v1?token=hush", "http://[::1/v1"),
        ("not an address", "not an address"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_what_could_be_a_key(address: str, shown: str) -> None:
    assert without_secrets(address) == shown
