import pytest

from constraint_first.model.batch import Place, RequestId, parse_request_id, short_digest

PLACE = Place(3, 17, 2, 1)
NAME = RequestId(PLACE, short_digest(b"call"), short_digest(b"body"))


def test_a_custom_id_says_where_a_result_belongs_and_what_was_asked() -> None:
    assert str(NAME) == f"s3-p17-r2-c1-{NAME.asked}-{NAME.body}"
    assert parse_request_id(str(NAME)) == NAME
    assert len(str(RequestId(Place(*[2**31] * 4), NAME.asked, NAME.body))) <= 77
    assert len(str(NAME)) <= 64
    assert NAME.digests == f"{NAME.asked}-{NAME.body}"


@pytest.mark.parametrize("other", ["", "request-1", "s1-p1-r0-c0", str(NAME) + "0", f" {NAME}"])
def test_a_custom_id_of_somebody_else_is_none_of_ours(other: str) -> None:
    assert parse_request_id(other) is None


def test_other_bytes_have_another_digest() -> None:
    assert short_digest(b"a") != short_digest(b"b")
    assert len(short_digest(b"a")) == 12
