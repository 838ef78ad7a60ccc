from __future__ import annotations

from dataclasses import replace

from hand_made import arm, attempt, study, texts
from pictures import check, found, words

from constraint_first.report.canvas import Caption
from constraint_first.report.comparison import Plan, compare
from constraint_first.report.exhibit.routing import audit_router
from constraint_first.report.report import (
    applicability_figure,
    category_figures,
    cloud_figure,
    flow_figure,
    forest_figure,
    frontier_figures,
    gains_figure,
    grid_figures,
)
from constraint_first.report.study import Arm

CFR = {"p": [attempt("+", 0, kinds=["domain"])], "q": [attempt("+", 0, kinds=["parity"])]}


def spending(one: Arm, tokens: int) -> Arm:
    attempts = {
        problem: [replace(run, input_tokens=tokens) for run in runs]
        for problem, runs in one.attempts.items()
    }
    return replace(one, attempts=attempts)


STUDY = study(
    spending(arm("direct", {"p": "-", "q": "+"}, benchmark="aime24"), 100),
    spending(arm("cfr", CFR, benchmark="aime24"), 300),
    spending(arm("direct", {"r": "-"}, benchmark="aime25"), 100),
    spending(arm("cfr", {"r": [attempt("-", 0)]}, benchmark="aime25"), 300),
    problems=texts(
        {"p": "How many times is the remainder 2?", "q": "Compute it."}, benchmark="aime24"
    ),
)
COMPARISON = compare(STUDY, "direct", ())


def test_gains_by_model_and_by_benchmark_name_what_is_compared() -> None:
    by_model = check(gains_figure(COMPARISON.pairs))
    assert by_model.title == "Gain of CFR (always-on) over Direct CoT by model"
    assert len(found(by_model, "bar")) == 1  # both years of AIME are one bar
    by_benchmark = check(applicability_figure(COMPARISON.pairs))
    assert by_benchmark.title == "Gain of CFR (always-on) over Direct CoT by benchmark"
    assert len(found(by_benchmark, "bar")) == 1
    assert {"AIME Avg.", "+25.0"} <= {*words(by_benchmark)}  # of +50 and 0, sets counted alike
    assert by_model.notes[0] == by_benchmark.notes[0]
    assert by_model.notes[0] == "AIME Avg.: the mean of the gains on AIME24 and AIME25."
    assert not found(by_model, "interval")  # the two are not of one size


def test_a_group_of_sets_of_one_size_has_the_interval_of_all_their_problems() -> None:
    arms = [
        arm(method, {"p": marks[0], "q": marks[1]}, benchmark=benchmark)
        for benchmark, method, marks in (
            *(("aime24", "direct", "--"), ("aime24", "cfr", "++")),
            *(("cmimc25", "direct", "--"), ("cmimc25", "cfr", "-+")),
            *(("aime25", "direct", "--"), ("aime25", "cfr", "+-")),
        )
    ]
    pairs = compare(study(*arms)).pairs
    assert [pair.where for pair in pairs][3] == "AIME pooled (AIME24, AIME25)"
    figure = check(applicability_figure(pairs))
    assert len(found(figure, "bar")) == len(found(figure, "interval")) == 2
    assert {"AIME Avg.", "CMIMC25", "+75.0", "+50.0"} <= {*words(figure)}
    apart = compare(study(*arms), plan=Plan(pool=False, pool_all=True)).pairs
    assert {"AIME24", "AIME25"} <= {*words(check(gains_figure(apart)))}


def test_a_forest_has_a_row_for_each_comparison() -> None:
    figure = check(forest_figure(COMPARISON, Caption("paired", "Paired")))
    assert len(found(figure, "mark")) == 3
    assert "CFR (always-on), AIME24" in words(figure)
    assert "CFR (always-on), AIME pooled" in figure.alt


def test_a_frontier_takes_the_benchmarks_together() -> None:
    (figure,) = map(check, frontier_figures(STUDY))
    assert figure.title == "Accuracy against tokens: model on AIME24, AIME25"
    assert "Direct CoT (33 %, 100) and CFR (always-on) (67 %, 300)" in figure.alt


def test_one_method_alone_has_no_frontier() -> None:
    alone = study(spending(arm("direct", {"p": "+"}), 100))
    assert list(frontier_figures(alone)) == []


def test_two_models_have_figures_of_their_own() -> None:
    other = [replace(one, model="other") for one in STUDY.arms]
    both = study(*STUDY.arms, *other)
    assert len({figure.name for figure in frontier_figures(both)}) == 2
    assert len({figure.name for figure in grid_figures(both)}) == 4


def test_a_grid_for_each_benchmark() -> None:
    first, second = map(check, grid_figures(STUDY))
    assert first.title == "AIME24, model: right runs, problem by problem"
    assert {"p", "q", "Direct CoT", "CFR (always-on)"} <= {*words(first)}
    assert "AIME25" in second.title


def test_categories_are_those_that_stage_1_named() -> None:
    (figure,) = map(check, category_figures(STUDY, "cfr", "direct"))
    assert figure.paper == ("fig:constraint-categories",)
    assert {"domain", "parity", "50 %", "+100.0", "0.0"} <= {*words(figure)}


def test_a_cloud_of_phrases_has_the_families_of_the_tables() -> None:
    figure = check(cloud_figure(audit_router(STUDY)))
    assert {"P1: Integer/Count", "P2: Modular"} <= {*words(figure)}
    assert cloud_figure(audit_router(study())) is None


def test_the_flow_counts_first_runs() -> None:
    figure = check(flow_figure(STUDY, "cfr"))
    assert "problems: 3 in all, 2 with a Stage 1, 1 straight to Direct CoT" in figure.alt
    assert figure.title == "CFR (always-on): the ways that problems take through the protocol"
    assert flow_figure(STUDY, "direct").notes == ()
