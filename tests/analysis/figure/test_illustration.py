from __future__ import annotations

from dataclasses import replace

from hand_made import arm, attempt, study, texts
from pictures import check, found, words

from cfr.analysis.audit.routing import audit_router
from cfr.analysis.figure.figure import Caption
from cfr.analysis.figure.illustration import (
    applicability_figure,
    category_figures,
    cloud_figure,
    flow_figure,
    forest_figure,
    frontier_figures,
    gains_figure,
    grid_figures,
)
from cfr.analysis.statistics.comparison import compare
from cfr.analysis.study.study import Arm

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
    assert len(found(by_model, "bar")) == 3  # two benchmarks, and both together
    by_benchmark = check(applicability_figure(COMPARISON.pairs))
    assert by_benchmark.title == "Gain of CFR (always-on) over Direct CoT by benchmark"
    assert len(found(by_benchmark, "bar")) == 2
    assert {"AIME24", "AIME25", "+50.0", "0.0"} <= {*words(by_benchmark)}


def test_a_forest_has_a_row_for_each_comparison() -> None:
    figure = check(forest_figure(COMPARISON, Caption("paired", "Paired")))
    assert len(found(figure, "mark")) == 3
    assert "CFR (always-on), AIME24" in words(figure)


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
