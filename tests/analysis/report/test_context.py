import pytest
from hand_made import arm, study, texts

from constraint_first.report.comparison import ComparisonError, compare
from constraint_first.report.exhibit.exhibit import Context, ReportOptions
from constraint_first.report.exhibit.routing import audit_router
from constraint_first.report.study import StudyError

ARMS = [
    arm(method, {"p": mark, "q": "+"}, model=model)
    for model in ("a", "b")
    for method, mark in (("direct", "-"), ("x", "-"), ("cfr", "+"))
]


def test_each_model_is_a_family_of_tests_of_its_own() -> None:
    context = Context(study(*ARMS, arm("direct", {"p": "+"}, model="c")), ReportOptions())
    comparisons = context.comparisons
    assert [one.family for one in comparisons] == [2, 2]
    assert [{pair.model for pair in one.pairs} for one in comparisons] == [{"a"}, {"b"}]
    assert "has direct alone" in context.uncompared["c"]
    assert comparisons[0] == compare(study(*ARMS[:3]))
    assert context.comparisons is comparisons


def test_the_method_is_found_where_none_is_named() -> None:
    context = Context(study(*ARMS), ReportOptions())
    assert (context.baseline, context.method) == ("direct", "cfr")
    assert [(pair.method, pair.model) for pair in context.pairs] == [("cfr", "a"), ("cfr", "b")]
    assert Context(study(*ARMS), ReportOptions(method="x")).method == "x"
    with pytest.raises(ComparisonError, match="has no method 'y'"):
        Context(study(*ARMS), ReportOptions(method="y"))


def test_a_variant_stands_for_its_family() -> None:
    names = ("direct", "cfr(reply=json)", "cfr(reply=prose)", "routed-cfr(reply=json)")
    found = study(*(arm(name, {"p": "+"}) for name in names))
    context = Context(found, ReportOptions())
    assert context.method == context.variant("routed-cfr") == "routed-cfr(reply=json)"
    assert context.variant("cfr") == "cfr(reply=json)"
    chosen = Context(found, ReportOptions(variants=("cfr(reply=prose)",)))
    assert chosen.variant("cfr") == "cfr(reply=prose)"
    assert Context(found, ReportOptions(method=names[2])).variant("cfr") == names[2]
    with pytest.raises(StudyError, match="has no variant 'cfr'"):
        Context(found, ReportOptions(variants=("cfr",)))


def test_a_study_without_its_baseline_says_so() -> None:
    found = study(arm("routed-cfr(reply=json)", {"p": "+"}), arm("llm-router", {"p": "-"}))
    context = Context(found, ReportOptions())
    assert (context.baseline, context.method) == ("direct", "routed-cfr(reply=json)")
    assert not context.comparisons
    assert "has no method 'direct'" in context.uncompared["model"]


def test_other_decodings_are_not_compared() -> None:
    hot = [arm(one, {"p": "+"}, model="a", decoding='{"seed":1}') for one in ("direct", "cfr")]
    (comparison,) = Context(study(*ARMS[:3], *hot), ReportOptions()).comparisons
    assert {pair.decoding for pair in comparison.pairs} == {"{}"}


def test_the_router_is_audited_once() -> None:
    made = study(*ARMS, problems=texts({"p": "How many?", "q": "Compute it."}))
    context = Context(made, ReportOptions())
    audit = context.once(audit_router)
    assert set(audit.families) == {("set", "p"), ("set", "q")}
    assert context.once(audit_router) is audit
