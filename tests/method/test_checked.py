from constraint_first.method.baselines import Direct
from constraint_first.method.checked import Checked
from constraint_first.method.method import configuration
from constraint_first.method.program import Programmed
from constraint_first.method.registry import make
from constraint_first.method.vote import SelfConsistency
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Completion, Output, Run

REMAINDER = Problem("Find the remainder when $3^{50}$ is divided by 7.")
COUNT = Problem("How many integers from 1 to 100 are divisible by 3?")


def play(method: Checked, problem: Problem, *answers: str | Output) -> Run[Solution]:
    run = Run(method.solve(problem))
    for answer in answers:
        run.advance((Completion(answer) if isinstance(answer, str) else answer,))
    assert run.done
    return run


def test_a_sound_answer_passes_untouched() -> None:
    run = play(Checked(), REMAINDER, r"\boxed{2}")
    assert run.exchanges[0].call == Run(Direct().solve(REMAINDER)).calls[0]
    assert run.result.answer == "2"
    assert run.result.details["interventions"] == []
    assert play(Checked(), REMAINDER, "I cannot tell the answer.").result.answer is None


def test_a_certain_repair_costs_no_call() -> None:
    run = play(Checked(), REMAINDER, r"\boxed{16}")
    assert run.result.answer == "2"
    (done,) = as_list(run.result)
    assert (done["what"], done["before"], done["after"]) == ("repair", "16", "2")
    assert done["broken"]


def test_a_repair_says_which_words_it_rests_on_and_can_be_left_out() -> None:
    (done,) = as_list(play(Checked(), REMAINDER, r"\boxed{16}").result)
    assert done["words"] == ["Find the remainder when $3^{50}$ is divided by 7"]
    off = make("checked(repair=off)")
    assert isinstance(off, Checked)
    run = play(off, REMAINDER, r"\boxed{16}", r"\boxed{16}")
    assert (run.result.answer, [one["what"] for one in as_list(run.result)]) == ("16", ["turn"])
    assert "repair" in repr(off)
    assert "repair" not in repr(Checked()), "attempts in old stores are still its own"
    assert configuration(off) != configuration(Checked())


def test_a_model_that_gives_the_same_answer_again_is_believed() -> None:
    run = play(Checked(), COUNT, r"\boxed{33.5}", r"It is \boxed{33.5}, I am sure.")
    assert run.result.answer == "33.5"
    assert [one.call.stage for one in run.exchanges] == ["direct", "correct"]


def test_constraints_that_were_misread_elsewhere_do_not_overrule_an_answer() -> None:
    bills = (
        "Tye withdraws $300 from each of two banks, in 20 dollar bills. How many bills are they?"
    )
    letters = "Which?\nAnswer Choices: (A)550 (B)570 (C)600 (D)700 (E)none of these"
    multiple = "Find the largest multiple of 7 below 50."
    for text, answer in ((bills, "30"), (letters, "E"), (multiple, "48")):
        assert play(Checked(), Problem(text), rf"\boxed{{{answer}}}").result.answer == answer


def as_list(solution: Solution) -> list[dict[str, Json]]:
    made = solution.details["interventions"]
    assert isinstance(made, list)
    return [one for one in made if isinstance(one, dict)]


def test_else_one_turn_names_what_is_broken() -> None:
    run = play(Checked(), COUNT, r"Say \boxed{33.5}", r"No: \boxed{33}")
    assert [e.call.stage for e in run.exchanges] == ["direct", "correct"]
    asked, replied, told = run.exchanges[1].call.messages
    assert (asked.role, replied.role, told.role) == ("user", "assistant", "user")
    assert COUNT.text in asked.content
    assert replied.content == r"Say \boxed{33.5}"
    assert "Your final answer 33.5 cannot be right" in told.content
    (done,) = as_list(run.result)
    assert isinstance(done["broken"], list)
    assert f"- {done['broken'][0]}" in told.content
    assert (done["what"], done["after"], run.result.answer) == ("turn", "33", "33")


def test_else_a_fresh_sample_is_drawn() -> None:
    run = play(Checked(), COUNT, r"\boxed{33.5}", "I am not sure.", r"\boxed{34}")
    first, _, fresh = (exchange.call for exchange in run.exchanges)
    assert (fresh.messages, fresh.sample != first.sample) == (first.messages, True)
    assert [one["what"] for one in as_list(run.result)] == ["turn", "fresh sample"]
    assert [one["after"] for one in as_list(run.result)] == [None, "34"]
    assert run.result.answer == "34"


def test_where_nothing_helps_the_first_answer_stands() -> None:
    run = play(Checked(), COUNT, r"\boxed{33.5}", r"\boxed{0.5}", r"\boxed{1.5}")
    assert run.result.answer == "33.5"
    assert len(as_list(run.result)) == 2


def test_interventions_within_a_sample_are_kept_beside_that_of_drawing_it() -> None:
    block = "```python\nprint(1)\n```"
    checked = Checked(Programmed(fallback=None, check="repair"))
    problem = Problem("Find the remainder when $3^{50}$ is divided by 7.")
    run = play(checked, problem, block, Output("1/2"), "?", block, Output("16"))
    assert run.result.answer == "2"
    made = [(one["what"], one["before"], one["after"]) for one in as_list(run.result)]
    assert made == [("turn", "1/2", None), ("repair", "16", "2"), ("fresh sample", "1/2", "2")]


def test_programs_of_all_attempts_are_kept() -> None:
    block = "```python\nprint(1)\n```"
    checked = Checked(Programmed(fallback=None))
    run = play(checked, COUNT, block, Output("33.5"), "?", block, Output("33"))
    assert run.result.answer == "33"
    programs = run.result.details["programs"]
    assert isinstance(programs, list)
    assert len(programs) == 2


def test_a_fresh_sample_of_a_vote_repeats_no_call() -> None:
    run = Run(make("checked(base=self-consistency(samples=3))").solve(COUNT))
    seen = [call.sample for call in run.calls]
    run.advance((Completion(r"\boxed{0.5}"),) * 3)
    run.advance((Completion("?"),))
    assert not {call.sample for call in run.calls} & set(seen)
    assert make("checked(base=self-consistency(samples=3))") == Checked(
        SelfConsistency(Direct(), 3)
    )
