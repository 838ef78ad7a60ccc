import importlib.util
import re
from typing import Any

import pytest
from snapshot import Golden

from constraint_first.constraint.predicate import Predicate, truth_of
from constraint_first.constraint.reply.bound import amounts, both_ends, counts_of
from constraint_first.constraint.reply.check import BLANK_LINE, REPLY
from constraint_first.constraint.reply.conflict import find_conflicts
from constraint_first.constraint.reply.insertion import can_be_added, insertions, join_responses
from constraint_first.constraint.reply.language import (
    LANGUAGES,
    can_tell_language,
    is_language,
)
from constraint_first.constraint.reply.layout_edit import (
    divide_paragraphs,
    head_sections,
    list_points,
)
from constraint_first.constraint.reply.measure import (
    count_bullets,
    count_capital_words,
    count_highlights,
    count_letter,
    count_phrase,
    count_placeholders,
    count_sections,
    count_words,
    first_word,
    has_title,
    has_word,
    split_by,
    split_paragraphs,
)
from constraint_first.constraint.reply.order import After, is_ordered
from constraint_first.constraint.reply.phrase import describe
from constraint_first.constraint.reply.polarity import refused_from
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.regroup import group_lines, split_sentences
from constraint_first.constraint.reply.request import HIDDEN, prepare
from constraint_first.constraint.stated.statement import Stated

# --- bound


def test_what_follows_the_counted_things_counts_too() -> None:
    (found,) = amounts("200 words or less")
    assert found.bare
    assert found.ends == {"low": 200, "high": 200}
    assert found.at_least.ends == {"low": 200}
    assert found.widened(" or less").ends == {"high": 200}
    assert found.widened(" at minimum").ends == {"low": 200}
    assert found.widened(" of text") == found


def test_more_ways_to_bound() -> None:
    (found,) = amounts("200 words")
    assert found.widened(" on the dot").bare is False
    assert found.widened(", no more and no fewer").ends == {"low": 200, "high": 200}
    assert found.widened(" is the absolute ceiling").ends == {"high": 200}
    assert found.widened(" or so").ends == {}


def test_an_amount_may_have_its_other_end_later() -> None:
    text = "at least 5 sentences but not more than 9."
    first = amounts(text)[0]
    assert both_ends(text, first, text.index(" but")).ends == {"low": 5, "high": 9}
    other = "at least 5 sentences but not more than 90 words."
    assert both_ends(other, amounts(other)[0], other.index(" but")).ends == {"low": 5}
    (joined,) = amounts("no fewer than 12 and no more than 20 sentences")
    assert joined.ends == {"low": 12, "high": 20}


def test_things_may_be_counted_after_they_are_named() -> None:
    gaps = re.compile(r"\s*gaps?")
    assert [one.ends for one, _ in counts_of("leave gaps, at least five of them", gaps)] == [
        {"low": 5}
    ]
    assert [one.low for one, _ in counts_of("leave gaps: 8 at the very least.", gaps)] == [8]
    assert [*counts_of("leave gaps for three people", gaps)] == []


# --- conflict


def test_many_demands_take_bounded_time() -> None:
    many = " ".join(f'Use the word "w{n}" at least 2 times.' for n in range(400))
    assert find_conflicts(read_demands(many)) == ()


# --- insertion


def stated(demand: Predicate) -> Stated:
    return Stated("format", demand, (0, 0), "")


@pytest.mark.parametrize(
    ("demand", "may"),
    [
        ({"op": "words", "low": 300}, True),
        ({"op": "words", "high": 300}, False),
        ({"op": "contains", "words": ["rain"]}, True),
        ({"op": "lacks", "words": ["rain"]}, False),
        ({"op": "occurrences", "word": "rain", "low": 2}, True),
        ({"op": "bullets", "low": 2, "high": 2}, False),
        ({"op": "all", "of": [{"op": "words", "low": 9}, {"op": "json"}]}, False),
    ],
)
def test_what_grows_with_the_text_can_be_added(demand: Predicate, may: bool) -> None:
    assert can_be_added(stated(demand)) is may


def test_an_addition_stands_at_the_end_or_ahead_of_the_last_paragraph() -> None:
    assert [*insertions("A.\n\nB.", "C\nD")] == [
        "A.\n\nB.\n\nC\nD",
        "A.\n\nB. C D",
        "A.\n\nC\nD\n\nB.",
    ]
    assert len([*insertions("A.", "B.")]) == 2


def test_two_replies_become_one_where_two_were_asked_for() -> None:
    two = stated({"op": "responses", "separator": "******", "low": 2, "high": 2})
    assert [*join_responses([two], "A ", " B")] == ["A\n\n******\n\nB"]
    assert not [*join_responses([stated({"op": "json"})], "A", "B")]


# --- language


installed = pytest.mark.skipif(not can_tell_language(), reason="py3langid is not installed")

GERMAN = "Der Hund schläft im Garten, und die Kinder spielen auf der Straße."
HINDI = "यह एक सुंदर दिन है और बच्चे बाहर खेल रहे हैं।"


@installed
def test_languages_are_told_apart() -> None:
    assert is_language(GERMAN, "de") is True
    assert is_language(GERMAN, "fr") is False
    assert is_language(HINDI, "hi") is True
    assert is_language("The dog sleeps in the garden.", "hi") is False
    assert is_language(GERMAN.upper() * 50_000, "de") is True
    assert truth_of({"op": "language", "language": "de"}, GERMAN) == "holds"


@installed
def test_what_is_too_short_or_not_known_is_undecided() -> None:
    assert is_language("ok", "en") is None
    assert is_language(GERMAN, "tlh") is None
    assert truth_of({"op": "language", "language": "tlh"}, GERMAN) == "undecided"
    # English is held against a reply only where it is sure to be something else.
    lower = {"op": "case", "case": "lower", "language": "en"}
    assert truth_of(lower, "carvings") == "holds"
    assert truth_of(lower, GERMAN.lower()) == "violated"


@installed
def test_every_named_language_is_one_that_the_model_knows() -> None:
    langid = pytest.importorskip("py3langid.langid")
    known = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE).labels
    assert {*LANGUAGES.values()} <= {*known}


def test_without_the_library_every_language_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> None:
        assert name == "py3langid"

    monkeypatch.setattr("constraint_first.constraint.reply.language.find_spec", find_spec)
    assert importlib.util.find_spec is not find_spec
    assert can_tell_language() is False
    assert truth_of({"op": "language", "language": "de"}, GERMAN) == "undecided"


# --- layout edit


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_no_word_is_lost_where_a_reply_is_laid_out_anew(count: int) -> None:
    reply = "One is here. Two is there.\n\nThree came. Four left.\n\nFive stayed."
    words = reply.split()
    args = {"low": count, "high": count, "separator": "***", "mark": "PART"}
    for edit in (divide_paragraphs, head_sections, list_points):
        for edited in edit(args, reply):
            kept = [one for one in edited.split() if one in words]
            assert kept == words


# --- measure


def test_words() -> None:
    assert count_words("Don't stop, snake_case; 3.5 naïve") == 7
    assert count_phrase("Cat catalogue CAT", "cat") == 3
    assert (has_word("a cat.", "CAT"), has_word("catalogue", "cat")) == (True, False)
    assert (has_word("I like C++ a lot", "c++"), has_word("x", "")) == (True, False)
    assert count_letter("Aa#b#", "a") == count_letter("Aa#b#", "#") == 2
    assert count_capital_words("I'm the BOSS of AI-based R&D, said (NASA): OK.") == 6


def test_parts() -> None:
    assert split_by("a***b***", "***") == ["a", "b"]
    assert split_by("a******b", "***") is None
    assert split_by("", "***") == []
    assert split_paragraphs("a\nb\n\n\n\nc\n\n ") == ["a\nb", "c"]
    assert [first_word(one) for one in ("\"It's so", "Jasper, you", "", "**x**")] == [
        "it",
        "jasper",
        "",
        "**x**",
    ]
    assert count_sections("SECTION 1 a SECTION2 b section 3 SECTION X", "SECTION") == 2


def test_marks() -> None:
    assert count_bullets("* a\n  - b\n** c\n*\n-d\ntext - e\n---") == 4
    assert count_highlights("*a* **b** ** ** *\n* x") == 2
    assert count_placeholders("[a] [b [c] ] [d\n] []") == 3
    assert [has_title(one) for one in ("a <<b>>", "<< >>", ">>a<<", "<<a\n>>")] == [
        True,
        False,
        False,
        False,
    ]


# --- order


def ordered(told: str, after: After) -> bool:
    at = told.index("<")
    return is_ordered(told.replace("<", ""), 0, at, after)


@pytest.mark.parametrize("after", ["aside", "self", "others"])
def test_an_order_brings_a_sentence_back_to_the_reply(after: After) -> None:
    assert ordered("who counts, so use <300 words", after)
    assert ordered("who counts. please, <300 words", after)
    assert ordered("who counts, so the letter must have <300 words", after)
    assert not ordered("who writes <300 words", after)


def test_how_plain_an_order_must_be() -> None:
    assert ordered("who counts, in <300 words", "aside")
    assert ordered("i count, in <300 words", "self")
    assert not ordered("she counts, in <300 words", "others")
    assert ordered("who sits and end with <300 words", "aside")
    assert not ordered("i begin and end with <300 words", "self")
    assert not ordered("function to count, use <300 words", "program")
    assert ordered("function to count, and write <300 words", "program")


# --- permission


# --- phrase


SAID: list[dict[str, Any]] = [
    {"op": "words", "low": 300},
    {"op": "sentences", "high": 1},
    {"op": "paragraphs", "separator": BLANK_LINE, "low": 2, "high": 2},
    {"op": "paragraph_begins", "nth": 2, "word": "so"},
    {"op": "sections", "mark": "Day", "low": 3},
    {"op": "responses", "separator": "******", "low": 2, "high": 2},
    {"op": "bullets", "low": 1, "high": 3},
    {"op": "highlights", "low": 1},
    {"op": "placeholders", "low": 2},
    {"op": "capital_words", "high": 4},
    {"op": "occurrences", "word": "a", "low": 1},
    {"op": "letters", "letter": "a", "high": 0},
    {"op": "contains", "words": ["a", "b"]},
    {"op": "lacks", "words": ["a"]},
    {"op": "contains_any", "texts": ["a"]},
    {"op": "case", "case": "upper", "language": "en"},
    {"op": "without", "marks": [","]},
    {"op": "json"},
    {"op": "title"},
    {"op": "postscript", "mark": "P.S."},
    {"op": "quoted"},
    {"op": "begins", "text": "a"},
    {"op": "ends", "text": "a"},
    {"op": "repeats", "text": "a"},
    {"op": "language", "language": "kn"},
]


def test_predicates_in_words(golden: Golden) -> None:
    assert "".join(f"{describe(one)}\n" for one in SAID) == golden("demand-words.txt")


def test_every_op_has_its_words() -> None:
    assert {one["op"] for one in SAID} == {*REPLY}


def test_conjunctions_and_others() -> None:
    both: dict[str, Any] = {"op": "all", "of": [{"op": "json"}, {"op": "words", "low": 2}]}
    assert describe(both) == "The reply is JSON and nothing else and has at least 2 words."
    assert describe({"op": "prime"}) == "The reply satisfies {'op': 'prime'}."


# --- polarity


def test_where_a_refusal_begins() -> None:
    plain = "write it, but do not use commas."
    assert plain[refused_from(plain, plain.index("commas")) :] == "not use commas."
    assert refused_from("use commas", 4) == 4


# --- regroup


TEXTS = [
    "One. Two! Three?",
    "1. First item.\n2. Second item.\n\nThe end",
    'He said "no." Then he left.\n* a point\n',
    "",
    "no mark at all",
    "...\n\n...",
]


@pytest.mark.parametrize("text", TEXTS)
def test_sentences_joined_again_are_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


def test_neighbours_are_joined_to_groups_of_like_size() -> None:
    assert group_lines(["a", "b", "c", "d", "e"], 2, " ") == ["a b", "c d e"]
    assert group_lines(["a", "b"], 2, " ") == ["a", "b"]


def test_a_long_text_takes_no_long_time() -> None:
    assert len(split_sentences("a. " * 200_000)) == 200_000
    assert len(split_sentences("." * 1_000_000)) >= 1


# --- request


def plain_sentences(text: str) -> list[str]:
    return [one.plain.strip() for one in prepare(text).sentences]


def test_what_is_quoted_is_hidden_in_its_place() -> None:
    text = "Say “İs it” and 'no' but don't use `x` İ."
    plain = prepare(text).plain
    assert len(plain) == len(text)
    assert plain.startswith(f'say "{HIDDEN * 5}" and "{HIDDEN * 2}" but don\'t use "{HIDDEN}"')


def test_sentences_request() -> None:
    assert plain_sentences("One, i.e. this. Two!\n1. Three\nof it\nFour") == [
        "one, i.e. this.",
        "two!",
        "1. three\nof it",
        "four",
    ]


def test_text_to_work_on_demands_nothing() -> None:
    request = prepare("Rewrite the following text:\n\nDo not use commas. Write more.")
    assert [one.readable for one in request.sentences] == [True, False, False]
    addressed = prepare("Critique this pitch: Write to us. Do not use commas in your response.")
    assert [one.readable for one in addressed.sentences] == [True, False, True]


def test_text_that_is_shown_demands_nothing() -> None:
    note = "My landlord left a note.\n---\nUse no commas.\n---\nReply to it."
    assert [one.readable for one in prepare(note).sentences] == [True, False, False, False, True]
    mail = "Here is an email from my boss:\n\nUse no commas.\n\nReply in verse."
    assert [one.readable for one in prepare(mail).sentences] == [True, False, True]
    mended = prepare("Proofread this note: Your reply must has no commas.")
    assert [one.readable for one in mended.sentences] == [True, False]


def test_a_quotation_may_end_its_sentence() -> None:
    assert plain_sentences('End with "So be it." Use no commas.') == [
        f'end with "{HIDDEN * 9}"',
        "use no commas.",
    ]
    assert plain_sentences("In ten words: why is it so?") == ["in ten words:", "why is it so?"]


def test_permissions_and_stories_are_no_demands() -> None:
    (sentence,) = prepare("You can use commas, write about a man who hates them.").sentences
    assert not sentence.allows(sentence.plain.index("commas"))
    (sentence,) = prepare("Write about a man who flies, and use no commas.").sentences
    assert not sentence.allows(sentence.plain.index("flies"))
    assert sentence.allows(sentence.plain.index("use no"))
    assert not sentence.wants(sentence.plain.index("commas"))
