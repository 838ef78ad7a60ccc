import pytest

from constraint_first.constraint.reply.conflict import find_conflicts, tell_conflict
from constraint_first.constraint.reply.reader import read_demands


@pytest.mark.parametrize(
    "request_text",
    [
        "Write at least 300 words about tea. Use at most 100 words.",
        "Answer in all capital letters. Use only lowercase letters.",
        'Use the word "fog" at least 3 times. Do not use the word "fog".',
        'Include the keywords "fog, rain". Avoid the word "rain".',
        'Do not use any commas. End with "So long, my friend."',
        "Use exactly 3 bullet points. Use at least 5 bullet points.",
        "Answer only in French. Answer only in German.",
        'Write a poem without the letter e. End with "The end."',
        "Write at least 12 sentences. Use at most 10 words.",
        'End your reply with "Yes".\nFinish your reply with "No".',
        "There must be exactly 2 paragraphs separated by ***. Paragraph 1 must start with the word "
        '"one". The first paragraph must start with the word "two".',
    ],
)
def test_what_no_reply_can_meet_is_found(request_text: str) -> None:
    (conflict,) = find_conflicts(read_demands(request_text))
    said = tell_conflict(conflict)
    assert said.startswith("No reply can meet both: The reply ")
    assert said.endswith(".")
    assert "; the reply " in said


@pytest.mark.parametrize(
    "request_text",
    [
        "Write at least 100 words about tea. Use at most 100 words.",
        'Use the word "fog" at least 3 times. Do not use the word "rain".',
        'Do not use any commas. End with "So long." Answer in all capital letters.',
        'Use the word "fog" at least 3 times and the word "rain" less than 2 times.',
        "The letter e should appear at least 3 times, the letter o less than 2 times.",
        "Write at least 12 sentences. Use at most 100 words.",
        'End your reply with "Yes." Finish your reply with the words "I said yes."',
        "Write about tea.",
    ],
)
def test_what_can_be_met_is_no_conflict(request_text: str) -> None:
    assert find_conflicts(read_demands(request_text)) == ()


def test_many_demands_take_bounded_time() -> None:
    many = " ".join(f'Use the word "w{n}" at least 2 times.' for n in range(400))
    assert find_conflicts(read_demands(many)) == ()
