"""Which sentences of a request may demand something of the reply, and which texts are only given.

Questions that are not polite orders, conditions, and text that is there to be worked on demand
nothing. Any other sentence may; which of its words are about the reply is asked elsewhere.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from constraint_first.constraint.reply.pattern import either
from constraint_first.pattern import lazy_pattern

_ADDRESSED: Final = lazy_pattern(
    r"\byour\s+(?:(?:entire|whole|full|complete|final|own|very)\s+)*"
    r"(?:response|answer|reply|output|rewrite|summary|critique|translation|text|completion)\b"
)

_POLITE: Final = lazy_pattern(
    r"\W*(?:please\W+|hi\W+|hello\W+)*(?:(?:can|could|would|will|won't)\s+(?:you|u)"
    r"|(?:can|could|may)\s+i\s+(?:get|have))\b|.*\bplease\b"
)
VERBS: Final = frozenset(
    (
        "add adopt aim analyze answer apply argue arrange ask assume avoid begin bold"
        " brainstorm break capitalize come compare compile complete compose conclude consider"
        " construct contain continue convert convince craft create criticize critique define"
        " deliver depict describe design detail develop discuss divide do don't draft draw"
        " elaborate emphasize employ enclose end enumerate evaluate examine exclude expand"
        " explain explore express fill finish first follow form format formulate generate give"
        " get have help highlight identify illustrate imagine improve include incorporate insert"
        " interpret introduce invent italicize just keep leave let let's limit list make mark"
        " mention name narrate offer omit only organize outline output paraphrase pen persuade pick"
        " plan present pretend print produce propose provide put quote recommend recount refrain"
        " reimagine relate repeat rephrase reply report respond restate restrict retell return"
        " reword rewrite say select send separate set share show sign simplify sort split start"
        " state structure submit suggest summarise summarize surround take talk tell think title"
        " tldr translate try turn type use using utilize wrap write you your"
    ).split()
)
"""Words with which an order may begin."""
_LEAD: Final = lazy_pattern(
    r"[\W\d]*(?:(?:also|additionally|finally|lastly|first|firstly|second|secondly|third|next|then"
    r"|please|furthermore|moreover|and|but|now|in\s+addition|in\s+your\s+[a-z ]{0,20}"
    r"|for\s+(?:this|the|a|your)\s+[a-z ]{1,40})\b[\s,:]*)*"
)
_CONDITION: Final = lazy_pattern(
    r"\W*(?:only\s+)?(?:if|unless|whenever|suppose|when|in\s+case"
    r"|should\s+(?:i|you|my|the|it|he|she|they|we))\b"
)
_THEN: Final = lazy_pattern(
    r"\W*when\s+(?:you|that)(?:'ve|'re|'s)?\s[^,]{0,60},\s*(?:please\s+)?"
    r"(?:finish|end|close|add|put)\b"
)
"""When you are done, do something: no condition."""
_TEXT: Final = (
    either(
        "text, passage, email, e-mail, article, letter, pitch, poem, story, message, excerpt,"
        " essay, review, code, copy, statement, document, speech, transcript, quote, description,"
        " abstract, note, post, tweet, joke, conversation, dialogue, content, page, haiku, draft,"
        " snippet, notice, sign, comment, memo, policy, clause, contract, lyrics, competition,"
        " advert, ad, reply, answer, riddle, assignment, task, puzzle, blurb, paragraph(s),"
        " sentence(s), question(s), rule(s), brief(s), request, prompt, instruction(s)"
    )
    + r"\b"
)
_POINTERS: Final = ("following", "this", "these", "below", "given")
_MATERIAL: Final = lazy_pattern(
    rf"\b(?:{'|'.join(_POINTERS)})\s+(?:[a-z-]+\s+){{0,3}}?{_TEXT}"
    r"|\bthe\s+following\s+(?=for\b|and\b)"
)
_SHOWN: Final = lazy_pattern(
    r"\b(?:here(?:'s|\s+is|\s+are)|below\s+(?:is|are))\s+(?![^.\n]{0,40}\b(?:requirement|constraint"
    r"|rule|instruction|condition|guideline|detail|task|format|spec|what\s+i|question|request|how))"
    r"[^\n]{1,200}(?=[:.?][ \t]*\n)"
)
"""An announcement of a text that follows: *here is an email from my manager:*."""
_WORKED_ON: Final = lazy_pattern(
    r"\b(?:correct|explain|translate|proofread|fix|paraphrase|rephrase|edit|rewrite|summari[sz]e"
    r"|analy[sz]e|improve)\s[^.:;\n]{0,40}(?=:)"
)
"""An order to work on what follows the colon."""
_SAID: Final = lazy_pattern(
    r"\b(?:end|finish|conclud|clos|start|begin|repeat|say|includ|add)(?:e?s|ing|e)?\b[^.;\n]{0,40}$"
)
"""An order to write the text that follows, not to work on it."""
_MENDED: Final = lazy_pattern(r"\b(?:proofread|correct|fix)\b[^.\n]{0,60}$")
"""An order to mend a text, of which nothing is meant for the reply."""
_BETWEEN_RULES: Final = lazy_pattern(r"(?ms)^[ \t]*([-=_~]{3,})[ \t]*\n.{1,8000}?\n[ \t]*\1[ \t]*$")
"""Text between two lines of dashes."""
_LEADS_IN: Final = lazy_pattern(r"[:?]\s*$")
"""The end of a paragraph after which the text comes that it speaks of."""


def may_demand(plain: str, inside: Material | None) -> bool:
    """Whether a sentence may demand something; ``inside`` text to work on it must say so."""
    if inside:
        return not inside.closed and bool(_ADDRESSED.search(plain))
    if _CONDITION.match(plain) and not _THEN.search(plain):
        return False
    asks = plain.rstrip(" \n\"')").endswith("?") and not _POLITE.match(plain)
    return not asks or _is_ordered(plain) or bool(_ADDRESSED.search(plain))


def is_order(plain: str) -> bool:
    """Whether a sentence is an order or a polite question."""
    return _is_ordered(plain) or bool(_POLITE.match(plain))


def _is_ordered(plain: str) -> bool:
    """Whether a sentence begins with a verb that tells what to do."""
    lead = _LEAD.match(plain)
    word = re.match(r"[a-z']+", plain[lead.end() :] if lead else plain)
    if not word or word[0] not in VERBS:
        return False
    return not (plain.rstrip().endswith("?") and word[0] in ("do", "have", "first", "only", "you"))


class Material(NamedTuple):
    """A text to work on, and whether all that it demands is demanded of others."""

    start: int
    end: int
    closed: bool = False


def find_material(plain: str) -> list[Material]:
    """Find the text to work on: what follows a colon, or the paragraphs after *the following*."""
    # Most problems are one line without a colon: patterns that need more are not tried on them.
    found: list[Material | None] = []
    if "\n" in plain:
        found += (Material(*one.span()) for one in _BETWEEN_RULES.finditer(plain))
        found += (_block(plain, one.end()) for one in _SHOWN.finditer(plain))
    if any(word in plain for word in _POINTERS):
        found += (_named(plain, one) for one in _MATERIAL.finditer(plain))
    if ":" in plain:
        found += (_named(plain, one) for one in _WORKED_ON.finditer(plain))
    return [one for one in found if one]


def _named(plain: str, named: re.Match[str]) -> Material | None:
    """The text that a request names and gives, if it does."""
    if _SAID.search(plain[max(0, named.start() - 60) : named.start()]):
        return None
    line_end = _find(plain, "\n", named.end())
    colon = plain.find(":", named.end(), min(line_end, named.end() + 80))
    given = plain[colon + 1 : line_end].strip() if colon >= 0 else ""
    ahead = plain[max(colon + 1, named.end()) :].lstrip()
    if ahead.startswith('"') and (colon >= 0 or plain[named.end() :][:2].strip()):
        return None  # what is quoted is hidden already
    closed = bool(_MENDED.search(plain, 0, named.end())) or plain[:line_end].rstrip()[-1:] == "?"
    if given:
        question = plain.find("?", colon, line_end) if "question" in named[0] else -1
        return Material(colon + 1, question + 1 if question >= 0 else line_end, closed)
    if not _comes_below(plain, named):
        return None
    after = _find(plain, "\n", line_end if colon >= 0 else named.end())
    return Material(after, _end_of(plain, after), closed)


def _block(plain: str, at: int) -> Material:
    """The lines that follow a place, up to the next empty one."""
    start = _find(plain, "\n", at)
    text = start + len(plain[start:]) - len(plain[start:].lstrip())
    return Material(start, _find(plain, "\n\n", text))


def _comes_below(plain: str, named: re.Match[str]) -> bool:
    """Whether the paragraphs that follow are the text that was named."""
    if named.re.pattern != _MATERIAL.pattern or re.search(
        r"\b(?:request|prompt|instructions?)\b", named[0]
    ):
        return False
    line = _find(plain, "\n", named.end())
    return "following" in named[0] or bool(_LEADS_IN.search(plain, named.end(), line))


def _end_of(plain: str, start: int) -> int:
    """Where the text ends that begins at a place: a fence of ticks closes, else nothing does."""
    if not plain[start:].lstrip().startswith("```"):
        return len(plain)
    opening = plain.find("```", start)
    return _find(plain, "```", opening + 3)


def _find(text: str, what: str, at: int) -> int:
    place = text.find(what, at)
    return len(text) if place < 0 else place
