"""Tables of accuracy, on studies whose figures can be worked out by hand."""

from hand_made import arm, cells, study, two_benchmarks

from constraint_first.report.exhibit.scores import main_table, routing_table, scores_table

BOTH = {"routed-cfr": "routed-cfr", "cfr": "cfr"}


def test_the_main_table_has_gains_and_the_papers_rows() -> None:
    table = main_table(two_benchmarks(), "direct", "routed-cfr")
    assert [column.title for column in table.columns] == ["Method", "AIME24", "AIME25", "Avg."]
    heading, direct, routed, delta, paper, paper_routed = cells(table)
    assert heading == ["DeepSeek-V4-Pro"]
    assert direct[0] == "Direct CoT"
    assert direct[1].startswith("37.5 [")
    assert direct[1].endswith("(n = 4 × 2)")
    assert direct[3] == "68.8"
    assert routed[1].startswith("62.5 [")
    assert delta[0] == "Δ vs. Direct CoT"
    assert delta[1].startswith("+25.0 [")
    assert delta[2] == "−100.0"  # one problem: nothing says how uncertain that is
    assert delta[3] == "−37.5"
    assert paper == ["Direct CoT, paper", "90.8", "80.8", "–"]
    assert paper_routed == ["Routed-CFR, paper", "95.8", "91.7", "–"]
    assert "Of 18 attempts: 0 truncated (0.0 %), 1 unparsed (5.6 %), 0 failed" in table.notes[1]
    assert "percentile interval" in table.notes[2]
    assert "of a gain is the BCa interval" in table.notes[2]


def test_every_row_has_its_size_and_its_losses() -> None:
    lines = cells(scores_table(two_benchmarks()))
    assert lines[1][:4] == ["AIME24", "Direct CoT", "4", "2"]
    assert lines[1][5:] == ["50.0", "–", "0.0 %", "12.5 %", "0", "1,000"]


def test_a_row_without_a_verdict_is_empty_and_whole() -> None:
    lines = cells(scores_table(study(arm("direct", {"1": "?"}))))
    assert lines[1] == ["set", "Direct CoT", "0", *["–"] * 6, "1", "–"]


def test_routing_is_shown_beside_always_on() -> None:
    table = routing_table(two_benchmarks(), "direct", BOTH)
    _, direct, routed, always = cells(table)
    assert [direct[2], routed[2], always[2]] == ["1.00×", "2.00×", "3.00×"]
    assert always[3:] == ["–", "–"]


def test_a_family_that_the_routing_ablation_lacks_is_named() -> None:
    table = routing_table(two_benchmarks(), "direct", {"routed-cfr": "routed-cfr"})
    assert [line[0] for line in cells(table)[1:]] == ["Direct CoT", "Routed-CFR"]
    lacking = "CFR (always-on) is not in these data; run cfr to compare with it."
    assert table.notes[0] == lacking
    alone = routing_table(
        study(arm("routed-cfr", {"1": "+"})), "direct", {"routed-cfr": "routed-cfr"}
    )
    assert (alone.rows, len(alone.notes), alone.notes[1]) == ((), 2, lacking)
    apart = study(arm("direct", {"1": "+"}, model="a"), arm("cfr", {"1": "+"}, model="b"))
    assert len(routing_table(apart, "direct", {"cfr": "cfr"}).notes) == 1
    unjudged = study(*(arm(name, {"1": "?"}) for name in ("direct", "routed-cfr", "cfr")))
    (why,) = routing_table(unjudged, "direct", BOTH).notes
    assert "No model of this study has two of" in why


def test_runs_that_differ_in_number_do_not_shrink_pass_at_k() -> None:
    uneven = arm("direct", {str(n): "---" for n in range(9)} | {"9": "++++"})
    line = cells(scores_table(study(uneven)))[1]
    assert line[2:6] == ["10", "4", "10.0 [0.0, 30.0]", "10.0"]  # pass@3, over all ten


def test_one_method_is_not_compared_with_itself() -> None:
    alone = study(arm("direct", {"1": "+"}))
    assert len(main_table(alone, "direct", "direct").rows) == 2


def test_the_best_of_a_benchmark_is_bold_unless_it_is_shared() -> None:
    study_of_two = two_benchmarks()
    table = main_table(study_of_two, "direct", "routed-cfr")
    bold = [[cell.bold for cell in line.cells[1:3]] for line in table.rows[1:3]]
    assert bold == [[False, True], [True, False]]
    tied = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "+"}))
    assert not any(c.bold for line in main_table(tied, "direct", "cfr").rows for c in line.cells)


def test_an_average_needs_every_benchmark() -> None:
    table = cells(main_table(two_benchmarks(), "direct", "cfr"))
    rows = {line[0]: line for line in table}
    assert rows["Direct CoT"][-1] == "68.8"
    assert rows["CFR (always-on)"][2:] == ["–", "–"]
    assert rows["Δ vs. Direct CoT"][2:] == ["–", "–"]


def test_another_decoding_is_named() -> None:
    warm = arm("direct", {"1": "+", "2": "-"}, decoding='{"temperature":0.7}')
    cold = arm("direct", {"1": "+"}, decoding='{"temperature":0.0}')
    names = [line[1] for line in cells(scores_table(study(warm, cold)))[1:]]
    assert names == ["Direct CoT", "Direct CoT, Temperature 0.0"]
