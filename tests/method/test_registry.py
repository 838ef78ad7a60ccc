import pytest

from cfr.method import CFR, Direct, Method, Routed, make
from cfr.method.registry import METHODS, MethodError


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("direct", Direct()),
        ("cfr", CFR(reply="prose")),
        (" cfr( reply = json ) ", CFR(reply="json")),
        ("cfr()", CFR()),
        ("routed-cfr", Routed()),
        (
            "routed-cfr(reply=json,router=printed,convention=aime)",
            Routed(CFR(reply="json"), profile="printed", convention="aime"),
        ),
    ],
)
def test_methods_by_name(text: str, method: Method) -> None:
    assert make(text) == method
    assert isinstance(make(text), Method)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("routed-cf", r"'routed-cf': not known; did you mean 'routed-cfr'\?"),
        ("xyzzy", "choose from direct, cfr, routed-cfr"),
        ("cfr(reply=xml)", "'xml' is not one of prose, json"),
        ("cfr(style=json)", "no option 'style'; choose from reply"),
        ("direct(x=1)", "no option 'x'; it takes none"),
        ("cfr(reply)", "must be written as OPTION=VALUE"),
        ("cfr(reply=json", "write it as NAME"),
        ("", "write it as NAME"),
        ("cfr(reply=json,)extra", "write it as NAME"),
    ],
)
def test_a_wrong_name_says_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        make(text)


def test_every_method_describes_itself() -> None:
    for name, factory in METHODS.items():
        assert factory.__doc__, name
        assert repr(factory()) == repr(make(name))
