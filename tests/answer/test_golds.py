"""Golds of public sets, stated in replies: each is read back and equal to itself."""

import pytest

from constraint_first.answer.grade import GradingCase, grade_each

from .golds import DATA, TEMPLATES, fits, golds, stated

# Words that follow no mark are no answer, and some golds of these sets are words.
UNMARKED = ("G on the last line",)
# College mathematics has golds in two forms, exact and rounded, of which the exact one is read.
LEAST = {"college-math": 0.98}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no benchmark data in {DATA}")
@pytest.mark.parametrize("how", [name for name in TEMPLATES if name not in UNMARKED])
def test_golds_are_read_back_out_of_replies(how: str) -> None:
    for name, every in golds(DATA).items():
        chosen = [gold for gold in every if fits(how, gold) and any(map(str.isalnum, gold))]
        verdicts = grade_each(GradingCase.from_reply(stated(how, gold), gold) for gold in chosen)
        lost = [
            (gold, verdict.answer)
            for gold, verdict in zip(chosen, verdicts, strict=True)
            if not verdict.correct
        ]
        assert len(lost) <= len(chosen) * (1 - LEAST.get(name, 1)), (name, lost)
