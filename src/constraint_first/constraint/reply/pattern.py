"""Patterns of English phrases, written as lists of phrases."""

from __future__ import annotations

import re
from typing import Final

from constraint_first.pattern import lazy_pattern

QUOTE_MARKS: Final = "\"'“”‘’„«»"
"""The marks around a quotation."""
SEPARATES: Final = lazy_pattern(r"separat|divid|split|delimit|between|apart|break|part(?:ed|ing)")
"""Words with which a mark is asked for between parts."""

STRESS: Final = (
    r"(?:highlight(?:ed|ing)?|itali[cs](?:i[sz]ed?|i[sz]ing|s)?|bold(?:ed|face|ing)?"
    r"|emphasi[sz](?:ed?|ing)|(?:in|with|using|between)\s+(?:single\s+)?asterisks)"
)
"""The pattern of a word for emphasis."""


def either(phrases: str) -> str:
    """The pattern of any of some phrases, given with commas between; ``(s)`` may be left out."""
    listed = (one.strip() for one in phrases.split(","))
    parts = sorted((one for one in listed if one), key=len, reverse=True)
    return f"(?:{'|'.join(map(_pattern, parts))})"


def _pattern(phrase: str) -> str:
    escaped = re.sub(r"\\\((\w+)\\\)", r"(?:\1)?", re.escape(phrase))
    return re.sub(r"(?:\\ )+", r"\\s+", escaped)


PRODUCT: Final = either(
    "abstract, ad, advertisement, advice, agenda, analysis, anecdote, announcement, answer,"
    " apology, appeal, application, argument, article, ballad, bio, biography, blog, blurb,"
    " book, briefing, brochure, bulletin, caption, card, chapter, checklist, column,"
    " comparison, complaint, completion, composition, content, conversation, copy, critique,"
    " cv, description, dialog, dialogue, diary, document, e-mail, editorial, email, entry,"
    " essay, eulogy, explanation, fable, faq, feature, file, flyer, forecast, foreword, form,"
    " greeting, guide, haiku, handout, hymn, interview, introduction, invitation, itinerary,"
    " jingle, joke, journal, label, leaflet, legend, lesson, letter, limerick, list, log,"
    " lullaby, lyrics, manual, memo, menu, message, minutes, monologue, myth, narrative,"
    " newsletter, note, notice, novel, obituary, op-ed, outline, output, overview, page,"
    " paper, paragraph, petition, piece, pitch, plan, play, poem, policy, post, poster,"
    " prayer, preface, presentation, profile, proposal, quiz, rant, rap, reasoning, recipe,"
    " reminder, reply, report, response, result, resume, review, rewrite, rhyme, riddle,"
    " rubric, scenario, scene, screenplay, script, sermon, sheet, slide, slogan, song, sonnet,"
    " speech, statement, story, study, summary, syllabus, tale, template, testimonial, text,"
    " thesis, thread, toast, transcript, translation, tutorial, tweet, verse, version, vows,"
    " warning, whitepaper, wish, work, writing"
)
"""The pattern of a word for what is to be written."""
