from constraint_first.method.checked import assess
from constraint_first.method.soundness import CheckedSentence, Intervention, read_summary
from constraint_first.problem import Json, Problem, Solution

PROBLEM = Problem("Find the remainder when $3^{50}$ is divided by 7.")


def test_a_solution_gives_its_checks_back() -> None:
    details = assess(PROBLEM, Solution("9", "")).details
    found = read_summary(details, PROBLEM.text)
    said = "The answer is a remainder: an integer from 0 to 6."
    words = "Find the remainder when $3^{50}$ is divided by 7"
    assert found.checks == (CheckedSentence("violated", said, words),)
    assert found.known
    assert found.confidence == 0


def test_interventions_and_votes_are_read() -> None:
    done: Json = {"what": "repair", "before": "16", "after": "2"}
    found = read_summary({"interventions": [done], "samples": ["2", None]}, "")
    assert found.interventions == (Intervention("repair", "16", "2"),)
    assert found.samples == ("2", None)


def test_what_is_said_twice_is_there_once() -> None:
    twice: Json = [{"sentence": "s", "truth": "holds"}, {"sentence": "s", "truth": "violated"}]
    assert [one.truth for one in read_summary({"checks": twice}, "").checks] == ["violated"]


def test_details_of_any_form_can_be_read() -> None:
    odd: Json = [{"span": [1]}, 3, {"sentence": "a", "span": "x", "truth": "maybe"}]
    found = read_summary({"checks": odd, "confidence": "high", "samples": 3}, "text")
    assert [one.truth for one in found.checks] == ["undecided", "undecided"]
    assert (found.confidence, found.samples) == (0.0, ())
    assert not read_summary({"cues": []}, "").known
