import pytest

from constraint_first.method.method import (
    Method,
    MethodError,
    parameters,
    read_options,
    split_name,
    suggest,
)


def factory(
    one: Method | None = None, many: tuple[Method, ...] = (), word: str | None = None
) -> None:
    del one, many, word


def read(options: str) -> dict[str, object]:
    return dict(
        read_options("name", parameters(factory), options, lambda text: f"<{text.strip()}>")
    )


def test_a_name_is_split_from_its_options() -> None:
    assert split_name(" vote( base=a , samples=3) ") == ("vote", " base=a , samples=3")
    assert split_name("direct") == ("direct", "")
    with pytest.raises(MethodError, match="write it as NAME"):
        split_name("vote(base=a")


def test_several_methods_are_joined_by_plus() -> None:
    assert read("many=a+b") == {"many": ("<a>", "<b>")}
    assert read("many=cfr(constraints=6+3) + b") == {"many": ("<cfr(constraints=6+3)>", "<b>")}
    assert read("many=cfr(extractor='a+(b'),one=c") == {
        "many": ("<cfr(extractor='a+(b')>",),
        "one": "<c>",
    }


def test_none_is_no_method_and_else_a_word() -> None:
    assert read("one=none,word=none") == {"one": None, "word": "none"}


def test_what_was_meant_is_suggested() -> None:
    assert suggest("vot", ["vote", "direct"]) == "did you mean 'vote'?"
    assert suggest("xyz", ["vote", "direct"]) == "choose from vote, direct"
    assert suggest("xyz", []) == "it takes none"
