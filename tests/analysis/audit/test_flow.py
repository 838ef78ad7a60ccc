from hand_made import arm, attempt, study

from cfr.analysis.audit.flow import FlowCounts, count_flow


def test_what_cannot_be_known_is_not_guessed() -> None:
    counts = FlowCounts(problems=10, routed=6, direct=4)
    assert counts.solved_under is None
    assert counts.solved_directly is None
    assert FlowCounts(routed=6, direct=4, fallback=1).solved_under == 5


def test_the_first_run_of_each_problem_counts() -> None:
    runs = {
        "a": [attempt("+", 0, kinds=["domain"]), attempt("+", 1, kinds=[], rung="fallback")],
        "b": [attempt("+", 0, kinds=[], rung="fallback")],
        "c": [attempt("+", 0)],
    }
    found = count_flow(study(arm("routed-cfr", runs), arm("cfr", {"a": runs["a"]})), "routed-cfr")
    assert (found.problems, found.routed, found.direct, found.fallback) == (3, 2, 1, 1)
    assert found.rungs == {"parsed": 1, "fallback": 1}
    assert (found.solved_under, found.solved_directly) == (1, 2)
    assert found.known


def test_a_method_without_stage_1_has_no_counts() -> None:
    found = count_flow(study(arm("direct", {"a": "+"})), "direct")
    assert found == FlowCounts()
    assert not found.known
