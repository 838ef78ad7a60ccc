"""Rules for words that a reply has, has often enough, or has not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.bound import Amount
from cfr.constraint.reply.directive import OTHERS
from cfr.constraint.reply.mention import Mention, find_mentions, read_frequency
from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.request import Found, Sentence
from cfr.problem import Json

__all__ = ["PASSIVE", "read_keywords"]

_HAVE: Final = either(
    "include(s), including, keep, keeping, use(s), using, contain(s), containing, mention(s),"
    " mentioning, incorporate(s), incorporating, feature(s), featuring, insert, inserting, add,"
    " adding, have, having, has, employ, employing, utilize, utilizing, say, saying, write,"
    " writing, put, with"
)
_FILL: Final = (
    r"(?:(?:\d+|"
    + either(
        "the, these, this, following, all, actual, both, of, any, either, exact, specific, target,"
        " at, least, one, once, twice, as, single, my, those, certain, a, an, each, two, three,"
        " four, five, some, required, given, below, it, in, your, response, answer, word(s),"
        " keyword(s), also, reply, story, poem, more, most, than, no, fewer, occurrences,"
        " instances, mentions, uses"
    )
    + r")\s+){0,7}"
)
_POSITIVE: Final = re.compile(rf"\b{_HAVE}\s+{_FILL}$")
_NEGATIVE: Final = re.compile(
    r"(?:\b"
    + either(
        "not, never, without, avoid(s), avoiding, refrain from, refraining from, cannot, can't,"
        " exclude, excluding, omit, omitting, free of, free from, no, leave out, skip, nor,"
        " stay away from"
    )
    + r"|n't)\s+(?:"
    + either(
        "ever, please, to, allowed to, permitted to, supposed to, the use of, be, even,"
        " the usage of, any use of"
    )
    + rf"\s+)*(?:{_HAVE}\s+)?(?:(?:or|and|,)\s+{_HAVE}\s+)?{_FILL}$"
)
_VERB: Final = re.compile(rf"\b(?:{_HAVE}|avoid|without|exclude|omit)\b")
_WITH: Final = re.compile(rf"\bwith\s+{_FILL}$")
# Words in quotation marks alone may be a name or a title; a few verbs make sure that they are not.
_MENTIONED: Final = re.compile(
    rf"\b{either('include(s), including, mention(s), mentioning, incorporate, contain(s), use')}\s+"
    r"(?:(?:the|both|all|at\s+least\s+once)\s+)?$"
)
_PLAINLY: Final = re.compile(
    r"\s*(?:$|[.;!]|,\s+(?:and|but)|"
    + either(
        "in your, in the, in it, in this, somewhere, at least, once, twice, within, throughout,"
        " into, and do, and make, and use, and wrap, and end"
    )
    + r"\b)"
)
_CHOICE: Final = re.compile(r"\b(?:one|any|either|some)\s+(?:of|from|among)\b[^.,;]{0,40}$")
_AND: Final = re.compile(r"(?:,|\band\b|\bor\b|\bbut\b)\s+(?:also\s+)?(?:the\s+)?$")
_ELSEWHERE: Final = re.compile(
    r"\b"
    + either(
        "start(s), starting, begin(s), beginning, end(s), ending, finish, conclude, replace,"
        " called, named, titled, separate(d), mark(ed), open(s), opening, between, rhyme(s)"
    )
    + r"\b[^.,;]{0,40}$"
)
_CAN: Final = r"(?:should|must|may|do|does|can|could|shall|will|is|are)"
_SEEN: Final = either(
    "appear, used, in, included, mentioned, present, occur, contained, show, exist, found, allowed,"
    " said, be, use"
)
PASSIVE: Final = re.compile(
    rf"\s*(?:(?:{_CAN}(?:n't|\s+(?:not|never))|cannot|can't)\s+(?:(?:be|to|ever)\s+)*{_SEEN}"
    r"|(?:is|are)\s+(?:forbidden|prohibited|banned|off[\s-]limits)"
    rf"|(?P<yes>(?P<must>{either('should, must, need(s) to, has to, have to, shall, to')}\s+)?"
    r"(?:(?:all|both|also|each)\s+)?(?:appears?|occurs?|shows?\s+up|(?:be|is|are)\s+"
    rf"{either('used, included, mentioned, present, in, incorporated, contained, found')})))\b"
)
"""What may be said after words: that they appear (``yes``), or that they do not."""
_IN_EACH: Final = re.compile(r"\s*(?:in|at|to|for)?\s*(?:each|every)\s+(?!appear|at|be)")
_WISHED: Final = re.compile(
    rf"\b{either('sure, ensure, ensuring, want, need, like, let, have, so that')}\b"
)


def read_keywords(sentence: Sentence) -> Iterator[Found]:
    """Which words the reply has, how often, and which it has not."""
    unwanted: bool | None = None
    for one in find_mentions(sentence):
        unwanted = _is_unwanted(one, sentence.plain, unwanted)
        if unwanted is None or not sentence.allows(one.start):
            continue
        amount, end = read_frequency(sentence.plain, one.start, one.end)
        for predicate in _predicates(one.words, amount, unwanted=unwanted):
            yield sentence.found(predicate, one.start, end)


def _is_unwanted(one: Mention, plain: str, last: bool | None) -> bool | None:
    """Say whether words are to be left out (True) or to be there (False); None where unsure."""
    before, after = plain[: one.start], plain[one.end :]
    if _IN_EACH.match(after):
        return None
    passive = PASSIVE.match(after)
    if passive and (not passive["yes"] or passive["must"] or _WISHED.search(before)):
        return not passive["yes"]
    if negative := _NEGATIVE.search(before):
        sure = one.named or _VERB.search(negative[0])
        return True if sure and not OTHERS.search(before[: negative.start()]) else None
    if _CHOICE.search(before):
        return None
    if one.named and _POSITIVE.search(before):
        return None if _WITH.search(before) and _ELSEWHERE.search(before) else False
    if not one.named and _MENTIONED.search(before) and _PLAINLY.match(after):
        return False
    return last if one.named and _AND.search(before) else None


def _predicates(
    words: list[str], amount: Amount | None, *, unwanted: bool
) -> Iterator[dict[str, Json]]:
    if amount is None:
        yield {"op": "lacks" if unwanted else "contains", "words": [*words]}
        return
    ends = amount.ends
    if unwanted and amount.low is not None:  # "do not use x more than twice"
        ends = {"high": amount.low - 1}
    for word in words:
        yield {"op": "occurrences", "word": word, **ends}
