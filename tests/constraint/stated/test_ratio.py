from __future__ import annotations

import pytest
from stating import said

READ = [
    (
        "Tamsin and Dmitri divide $110$ gold coins in the ratio $3:8$. How many gold "
        "coins does Tamsin get?",
        "The answer is a whole share, and so a multiple of 3.",
    ),
]
SILENT = [
    "Ann, Bob and Cy divide 50 acres in the ratio 2:3:4. How many acres does Bob get?",
    "The sides are in the ratio 3:4:5. Find the perimeter.",
]


@pytest.mark.parametrize(("text", "sentence"), READ)
def test_is_read(text: str, sentence: str) -> None:
    assert sentence in said(text)


@pytest.mark.parametrize("text", SILENT)
def test_says_nothing_of_the_answer(text: str) -> None:
    assert said(text) == set()
