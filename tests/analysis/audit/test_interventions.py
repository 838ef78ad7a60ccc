from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, attempt, study, texts
from intervened import intervened_store

from constraint_first.problem import Json
from constraint_first.report.exhibit.interventions import StepCount, Undone, undo_interventions
from constraint_first.report.reader import open_study
from constraint_first.report.study import Transcript


def test_a_real_store_is_judged_as_it_was_before(tmp_path: Path) -> None:
    requests, sums = undo_interventions(open_study(intervened_store(str(tmp_path / "runs.db"))))
    assert (requests.arm.method, requests.judged, requests.changed) == ("sound(then=off)", 8, 6)
    # Undone, "broken" and "sound" are right; as it is, "fixed" and "sound" are.
    assert (requests.pair.before, requests.pair.after) == (50, 50)
    assert (requests.pair.improved, requests.pair.degraded) == (1, 1)
    assert requests.kinds == {"repair": StepCount(fixed=2, broken=2, stayed_wrong=2)}
    assert (sums.pair.before, sums.pair.after) == (0, 100)
    assert sums.kinds == {"repair": StepCount(fixed=2)}
    assert sums.kinds["repair"].made == 2


def done(what: str, before: str, after: str | None) -> Json:
    return {"what": what, "before": before, "after": after, "broken": ["x"]}


def undone(answer: str, *made: Json, **details: Json) -> Undone | None:
    """Undo the interventions of one attempt, whose right answer is 4."""
    one = replace(attempt("+" if answer == "4" else "-", answer=answer), intervened=True)
    two = arm("checked", {"p": [one], "q": "+"})
    said = Transcript("", answer, one.correct, 0, details={"interventions": [*made], **details})
    found = undo_interventions(
        study(
            two,
            problems=texts({"p": "P", "q": "Q"}, gold={"p": "4", "q": "1"}),
            transcripts={(*two.key, "p", 0): said},
        )
    )
    return found[0] if found else None


def test_steps_are_followed_back_to_the_first_answer() -> None:
    found = undone(
        "4", done("turn", "18", "5"), done("fresh sample", "18", "11"), done("repair", "11", "4")
    )
    assert found
    assert found.kinds == {"fresh sample": StepCount(stayed_wrong=1), "repair": StepCount(fixed=1)}
    assert (found.pair.before, found.pair.after) == (50, 100)


@pytest.mark.parametrize(
    "made",
    [
        [done("turn", "18", "5"), done("fresh sample", "18", None)],
        [done("turn", "18", "18")],
        ["no object", {"what": "turn"}],
    ],
)
def test_what_was_tried_and_led_to_nothing_changes_nothing(made: list[Json]) -> None:
    found = undone("18", *made)
    assert found
    assert (found.changed, found.kinds, found.pair.before) == (0, {}, 50)


def test_changes_in_the_samples_of_a_vote_are_left_as_they_are() -> None:
    found = undone("4", done("repair", "18", "4"), samples=["4", "4", "3"])
    assert found
    assert (found.changed, found.in_votes, found.pair.gain) == (0, 1, 0)


def test_arms_without_interventions_are_left_out() -> None:
    assert undo_interventions(study(arm("direct", {"p": "+"}))) == ()
