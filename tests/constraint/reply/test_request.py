import pytest

from cfr.constraint.reply.request import HIDDEN, prepare


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
        ("The poem rhymes.", False),
        ("No commas.", True),
        ("In short, explain it.", True),
        ("All others are red.", False),
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


def test_permissions_and_stories_are_no_demands() -> None:
    (sentence,) = prepare("You can use commas, write about a man who hates them.").sentences
    assert not sentence.allows(sentence.plain.index("commas"))
    (sentence,) = prepare("Write about a man who flies, and use no commas.").sentences
    assert not sentence.allows(sentence.plain.index("flies"))
    assert sentence.allows(sentence.plain.index("use no"))
    assert not sentence.wants(sentence.plain.index("commas"))
