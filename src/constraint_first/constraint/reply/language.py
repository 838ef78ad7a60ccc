"""The language of a text, told by a small model that is part of the library ``py3langid``."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol, cast

LANGUAGES: Final = {
    name: code
    for code, name in (
        pair.split("=")
        for pair in (
            "af=afrikaans am=amharic ar=arabic az=azerbaijani be=belarusian bg=bulgarian bn=bengali"
            " bs=bosnian ca=catalan cs=czech cy=welsh da=danish de=german el=greek en=english"
            " eo=esperanto es=spanish et=estonian eu=basque fa=persian fa=farsi fi=finnish"
            " fr=french ga=irish gl=galician gu=gujarati ha=hausa he=hebrew hi=hindi hr=croatian"
            " hu=hungarian hy=armenian id=indonesian ig=igbo is=icelandic it=italian ja=japanese"
            " jv=javanese ka=georgian kk=kazakh km=khmer kn=kannada ko=korean ku=kurdish la=latin"
            " lo=lao lt=lithuanian lv=latvian mk=macedonian ml=malayalam mn=mongolian mr=marathi"
            " ms=malay mt=maltese my=burmese ne=nepali nl=dutch no=norwegian or=odia pa=punjabi"
            " pa=panjabi pl=polish ps=pashto pt=portuguese ro=romanian ru=russian sa=sanskrit"
            " si=sinhala sk=slovak sl=slovenian so=somali sq=albanian sr=serbian sv=swedish"
            " sw=swahili ta=tamil te=telugu th=thai tl=tagalog tl=filipino tr=turkish uk=ukrainian"
            " ur=urdu uz=uzbek vi=vietnamese xh=xhosa yo=yoruba zh=chinese zh=mandarin zu=zulu"
        ).split()
    )
}
"""The languages that can be told, by their English names in small letters."""

_NAMES: Final = {code: name.capitalize() for name, code in reversed(LANGUAGES.items())}
# Other codes that are met for the same language.
_SAME: Final = {"zh-cn": "zh", "zh-tw": "zh", "nb": "no", "nn": "no", "iw": "he", "fil": "tl"}
# A dialect of its own in the model; a text in it is a text in the language.
_PART_OF: Final = {"nn": "no", "yue": "zh", "wuu": "zh", "arz": "ar", "ary": "ar", "uzs": "uz"}

_LONGEST: Final = 10_000
"""Characters from the beginning of a text that its language is told from."""
_LIKELY: Final = 0.3
_SURE: Final = 0.5
_UNLIKELY: Final = 0.01
_NOTHING: Final = 0.02
"""What all languages come to in a text without anything to tell them by."""


class _Identifier(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


def language_name(code: str) -> str:
    return _NAMES.get(_SAME.get(code, code), code)


def can_tell_language() -> bool:
    """Whether the library is installed, without which every language is undecided."""
    return find_spec("py3langid") is not None


def is_language(text: str, code: str) -> bool | None:
    """Whether a text is in a language; None where it is too short or too mixed to say."""
    wanted = _SAME.get(code, code)
    if wanted not in _NAMES or not can_tell_language():
        return None
    ranked = _identifier().rank(text[:_LONGEST])
    if ranked[0][1] < _NOTHING:
        return None
    found: dict[str, float] = {}
    for name, chance in ranked:
        one = _PART_OF.get(name, name)
        found[one] = found.get(one, 0) + chance
    likeliest = max(found, key=lambda name: found[name])
    if likeliest == wanted:
        return True if found[wanted] >= _LIKELY else None
    if found[likeliest] >= _SURE or found.get(wanted, 0) < _UNLIKELY:
        return False
    return None


@cache
def _identifier() -> _Identifier:
    """Load the model once; it takes half a second and comes with the library."""
    module = import_module("py3langid.langid")
    kind = module.LanguageIdentifier
    return cast("_Identifier", kind.from_model_file(module.MODEL_FILE, norm_probs=True))
