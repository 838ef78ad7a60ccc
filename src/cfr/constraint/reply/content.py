"""Which words of a sentence are about the reply, and which about something else.

*At least 300 words* is a demand in "explain tides in at least 300 words" and none in "explain why
essays need at least 300 words". What tells them apart stands before them: other people's writing, a
program, a rule, a permission.
"""

from __future__ import annotations

import re
from typing import Final

from cfr.constraint.reply.pattern import PRODUCT, either

__all__ = ["is_demand"]

_PERMISSION: Final = re.compile(
    r"(?:\byou\s+(?:can|may|could|might)\b(?!\s+(?:not|only))|\bfeel\s+free\b|\boptional"
    r"|\bif\s+(?:you|it|possible|needed)\b"
    r"|\b(?:do\s+not|don't|doesn't|does\s+not)\s+(?:have|need)\s+to\b|\bneed\s+not\b|\bno\s+need\b"
    r"|\bnot\s+necessar|\bis\s+(?:fine|ok|okay|acceptable)\b|\binstead\s+of\b|\brather\s+than\b"
    r"|\bunless\b|\bwould\s+be\s+nice\b"
    r"|(?<!n't\s)(?<!not\s)\b(?:ignore|disregard|forget)\b)[^.;!?]*$"
)
_TEXTS: Final = either(
    "essays, emails, articles, poems, stories, papers, reports, texts, books, titles,"
    " documents, posts, tweets, novels, messages, songs, resumes, submissions, sentences in"
)
_MUST: Final = either("must, should, need(s), needs to, have to, has to, require, may, can")
_ELSEWHERE: Final = re.compile(
    r"\b(?:who|whose|whom|where|whether|asking|telling|tells|reminding|instructs|that\s+their|"
    r"trying\s+to|tries\s+to|tried\s+to|wants?\s+to|asked\s+to"
    r"|(?:you\s+are|you're|you\s+will\s+be|is|are)\s+given"
    r"|told\s+to|had\s+to|difference\s+between|history\s+of|importance\s+of|purpose\s+of"
    r"|advantages?\s+of|benefits?\s+of|use\s+of|rules?\s+(?:for|of|about)"
    r"|(?:rule|law|policy|fact|idea|claim|belief|theory|sign|note)\s+(?:that|which)"
    r"|(?:pros|cons|art|habit|merits|danger)\s+of|(?:about|against)\s+writing"
    r"|(?:stat|say|claim|argu|requir|complain|warn|suggest|announc)(?:es|s|ing)\s+that|requiring|(?:that|which)\s+(?:need|require"
    r"|make|let|force|tell|ask)s?|makes?\s+(?:me|us|them|you)"
    rf"|when\s+(?:you|people|someone|one|i|we)|(?:i|we)\s+(?:need|have|had)\s+to"
    rf"|(?:their|his|her)\s+[a-z]+\s+{_MUST}|{_TEXTS}\s+{_MUST}"
    rf"|(?!{PRODUCT}\b)[a-z]+\s+in\s+which"
    # Things that bear words.
    r"|(?:logo|shirt|mug|cake|tattoo)s?\s+with"
    # A program and what it works on.
    r"|(?:function|method|query|regex|one-liner|macro|algorithm|program|code|class)\s+"
    r"(?:that|which|to)"
    r"|(?:python|java|javascript|typescript|bash|sql|html|c\+\+)\s+"
    r"(?:function|method|query|script|program|code|class|snippet|one-liner|page)"
    r"|(?:function|method|query|regex|script|program|code)\b[^.;,]{0,40}\bstrings?"
    r"|passwords?|usernames?)\b"
)
_ORDER: Final = re.compile(
    r"(?:[,;:(]|-|\b(?:and|but|then)\b)\s*(?:(?:also|then|please|and|but|you|must|should|it)\s+)*"
    r"(?:make\s+sure|ensure|be\s+sure|use|include|add|end|finish|wrap|put|do\s+not|don't|avoid"
    r"|refrain|write|keep|limit|highlight|italicize|your|in\s+your|the\s+(?:entire|whole)|the"
    r"\s+response|without|with|using|separate|answer|respond|give|provide|mention|in\s+(?:all|less"
    r"|at|exactly|no)|no\b|contain|have|has|start|begin|must|should|in\s+\w+\s+words|writing|making\s+sure|ensuring|keeping|avoiding|mentioning)"
    r"|\bplease\b|\byour\s+(?:entire\s+)?(?:response|answer|reply)\b"
)
_EXPLAINED: Final = re.compile(r"\b(?:why|how(?!\s+(?:many|much|long))|when\s+to|what\s+happens)\b")
_ABOUT_TEXT: Final = re.compile(
    r"\b(?:writ(?:e|es|ing|ten)|wrote|essays?|sentences?|strings?|texts?|emails?|letters?|titles?"
    r"|documents?|messages?|prompts?|articles?|stor(?:y|ies)|poems?|paragraphs?|words?|limit)\b"
)
_MANNER: Final = re.compile(r"(?:\b(?:in|with|within|using|without|no|under)\s+|\()(?:an?\s+)?$")
_STARTS_MANNER: Final = re.compile(r"(?:in|with|within|using|without|under)\b")
_NO_WISH: Final = re.compile(
    r"\b(?:must|should|could|would|might)\s+have\s+been\b"
    r"|\bbut\s+(?:it|mine|i|we)\s+(?:only\s+)?(?:has|have|is|am|are)\b"
)


def is_demand(plain: str, at: int) -> bool:
    """Whether what stands at a place of a sentence is demanded of the reply."""
    before = plain[:at]
    if _PERMISSION.search(before[-90:]) or _NO_WISH.search(plain):
        return False
    explained = [*_EXPLAINED.finditer(before)]
    if explained and _is_explained(plain, explained[-1].end(), at):
        return False
    elsewhere = [*_ELSEWHERE.finditer(before)]
    return not elsewhere or _is_ordered(plain, elsewhere[-1].end(), at)


def _is_explained(plain: str, start: int, at: int) -> bool:
    """Whether a place belongs to what is to be explained: *how to limit an essay to 300 words*."""
    if _is_ordered(plain, start, at):
        return False
    between = plain[start:at]
    manner = _MANNER.search(between) or _STARTS_MANNER.match(plain, at)
    return not manner or bool(_ABOUT_TEXT.search(between))


def _is_ordered(plain: str, start: int, at: int) -> bool:
    """Whether an order begins between two places."""
    order = _ORDER.search(plain, start)
    return order is not None and order.start() <= at
