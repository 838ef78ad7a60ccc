import pytest

from constraint_first.constraint.reply.permission import is_permitted


def permitted(told: str) -> bool:
    return is_permitted(told.replace("<", ""), told.index("<"))


@pytest.mark.parametrize(
    "told",
    [
        "you may use <commas.",
        "feel free to add <a title.",
        "forget <the limit.",
        "<a title would be nice.",
        "<commas are fine.",
    ],
)
def test_what_is_allowed(told: str) -> None:
    assert permitted(told)


@pytest.mark.parametrize(
    "told",
    [
        "use <commas.",
        "you may not use <commas.",
        "you may rhyme, but use <no commas.",
        "people forget the end, so repeat <it.",
    ],
)
def test_what_is_more_than_allowed(told: str) -> None:
    assert not permitted(told)
