from collections.abc import Sequence

import pytest

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.stated.statement import Stated
from constraint_first.method import vote as agreement
from constraint_first.method.baselines import Direct
from constraint_first.method.method import MethodError
from constraint_first.method.program import Programmed
from constraint_first.method.registry import make
from constraint_first.method.vote import UntilAgreed, Vote, count_sound, first_with, value_ballot
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Output, Program, Run, Step

PROBLEM = Problem("Find the remainder when $3^{50}$ is divided by 7.")


def play(method: Vote | UntilAgreed, printed: Sequence[str], said: str = "9") -> Run[Solution]:
    """Let programs print one thing after another, and a chain of thought say something."""
    outputs = iter(printed)

    def answer(step: Step) -> Completion | Output:
        if isinstance(step, Program):
            text = next(outputs)
            return Output("", "crashed") if text == "!" else Output(text)
        if step.stage == "direct":
            return Completion(f"\\boxed{{{said}}}")
        return Completion("```python\nprint(1)\n```")

    run = Run(method.solve(PROBLEM))
    while not run.done:
        run.advance(tuple(map(answer, run.round)))
    return run


def stages(run: Run[Solution]) -> list[str]:
    return [exchange.call.stage for exchange in run.exchanges]


@pytest.mark.parametrize(
    ("printed", "said", "answer", "fell_back"),
    [
        (("2", "3", "2"), "", "2", False),
        (("3", "2", "2"), "", "2", False),
        (("12", "12", "3"), "5", "5", True),
        (("12", "12", "3"), "3", "3", True),
        (("!", "2", "2"), "", "2", False),
        (("!", "!", "2"), "4", "4", True),
        (("1", "2", "3"), "4", "4", True),
        (("1", "2", "3"), "2", "2", True),
        (("1", "2", "3"), "12", "3", True),
        (("!", "!", "!"), "12", "12", True),
        (("2.0", "5", "Fraction(2, 1)"), "", "2.0", False),
    ],
)
def test_two_sound_answers_that_agree_win(
    printed: tuple[str, ...], said: str, answer: str, fell_back: bool
) -> None:
    run = play(Vote(), printed, said)
    assert value_ballot(run.result.answer or "") == value_ballot(answer)
    assert stages(run) == ["program"] * 3 + ["direct"] * fell_back
    assert run.result.details["agreed"] is (answer in ("2", "2.0") or said == "3")


def test_without_a_check_unsound_answers_vote() -> None:
    assert play(Vote(check="off"), ("12", "12", "3")).result.answer == "12"


def test_an_answer_in_the_wrong_form_does_not_stand_for_one_in_the_right_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reduced = Stated("format", demand.reduced(), (0, 4), "The answer is in lowest terms.")

    def stated_in(problem: Problem, check: str) -> tuple[Stated, ...]:
        return (reduced,)

    monkeypatch.setattr(agreement, "stated_in", stated_in)
    run = Run(Vote((Direct(),), 3).solve(PROBLEM))
    answers = ("6/8", "3/4", "3/4")
    run.advance(tuple(Completion(f"\\boxed{{{answer}}}") for answer in answers))
    assert run.result.answer == "3/4"


def test_repaired_answers_vote() -> None:
    run = play(Vote(check="repair"), ("16", "3", "2"))
    assert (run.result.answer, stages(run)) == ("2", ["program"] * 3)
    assert run.result.details["votes"] == {"2": 2, "3": 1}
    assert "'before': '16', 'after': '2'" in str(run.result.details["interventions"])
    assert play(Vote(check="repair"), ("1", "3", "!"), "17").result.answer == "3"
    assert play(UntilAgreed(check="repair"), ("16", "2")).result.answer == "2"


def test_without_a_fallback_the_last_sound_answer_stands() -> None:
    run = play(Vote(fallback=None), ("1", "12", "!"))
    assert (run.result.answer, stages(run)) == ("1", ["program"] * 3)
    assert play(Vote(fallback=None), ("!", "!", "!")).result.answer is None


def test_what_was_counted_is_remembered() -> None:
    details = play(Vote(), ("12", "2", "3"), "3").result.details
    assert details["votes"] == {"2": 1, "3": 2}
    assert details["samples"] == ["12", "2", "3", "3"]
    programs = details["programs"]
    assert isinstance(programs, list)
    assert len(programs) == 3


def test_equal_calls_of_a_round_differ_in_their_sample_alone() -> None:
    run = Run(Vote().solve(PROBLEM))
    assert [call.sample for call in run.calls] == [0, 1, 2]
    assert len({(call.messages, call.stage, call.max_tokens) for call in run.calls}) == 1
    whole = play(Vote((Direct(),), 3), (), "5")
    assert [exchange.call.sample for exchange in whole.exchanges] == [0, 1, 2]
    apart = play(Vote((Direct(), Programmed(fallback=None)), 2), ("3",), "5")
    direct = [e.call.sample for e in apart.exchanges if e.call.stage == "direct"]
    assert direct == [0, 2]


@pytest.mark.parametrize(
    ("printed", "said", "answer", "drawn"),
    [
        (("2", "2"), "", "2", 2),
        (("2", "3", "3"), "", "3", 3),
        (("12", "12", "2", "2"), "", "2", 4),
        (("!", "1", "2", "3"), "5", "5", 4),
        (("!", "1", "2", "3"), "2", "2", 4),
    ],
)
def test_samples_are_drawn_until_two_agree(
    printed: tuple[str, ...], said: str, answer: str, drawn: int
) -> None:
    run = play(UntilAgreed(), printed, said)
    assert run.result.answer == answer
    assert stages(run).count("program") == drawn
    assert stages(run).count("direct") == bool(said)


def test_the_first_two_are_drawn_at_once_and_the_others_one_by_one() -> None:
    run = Run(UntilAgreed((Direct(),), 4, fallback=None).solve(PROBLEM))
    assert [call.sample for call in run.calls] == [0, 1]
    run.advance((Completion(r"\boxed{1}"), Completion(r"\boxed{2}")))
    assert [call.sample for call in run.calls] == [2]
    run.advance((Completion(r"\boxed{3}"),))
    assert [call.sample for call in run.calls] == [3]
    run.advance((Completion(r"\boxed{3}"),))
    assert run.result.answer == "3"


def test_bases_are_taken_in_turn() -> None:
    mixed = make("vote(base=program+program+direct)")
    assert mixed == Vote((Programmed(fallback=None), Programmed(fallback=None), Direct()))
    run = Run(mixed.solve(PROBLEM))
    assert [call.stage for call in run.calls] == ["program", "program", "direct"]
    turns = Run(Vote((Programmed(fallback=None), Direct()), 4).solve(PROBLEM))
    assert [call.stage for call in turns.calls] == ["program", "direct", "program", "direct"]


def test_a_program_that_votes_has_no_fallback_of_its_own() -> None:
    assert make("vote") == make("vote(base=program,samples=3,check=stated)") == Vote()
    assert make("until-agreed(base=program,most=4)") == UntilAgreed()


@pytest.mark.parametrize(
    ("one", "other"),
    [("3/4", r"\frac{3}{4}"), ("12.0", "12"), ("(A)", "A"), (r"\sqrt{12}", r"2\sqrt{3}")],
)
def test_a_vote_counts_values(one: str, other: str) -> None:
    assert value_ballot(one) == value_ballot(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("6 am", "6 p.m."),
        ("5 March", "5 April"),
        ("2024-03-05", "2024-05-03"),
        ("3/5/2024", "3/10/1012"),
        ("1.2.2024", "2.1.2024"),
    ],
)
def test_times_and_dates_are_no_numbers(one: str, other: str) -> None:
    assert value_ballot(one) != value_ballot(other)


def test_a_unit_does_not_split_the_vote() -> None:
    assert value_ballot(r"5 \text{ marbles}") == value_ballot("5 marbles") == value_ballot("5")


def test_answers_without_a_value_are_counted_as_they_are_written() -> None:
    assert value_ballot("[1, 2]") == "[1,2]"
    assert value_ballot("x + 1") != value_ballot("x + 2")


def test_counting_keeps_the_order_of_first_votes() -> None:
    solutions = [Solution(answer, "") for answer in ("3", None, "2", "2.0", "3")]
    votes = count_sound((), solutions)
    assert votes.most_common() == [("3", 2), ("2", 2)]
    assert first_with("2", solutions) is solutions[2]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vote(samples=1)", "samples must be at least 2"),
        ("until-agreed(most=1)", "most must be at least 2"),
        ("vote(base='')", "base must name a method"),
        ("vote(base=program+)+direct)", "write it as NAME"),
        ("vote(base=vote(samples=40),samples=40)", "these are 1600"),
    ],
)
def test_a_vote_that_cannot_be_held_says_why(name: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        make(name)


@pytest.mark.parametrize(
    ("printed", "answer", "fell_back"),
    [
        (("3", "2"), "3", False),
        (("12", "2"), "2", False),
        (("!", "2"), "2", False),
        (("!", "12"), "4", True),
    ],
)
def test_one_sound_answer_is_enough_where_that_is_allowed(
    printed: tuple[str, ...], answer: str, fell_back: bool
) -> None:
    run = play(Vote(samples=2, agree=1), printed, "4")
    assert run.result.answer == answer
    assert stages(run) == ["program"] * 2 + ["direct"] * fell_back


@pytest.mark.parametrize(
    ("printed", "answer", "drawn"),
    [(("2", "2"), "2", 2), (("3", "2", "2"), "2", 3), (("3", "2", "1"), "3", 3)],
)
def test_samples_go_on_until_two_agree_even_where_one_is_enough_in_the_end(
    printed: tuple[str, ...], answer: str, drawn: int
) -> None:
    run = play(UntilAgreed(samples=3, agree=1), printed)
    assert run.result.answer == answer
    assert stages(run) == ["program"] * drawn


def test_samples_are_drawn_until_as_many_agree_as_must() -> None:
    run = play(UntilAgreed(agree=3), ("2", "2", "3", "2"))
    assert run.result.answer == "2"
    assert stages(run) == ["program"] * 4


@pytest.mark.parametrize("name", ["vote(agree=0)", "vote(agree=4)", "until-agreed(most=2,agree=3)"])
def test_agreement_is_asked_of_some_samples_and_not_of_more_than_there_are(name: str) -> None:
    with pytest.raises(MethodError, match=r"agree must be from 1 to \d, the number of samples"):
        make(name)
