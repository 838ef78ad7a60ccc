from hand_made import arm, study

from constraint_first.report.exhibit.scores import solve_rates

STUDY = study(
    arm("direct", {"p": "+-", "q": "?"}, benchmark="aime24"),
    arm("cfr", {"p": "++", "r": "--"}, benchmark="aime24"),
    arm("direct", {"p": "-"}, benchmark="aime25"),
)


def test_shares_of_right_runs_by_hand() -> None:
    first, second = solve_rates(STUDY)
    assert (first.model, first.benchmark) == ("model", "aime24")
    assert first.methods == ("Direct CoT", "CFR (always-on)")
    assert first.problems == ("p", "r")  # no run of q was judged
    assert first.shares == ((0.5, None), (1.0, 0.0))
    assert (second.benchmark, second.shares) == ("aime25", ((0.0,),))


def test_a_study_without_judged_runs_has_none() -> None:
    assert list(solve_rates(study(arm("direct", {"p": "?"})))) == []
