import pytest

from constraint_first.constraint.reply.content import is_demand


@pytest.mark.parametrize(
    "told",
    [
        "explain tides in <at least 300 words>.",
        "explain how tides work in <at least 300 words>.",
        "tell me why it rains, and use <at least 300 words>.",
        "write of a man who rows, in <at least 300 words>.",
        "write a python tutorial in <at least 300 words>.",
        "you can only use <at least 300 words>.",
        "my teacher counts, so <at least 300 words>.",
        "i am a nurse, please write <at least 300 words>.",
        "i want <at least 300 words>.",
        "the letter must have <at least 300 words>.",
        "write about how i lost my cat in <at least 300 words>.",
    ],
)
def test_what_is_about_the_reply(told: str) -> None:
    assert is_demand(told.replace("<", "").replace(">", ""), told.index("<"))


@pytest.mark.parametrize(
    "told",
    [
        "explain why essays need <at least 300 words>.",
        "tell me how to write texts of <at least 300 words>.",
        "write of a man who writes <at least 300 words>.",
        "write a rule that essays must have <at least 300 words>.",
        "write a function that returns <at least 300 words>.",
        "draft a policy stating that emails must have <at least 300 words>.",
        "you can write <at least 300 words>.",
        "i have to write <at least 300 words>.",
        "it must have been <at least 300 words>.",
        "you are given a text of <at least 300 words>.",
        "forget the limit of <at least 300 words>.",
        "my teacher wants <at least 300 words>.",
        "she has to deliver <at least 300 words>.",
        "i always write <at least 300 words>.",
        "all others have <at least 300 words>.",
        "the journal says that abstracts have <at least 300 words>.",
        "the clue under the mat should have <at least 300 words>.",
        "he wrote a novel without <at least 300 words>.",
        "write a scene in which a clerk types <at least 300 words>.",
        "is it rude to write <at least 300 words>",
        "you're welcome to use <at least 300 words>.",
        "<at least 300 words> would be nice.",
    ],
)
def test_what_is_about_something_else(told: str) -> None:
    assert not is_demand(told.replace("<", "").replace(">", ""), told.index("<"))
