from constraint_first.method.soundness import broken, is_sound, mended, sentences, stated_in
from constraint_first.problem import Problem, Solution

PROBLEM = Problem("Find the remainder when $3^{50}$ is divided by 7.")


def test_an_answer_is_sound_where_it_breaks_nothing() -> None:
    stated = stated_in(PROBLEM)
    assert stated
    assert is_sound(stated, "6")
    assert is_sound(stated, "some words")
    assert not is_sound(stated, "7")
    assert not is_sound(stated, "")
    assert not is_sound(stated, None)
    assert [one.kind for one in broken(stated, "7")] == ["modular"]
    assert broken(stated, "6") == ()


def test_nothing_is_checked_where_the_check_is_off() -> None:
    assert stated_in(PROBLEM, "off") == ()
    assert is_sound((), "7")


def test_constraints_are_written_one_a_line() -> None:
    stated = stated_in(PROBLEM)
    assert sentences(stated).splitlines() == [f"- {one.sentence}" for one in stated]
    assert sentences(()) == ""


def test_what_the_text_says_twice_is_said_once() -> None:
    stated = stated_in(PROBLEM)
    assert sentences((*stated, *stated)) == sentences(stated)


def test_a_certain_repair_is_made_and_noted() -> None:
    stated = stated_in(PROBLEM, "repair")
    assert stated == stated_in(PROBLEM)
    solution = mended(stated, Solution("16", "", details={"how": "boxed"}))
    assert solution.answer == "2"
    done = {"what": "repair", "before": "16", "after": "2", "broken": [stated[0].sentence]}
    assert solution.details == {"how": "boxed", "interventions": [done]}
    for answer in ("6", "1/2", "words", None):
        untouched = Solution(answer, "")
        assert mended(stated, untouched) is untouched
