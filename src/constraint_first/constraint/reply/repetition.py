"""The rule for a request that is to be repeated, word for word, before it is answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.pattern import either
from constraint_first.constraint.reply.request import QUOTED, Found, Request, Sentence
from constraint_first.pattern import lazy_pattern

_AGAIN: Final = (
    r"\b(?:(?:repeat|copy|copied|echo|quot|recit|restat|reproduc|retyp|parrot)(?:e|es|ing|ying)?\b"
    r"(?:\s+(?:out|back|down))?|writ(?:e|ing)\s+out"
    r"|(?:say|write|type|give|print|state)(?=[^.;]{0,40}\b(?:again|back)\b))"
)
_REPEAT: Final = lazy_pattern(
    rf"{_AGAIN}\s+(?:"
    + either(
        "the, this, my, that, all, of, exact, exactly, entire, whole, full, complete, original,"
        " first, following, same, above, below, current, given, very, out, to me, two, three"
    )
    + r"\s*,?\s+)*"
    + either(
        "request, prompt, sentence(s), question, text, line(s), instruction(s), message, query, it,"
        " everything, above, below, input, paragraph, task, statement, following, words, item,"
        " what comes, what follows, what stands, what is"
    )
    + r"\b"
)
_EXACT: Final = lazy_pattern(
    r"word[\s-](?:for|by)[\s-]word|without\s+(?:any\s+|a\s+single\s+)?(?:chang|alter|edit)|exact"
    r"|as\s+it\s+(?:is|stands)|as-is|verbatim|unchanged|unaltered|(?:not|n't)\s+change|literally"
    r"|with\s+no\s+changes?|in\s+full|letter\s+for\s+letter|\b(?:first|before|then)\b"
)
_GIVEN: Final = lazy_pattern(rf"{_AGAIN}\b[^.;\n]{{0,120}}?(?P<quote>{QUOTED})")
_NEXT: Final = lazy_pattern(rf"\s*(?P<quote>{QUOTED})")
_BELOW: Final = lazy_pattern(
    r"\b(?:below|following|follows|underneath|between|(?:last|next|final)\s+(?:paragraph|line))\b"
)
_ABOVE: Final = lazy_pattern(r"\b(?:above|before\s+this|preceding|request|prompt|first\s+line)\b")
_ONE_LINE: Final = lazy_pattern(r"\b(first|next)\s+line\b")
_LABEL: Final = lazy_pattern(
    r"\W*(?:my\s+|the\s+|here(?:\s+is|'s)\s+(?:my|the)\s+)?"
    r"(?:request|question|prompt|task|sentence|text)(?:\s+(?:is|reads))?\s*:\s*"
)
_RULE: Final = lazy_pattern(r"(?m)^\s*([-=*_#~]{3,})\s*$")
_NOT: Final = lazy_pattern(r"(?:\b(?:not|never|before|avoid|without)|n't)\s*$")
_FEWEST: Final = 3
"""Words of the shortest text that can be meant where it is quoted."""


def read_repetition(sentence: Sentence) -> Iterator[Found]:
    """Whether the reply begins with the request itself, and with which part of it."""
    found = _REPEAT.search(sentence.plain) or _GIVEN.search(sentence.plain)
    if not found or _NOT.search(sentence.plain[: found.start()]):
        return
    plain = sentence.request.plain
    end = plain.find("\n", max(0, sentence.end - 1))
    end = len(plain) if end < 0 else end
    if not _EXACT.search(plain[sentence.start : end]) or re.search(r'\bfrom\s+"', sentence.plain):
        return
    wanted = (
        _between_rules(sentence)
        or _quoted(sentence)
        or _labelled(sentence.request)
        or _wanted(sentence, found, end)
    )
    wanted = re.sub(r'^"([^"]*)"$', r"\1", wanted)
    if re.search(r"\w", wanted) and sentence.allows(found.start()):
        yield sentence.found({"op": "repeats", "text": wanted}, *found.span())


def _quoted(sentence: Sentence) -> str:
    """The text to repeat, where it stands in quotation marks, perhaps on the next line."""
    plain = sentence.request.plain
    given = _GIVEN.search(plain, sentence.start, sentence.end)
    if not given and sentence.plain.rstrip().endswith(":"):
        given = _NEXT.match(plain, sentence.end)
    text = sentence.request.text[slice(*given.span("quote"))][1:-1].strip() if given else ""
    return text if len(text.split()) >= _FEWEST else ""


def _labelled(request: Request) -> str:
    """The text to repeat, where the request says *my question:* before it."""
    for one in request.sentences:
        label = _LABEL.match(one.plain)
        if label and not re.search(_AGAIN, one.plain):
            start = one.start + label.end()
            if request.plain[start : start + 1] == '"':
                return request.text[start + 1 : request.plain.find('"', start + 1)].strip()
            return request.text[start:].lstrip().partition("\n")[0].strip()
    return ""


def _wanted(sentence: Sentence, found: re.Match[str], end: int) -> str:
    """The part of the request that is to be repeated; nothing where it is not clear which."""
    request = sentence.request
    before = _told(request, 0, sentence.start)
    after = _told(request, end, len(request.text))
    if not before and not after:
        after = _told(request, sentence.end, len(request.text))
    place = sentence.start + found.end()
    if not before and (colon := re.search(r":\s*(?=\S)", request.text[place:end])):
        return request.text[place + colon.end() : end].strip()
    below = _BELOW.search(request.plain[sentence.start : end])
    if before and after and not below and not _ABOVE.search(sentence.plain):
        return ""
    wanted = after if (below and after) or not before else before
    if line := _ONE_LINE.search(sentence.plain):
        return (request.text if line[1] == "first" else after).strip().split("\n")[0].strip()
    if "paragraph" in found[0] and wanted == before:
        return request.text[: sentence.start].rpartition("\n\n")[0].rpartition("\n\n")[2].strip()
    several = re.search(r"\bsentence\b", found[0]) and re.search(r"[.?!]\s+\S|\n", wanted)
    return "" if several else wanted


def _between_rules(sentence: Sentence) -> str:
    """The text to repeat, where it stands between two lines of dashes."""
    text = sentence.request.text
    rules = [*_RULE.finditer(text, sentence.end - 1)]
    return text[rules[0].end() : rules[1].start()].strip() if len(rules) > 1 else ""


def _told(request: Request, start: int, end: int) -> str:
    """The request between two places, without sentences at its ends that are about repeating it."""
    within = [one for one in request.sentences if start <= one.start and one.end <= end]
    others = [one for one in within if not re.search(_AGAIN, one.plain)]
    return request.text[others[0].start : others[-1].end].strip() if others else ""
