import pytest

from constraint_first.error import InputError
from constraint_first.serve.page.marking import Sitting, _turn  # pyright: ignore[reportPrivateUsage]
from constraint_first.serve.setting import RequestError


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


@pytest.mark.parametrize(
    ("sent", "left", "number", "after"),
    [
        ({}, [2, 4], 2, 4),
        ({"n": "3"}, [2, 4], 3, 4),
        ({"n": "4"}, [2, 4], 4, 2),
        ({"n": "2"}, [2], 2, None),
        ({}, [], 1, None),
    ],
)
def test_whose_turn_it_is(
    sent: dict[str, str], left: list[int], number: int, after: int | None
) -> None:
    assert _turn(sent, left, 5, "errors") == (number, after)


def test_there_is_no_turn_beyond_the_last() -> None:
    with pytest.raises(RequestError, match="n: there are 5 errors"):
        _turn({"n": "6"}, [1], 5, "errors")
