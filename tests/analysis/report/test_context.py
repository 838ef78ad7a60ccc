import pytest
from hand_made import arm, study, texts

from constraint_first.report.canvas import Figure
from constraint_first.report.comparison import ComparisonError, compare
from constraint_first.report.report import ReportContext, ReportOptions
from constraint_first.report.study import StudyError

FIGURE = Figure("f", "F", "Bars.", (), "<svg/>", b"")
ARMS = [
    arm(method, {"p": mark, "q": "+"}, model=model)
    for model in ("a", "b")
    for method, mark in (("direct", "-"), ("x", "-"), ("cfr", "+"))
]


def test_each_model_is_a_family_of_tests_of_its_own() -> None:
    context = ReportContext(study(*ARMS, arm("direct", {"p": "+"}, model="c")), ReportOptions())
    comparisons, why = context.compared
    assert [one.family for one in comparisons] == [2, 2]
    assert [{pair.model for pair in one.pairs} for one in comparisons] == [{"a"}, {"b"}]
    assert "has direct alone" in why
    assert comparisons[0] == compare(study(*ARMS[:3]))
    assert context.compared is context.compared


def test_the_method_is_found_where_none_is_named() -> None:
    context = ReportContext(study(*ARMS), ReportOptions())
    assert (context.baseline, context.method) == ("direct", "cfr")
    assert [(pair.method, pair.model) for pair in context.pairs] == [("cfr", "a"), ("cfr", "b")]
    assert ReportContext(study(*ARMS), ReportOptions(method="x")).method == "x"
    with pytest.raises(ComparisonError, match="has no method 'y'"):
        ReportContext(study(*ARMS), ReportOptions(method="y"))


def test_a_variant_stands_for_its_family() -> None:
    names = ("direct", "cfr(reply=json)", "cfr(reply=prose)", "routed-cfr(reply=json)")
    found = study(*(arm(name, {"p": "+"}) for name in names))
    context = ReportContext(found, ReportOptions())
    assert context.method == context.variant("routed-cfr") == "routed-cfr(reply=json)"
    assert context.variant("cfr") == "cfr(reply=json)"
    chosen = ReportContext(found, ReportOptions(variants=("cfr(reply=prose)",)))
    assert chosen.variant("cfr") == "cfr(reply=prose)"
    assert ReportContext(found, ReportOptions(method=names[2])).variant("cfr") == names[2]
    with pytest.raises(StudyError, match="has no variant 'cfr'"):
        ReportContext(found, ReportOptions(variants=("cfr",)))


def test_a_study_without_its_baseline_says_so() -> None:
    found = study(arm("routed-cfr(reply=json)", {"p": "+"}), arm("llm-router", {"p": "-"}))
    context = ReportContext(found, ReportOptions())
    assert (context.baseline, context.method) == ("direct", "routed-cfr(reply=json)")
    comparisons, why = context.compared
    assert not comparisons
    assert "has no method 'direct'" in why


def test_other_decodings_are_not_compared() -> None:
    hot = [arm(one, {"p": "+"}, model="a", decoding='{"seed":1}') for one in ("direct", "cfr")]
    (comparison,), _ = ReportContext(study(*ARMS[:3], *hot), ReportOptions()).compared
    assert {pair.decoding for pair in comparison.pairs} == {"{}"}


def test_the_router_is_audited_once() -> None:
    made = study(*ARMS, problems=texts({"p": "How many?", "q": "Compute it."}))
    context = ReportContext(made, ReportOptions())
    assert set(context.router.families) == {("set", "p"), ("set", "q")}
    assert context.router is context.router


def test_figures_are_drawn_unless_they_are_not_wanted() -> None:
    context = ReportContext(study(*ARMS), ReportOptions())
    assert context.draw(lambda: FIGURE, lambda: None) == (FIGURE,)
    assert context.draw_all(lambda: iter([FIGURE, FIGURE])) == (FIGURE, FIGURE)
    without = ReportContext(study(*ARMS), ReportOptions(figures=False))
    assert without.draw(lambda: FIGURE) == without.draw_all(lambda: iter([FIGURE])) == ()
