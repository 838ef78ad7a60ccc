import pytest
from hand_made import arm, study, texts

from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated
from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import draw, lay_out, unmarked
from constraint_first.report.study import Attempt, Extraction, Study, Transcript

SPEC = ConstraintSpec(
    raw_constraints=(Constraint("C1", "domain", "an integer"),),
    propagated_constraints=(Propagated("P1", ("C1",), "even"), Propagated("P2", (), "small")),
)


def judged() -> Study:
    found = Extraction("parsed", ("domain",), 2)
    one = arm("cfr", {name: [Attempt(0, correct=True, extraction=found)] for name in "ab"})
    said = {
        (*one.key, name, 0): Transcript("so", "4", correct=True, tokens=1, constraints=SPEC)
        for name in "ab"
    }
    return study(one, problems=texts({"a": "What is 2 + 2?"}, gold={"a": "4"}), transcripts=said)


def test_an_attempt_is_laid_out_with_all_its_text() -> None:
    runs = judged()
    sample = draw(runs, size=9, seed=1)
    tasks = lay_out(runs, sample, [], "ada", sample.keys)
    task = next(task for task in tasks if task.label.key[4] == "a")
    assert (task.asked.text, task.asked.gold) == ("What is 2 + 2?", "4")
    assert task.constraints == [
        ("C1", "domain", "an integer"),
        ("P1", "from C1", "even"),
        ("P2", "derived", "small"),
    ]
    assert task.constraint() == task.constraints[0]
    assert sorted(one.number for one in tasks) == [1, 2]
    other = next(task for task in tasks if task.label.key[4] == "b")
    assert "not in these runs" in other.asked.text


def test_marks_so_far_are_there_and_the_first_open_one_is_in_turn() -> None:
    runs = judged()
    sample = draw(runs, size=9, seed=1)
    (task,) = lay_out(runs, sample, [], "ada", sample.keys[:1])
    task.mark("entailed")
    (again,) = lay_out(runs, sample, [task.label], "ada", sample.keys[:1])
    assert (again.at, again.label) == (1, task.label)
    (others,) = lay_out(runs, sample, [task.label], "ben", sample.keys[:1])
    assert (others.at, others.label.begun) == (0, False)
    again.mark("vague")
    again.mark("vague")
    (whole,) = lay_out(runs, sample, [again.label], "ada", sample.keys[:1])
    assert whole.finished
    assert whole.current is None


def test_labels_of_other_constraints_are_refused() -> None:
    runs = judged()
    sample = draw(runs, size=9, seed=1)
    stale = unmarked("ada", sample.keys[0], ConstraintSpec())
    with pytest.raises(InputError, match="not the runs that were judged"):
        lay_out(runs, sample, [stale], "ben", sample.keys)
