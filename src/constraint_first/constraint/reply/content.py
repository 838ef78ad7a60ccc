"""Which words of a sentence are about the reply, and which about something else.

*At least 300 words* is a demand in "explain tides in at least 300 words" and none in "explain why
essays need at least 300 words". What tells them apart stands before them: other people's writing, a
program, a rule, a permission, something told. An order may bring the sentence back to the reply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from constraint_first.constraint.reply.directive import is_order
from constraint_first.constraint.reply.order import MUST, WISH, is_ordered
from constraint_first.constraint.reply.pattern import PRODUCT, either
from constraint_first.constraint.reply.permission import is_permitted
from constraint_first.pattern import lazy_pattern

# --- Things that are not wished.

_NO_WISH: Final = lazy_pattern(
    r"\b(?:must|should|could|would|might)\s+have\s+been\b"
    r"|\bbut\s+(?:it|mine|i|we)\s+(?:only\s+)?(?:has|have|is|am|are)\b"
    r"|\b(?:and|but)\s+(?:i'm|i\s+am|we're|mine\s+is)\s+(?:at|over|under|already|on)\b"
    r"|\bcouldn't\s+care\s+less\b|\bwhen\s+(?:i'm|i\s+am)\b"
)

# --- Others, subjects, programs.

_TEXTS: Final = either(
    "essays, emails, articles, poems, stories, papers, reports, texts, books, titles, documents,"
    " posts, tweets, novels, messages, songs, resumes, submissions, sentences in"
)
_CODE: Final = (
    "function, method, query, regex, regular expression, one-liner, macro, algorithm, program,"
    " code, class, validator, parser, formula, bot, chatbot, app, plugin, extension, command,"
    " linter"
)
_GROUP: Final = either(
    "bot, chatbot, app, user(s), student(s), player(s), participants, employees, customer(s),"
    " candidate(s), applicant(s), entries, contestants, members, field, pupils, each player,"
    " writers, authors, poets, people, speakers, journalists, teachers, children, kids"
)
_ABOUT_OTHERS: Final = (
    either(
        "who, whose, whom, whether, asking, telling, tells, reminding, instructs, that their,"
        " trying to, tries to, tried to, asked to, told to, had to, requiring"
    ),
    r"where(?!\s+(?:the\s+)?(?:letter|word|phrase|paragraph|every|everything|all|each|no)\b)",
    rf"wants?\s+to(?!\s+{either('see, hear, have, get, read, find')})",
    rf"(?:i|we)\s+{either('need to, have to, had to')}",
    rf"when\s+{either('you, people, someone, one, i, we')}",
    rf"makes\s+{either('me, us, them, you')}",
    r"(?:that|which)\s+(?:(?:need|require|make|let|force|tell|ask)s?"
    r"|(?:answer|speak|write|say|talk|type|sing|shout|repl(?:ie)?|send|read|print)s)",
    rf"(?:their|his|her)\s+[a-z]+\s+{MUST}",
    rf"{_TEXTS}\s+{MUST}",
    r"(?:people|some|many|experts|others|critics)\s+(?:say|claim|think|believe|insist)",
    r"(?<!:\s)(?<!,\s)lets?\s+(?:us|me|them|him|her|people)",
    rf"(?:he|she)\s+(?!{MUST})[a-z]+",
    rf"(?:the\s+)?{_GROUP}\s+{MUST}",
    rf"{either('reject, refuse, accept, validate')}s?\s+{either('any, every, all, a, an')}",
    rf"(?!{either('that, which, it, also, text, title, reply')}\b)[a-z]+\s+"
    + either("says, states, requires, wants, insists, demands, claims, thinks, believes, asks"),
)
"""Other people, and what they write or have to write."""
_ABOUT_SUBJECT: Final = (
    either("rule(s) for, rule(s) of, rule(s) about, about writing, against writing, spell"),
    rf"{either('rule(s), policy, guideline(s), law')}\s+{either('is, are, says')}:?\s*(?=\w)",
    r"(?<!make\s)(?<!without\s)(?<!without\sthe\s)use\s+of"
    r"(?![^.;,]{0,40}\b(?:not\s+(?:permitted|allowed)|forbidden|prohibited|banned|avoided))",
    r"(?:rule|law|policy|fact|idea|claim|belief|theory|sign|note)\s+(?:that|which)|has\s+a\s+rule",
    r"(?:stat|say|claim|argu|requir|complain|warn|suggest|announc)(?:es|s|ing)\s+that",
    rf"{either('convince, persuade, remind, reassure, prove')}\s[^.;,]{{1,40}}\sthat",
    either("you are given, you're given, you will be given, is given, are given"),
    r"(?:list|name|find)\b[^.;]{0,40}[a-z]s\s+in\s+which",
    rf"in\s+which\s+(?:{either('a, an, the, his, her, two, one, some, no, every, all')}\s+)?+"
    rf"(?!{either('letter, word(s), phrase, name, term, more, at, fewer, there, you, exactly')}\b)"
    r"[a-z]+",
    rf"{either('logo(s), shirt(s), mug(s), cake(s), tattoo(s)')}\s+with",
)
"""What is to be written about: a rule, a given text, a thing that bears words."""
_ELSEWHERE: Final = lazy_pattern(rf"\b(?:{'|'.join((*_ABOUT_OTHERS, *_ABOUT_SUBJECT))})\b")
"""Words after which a sentence speaks of something else, until an order begins."""
_PROGRAM: Final = lazy_pattern(
    rf"\b(?:{either(_CODE)}\s+(?:that|which|to|for)"
    rf"|{either('python, java, javascript, typescript, bash, sql, html, c++')}"
    rf"\s+{either(_CODE + ', script, snippet, page')}"
    rf"|{either(_CODE + ', script')}\b[^.;,]{{0,40}}\bstrings?"
    rf"|{either('password(s), username(s)')})\b"
)
"""Words after which a sentence speaks of a program."""

# --- Parts, and other things than the reply.

_PART: Final = lazy_pattern(
    r"\bwith\s+an?\s+(?:[a-z]+\s+){1,6}(?:that|which)\s+(?:has|have|is|contains?)\b[^.;,]*$"
)
"""Words by which what follows is demanded of a part of the reply."""
_SUBJECT: Final = lazy_pattern(
    r"\W*(?:only\s+)?(?:the|his|her|each|every|its|their)\s+(?P<what>[^.;,:]{1,60}?)\s+"
    r"(?:should|must|has\s+to|have\s+to|needs?\s+to)\b"
)
"""What a sentence demands something of."""
_FORM: Final = (
    r"(?:[\"□]+|no|not|"
    + either(
        "word(s), keyword(s), letter(s), comma(s), capital(s), caps, title, headline, sentence(s),"
        " paragraph(s), section(s), bullet(s), phrase(s), term(s), name, postscript, everything,"
        " nothing, whole, entire, only, last, first, second, third, final, closing, limit, minimum,"
        " maximum, ceiling, length, rule, reply, answer, response, output, text, thing, lot,"
        " placeholder(s),"
        " please, make, sure, each, every, all of, uppercase, lowercase, end, should, must, to,"
        " you, can, could, may, will, would, shall, let, need(s)"
    )
    + rf"|{PRODUCT})"
)
"""Words with which a sentence says how the reply is to be."""
_OF_REPLY: Final = lazy_pattern(rf"\b{_FORM}s?\b")

# --- Sentences that tell something, by how they begin.

_OPENING: Final = (
    r"\W*(?:"
    + either(
        "so, and, but, well, oh, ok, okay, hey, hi, hello, actually, also, now, since, because, as,"
        " although, while, even though, today, yesterday, plus"
    )
    + r"\W+)*"
)
_OWN: Final = r"(?:[a-z]+\s+){0,2}" + either(
    "limit, maximum, minimum, request, requirement(s), condition(s), wish, demand, constraint(s),"
    " preference, question, only rule, one rule, name(s)"
)
_WISHED: Final = (
    rf"(?!\s*(?:\([a-z\d]\)|[a-z\d][.)]|[-*•])\s+it\b|\W*(?:i|we){WISH}"
    r"|\W*it(?:'s|\s+is)\s+(?:[a-z]+\s+)?"
    + either(
        "required, essential, important, necessary, vital, crucial, imperative, mandatory, critical"
    )
    + rf"\s+that\s+(?:(?:the|your|all)\s+)*(?:it|there|{_FORM})\b)"
)
"""What only looks like telling: a wish, *it is essential that*, one of several items."""
_TELLS: Final = lazy_pattern(
    rf"{_WISHED}{_OPENING}(?:(?:i|we)\b(?!{WISH})|(?:normally|usually|ordinarily)\b"
    r"|in\s+(?:(?:my|our)\s+[a-z]+|(?:the|a)\s+(?:novel|story|book|film|movie|game|series|show))\b"
    r"|(?:it|this|that|there)(?:'s|\s+(?:has|is|was|were|had))\b(?!\s+to\b))"
)
"""Something of the person who asks."""
_PERSON: Final = either(
    "colleague, friend, neighbour, neighbor, coworker, classmate, customer, client, teacher, guy,"
    " student, relative, cousin, roommate, reviewer, boss, manager, editor"
)
_REPLY: Final = either(
    "reply, response, answer, output, text, word(s), title, letter(s), last, first, final, whole"
)
"""Words of what may be the reply, or a part of it."""
_DOES: Final = either(
    "asked, said, told, wants, says, lets, gave, thinks, gets, leaves, writes, finds, sends,"
    " receives, posts, reads, takes, makes, keeps, tells, asks, decides, discovers, accept(s),"
    " reject(s), force(s), prescribe(s), require(s), store(s), show(s), print(s), display(s),"
    " speak(s), utter(s), avoid(s), allow(s), permit(s), forbid(s), ban(s), banned, insist(s),"
    " demand(s), refuse(s)"
)
_TELLS_OTHERS: Final = lazy_pattern(
    rf"{_OPENING}(?:(?:he|she|somebody|someone|everyone|nobody)\b|they\b(?!\s+{MUST})"
    rf"|(?:all\s+(?:of\s+)?)?(?:my|our|his|her|their)\s+(?!{_OWN}\b)"
    rf"|(?:(?:some|many|most)\s+)?{_GROUP}\b|an?\s+(?:[a-z]+\s+)?{_PERSON}\b"
    r"|the\s+[^.;,]{1,30}\s+of\s+my\b"
    rf"|(?:an?|the|one|some|every)\s+(?:(?!{_REPLY}\b)[a-z']+\s+){{1,6}}?{_DOES}\b"
    r"|under\s+(?:the|our|my)\b|in\s+(?:1\d|20)\d\d\b"
    r"|(?:is|are|does|did|why|what|whats|what's|how|who|when|where|which|am|do\s+(?:i|we|you|they))"
    r"\b(?!\s+(?:happens|(?:i|we)\s+(?:need|want)\b)))"
)
"""What others do or have to do; questions without their mark too."""
_STATES: Final = lazy_pattern(
    rf"{_WISHED}\W*(?:(?!{_FORM}\b)[^\s,;:]+\s+){{1,6}}?"
    r"(?:is|are|was|were|has|have|had)\b(?!\s+(?:got\s+)?to\b)"
)
"""How something is that is neither the reply nor of its form."""

# --- What is to be explained.

_EXPLAINED: Final = lazy_pattern(
    r"\b(?:why|how(?!\s+(?:many|much|long))|when\s+to|what\s+happens|"
    + either(
        "difference between, history of, importance of, purpose of, advantage(s) of, benefit(s) of,"
        " pros of, cons of, art of, habit of, merits of, danger of"
    )
    + r")\b"
)
"""What is to be explained: *in 300 words* after it may still say how."""
_PAST: Final = lazy_pattern(
    rf"\b(?:{either('was, were, had, did, said, told, wrote, asked, went, came')}"
    r"|(?<!\bas\s)(?:i|we)\s+(?!need\b)(?:[a-z]+ed|kept|got|made|sent|gave|took))\b"
)
"""What is told of the past, which may be what an order is about."""
_ABOUT_TEXT: Final = lazy_pattern(
    r"\b(?:writ(?:e|es|ing|ten)|wrote|essays?|sentences?|strings?|texts?|emails?|letters?|titles?"
    r"|documents?|messages?|prompts?|articles?|stor(?:y|ies)|poems?|paragraphs?|words?|limit)\b"
)
_MANNER: Final = lazy_pattern(r"(?:\b(?:in|with|within|using|without|no|under)\s+|\()(?:an?\s+)?$")
_STARTS_MANNER: Final = lazy_pattern(r"(?:in|with|within|using|without|under)\b")


@dataclass(frozen=True, slots=True)
class _Told:
    """What a sentence tells, each as the places where that ends."""

    orders: bool
    """Whether the sentence itself is an order."""
    unwished: bool
    explained: tuple[int, ...]
    past: tuple[int, ...]
    others: int | None
    self: int | None
    thing: int | None
    """Behind the subject of which something is demanded, where that is not the reply."""
    programs: tuple[int, ...]
    elsewhere: tuple[int, ...]


@lru_cache(maxsize=128)
def _told(plain: str) -> _Told:
    orders = is_order(plain)
    others, tells, subject = (one.match(plain) for one in (_TELLS_OTHERS, _TELLS, _SUBJECT))
    states = None if orders else _STATES.match(plain)
    of_thing = subject and not _OF_REPLY.search(subject["what"])
    return _Told(
        orders=orders,
        unwished=bool(_NO_WISH.search(plain)),
        explained=_ends(_EXPLAINED, plain),
        past=_ends(_PAST, plain),
        others=others.end() if others else None,
        self=tells.end() if tells else None,
        thing=subject.end() if subject and of_thing else None,
        programs=_ends(_PROGRAM, plain),
        elsewhere=(*((states.end(),) if states else ()), *_ends(_ELSEWHERE, plain)),
    )


def _ends(pattern: re.Pattern[str], plain: str) -> tuple[int, ...]:
    return tuple(one.end() for one in pattern.finditer(plain))


def is_demand(plain: str, at: int) -> bool:
    """Whether what stands at a place of a sentence is demanded of the reply."""
    told = _told(plain)
    if told.unwished or is_permitted(plain, at) or _is_explained(plain, at, told):
        return False
    if told.others is not None and not is_ordered(plain, told.others, at, "others"):
        return False
    if told.self is not None and not is_ordered(plain, told.self, at, "self"):
        return False
    if told.thing is not None and told.thing <= at and not is_ordered(plain, told.thing, at):
        return False
    program, elsewhere = _last(told.programs, at), _last(told.elsewhere, at)
    if program is not None and not is_ordered(plain, program, at, "program"):
        return False
    if _PART.search(plain[:at]):
        return False
    return elsewhere is None or is_ordered(plain, elsewhere, at)


def _last(ends: tuple[int, ...], at: int) -> int | None:
    """The last of some places that is not behind another."""
    return max((one for one in ends if one <= at), default=None)


def _is_explained(plain: str, at: int, told: _Told) -> bool:
    """Whether a place belongs to what is to be explained, or to what is told of the past."""
    explained, past = _last(told.explained, at), _last(told.past, at)
    if explained is not None and _is_matter(plain, explained, at, told):
        return True
    if past is None or is_ordered(plain, past, at, "others"):
        return False
    return not told.orders or _is_matter(plain, past, at, told)


def _is_matter(plain: str, start: int, at: int, told: _Told) -> bool:
    """Whether what begins at a place is still told at another: *how to limit it to 300 words*."""
    if is_ordered(plain, start, at):
        return False
    between = plain[start:at]
    manner = told.orders and (_MANNER.search(between) or _STARTS_MANNER.match(plain, at))
    return not manner or bool(_ABOUT_TEXT.search(between))
