"""Rules for words that a reply has, has often enough, or has not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.bound import Amount
from constraint_first.constraint.reply.mention import Mention, find_mentions, read_frequency
from constraint_first.constraint.reply.pattern import either
from constraint_first.constraint.reply.polarity import BANNED, PRESENT, is_refused, refused_later
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_HAVE: Final = either(
    "include(s), including, keep, keeping, use(s), using, contain(s), containing, mention(s),"
    " mentioning, incorporate(s), incorporating, feature(s), featuring, insert, inserting, add,"
    " adding, have, having, has, employ, employing, utilize, utilizing, say(s), saying, write,"
    " writing, put, putting, with, work in, working in, work, working, weave in, weave, weaving,"
    " slip in, slip, get, getting, fit in, fit, squeeze in, sneak in, bring in, bring up, throw in,"
    " drop in, pop in, pop, toss in, sneak, squeeze, see, hear, make use of, sprinkle in, repeat,"
    " repeating, need(s), want, somewhere, carry, feature"
)
_NEAR: Final = (
    rf"(?:(?!{either('about, for, on, from, that, who, which, as, magic, by, after')}\b)"
    r"(?:[a-z'-]+|\d+),?\s+){0,6}?(?:the\s+)?$"
)
_POSITIVE: Final = lazy_pattern(rf"\b{_HAVE}:?\s+{_NEAR}")
# Words in quotation marks alone may be a name or a title; a few verbs make sure that they are not.
_MENTIONED: Final = lazy_pattern(
    r"\b"
    + either(
        "include(s), including, mention(s), mentioning, incorporate, contain(s), use, work in,"
        " bring in, weave in, say, saying, hear, see, write, slip in, fit in, using, mention(s) of,"
        " have"
    )
    + r"\s+(?:(?:the|both|all|at\s+least\s+once|in|words?)\s+)*$"
)
_PLAINLY: Final = lazy_pattern(
    r"\s*(?:$|[.;!)]|,\s+(?:and|but|so|because|those|these|they|as|since|it)\b|"
    + either(
        "in your, in the, in it, in there, in this, somewhere, at least, once, twice, within,"
        " throughout, into, and do, and make, and use, and wrap, and end, no more, no fewer,"
        " a minimum, a maximum, anywhere, at any, at some, too, as well, because"
    )
    + r"\b)"
)
_CHOICE: Final = lazy_pattern(r"\b(?:one|any|either|some)\s+(?:of|from|among)\b[^.,;]{0,40}$")
_AND: Final = lazy_pattern(r"(?:,|\band\b|\bor\b|\bnor\b|\bbut\b)\s+(?:also\s+)?(?:the\s+)?$")
_ELSEWHERE: Final = lazy_pattern(
    r"\b"
    + either(
        "start(s), starting, begin(s), beginning, end(s), ending, finish(es), finishing, conclude,"
        " replace, called, named, titled, separate(d), mark(ed), open(s), opening, between,"
        " rhyme(s), close(s), closing, sign off, round off, wrap up, define, definition of,"
        " meaning of, means, translate, spell, headed, labelled, labeled, heading(s), divided,"
        " word for, origin of, etymology of, instead of, rather than, first word, last word(s),"
        " final word(s), come from, comes from, look up, introduced by, marked by"
    )
    + rf"\b(?:(?!\band\s+(?:also\s+)?{_HAVE}\b)[^.,;]){{0,40}}$"
)
_DUE: Final = lazy_pattern(
    r"\b(?:must|should|needs?|ha(?:s|ve))\s+(?:to\s+)?(?:all\s+|both\s+)*(?:be\s+)?"
    r"(?:includ|appear|occur|use|mention|contain|there|feature|found)[^:]*:"
)
"""What may stand between the noun and the words: *the keywords that must appear: …*."""
_IN_LIST: Final = lazy_pattern(
    rf"\b{either('needs, must have, should have, has to have, include(s), contain(s)')}\b"
    r"[^.;]{0,120},\s*(?:and\s+)?(?:the\s+)?$"
)
"""It needs this, that, and the words that follow."""
_SHUNNED: Final = lazy_pattern(
    rf"{_MENTIONED.pattern}|\b"
    + either("avoid, avoiding, clear of, away from, leave out, leaving out, skip, without, drop")
    + r"\s+(?:the\s+)?$"
)
_APPEAR: Final = lazy_pattern(
    rf"{BANNED.pattern}|\s*(?:may|can|should|must|could)\s+(?:appear|be|occur|show)\b"
)
_EXAMPLE: Final = lazy_pattern(
    r"\b(?:such\s+as|like|e\.g\.?|for\s+(?:example|instance)|i\.e\.?)\W*$"
)
_EXAMPLE_REACH: Final = 40
"""How many characters before a mention such words are looked for."""
_IN_EACH: Final = lazy_pattern(r"\s*(?:in|at|to|for)?\s*(?:each|every)\s+(?!appear|at|be)")
_WISHED: Final = lazy_pattern(
    rf"\b{either('sure, ensure, ensuring, want, need, like, let, have, so that, with, that')}\b"
)
_NEGATED: Final = lazy_pattern(r"n't\b|\b(?:not|never|avoid|without)\b")
_BACK: Final = lazy_pattern(
    r"[^.]{0,80}?\b(?:(?:use|include|work\s+in|mention|let)"
    r"\s+(?:(?:that|this)\s+word|the\s+word(?!\s*\")|it|them|(?:those|these)(?:\s+words)?)"
    r"|both\s+(?:must|should|have\s+to|need\s+to)"
    r"|(?:it|that|they)\s+(?:has|have|needs?|ought|must|should)\s+(?:to\s+)?"
    r"(?:be(?!\s+(?:the|this|our|your)\b)|occur|appear))\b"
)
"""An order that comes back to a word that was named: *she loves it, so please use that word*."""


def read_keywords(sentence: Sentence) -> Iterator[Found]:
    """Which words the reply has, how often, and which it has not."""
    unwanted: bool | None = None
    for one in find_mentions(sentence):
        amount, end = read_frequency(sentence.plain, one.start, one.end)
        unwanted = _is_unwanted(sentence, one, amount, unwanted)
        if unwanted is None and (back := _comes_back(sentence, one)):
            unwanted, place = back
            amount, end = read_frequency(sentence.plain, place, place)
        if unwanted is None:
            continue
        for predicate in _predicates(one.words, amount, unwanted=unwanted):
            yield sentence.found(predicate, one.start, end)


def _comes_back(sentence: Sentence, one: Mention) -> tuple[bool, int] | None:
    """Find the order that comes back to words that were only told: if it refuses, where it ends."""
    if _is_example(sentence, one):
        return None
    refused, back = refused_later(sentence.plain, one.end), _BACK.match(sentence.plain, one.end)
    if refused and sentence.allows(refused):
        return True, refused
    if not back or _NEGATED.search(back[0]) or not sentence.allows(back.end()):
        return None
    several = len(one.words) > 1 and re.search(r"\bit$", back[0])
    return None if several else (False, back.end())


def _is_example(sentence: Sentence, one: Mention) -> bool:
    """Whether words only show what is meant: *a bullet like "- this"*."""
    near = max(0, one.start - _EXAMPLE_REACH)
    return not one.named and bool(_EXAMPLE.search(sentence.plain, near, one.start))


def _is_unwanted(
    sentence: Sentence, one: Mention, amount: Amount | None, last: bool | None
) -> bool | None:
    """Say whether words are to be left out (True) or to be there (False); None where unsure."""
    before, after = sentence.plain[: one.start], sentence.plain[one.end :]
    if _is_example(sentence, one):
        return None
    if _IN_EACH.match(after) or not sentence.allows(one.start):
        return None
    refused = is_refused(sentence.plain, one.start, one.end)
    if refused:
        sure = one.named or _SHUNNED.search(before) or _APPEAR.match(after)
        return True if sure else None
    if refused is None or _CHOICE.search(before):
        return None
    due = not one.choice and _DUE.search(sentence.plain, one.start, one.end)
    return False if due or _is_wanted(one, before, after, amount, last) else None


def _is_wanted(
    one: Mention, before: str, after: str, amount: Amount | None, last: bool | None
) -> bool:
    """Whether words that are not refused are to be there, by what stands around them."""
    bounded = amount is not None and not amount.bare
    if one.choice:
        return False
    present = PRESENT.match(after)
    if present and (one.named or present["must"] or amount or _WISHED.search(before)):
        return True
    if _ELSEWHERE.search(before):
        return False
    if last is False and _AND.search(before) and (one.named or bounded):
        return True
    if one.named:
        return bool(amount or _POSITIVE.search(before) or _IN_LIST.search(before))
    return bounded or bool(_MENTIONED.search(before) and (amount or _PLAINLY.match(after)))


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
