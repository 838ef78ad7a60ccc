import pytest

from constraint_first.constraint.reply.polarity import is_refused, refused_from


def refused(told: str) -> bool | None:
    start, end = told.index("<"), told.index(">") - 1
    return is_refused(told.replace("<", "").replace(">", ""), start, end)


@pytest.mark.parametrize(
    "told",
    [
        "do not use <commas>.",
        "dont use <commas>.",
        "steer clear of <commas>.",
        "use no slang, no <commas>.",
        "neither slang nor <commas>.",
        "keep <commas> out of it.",
        "<commas> are off limits.",
        "<commas>, by the way, must not appear.",
        "<commas> are too common and must not be used.",
        "<commas> is a word i never want to see.",
    ],
)
def test_what_is_refused(told: str) -> None:
    assert refused(told) is True


@pytest.mark.parametrize(
    "told",
    [
        "use <commas>.",
        "do not use slang, and use <commas>.",
        "do not forget <commas>.",
        "use no more than three <commas>.",
        "nothing but <commas>.",
        "no slang, but <commas>.",
        "zero slang and at least 3 <commas>.",
    ],
)
def test_what_is_not_refused(told: str) -> None:
    assert refused(told) is False


@pytest.mark.parametrize(
    "told", ["never write without <commas>.", "not too many <commas>.", "do not overuse <commas>."]
)
def test_what_is_refused_twice_or_in_part_is_not_clear(told: str) -> None:
    assert refused(told) is None


def test_where_a_refusal_begins() -> None:
    plain = "write it, but do not use commas."
    assert plain[refused_from(plain, plain.index("commas")) :] == "not use commas."
    assert refused_from("use commas", 4) == 4
