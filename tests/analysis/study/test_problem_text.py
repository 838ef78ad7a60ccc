from instructed import FEW_WORDS, NO_COMMA

from constraint_first.benchmark.source import write_instructions
from constraint_first.report.study import ProblemText


def test_a_gold_answer() -> None:
    asked = ProblemText("What is 1 + 1?", "2")
    assert (asked.instructions, asked.gold_shown, asked.gold_name) == ((), "2", "gold answer")
    assert ProblemText("What is 1 + 1?").gold_shown is None


def test_gold_instructions() -> None:
    asked = ProblemText("Write.", write_instructions([NO_COMMA, FEW_WORDS]))
    assert asked.instructions == (NO_COMMA, FEW_WORDS)
    assert asked.gold_name == "gold instructions"
    assert asked.gold_shown == "The reply does without “,”. The reply has at most 9 words."
