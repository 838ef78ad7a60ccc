"""Where an order begins in the middle of a sentence.

A sentence that tells something may come back to the reply: "My teacher counts, so at least 300
words", "she hates commas, leave them out". How plain the order must be depends on what was told.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from constraint_first.constraint.reply.directive import VERBS
from constraint_first.constraint.reply.number import NUMBER
from constraint_first.constraint.reply.pattern import PRODUCT, either
from constraint_first.pattern import lazy_pattern

After: TypeAlias = Literal["aside", "self", "others", "program"]
"""What a sentence told before: something by the way, of the person who asks, of others, of code."""

MUST: Final = either("must, should, need(s), needs to, have to, has to, require, may, can")
WISH: Final = (
    r"(?:(?:'m|'ve|'re|'ll|'d)?\s+(?:(?!normally|usually|generally)"
    r"(?:[a-z]+ly|also|just|only|still|do|don't|do\s+not|never|will|can|would)\s+)*(?:"
    + either(
        "want, need, expect, ask that, ask you, prefer, require, insist, wish, hope, must, demand,"
        " have in mind, looking for, count on"
    )
    + r")\b|(?:'d|\s+would)\s+(?:[a-z]+\s+)?(?:like|love|appreciate)\b)"
)
"""What follows *I* or *we* in a wish."""

_JUST: Final = either("also, then, please, and, but, so, just, only, this time")
_JOINED: Final = either(
    "make sure, making sure, ensure, ensuring, be sure, use, using, include, add, end, finish,"
    " wrap, put, do not, don't, dont, avoid, avoiding, refrain, write, writing, keep, keeping,"
    " limit, highlight, italicize, italicise, your, in your, the entire, the whole, the full,"
    " the complete, the response, separate, answer, respond, reply, give, provide, mention,"
    " mentioning, start, begin, capitalize, capitalise, emphasize, emphasise, bold, close,"
    " conclude, divide, leave, mark, skip, work in, weave, i want, i need, i expect, i'd like,"
    " i'd love"
)
_BOUND: Final = (
    r"(?:at\s+(?:least|most)|(?:no|not)\s+(?:more|less|fewer)|fewer|less|under|over|exactly|up\s+to"
    r"|(?:a\s+)?(?:min|max)(?:imum)?)\b"
)
_CLEAR: Final = (
    r"\bplease\b|\byour\s+(?:(?:entire|whole|full)\s+)?(?:response|answer|reply|output)\b",
    r"\bthere\s+(?:should|must|has\s+to|needs?\s+to|can't|cannot)\s+be\b",
    rf"(?:[,;:]|\bso\b|\s-)\s*(?:{_JUST}\s+)*(?:{either(','.join(sorted(VERBS)))})\b",
    rf"(?:[,;:]|\b(?:so|and)\b)\s*(?:so\s+)?(?:the|your|this|all|everything)\s+"
    rf"(?:[^\s,;.]+\s+){{0,6}}{MUST}\b",
    rf"\bso\s+(?:the|your)\s+{PRODUCT}\b|\bso\s+(?:[a-z]+\s+)?i{WISH}",
    rf"\b(?:so|hence|therefore),?\s+{_BOUND}|\bso,?\s+{NUMBER}\b",
    r"\bso\s+(?:everything\s+in\s+(?!my\b|our\b|the\b)|[a-z]+\s+only\b"
    r"|all[\s-]+(?:caps|capitals|lower\w*)\b(?!\s+(?:appear|look|come|is|are)))",
    r"\bso\s+(?:both|neither|none|the\s+(?:words?|letters?|phrases?|terms?))\b",
    r"[:;]\s*(?=[^.;]*\b(?:must|should|may|has\s+to)\b)|;\s*i\s+(?:want|need|expect|count)\b",
    r"\b(?:but|and)\s+\"□+\"\s+(?:must|should|ha[sv]e?|needs?)\b",
)
_BY_THE_WAY: Final = (
    r"(?:[,;:(]|\s-|\b(?:and|but|then|so)\b)\s*"
    rf"(?:{either('also, then, please, and, but, so, you, must, should, it')}\s+)*"
    rf"(?:{either('with, without, no, in all, in less, in at, in exactly, in no')}"
    r"|in\s+\w+\s+words)\b",
    r"(?:[,;:]|\bso\b|\s-)\s*(?:(?:and|but|so|please|then|you|must|should|it)\s+)*"
    r"(?:have|has|contain|must|should)\b",
    r"[,;:(]\s*(?:and\s+|all\s+)?(?:"
    + either(
        "in, within, using, over, under, between, exactly, at least, at most, more than, not more,"
        " fewer than, less than, max, min, maximum, minimum, up to, everything, all in, entirely"
    )
    + rf"|{NUMBER})\b",
)


def _joined(words: str) -> str:
    return rf"(?:[,;:(]|\s-|\b(?:{words})\b)\s*(?:{_JUST}\s+)*{_JOINED}\b"


_AND: Final = "and|but|then|so|hence|therefore"
_NO_AND: Final = "but|then|so|hence|therefore"
_PATTERNS: Final[dict[After, re.Pattern[str]]] = {
    "aside": lazy_pattern("|".join((_joined(_AND), *_CLEAR, *_BY_THE_WAY))),
    # In "I begin and end with it", or "it makes us begin and end so", no order begins.
    "self": lazy_pattern("|".join((_joined(_NO_AND), *_CLEAR, *_BY_THE_WAY, rf"\band\s+i{WISH}"))),
    "others": lazy_pattern("|".join((_joined(_NO_AND), *_CLEAR))),
    # The rules of a program look like orders too.
    "program": lazy_pattern(
        r"\bplease\b|\b(?:your|the\s+(?:whole|entire))\s+(?:[a-z]+\s+)?"
        r"(?:answer|reply|response|output)\b|\bso\s+(?:leave|use|put|keep|have|send|stay|write)\b"
        r"|[,;]\s*(?:but\s+|and\s+)?(?:reply|answer|respond|explain|keep|write)\b"
    ),
}


def is_ordered(plain: str, start: int, at: int, after: After = "aside") -> bool:
    """Whether an order begins between two places of a sentence, after what it told before."""
    return _first(plain, start, after) <= at


@lru_cache(maxsize=512)
def _first(plain: str, start: int, after: After) -> int:
    """Where the first order begins after a place; behind the end where there is none."""
    found = _PATTERNS[after].search(plain, start)
    return found.start() if found else len(plain) + 1
