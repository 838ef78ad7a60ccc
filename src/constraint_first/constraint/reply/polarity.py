"""Whether a request wants what it names, or does not want it.

What is refused is refused in many words: *without*, *steer clear of*, *is off limits*, *must not
appear*. They are all here, so that each rule asks the same question about the thing it knows.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from constraint_first.constraint.reply.pattern import either
from constraint_first.pattern import lazy_pattern

_NO: Final = (
    # No more than three: an amount, and no refusal.
    r"\b(?:no|not)\b(?!\s+(?:(?:a\s+word|one|a\s+single\s+\w+)\s+)?"
    + either(
        "only, more, less, fewer, longer, shorter, later, other, matter, doubt, over, under, above,"
        " below, greater, lower, higher, exceed, just, to exceed, forget, fail"
    )
    + r"\b)"
    r"|(?:n't|\b(?:never|dont|doesnt|cant|wont|shouldnt|mustnt)\b)(?!\s+(?:forget|fail|hesitate"
    r"|exceed|go)\b)"
    r"|\bnothing\b(?!\s+(?:but|except|besides|else|after|more|follow|other))|\bwithout\b(?!\s+fail)"
)
_REFUSE: Final = lazy_pattern(
    rf"{_NO}|\b"
    + either(
        "avoid(s), avoiding, refrain, refraining, cannot, exclude(s), excluding, omit(s), omitting,"
        " free of, free from, nor, neither, none, zero, leave out, leaving out, leave off, skip,"
        " skipping, drop, dropping, ditch, ban, banning, steer clear, steered clear,"
        " steering clear, stay away, staying away, stay clear, keep away, keep clear, forbidden,"
        " prohibited, banned, devoid, lack(s), lacking, instead of, rather than, banish, cut out,"
        " abstain, forgo, taboo, off-limits, off limits"
    )
    + r"\b"
)
_TOO_MUCH: Final = lazy_pattern(
    r"\b(?:too|many|much|over[a-z]+|excess[a-z]*|lots?|just|always|only)\b"
)
"""What is refused only in part: *not too many commas*."""
_VERB: Final = either(
    "include, use, mention, add, make, write, put, end, finish, highlight, keep, have, give,"
    " ensure, work, weave, wrap, start, begin, close, be, say, do, insert, set, separate, stick,"
    " answer, reply, respond"
)
_CUT: Final = lazy_pattern(
    r"[;:!?()]|\.\s|\s[-–—]\s|\bbut\b|\band\s+(?=\d|(?:at|exactly|up\s+to|more|fewer|less)\b)"
    rf"|\b(?:and|then|so)\s+(?:(?:also|then|please|that|only|just)\s+)*{_VERB}\b"
    rf"|,\s+(?:(?:and|so|because|since|while|with)\b|(?:please\s+)?{_VERB}\b"
    r"|(?:i|you|we|it|the|your|this|my|all|everything|at|exactly|in)\b"
    r"|(?=\d|(?:and\s+)?(?:no|not|without|never|avoid)\b))"
)
"""Where another order may begin, to which a refusal does not reach."""

_ASIDE: Final = (
    r"\s*(?:,[^,;.]{1,40},\s*|,\s*)?(?:(?:"
    + either("itself, themselves, either, both, all, too, also, each, here, ever, though, words")
    + r"|[a-z]+ly)\s+|(?:is|are)\s+[a-z ]{1,30}\s+(?:and|so)\s+(?:it\s+|they\s+)?)*"
)
_MODAL: Final = r"(?:should|must|may|can|could|will|shall|is|are|need|ought)"
BANNED: Final = lazy_pattern(
    rf"{_ASIDE}(?:{_MODAL}(?:n't|\s+(?:not|never))|cannot|can't|won't"
    r"|(?:do|does)(?:n't|\s+not|nt)\s+(?:appear|occur|belong|show|come|get|have|fit|go)\b"
    r"|(?:(?:should|must|shall|will|ha(?:s|ve)\s+to|needs?\s+to)\s+)?"
    r"(?:(?:to\s+be|is|are|be|as|stay|stays|remain|remains)\s+)?(?:[a-z]+ly\s+)?(?:"
    + either(
        "forbidden, prohibited, banned, off limits, off-limits, off the table, out of bounds,"
        " taboo, disallowed, not allowed, not permitted, unwelcome, not welcome, to be avoided,"
        " gone, a no-go, out of the question, verboten, out of it, out of the, out of your, not ok,"
        " not okay, left out, unacceptable, not used, not mentioned, not appearing, not present,"
        " absent, avoided, omitted, excluded, not at all"
    )
    + r")\b|(?:(?:must|should|to|has\s+to|have\s+to)\s+)?(?:stay|stays|remain)\s+(?:out|away)\b"
    r"|is\s+(?:a|the|one)\s+words?\s+(?:that\s+)?i\s+(?:don't|never|do\s+not|can't)\b)"
)
"""What may be said after something that is not wanted."""
_THERE: Final = either(
    "used, included, mentioned, present, in, incorporated, contained, found, part of, among, there,"
    " seen, featured, said, worked in, woven in"
)
PRESENT: Final = lazy_pattern(
    rf"{_ASIDE}(?P<must>(?:"
    + either(
        "should, must, need(s) to, has to, have to, shall, to, is to, are to, ought to, has got to,"
        " have got to"
    )
    + r")\s+)?(?:(?:all|both|also|each|at\s+least|actually)\s+)*(?:"
    + either(
        "appear(s), appearing, occur(s), occurring, show(s) up, come(s) up, turn(s) up, crop(s) up,"
        " pop(s) up, feature(s), make(s) an appearance, get(s) a mention, find(s) a place,"
        " belong(s), get used, get in, get mentioned, come in"
    )
    + rf"|(?:be|is|are|being)\s+(?:(?:all|both|somewhere)\s+)*{_THERE}"
    r"|used|included|mentioned)\b"
)
"""What may be said after something that is wanted, perhaps with ``must``."""
_THEM: Final = (
    r"(?:(?:that|this)\s+word|the\s+word(?!\s*\")|it|them|(?:those|these|both)(?:\s+words)?|either"
    r"|a\s+single\s+one"
    r"|(?:any|one)(?!\s+(?!in\b|at\b|of\b|please\b|anywhere\b|here\b)[a-z]))"
)
_LATER: Final = lazy_pattern(
    r"[^.]{0,80}?\b(?:(?:"
    + either(
        "avoid, avoid using, free of, without, skip, leave out, drop, ditch, steer clear of,"
        " stay away from"
    )
    + r"|(?:don't|do\s+not|never)\s+(?:use|say|put|include|write))"
    rf"\s+{_THEM}|{_THEM}\s+(?:must|should|may|can)(?:n't|\s+not)"
    r"|leave\s+(?:[a-z]+\s+){1,5}out|so\s+none(?:\s+of\s+(?:them|those))?|use\s+none"
    r"|none\s+may\s+appear|there\s+can't\s+be\s+a\s+single\s+one"
    r"|neither\s+(?:of\s+(?:them|these|those|the\s+two)\s+)?(?:words?\s+)?(?:may|should|must|can)\s+"
    r"(?:appear|be|occur|show|turn|come|you)"
    r"|(?:can't|cannot|must\s+not|mustn't|should\s+not|shouldn't|may\s+not)"
    r"\s+(?:contain|have|use|include)\s+(?:any|one|a\s+single\s+one|them))\b"
)
"""A refusal that comes back to something that was named: *I hate commas, so leave them out*."""
_KEEP: Final = lazy_pattern(r"\b(?:keep|leave|leaving|cut|take)\s+(?:(?:the|all|any)\s+)*$")
_AWAY: Final = lazy_pattern(r"\s*(?:[a-z]+ly\s+|well\s+)?(?:out\b(?!\s+there)|off\b|away\s+from\b)")


def is_refused(plain: str, start: int, end: int) -> bool | None:
    """Whether what stands between two places is not wanted; None where that is not clear."""
    if _KEEP.search(plain[:start]) and _AWAY.match(plain, end):
        return True
    refusals = _refusals(plain, start)
    if len(refusals) > 1 and not re.search(r"\b(?:nor|neither)\b", plain[:start]):
        return None  # never without: twice not is not plain
    if refusals and _TOO_MUCH.search(plain, refusals[-1], start):
        return None
    after = plain[end : end + 80]
    return bool(refusals) or bool(BANNED.match(after))


def is_refused_nearby(plain: str, start: int, end: int) -> bool | None:
    """The same, and not clear either where a comma parts the thing from what refuses it."""
    refused = is_refused(plain, start, end)
    return None if refused and "," in plain[refused_from(plain, start) : start] else refused


def refused_later(plain: str, end: int) -> int | None:
    """Where a refusal ends that comes back to what was named before a place; None if none does."""
    found = _LATER.match(plain, end)
    return found.end() if found else None


def refused_from(plain: str, start: int) -> int:
    """Where the words begin that refuse what stands at a place; the place itself if none do."""
    return min(_refusals(plain, start), default=start)


def _refusals(plain: str, at: int) -> list[int]:
    """Where words begin that refuse what stands at a place, in the same clause."""
    cuts, refusals = _marks(plain)
    clause = max((one for one in cuts if one <= at), default=0)
    return [start for start, end in refusals if clause <= start and end <= at]


@lru_cache(maxsize=128)
def _marks(plain: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """The places at which a sentence is cut into clauses, and its refusals."""
    cuts = tuple(one.end() for one in _CUT.finditer(plain))
    return cuts, tuple(one.span() for one in _REFUSE.finditer(plain))
