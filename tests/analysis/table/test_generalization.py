"""Tables of generalization, on studies whose figures can be worked out by hand."""

from dataclasses import replace

from hand_made import arm, cells, costing, study, two_benchmarks

from constraint_first.report.exhibit.cost import exploratory_table
from constraint_first.report.exhibit.gains import generalization_table
from constraint_first.report.exhibit.scores import benchmarks_table


def test_gain_beside_the_routing_rate() -> None:
    decided = replace(two_benchmarks().arms[1].attempts["1"][0], routed=True)
    base = two_benchmarks()
    base.arms[1].attempts["1"][0] = decided
    lines = cells(generalization_table(base, "direct", "routed-cfr"))
    assert lines[0][:4] == ["DeepSeek-V4-Pro", "AIME24", "37.50", "62.50"]
    assert lines[0][-1] == "1 / 1 (100.0 %)"
    assert lines[1][-1] == "–"
    assert lines[2][1:4] == ["AIME pooled (AIME24, AIME25)", "50.00", "50.00"]
    assert lines[2][-2:] == ["5", "1 / 1 (100.0 %)"]


def test_the_exploratory_table_keeps_to_what_all_methods_share() -> None:
    table = exploratory_table(two_benchmarks(), "direct")
    heading, direct, routed, always = cells(table)
    assert heading == ["DeepSeek-V4-Pro: AIME24"]
    assert direct == ["Direct CoT", "pass@2", "50.0", "4", "1.00×"]
    assert routed == ["Routed-CFR", "pass@2", "75.0", "4", "2.00×"]
    assert always[4] == "3.00×"


def test_the_mean_over_benchmarks_counts_each_alike() -> None:
    made = study(
        costing(arm("direct", {"1": "+-", "2": "--"}, benchmark="aime24"), (0, 100)),
        costing(arm("direct", {"3": "++"}, benchmark="aime25"), (0, 100)),
        costing(arm("cfr", {"1": "++", "2": "++"}, benchmark="aime24"), (0, 200)),
        costing(arm("cfr", {"3": "--"}, benchmark="aime25"), (0, 500)),
    )
    # pass@2 of Direct CoT is 50 and 100, of CFR 100 and 0; CFR takes 2 and 5 times the tokens.
    assert cells(exploratory_table(made, "direct")) == [
        ["model: AIME24, AIME25"],
        ["Direct CoT", "pass@2", "75.0", "3", "1.00×"],
        ["CFR (always-on)", "pass@2", "50.0", "3", "3.50×"],
    ]


def test_a_group_of_benchmarks_has_its_own_mean() -> None:
    arms = [
        arm(method, {"1": mark}, benchmark=name)
        for name, mark in (("aime24", "+"), ("aime25", "-"), ("cmimc25", "+"))
        for method in ("direct", "cfr")
    ]
    lines = cells(exploratory_table(study(*arms), "direct"))
    assert [line[0] for line in lines if len(line) == 1] == [
        "model: AIME24, AIME25",
        "model: AIME24, AIME25, CMIMC25",
    ]
    assert [line[2] for line in lines if len(line) > 1] == ["50.0", "50.0", "66.7", "66.7"]


def test_methods_that_share_no_benchmark_are_a_sentence() -> None:
    apart = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "+"}, benchmark="other"))
    table = exploratory_table(apart, "direct")
    assert (table.rows, len(table.notes)) == ((), 1)
    assert "share no judged benchmark" in table.notes[0]
    (why,) = generalization_table(apart, "direct", "cfr").notes
    assert "share no judged problem" in why


def test_one_method_is_not_compared_with_itself() -> None:
    alone = study(arm("direct", {"1": "+"}))
    assert generalization_table(alone, "direct", "direct").rows == ()
    without = cells(exploratory_table(alone, "cfr"))
    assert without == [["model: set"], ["Direct CoT", "pass@1", "100.0", "1", "–"]]


def test_what_the_benchmarks_are() -> None:
    mine = study(*two_benchmarks().arms, arm("direct", {"a": "+"}, benchmark="mine"))
    assert cells(benchmarks_table(mine)) == [
        ["AIME24", "4", "Integer in 000–999", "Tight"],
        ["AIME25", "1", "Integer in 000–999", "Tight"],
        ["mine", "1", "–", "–"],
    ]


def test_arms_that_differ_in_size_show_a_range() -> None:
    made = study(arm("direct", {"1": "+", "2": "+"}), arm("cfr", {"1": "+"}), arm("x", {"1": "?"}))
    assert cells(benchmarks_table(made)) == [["set", "1–2", "–", "–"]]
