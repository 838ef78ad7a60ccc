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
_MUST: Final = either("must, should, need(s), needs to, have to, has to, require, may, can")
_TEXTS: Final = either(
    "essays, emails, articles, poems, stories, papers, reports, texts, books, titles, documents,"
    " posts, tweets, novels, messages, songs, resumes, submissions, sentences in"
)
_CODE: Final = "function, method, query, regex, one-liner, macro, algorithm, program, code, class"
_ABOUT_OTHERS: Final = (
    either(
        "who, whose, whom, where, whether, asking, telling, tells, reminding, instructs,"
        " that their, trying to, tries to, tried to, want to, wants to, asked to, told to, had to,"
        " requiring"
    ),
    rf"(?:i|we)\s+{either('need to, have to, had to')}",
    rf"when\s+{either('you, people, someone, one, i, we')}",
    rf"makes?\s+{either('me, us, them, you')}",
    r"(?:that|which)\s+(?:need|require|make|let|force|tell|ask)s?",
    rf"(?:their|his|her)\s+[a-z]+\s+{_MUST}",
    rf"{_TEXTS}\s+{_MUST}",
)
"""Other people, and what they write or have to write."""
_ABOUT_SUBJECT: Final = (
    either(
        "difference between, history of, importance of, purpose of, advantage(s) of, benefit(s) of,"
        " use of, rule(s) for, rule(s) of, rule(s) about, pros of, cons of, art of, habit of,"
        " merits of, danger of, about writing, against writing"
    ),
    r"(?:rule|law|policy|fact|idea|claim|belief|theory|sign|note)\s+(?:that|which)",
    r"(?:stat|say|claim|argu|requir|complain|warn|suggest|announc)(?:es|s|ing)\s+that",
    either("you are given, you're given, you will be given, is given, are given"),
    rf"(?!{PRODUCT}\b)[a-z]+\s+in\s+which",
    rf"{either('logo(s), shirt(s), mug(s), cake(s), tattoo(s)')}\s+with",
)
"""What is to be written about: a rule, a given text, a thing that bears words."""
_ABOUT_PROGRAM: Final = (
    rf"{either(_CODE)}\s+(?:that|which|to)",
    rf"{either('python, java, javascript, typescript, bash, sql, html, c++')}"
    rf"\s+{either(_CODE + ', script, snippet, page')}",
    rf"{either(_CODE + ', script')}\b[^.;,]{{0,40}}\bstrings?",
    either("password(s), username(s)"),
)
_ELSEWHERE: Final = re.compile(
    rf"\b(?:{'|'.join((*_ABOUT_OTHERS, *_ABOUT_SUBJECT, *_ABOUT_PROGRAM))})\b"
)
"""Words after which a sentence speaks of something else, until an order begins."""
_ORDER: Final = re.compile(
    r"(?:[,;:(]|-|\b(?:and|but|then)\b)\s*"
    rf"(?:{either('also, then, please, and, but, you, must, should, it')}\s+)*(?:"
    + either(
        "make sure, making sure, ensure, ensuring, be sure, use, using, include, add, end, finish,"
        " wrap, put, do not, don't, avoid, avoiding, refrain, write, writing, keep, keeping, limit,"
        " highlight, italicize, your, in your, the entire, the whole, the response, with, without,"
        " separate, answer, respond, give, provide, mention, mentioning, contain, have, has, start,"
        " begin, must, should, in all, in less, in at, in exactly, in no"
    )
    + r"|no\b|in\s+\w+\s+words)|\bplease\b|\byour\s+(?:entire\s+)?(?:response|answer|reply)\b"
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
