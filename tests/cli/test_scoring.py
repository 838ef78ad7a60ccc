from instructed import requests
from rich.console import RenderableType

from constraint_first.attempt.attempt import Attempt
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.solve import Scoring, verdict_line
from constraint_first.method.baselines import Direct
from constraint_first.problem import Problem, Solution


def solved(answer: str | None, gold: str | None) -> Attempt:
    problem = Problem("What is 2 + 2?", "x", gold)
    return Attempt(problem, Direct(), Solution(answer, ""), (), 0.0)


def shown(part: RenderableType) -> str:
    console = SafeConsole(width=40)
    with console.capture() as capture:
        console.print(part)
    return capture.get().strip("\n─ ")


def judged(scoring: Scoring, answer: str | None, gold: str | None) -> str:
    one = solved(answer, gold)
    return shown(verdict_line(one.problem, scoring.count(one)))


def test_one_problem_has_no_heading_and_no_total() -> None:
    scoring = Scoring(1)
    assert shown(scoring.heading(Problem("P", "a"))) == ""
    assert judged(scoring, "4", "4.0") == "Right; the gold answer is 4.0"
    assert scoring.total == ""


def test_several_are_numbered_and_named() -> None:
    scoring = Scoring(3)
    assert shown(scoring.heading(Problem("P", "1"))) == "Problem 1 of 3"
    assert shown(scoring.heading(Problem("P", "aime-2\x1b"))) == "Problem 2 of 3, id aime-2�"


def test_answers_are_counted() -> None:
    scoring = Scoring(4)
    assert judged(scoring, "4", "4") == "Right; the gold answer is 4"
    assert judged(scoring, None, "4") == "Wrong; the gold answer is 4"
    assert judged(scoring, "5", None) == ""
    assert scoring.total == "2 answers: 1 right, 1 wrong, 2 without a gold answer"


def test_without_gold_answers_nothing_is_said() -> None:
    scoring = Scoring(2)
    assert scoring.count(solved("5", None)) == {}
    assert scoring.total == ""


def test_a_whole_reply_is_judged_by_instructions() -> None:
    scoring = Scoring(2)
    for text, words in (("Yes, no.", "Wrong: the reply follows 1 of 3"), ("<<T>> Yes.", "Right: ")):
        one = Attempt(requests(2)[1], Direct(), Solution("7", text), (), 0.0)
        said = shown(verdict_line(one.problem, scoring.count(one)))
        assert said.startswith(words)
        assert "{" not in said
    assert (scoring.total, scoring.unanswered) == ("2 answers: 1 right, 1 wrong", 0)
    scoring.count(Attempt(requests(1)[0], Direct(), Solution("7", " "), (), 0.0))
    assert scoring.unanswered == 1
