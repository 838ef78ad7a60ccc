"""Which sentences of a request may demand something of the reply, and which texts are only given.

A demand is an order, a polite question or a sentence with a word like *must*. Other questions,
conditions, and text that is there to be worked on demand nothing.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["OTHERS", "VERBS", "find_material", "may_demand"]

_ADDRESSED: Final = re.compile(
    r"\byour\s+(?:(?:entire|whole|full|complete|final|own|very)\s+)*"
    r"(?:response|answer|reply|output|rewrite|summary|critique|translation|text|completion)\b"
)

_POLITE: Final = re.compile(
    r"\W*(?:please\W+|hi\W+|hello\W+)*(?:(?:can|could|would|will|won't)\s+(?:you|u)"
    r"|(?:can|could|may)\s+i\s+(?:get|have))\b|.*\bplease\b"
)
_DIRECTIVE: Final = re.compile(
    r"\b(?:should|must|shall|needs?\s+(?:to|a|an|at|no|exactly)|ha(?:s|ve)\s+to|ought\s+to"
    r"|required?|mak(?:e|ing)\s+sure|ensur(?:e|ing)|be\s+sure|want|would\s+(?:like|love)"
    r"|i'd\s+(?:like|love)|i\s+need|please|allowed|permitted|forbidden|prohibited|cannot|can't"
    r"|may\s+not|do\s+not|don't|never|avoid|refrain|let's|remember"
    r"|(?:can|could|would|will)\s+you)\b"
)
OTHERS: Final = re.compile(
    r"\b(?:writers?|authors?|people|poets?|students?|speakers?|they|he|she|we|some|many|most|others"
    r"|children|teachers?|journalists?|characters?|person|man|woman)\s+(?:[a-z]+ly\s+|often\s+"
    r"|sometimes\s+|always\s+|do\s*|does\s*|should\s+|must\s+|who\s+|can\s*)*$"
)
"""The pattern of others who do or avoid something, before the verb."""
VERBS: Final = frozenset(
    (
        "add adopt aim analyze answer apply argue arrange ask assume avoid begin brainstorm break"
        " capitalize come compare compile complete compose conclude consider construct contain"
        " continue convert convince craft create critique criticize define deliver depict describe"
        " design detail develop discuss divide do don't draft draw elaborate emphasize employ"
        " enclose end enumerate evaluate examine exclude expand explain explore express fill finish"
        " first follow form format formulate generate give have help highlight identify illustrate"
        " interpret imagine improve include incorporate insert introduce invent italicize bold just"
        " keep let's limit list make mark mention name narrate offer omit only organize output"
        " outline paraphrase pen persuade pick plan present pretend print produce propose provide"
        " put quote recommend recount refrain relate retell rephrase repeat reimagine reply report"
        " respond restate restrict return reword rewrite say select separate set share show sign"
        " simplify sort split start state structure submit suggest summarize summarise surround"
        " take talk tell think title tldr translate try turn type use using utilize wrap write you"
        " your"
    ).split()
)
_LEAD: Final = re.compile(
    r"[\W\d]*(?:(?:also|additionally|finally|lastly|first|firstly|second|secondly|third|next|then"
    r"|please|furthermore|moreover|and|but|now|in\s+addition|in\s+your\s+[a-z ]{0,20}"
    r"|for\s+(?:this|the|a|your)\s+[a-z ]{1,40})\b[\s,:]*)*"
)
_FRAGMENT: Final = re.compile(
    r"[\W\d]*(?:[a-z ]{1,25}:\s*)?"
    r"(?:no|at|less|fewer|more|exactly|between|maximum|minimum|not|all|only|in|without|with"
    r"|words?|under|over|capital|lowercase|uppercase|keywords?|language|format|length"
    r"|entire|whole|(?:response|answer|reply)\s+(?:with|without|in|using|only))\b"
)
_TOLD: Final = re.compile(r"\b(?:is|are|was|were|has|have|had|did)\b")
_SETTING: Final = re.compile(
    r"\W*(?:before|after|in|for|to|as|with|using|while|given|at|on|by|based|without|throughout)\b"
)
_CONDITION: Final = re.compile(r"\W*(?:if|unless|whenever|suppose|when)\b")
_MATERIAL: Final = re.compile(
    r"\b(?:following|this|these|below|given)\s+(?:[a-z-]+\s+){0,3}?(?:text|paragraphs?|passage"
    r"|sentences?|email|e-mail|article|letter|pitch|poem|story|message|excerpt|essay|review|code"
    r"|copy|statement|document|speech|transcript|quote|description|abstract|note|post|tweet|joke"
    r"|conversation|dialogue|content|page|haiku|draft|snippet|request|prompt|instructions?)\b"
)

_WORKED_ON: Final = re.compile(
    r"\b(?:correct|explain|translate|proofread|fix|paraphrase|rephrase|edit|rewrite|summari[sz]e"
    r"|analy[sz]e|improve)\s[^.:;\n]{0,40}(?=:)"
)
"""An order to work on what follows the colon."""
_SAID: Final = re.compile(
    r"\b(?:end|finish|conclud|clos|start|begin|repeat|say|includ|add)(?:e?s|ing|e)?\b[^.;\n]{0,40}$"
)
"""An order to write the text that follows, not to work on it."""


def may_demand(plain: str, *, inside: bool) -> bool:
    """Whether a sentence may demand something; ``inside`` text to work on it must say so."""
    if _CONDITION.match(plain):
        return False
    ordered = _is_ordered(plain)
    asks = plain.rstrip(" \n\"')").endswith("?") and not _POLITE.match(plain)
    if asks and not (ordered or _ADDRESSED.search(plain)):
        return False
    if inside:
        return bool(_ADDRESSED.search(plain))
    if ordered or _DIRECTIVE.search(plain) or _ADDRESSED.search(plain):
        return True
    if _SETTING.match(plain) and any(
        one.lstrip().partition(" ")[0] in VERBS for one in plain.split(",")[1:]
    ):
        return True
    return bool(_FRAGMENT.match(plain)) and not _TOLD.search(plain) and len(plain.split()) <= 14


def _is_ordered(plain: str) -> bool:
    """Whether a sentence begins with a verb that tells what to do."""
    lead = _LEAD.match(plain)
    word = re.match(r"[a-z']+", plain[lead.end() :] if lead else plain)
    if not word or word[0] not in VERBS:
        return False
    return not (plain.rstrip().endswith("?") and word[0] in ("do", "have", "first", "only", "you"))


def find_material(plain: str) -> list[tuple[int, int]]:
    """Find the text to work on: what follows a colon, or the paragraphs after *the following*."""
    found: list[tuple[int, int]] = []
    for named in (*_MATERIAL.finditer(plain), *_WORKED_ON.finditer(plain)):
        if _SAID.search(plain[max(0, named.start() - 60) : named.start()]):
            continue
        line_end = _find(plain, "\n", named.end())
        colon = plain.find(":", named.end(), min(line_end, named.end() + 80))
        given = plain[colon + 1 : line_end].strip() if colon >= 0 else ""
        ahead = plain[max(colon + 1, named.end()) :].lstrip()
        if ahead.startswith('"') and (colon >= 0 or plain[named.end() :][:2].strip()):
            continue  # what is quoted is hidden already
        if given:
            found.append((colon + 1, line_end))
        elif "following" in named[0]:
            after = _find(plain, "\n", line_end if colon >= 0 else named.end())
            if not re.search(r"\b(?:request|prompt|instructions?)\b", named[0]):
                found.append((after, len(plain)))
    return found


def _find(text: str, what: str, at: int) -> int:
    place = text.find(what, at)
    return len(text) if place < 0 else place
