import pytest

from cfr.error import InputError
from cfr.serve.error_reply import RequestError
from cfr.serve.page.sitting import Sitting, read_number


def test_a_sitting_survives_an_address() -> None:
    found = Sitting.read({"annotator": " ada ", "runs": "2", "size": "", "method": "cfr(x=1)&"})
    assert found == Sitting("ada", 2, 50, 1, method="cfr(x=1)&")
    assert found.fields() == {
        "annotator": "ada",
        "runs": "2",
        "size": "50",
        "seed": "1",
        "method": "cfr(x=1)&",
    }
    assert found.to_query(n=3).endswith("method=cfr%28x%3D1%29%26&n=3")


@pytest.mark.parametrize("name", ["", "<script>", "a" * 41, "\n"])
def test_a_name_is_a_name(name: str) -> None:
    with pytest.raises(InputError, match="a name has up to 40 letters"):
        Sitting.read({"annotator": name})


@pytest.mark.parametrize("written", ["0", "-1", "1.5", "٣", "9" * 30, "100001", "x"])
def test_a_number_is_a_number(written: str) -> None:
    with pytest.raises(RequestError, match="is no whole number from 1 to"):
        read_number({"n": written}, "n", 1)
    assert read_number({}, "n", 7) == 7
