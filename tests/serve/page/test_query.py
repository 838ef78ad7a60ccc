import pytest

from constraint_first.serve.page.site import read_number, write_query
from constraint_first.serve.setting import RequestError


@pytest.mark.parametrize("written", ["0", "-1", "1.5", "٣", "9" * 30, "100001", "x"])
def test_a_number_is_a_number(written: str) -> None:
    with pytest.raises(RequestError, match="is no whole number from 1 to 100,000"):
        read_number({"n": written}, "n", 1, most=100_000)
    assert read_number({}, "n", 7) == 7
    assert read_number({"n": ""}, "n", 7) == 7
    assert read_number({"n": "0"}, "n", 7, least=0) == 0


def test_an_address_has_what_is_not_empty() -> None:
    assert write_query({"a": "x&y", "b": "", "at": 0}) == "a=x%26y&at=0"
