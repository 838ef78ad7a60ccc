import importlib.util

import pytest

from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.reply.language import (
    LANGUAGES,
    can_tell_language,
    is_language,
    language_name,
)

installed = pytest.mark.skipif(not can_tell_language(), reason="py3langid is not installed")

GERMAN = "Der Hund schläft im Garten, und die Kinder spielen auf der Straße."
HINDI = "यह एक सुंदर दिन है और बच्चे बाहर खेल रहे हैं।"


@installed
def test_languages_are_told_apart() -> None:
    assert is_language(GERMAN, "de") is True
    assert is_language(GERMAN, "fr") is False
    assert is_language(HINDI, "hi") is True
    assert is_language("The dog sleeps in the garden.", "hi") is False
    assert is_language(GERMAN.upper() * 50_000, "de") is True
    assert truth_of({"op": "language", "language": "de"}, GERMAN) == "holds"


@installed
def test_what_is_too_short_or_not_known_is_undecided() -> None:
    assert is_language("ok", "en") is None
    assert is_language(GERMAN, "tlh") is None
    assert truth_of({"op": "language", "language": "tlh"}, GERMAN) == "undecided"
    # English is held against a reply only where it is sure to be something else.
    lower = {"op": "case", "case": "lower", "language": "en"}
    assert truth_of(lower, "carvings") == "holds"
    assert truth_of(lower, GERMAN.lower()) == "violated"


@installed
def test_every_named_language_is_one_that_the_model_knows() -> None:
    langid = pytest.importorskip("py3langid.langid")
    known = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE).labels
    assert {*LANGUAGES.values()} <= {*known}


def test_without_the_library_every_language_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> None:
        assert name == "py3langid"

    monkeypatch.setattr("constraint_first.constraint.reply.language.find_spec", find_spec)
    assert importlib.util.find_spec is not find_spec
    assert can_tell_language() is False
    assert truth_of({"op": "language", "language": "de"}, GERMAN) == "undecided"


def test_names() -> None:
    assert [language_name(code) for code in ("de", "zh-cn", "fa", "xx")] == [
        "German",
        "Chinese",
        "Persian",
        "xx",
    ]
