from dataclasses import replace

from hand_made import arm, study
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.report.exhibit.cost import frontiers, pareto
from constraint_first.report.study import Arm

numbers = st.tuples(st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))


def test_marks_who_is_on_the_frontier() -> None:
    points = [(2100, 0.52), (3400, 0.58), (6100, 0.55), (26000, 0.60)]
    assert pareto(points) == (True, True, False, True)


@given(st.lists(numbers, max_size=12))
def test_the_frontier_is_what_nothing_beats(points: list[tuple[int, float]]) -> None:
    best = {
        tokens: max(value for cost, value in points if cost <= tokens)
        for tokens in range(1, 7)
        if any(cost <= tokens for cost, _ in points)
    }
    marked = pareto(points)
    assert len(marked) == len(points)
    for (tokens, accuracy), on_frontier in zip(points, marked, strict=True):
        cheapest = min(cost for cost, value in points if value >= accuracy)
        assert on_frontier == (accuracy == best[tokens] and tokens == cheapest)


def spending(one: Arm, tokens: int) -> Arm:
    attempts = {
        problem: [replace(run, input_tokens=tokens, output_tokens=tokens) for run in runs]
        for problem, runs in one.attempts.items()
    }
    return replace(one, attempts=attempts)


def test_methods_are_measured_on_the_benchmarks_that_all_of_them_share() -> None:
    (found,) = frontiers(
        study(
            spending(arm("direct", {"p": "-", "q": "+"}, benchmark="aime24"), 50),
            spending(arm("cfr", {"p": "+", "q": "+"}, benchmark="aime24"), 200),
            spending(arm("routed-cfr", {"p": "-", "q": "+"}, benchmark="aime24"), 100),
            spending(arm("cfr", {"p": "-"}, benchmark="aime25"), 9_000),
        )
    )
    assert (found.model, found.benchmarks) == ("model", ("aime24",))
    points = [(m.name, m.tokens, m.score.accuracy, m.on_frontier) for m in found.methods]
    assert points == [
        ("Direct CoT", 100, 50, True),
        ("CFR (always-on)", 400, 100, True),
        ("Routed-CFR", 200, 50, False),
    ]


def test_a_prompt_that_samples_share_counts_once() -> None:
    sampled = spending(arm("vote", {"p": "+"}), 90)
    runs = [replace(one, shared_tokens=60) for one in sampled.attempts["p"]]
    (found,) = frontiers(study(replace(sampled, attempts={"p": runs})))
    assert found.methods[0].tokens == 120


def test_a_method_whose_tokens_are_not_on_record_is_left_out() -> None:
    (found,) = frontiers(
        study(arm("direct", {"p": "+"}), spending(arm("cfr", {"p": "+"}), 10)),
    )
    assert [method.name for method in found.methods] == ["CFR (always-on)"]
