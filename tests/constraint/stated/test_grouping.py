from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "Stickers are pasted only in complete pages of $6$. Priya has $53$ stickers. How "
        "many of the stickers are pasted?",
        "The answer is a multiple of 6.",
    ),
    (
        "Elif arranges $108$ chairs in equal rows. How many rows are there?",
        "The answer divides 108.",
    ),
    (
        "Packed in boxes of $4$ or $6$, the tins always fill the last box. Their number "
        "is between $20$ and $30$. What is it?",
        "The answer is a multiple of 4.",
    ),
]
SILENT = [
    "Eggs come in boxes of 12. She needs 30 eggs. How long does she cook?",
    "He stands in full rows of 6 singers. How much does it cost?",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
