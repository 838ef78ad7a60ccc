import io

from rich.console import Console

from constraint_first.cli.show import shown_checks
from constraint_first.method.checked import assess
from constraint_first.problem import Json, Problem, Solution

PROBLEM = Problem("Find the remainder\nwhen $3^{50}$ is divided by 7.")


def shown(details: dict[str, Json], problem: str = PROBLEM.text) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=160).print(shown_checks(details, problem))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_each_constraint_has_a_mark_and_its_words() -> None:
    marked = (("2", "✓", "0.50"), ("9", "✗", "0.00"), ("words", "?", "0.50"))
    for answer, mark, confidence in marked:
        lines = shown(dict(assess(PROBLEM, Solution(answer, "")).details))
        said = "The answer is a remainder: an integer from 0 to 6."
        assert lines[0] == f"{mark} {said} “Find the remainder when $3^{{50}}$ is divided by 7”"
        assert lines[1] == f"Confidence {confidence}"


def test_what_was_mended_is_said() -> None:
    done: Json = {"what": "repair", "before": "16", "after": "2", "broken": []}
    assert shown({"interventions": [done], "confidence": 0.5}) == [
        "repair: 16 → 2",
        "Confidence 0.50",
    ]


def test_demands_that_contradict_each_other_are_named() -> None:
    said = "No reply can meet both: The reply is in German; the reply is in French."
    assert shown({"conflicts": [said]})[0] == said
    assert shown({"conflicts": "odd"}) == ["Confidence 0.00"]


def test_the_answers_that_voted_are_listed() -> None:
    samples: Json = ["2", None, "9" * 30, "\x1b[31m"]
    assert shown({"samples": samples, "confidence": 0.5}) == [
        f"Confidence 0.50 (answers: 2, none, {'9' * 24}…, �[31m)"
    ]
    twos: list[Json] = ["2"] * 200
    (many,) = shown({"samples": twos})
    assert many.endswith("2, 2, …)")
    assert len(many) < 100


def test_details_of_any_form_can_be_shown() -> None:
    odd: Json = [{"span": [1]}, 3, {"span": "x", "truth": "maybe"}, {"sentence": "\x1b[31m"}]
    assert "\x1b" not in "".join(shown({"checks": odd, "confidence": 1}))
    assert shown({}, "") == ["Confidence 0.00"]
