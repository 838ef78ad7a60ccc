from __future__ import annotations

import pytest
from stating import said

DAY = "The answer is a time of day: hours, and minutes from 00 to 59."
READ = [
    ("A film begins at 7:25 p.m. and runs for 118 minutes. At what time does it end?", DAY),
    ("What time is 7 minutes before noon?", DAY),
    ("School ends at 3:15. What time is it 50 minutes later? Answer in the form HH:MM.", DAY),
    ("It is 11:50 p.m. now. What time will it be in 45 minutes?", DAY),
    ("If it is 2:30 p.m. in Oslo and 75 minutes pass, what is the time in Oslo?", DAY),
    (
        "A flight leaves at 22:10 and lasts 175 minutes. What time does it land? Use a watch, and "
        "give your answer in 24-hour time.",
        "The answer is a time on a 24-hour clock, with minutes from 00 to 59.",
    ),
    (
        "On a 12-hour clock, what time is it 100 hours after 3:00?",
        "The answer is a time on a 12-hour clock, with minutes from 00 to 59.",
    ),
]
SILENT = [
    "The train leaves at 3:40 pm and arrives at 5:15 pm. How long is the trip?",
    "Two cars start at noon, 150 miles apart. In what time will they meet?",
    "The height after t seconds is 20t - 5t^2. At what time is the ball highest?",
    "At what time, in minutes after 9:00, do the trains pass each other?",
    "A tap is opened at 8:00 am. At what time is the tank full and how large is it?",
    "It is 9:00. What time does she spend running if she stops at 9:45?",
    "Her time for the race is 4:58. What time is 75 seconds faster?",
    "One half needs 72:35. What time will both halves have, one after the other, at 3:00?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
