from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest
from played import stages

from constraint_first.constraint import predicate as demand
from constraint_first.constraint.stated.statement import Stated
from constraint_first.method import vote as agreement
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import MethodError
from constraint_first.method.program import Programmed
from constraint_first.method.registry import make
from constraint_first.method.vote import (
    Prove,
    Search,
    SelfConsistency,
    UntilAgreed,
    Vote,
    ballot,
    count_votes,
    value_ballot,
)
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Output, Program, Run, Step

PROBLEM = Problem("What is $2+2$?")
REMAINDER = Problem("Find the remainder when $3^{50}$ is divided by 7.")


def vote(*answers: str | None) -> Solution:
    replies = tuple(Completion("" if a is None else f"\\boxed{{{a}}}") for a in answers)
    run = Run(SelfConsistency(samples=len(answers)).solve(PROBLEM))
    run.advance(replies)
    return run.result


@pytest.mark.parametrize(
    ("answers", "winner"),
    [
        (("4", "5", "4"), "4"),
        (("5", "4", "4"), "4"),
        (("5", "4"), "5"),
        (("4", "5", "5", "4"), "4"),
        ((None, "5", "4", "4", "5"), "5"),
        ((None, None, "7"), "7"),
        ((None, None), None),
        (("", "", "7"), "7"),
        (("4.0", "5", "$4$"), "4.0"),
    ],
)
def test_the_majority_wins_and_a_tie_goes_to_the_earliest(
    answers: Sequence[str | None], winner: str | None
) -> None:
    assert vote(*answers).answer == winner
    details = vote("1,000", "7", "1000", None).details
    assert details["votes"] == {"1000": 2, "7": 1}
    assert details["samples"] == ["1,000", "7", "1000", None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("self-consistency(samples=0)", "samples must be at least 1"),
        ("self-consistency(samples=99999999)", "samples must be at most 1000, .* are 99999999"),
        (
            "self-consistency(samples=40,base=self-consistency(samples=40))",
            "votes within votes multiplied; these are 1600",
        ),
        (
            "self-consistency(samples=98,base=self-consistency(samples=2))",
            "a vote over votes must be at most 97",
        ),
        ("vote(samples=1)", "samples must be at least 2"),
        ("until-agreed(most=1)", "most must be at least 2"),
        ("vote(base='')", "base must name a method"),
        ("vote(base=vote(samples=40),samples=40)", "these are 1600"),
        ("vote(agree=0)", r"agree must be from 1 to \d, the number of samples"),
        ("until-agreed(most=2,agree=3)", r"agree must be from 1 to \d, the number of samples"),
    ],
)
def test_a_vote_has_limits(text: str, message: str) -> None:
    with pytest.raises(MethodError, match=f"method '{text.partition('(')[0]}': .*{message}"):
        make(text)


def test_votes_are_counted_however_deep_they_stand() -> None:
    inner = Routed(otherwise=SelfConsistency(samples=40))
    assert SelfConsistency(samples=1_000).samples == 1_000
    assert SelfConsistency(inner, 25).samples == 25
    with pytest.raises(ValueError, match="these are 1040"):
        SelfConsistency(inner, 26)


def test_any_method_can_be_the_base() -> None:
    run = Run(SelfConsistency(Routed(), 2).solve(REMAINDER))
    assert [call.stage for call in run.calls] == ["stage1", "stage1"]
    run.advance((Completion('{"raw_constraints": [{"description": "mod 7"}]}'), Completion("?")))
    assert [call.stage for call in run.calls] == ["stage2", "direct"]
    run.advance((Completion(r"\boxed{3}"), Completion(r"\boxed{2}")))
    assert (run.result.answer, run.result.details["routed"]) == ("3", True)


@pytest.mark.parametrize(
    ("count", "one", "other", "same"),
    [
        (ballot, "025", "25", True),
        (ballot, "25.0", "25", True),
        (ballot, "25.", "25", True),
        (ballot, "-0", "0", True),
        (ballot, "1{,}234", "1234", True),
        (ballot, r"\dfrac{1}{2}", r"\frac{1}{2}", True),
        (ballot, r"\left( 3, \frac{\pi}{2} \right)", r"(3,\frac{\pi}{2})", True),
        (ballot, r"\text{Monday}", "Monday", True),
        (ballot, r"\(x+1\)", "$x + 1$", True),
        (ballot, "1,2", "12", False),
        (ballot, "-3", "3", False),
        (ballot, r"a\rightarrow b", "aarrow b", False),
        (ballot, "0.5", "5", False),
        (value_ballot, "3/4", r"\frac{3}{4}", True),
        (value_ballot, "12.0", "12", True),
        (value_ballot, "(A)", "A", True),
        (value_ballot, r"\sqrt{12}", r"2\sqrt{3}", True),
        (value_ballot, r"5 \text{ marbles}", "5", True),
        (value_ballot, "[1, 2]", "[1,2]", True),
        (value_ballot, "x + 1", "x + 2", False),
        (value_ballot, "6 am", "6 p.m.", False),  # times are no values
        (value_ballot, "5 March", "5 April", False),
        (value_ballot, "2024-03-05", "2024-05-03", False),
        (value_ballot, "3/5/2024", "3/10/1012", False),
        (value_ballot, "1.2.2024", "2.1.2024", False),
    ],
)
def test_notation_does_not_split_the_vote(
    count: Callable[[str], str], one: str, other: str, *, same: bool
) -> None:
    assert (count(one) == count(other)) == same


@pytest.mark.parametrize(
    ("answers", "votes"),
    [
        (("5", "(x+1)^2", "x^2 + 2x + 1"), {"5": 1, "(x+1)^2": 2}),
        (("6 am", "6 pm", "7 am", "6 pm"), {"6am": 1, "6pm": 2, "7am": 1}),
        (("0.75", None, "", r"\frac{3}{4}"), {"3/4": 2}),
    ],
)
def test_votes_are_grouped_by_value(answers: Sequence[str | None], votes: dict[str, int]) -> None:
    assert count_votes([Solution(answer, "") for answer in answers]) == votes


def test_only_options_have_a_vote_where_options_are_given() -> None:
    choice = Problem("Half of three quarters is\nA. 3/8\nB. 3/4\nC. 6/4")
    method = UntilAgreed(samples=3)
    run = play(method, ("7", "7", "3/8"), r"A", choice)
    assert (run.result.answer, run.result.details["votes"]) == ("A", {"A": 2})
    assert play(method, ("0.375", "Fraction(3, 8)"), "", choice).result.answer == "A"


def test_a_hostile_answer_is_counted_in_no_time() -> None:
    assert ballot("0" * 200_000 + "x").endswith("x")
    assert ballot("\\text{" * 50_000)
    assert ballot("1,000" * 50_000)


def play(
    method: Vote | UntilAgreed,
    printed: Sequence[str],
    said: str = "9",
    problem: Problem = REMAINDER,
) -> Run[Solution]:
    """Let programs print one thing after another, and a chain of thought say something."""
    outputs = iter(printed)

    def answer(step: Step) -> Completion | Output:
        if isinstance(step, Program):
            text = next(outputs)
            return Output("", "crashed") if text == "!" else Output(text)
        if step.stage == "direct":
            return Completion(f"\\boxed{{{said}}}")
        return Completion("```python\nprint(1)\n```")

    run = Run(method.solve(problem))
    while not run.done:
        run.advance(tuple(map(answer, run.round)))
    return run


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


def test_an_answer_in_the_wrong_form_does_not_stand_for_one_in_the_right_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reduced = Stated("format", demand.reduced(), (0, 4), "The answer is in lowest terms.")

    def stated_in(problem: Problem, check: str) -> tuple[Stated, ...]:
        return (reduced,)

    monkeypatch.setattr(agreement, "stated_in", stated_in)
    run = Run(Vote((Direct(),), 3).solve(REMAINDER))
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


def test_what_was_counted_is_remembered() -> None:
    details = play(Vote(), ("12", "2", "3"), "3").result.details
    assert details["votes"] == {"2": 1, "3": 2}
    assert details["samples"] == ["12", "2", "3", "3"]
    assert len(cast("list[object]", details["programs"])) == 3


def test_equal_calls_of_a_round_differ_in_their_sample_alone() -> None:
    for method in (SelfConsistency(samples=3), Vote()):
        calls = Run(method.solve(REMAINDER)).calls
        assert [call.sample for call in calls] == [0, 1, 2]
        assert {replace(call, sample=0) for call in calls} == {calls[0]}
    nested = Run(SelfConsistency(SelfConsistency(samples=2), 3).solve(PROBLEM))
    assert len({call.sample for call in nested.calls}) == 6
    whole = play(Vote((Direct(),), 3), (), "5")
    assert [exchange.call.sample for exchange in whole.exchanges] == [0, 1, 2]
    apart = play(Vote((Direct(), Programmed(fallback=None)), 2), ("3",), "5")
    direct = [e.call.sample for e in apart.exchanges if e.call.stage == "direct"]
    assert direct == [0, 2]


@pytest.mark.parametrize(
    ("method", "printed", "said", "answer"),
    [
        (UntilAgreed(), ("2", "2"), "", "2"),
        (UntilAgreed(), ("2", "3", "3"), "", "3"),
        (UntilAgreed(), ("12", "12", "2", "2"), "", "2"),
        (UntilAgreed(), ("!", "1", "2", "3"), "5", "5"),
        (UntilAgreed(), ("!", "1", "2", "3"), "2", "2"),
        (UntilAgreed(agree=3), ("2", "2", "3", "2"), "", "2"),
        # One is enough in the end, and samples go on until two agree all the same.
        (UntilAgreed(samples=3, agree=1), ("2", "2"), "", "2"),
        (UntilAgreed(samples=3, agree=1), ("3", "2", "2"), "", "2"),
        (UntilAgreed(samples=3, agree=1), ("3", "2", "1"), "", "3"),
        (Vote(samples=2, agree=1), ("3", "2"), "", "3"),
        (Vote(samples=2, agree=1), ("12", "2"), "", "2"),
        (Vote(samples=2, agree=1), ("!", "2"), "", "2"),
        (Vote(samples=2, agree=1), ("!", "12"), "4", "4"),
        (Vote(check="off"), ("12", "12", "3"), "", "12"),
        (Vote(fallback=None), ("1", "12", "!"), "", "1"),  # the last sound answer
        (Vote(fallback=None), ("!", "!", "!"), "", None),
    ],
)
def test_samples_are_drawn_until_enough_agree(
    method: Vote | UntilAgreed, printed: tuple[str, ...], said: str, answer: str | None
) -> None:
    run = play(method, printed, said)
    assert run.result.answer == answer
    assert stages(run) == ["program"] * len(printed) + ["direct"] * bool(said)


def test_the_first_two_are_drawn_at_once_and_the_others_one_by_one() -> None:
    run, drawn = Run(UntilAgreed((Direct(),), 4, fallback=None).solve(REMAINDER)), list[list[int]]()
    for answers in ("12", "3", "3"):
        drawn.append([call.sample for call in run.calls])
        run.advance(tuple(Completion(f"\\boxed{{{answer}}}") for answer in answers))
    assert (run.result.answer, drawn) == ("3", [[0, 1], [2], [3]])


def test_bases_are_taken_in_turn() -> None:
    mixed = make("vote(base=program+program+direct)")
    assert mixed == Vote((Programmed(fallback=None), Programmed(fallback=None), Direct()))
    run = Run(mixed.solve(REMAINDER))
    assert [call.stage for call in run.calls] == ["program", "program", "direct"]
    turns = Run(Vote((Programmed(fallback=None), Direct()), 4).solve(REMAINDER))
    assert [call.stage for call in turns.calls] == ["program", "direct", "program", "direct"]
    assert make("vote") == make("vote(base=program,samples=3,check=stated)") == Vote()
    assert make("until-agreed(base=program,most=4)") == UntilAgreed()


def play_search(begun: tuple[str, ...], *finished: str) -> Run[Solution]:
    run = Run(Search(len(begun)).solve(REMAINDER))
    run.advance(tuple(map(Completion, begun)))
    run.advance(tuple(Completion(f"\\boxed{{{answer}}}") for answer in finished))
    return run


@pytest.mark.parametrize(
    ("claim", "survives"),
    [
        ("CLAIM: The answer is less than 7.", True),
        ("CLAIM: The answer is 4.", True),
        ("CLAIM: The answer is even.", True),
        ("CLAIM: The answer is at least 10.", False),
        ("**CLAIM:** The final answer is 12.", False),
        ("- CLAIM: the answer is below 0", False),
        ("CLAIM: The order of 3 modulo 7 is 6.", True),
        ("I claim that the answer is 12.", True),
        ("", True),
    ],
)
def test_a_branch_whose_claim_breaks_a_constraint_is_dropped(claim: str, survives: bool) -> None:
    run = play_search((f"Steps.\n{claim}",), "2")
    assert run.exchanges[1].call.stage == ("solve" if survives else "direct")
    assert run.result.details["dropped"] == (0 if survives else 1)
    assert run.result.answer == "2"


def test_surviving_branches_are_finished_and_vote() -> None:
    begun = ("A.\nCLAIM: The answer is 70.", "B.", "C.\nCLAIM: the answer is odd", "D.")
    run = play_search(begun, "5", "12", "5")
    calls = [exchange.call for exchange in run.exchanges]
    assert [call.stage for call in calls] == ["explore"] * 4 + ["solve"] * 3
    assert [call.sample for call in calls] == [0, 1, 2, 3, 1, 2, 3]
    assert [call.messages[1].content[:1] for call in calls[4:]] == ["B", "C", "D"]
    assert run.result.answer == "5"
    noted = {"votes": {"5": 2}, "samples": ["5", "12", "5"], "branches": 4, "dropped": 1}
    assert noted.items() <= run.result.details.items()
    # Unsound answers vote where there are no others.
    assert play_search(("A.", "B."), "12", "12").result.answer == "12"


def play_prove(*pairs: tuple[str, str]) -> Run[Solution]:
    """Let each chain say one thing, and its program print another."""

    def answer(step: Step, pair: tuple[str, str]) -> Completion | Output:
        if isinstance(step, Program):
            return Output(step.source.removeprefix("#").strip())
        if step.stage == "translate":
            return Completion(f"```python\n#{pair[1]}\n```")
        return Completion(f"So \\boxed{{{pair[0]}}}" if pair[0] else "")

    run = Run(Prove(samples=len(pairs)).solve(PROBLEM))
    while not run.done:
        answered = [p for p in pairs if p[0]] if run.transcript else pairs
        run.advance(tuple(map(answer, run.round, answered)))
    return run


@pytest.mark.parametrize(
    ("pairs", "answer", "confirmed"),
    [
        ((("5", "4"), ("5", "4"), ("4", "4")), "4", 1),
        ((("4", "4"), ("5", "5"), ("4", "4")), "4", 2 + 1),
        ((("5", "1"), ("4", "2"), ("4", "3")), "4", 0),
        ((("", ""), ("4", "4.0")), "4", 1),
        ((("", ""), ("", "")), None, 0),
        ((("1/2", "Fraction(1, 2)"), ("3", "")), "1/2", 1),
    ],
)
def test_chains_that_their_program_confirms_vote(
    pairs: tuple[tuple[str, str], ...], answer: str | None, confirmed: int
) -> None:
    run = play_prove(*pairs)
    assert run.result.answer == answer
    assert run.result.details["confirmed"] == confirmed


def test_a_chain_is_shown_to_whoever_translates_it() -> None:
    run = play_prove(("4", "4"), ("5", "4"))
    chains, translations = run.exchanges[:2], run.exchanges[2:]
    assert [e.call.sample for e in chains] == [e.call.sample for e in translations] == [0, 1]
    assert {e.call.stage for e in translations} == {"translate"}
    assert translations[1].call.messages[0].content.endswith("Solution:\nSo \\boxed{5}")
    assert run.result.details["samples"] == ["4", "5"]
    assert run.result.details["votes"] == {"4": 1}
