import pytest

from constraint_first.constraint.reply.request import HIDDEN, prepare


def plain_sentences(text: str) -> list[str]:
    return [one.plain.strip() for one in prepare(text).sentences]


def test_what_is_quoted_is_hidden_in_its_place() -> None:
    text = "Say “İs it” and 'no' but don't use `x` İ."
    plain = prepare(text).plain
    assert len(plain) == len(text)
    assert plain.startswith(f'say "{HIDDEN * 5}" and "{HIDDEN * 2}" but don\'t use "{HIDDEN}"')


def test_sentences() -> None:
    assert plain_sentences("One, i.e. this. Two!\n1. Three\nof it\nFour") == [
        "one, i.e. this.",
        "two!",
        "1. three\nof it",
        "four",
    ]


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("Write a poem.", True),
        ("Could you write a poem?", True),
        ("What is a poem?", False),
        ("If it rains, use commas.", False),
        ("The poem must rhyme.", True),
        ("No commas.", True),
        ("In short, explain it.", True),
        ("In case it rains, use commas.", False),
        ("Should it rain, use commas.", False),
    ],
)
def test_which_sentences_may_demand_something(text: str, readable: bool) -> None:
    (sentence,) = prepare(text).sentences
    assert sentence.readable is readable


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
