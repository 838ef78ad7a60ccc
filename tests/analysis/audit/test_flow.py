from hand_made import arm, attempt, study, texts

from constraint_first.report.exhibit.routing import FlowCounts, count_flow


def test_what_cannot_be_known_is_not_guessed() -> None:
    counts = FlowCounts(problems=10, staged=6, direct=4)
    assert counts.solved_under is None
    assert counts.solved_directly is None
    assert FlowCounts(staged=6, direct=4, fallback=1).solved_under == 5


def test_the_first_run_of_each_problem_counts() -> None:
    runs = {
        "a": [attempt("+", 0, kinds=["domain"]), attempt("+", 1, kinds=[], rung="fallback")],
        "b": [attempt("+", 0, kinds=[], rung="fallback")],
        "c": [attempt("+", 0)],
    }
    found = count_flow(study(arm("routed-cfr", runs), arm("cfr", {"a": runs["a"]})), "routed-cfr")
    assert (found.problems, found.staged, found.direct, found.fallback) == (3, 2, 1, 1)
    assert found.with_cue is found.without_cue is None  # no text is on record
    assert found.rungs == {"parsed": 1, "fallback": 1}
    assert (found.solved_under, found.solved_directly) == (1, 2)
    assert found.known


def test_a_method_without_stage_1_has_no_counts() -> None:
    found = count_flow(study(arm("direct", {"a": "+"})), "direct")
    assert found == FlowCounts()
    assert not found.known


def test_cues_are_counted_in_the_texts_and_stage_1_by_what_was_done() -> None:
    posed = texts({"a": "How many?", "b": "Compute it.", "c": "Compute it."})
    always = arm("cfr", {name: [attempt("+", kinds=["domain"])] for name in "abc"})
    found = count_flow(study(always, problems=posed), "cfr")
    assert (found.with_cue, found.without_cue) == (1, 2)
    assert (found.staged, found.direct) == (3, 0)
    assert found.always_on
    assert not found.by_cue
    routed = {
        "a": [attempt("+", kinds=["domain"], routed=True)],
        "b": [attempt("+", routed=False)],
        "c": [attempt("?", 0), attempt("+", 1, routed=False)],
    }
    found = count_flow(study(arm("routed-cfr", routed), problems=posed), "routed-cfr")
    assert (found.with_cue, found.staged, found.direct) == (1, 1, 2)
    assert found.by_cue
    assert not found.always_on


def test_an_empty_reply_goes_back_to_direct_cot() -> None:
    runs = {"a": [attempt("+", kinds=[], rung="empty")], "b": [attempt("+", kinds=["bound"])]}
    found = count_flow(study(arm("cfr", runs)), "cfr")
    assert (found.staged, found.fallback, found.solved_under) == (2, 1, 1)


def test_a_router_that_sends_all_on_is_a_router() -> None:
    made = arm("routed-cfr", {"a": [attempt("+", kinds=[], routed=True)]})
    assert not count_flow(study(made, problems=texts({"a": "How many?"})), "routed-cfr").always_on


def test_a_problem_whose_calls_failed_took_no_way() -> None:
    made = arm("cfr", {"a": [attempt("+", kinds=["domain"])], "b": "?"})
    assert count_flow(study(made), "cfr").problems == 1


def test_with_several_models_attempts_are_counted() -> None:
    runs = {"a": [attempt("+", kinds=["domain"])]}
    two = study(*(arm("cfr", runs, model=model) for model in "mn"))
    assert (count_flow(two, "cfr").problems, count_flow(two, "cfr").unit) == (2, "attempts")
