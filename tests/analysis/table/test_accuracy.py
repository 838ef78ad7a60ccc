"""Tables of accuracy and cost, on studies whose figures can be worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path

from hand_made import arm, study, texts

from cfr.analysis.study.by_model import blocks, health, mean_cost
from cfr.analysis.study.reader import read_file
from cfr.analysis.study.study import Arm, Spent, Study
from cfr.analysis.table.accuracy import main_table, routing_table, scores_table
from cfr.analysis.table.cost import prompting_table, stages_table, tokens_table
from cfr.analysis.table.generalization import (
    benchmarks_table,
    exploratory_table,
    generalization_table,
)
from cfr.analysis.table.table import Table


def costing(one: Arm, used: tuple[int, int]) -> Arm:
    """Give every attempt of an arm the same tokens."""
    for problem, attempts in one.attempts.items():
        one.attempts[problem] = [
            replace(a, input_tokens=used[0], output_tokens=used[1]) for a in attempts
        ]
    return one


def example() -> Study:
    """Two benchmarks and three methods; DeepSeek-V4-Pro, so that the paper has rows for it."""
    model = "deepseek-chat"
    direct = {"1": "+-", "2": "--", "3": "++", "4": "-0"}
    routed = {"1": "++", "2": "+-", "3": "++", "4": "--"}
    return study(
        costing(arm("direct", direct, benchmark="aime24", model=model), (100, 900)),
        costing(arm("routed-cfr", routed, benchmark="aime24", model=model), (500, 1_500)),
        costing(arm("cfr", routed, benchmark="aime24", model=model), (500, 2_500)),
        costing(arm("direct", {"5": "+"}, benchmark="aime25", model=model), (100, 900)),
        costing(arm("routed-cfr", {"5": "-"}, benchmark="aime25", model=model), (500, 1_500)),
        problems=texts({"1": "How many?"}, "aime24"),
    )


def cells(table: Table) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in table.rows]


def test_the_main_table_has_gains_and_the_papers_rows() -> None:
    table = main_table(example(), "direct", "routed-cfr")
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


def test_every_row_has_its_size_and_its_losses() -> None:
    lines = cells(scores_table(example()))
    assert lines[1][:4] == ["AIME24", "Direct CoT", "4", "2"]
    assert lines[1][5:] == ["50.0", "–", "0.0 %", "12.5 %", "0", "1,000"]


def test_a_row_without_a_verdict_is_empty_and_whole() -> None:
    lines = cells(scores_table(study(arm("direct", {"1": "?"}))))
    assert lines[1] == ["set", "Direct CoT", "0", *["–"] * 6, "1", "–"]
    assert "1 failed (100.0 %)" in health([arm("direct", {"1": "?"})])
    assert health([]) == "No attempts."


def test_routing_is_shown_beside_always_on() -> None:
    table = routing_table(example(), "direct", "routed-cfr", "cfr")
    _, direct, routed, always = cells(table)
    assert [direct[2], routed[2], always[2]] == ["1.00×", "2.00×", "3.00×"]
    assert always[3:] == ["–", "–"]


def test_methods_side_by_side() -> None:
    table = prompting_table(example(), "direct", ("cfr", "routed-cfr"))
    _, direct, routed, always = cells(table)
    assert direct[3:] == ["100", "900", "1,000", "1.00×", "0.33×"]
    assert routed[3:] == ["500", "1,500", "2,000", "2.00×", "0.67×"]
    assert always[3:] == ["500", "2,500", "3,000", "3.00×", "1.00×"]
    bold = [line.cells[1].bold for line in table.rows[1:]]
    assert bold == [False, True, True]


def test_tokens_by_model_and_by_stage() -> None:
    assert cells(tokens_table(example(), "direct", "routed-cfr")) == [
        ["DeepSeek-V4-Pro", "Direct CoT", "900", "900"],
        ["DeepSeek-V4-Pro", "Routed-CFR", "1,500 (1.67×)", "1,500 (1.67×)"],
    ]
    staged = arm(
        "cfr", {"1": "+", "2": "-"}, stages={"stage1": Spent(2, 600, 200), "stage2": Spent(1, 0, 0)}
    )
    lines = cells(stages_table(study(staged)))
    assert lines[1] == ["CFR (always-on)", "stage1", "1.00", "300", "100", "100.0 %"]
    assert lines[2] == ["", "stage2", "0.50", "0", "0", "0.0 %"]


def test_what_was_not_counted_is_not_zero() -> None:
    plain = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "-"}))
    assert mean_cost(plain.arms) is None
    for line in cells(prompting_table(plain, "direct", ("cfr",)))[1:]:
        assert line[2:] == ["–"] * 5
    assert [line[2] for line in cells(tokens_table(plain, "direct", "cfr"))] == ["–", "–"]
    assert stages_table(plain).rows[1:] == ()


def test_the_exploratory_table_keeps_to_what_all_methods_share() -> None:
    table = exploratory_table(example(), "direct")
    heading, direct, routed, always = cells(table)
    assert heading == ["DeepSeek-V4-Pro: AIME24"]
    assert direct == ["Direct CoT", "pass@2", "50.0", "4", "1.00×"]
    assert routed == ["Routed-CFR", "pass@2", "75.0", "4", "2.00×"]
    assert always[4] == "3.00×"


def test_gain_beside_the_routing_rate() -> None:
    decided = replace(example().arms[1].attempts["1"][0], routed=True)
    base = example()
    base.arms[1].attempts["1"][0] = decided
    lines = cells(generalization_table(base, "direct", "routed-cfr"))
    assert lines[0][:4] == ["DeepSeek-V4-Pro", "AIME24", "37.50", "62.50"]
    assert lines[0][-1] == "1 / 1 (100.0 %)"
    assert lines[1][-1] == "–"


def test_what_the_benchmarks_are() -> None:
    mine = study(*example().arms, arm("direct", {"a": "+"}, benchmark="mine"))
    assert cells(benchmarks_table(mine)) == [
        ["AIME24", "4", "Integer in 000–999", "Tight"],
        ["AIME25", "1", "Integer in 000–999", "Tight"],
        ["mine", "1", "–", "–"],
    ]


def test_blocks_show_the_decoding_of_most_attempts() -> None:
    cold = arm("direct", {"1": "+"}, decoding='{"temperature":0.0}')
    warm = arm("direct", {"1": "-", "2": "-"}, decoding='{"temperature":0.7}')
    (block,) = blocks(study(cold, warm))
    assert block.arms() == [warm]


def test_runs_that_differ_in_number_do_not_shrink_pass_at_k() -> None:
    uneven = arm("direct", {str(n): "---" for n in range(9)} | {"9": "++++"})
    line = cells(scores_table(study(uneven)))[1]
    assert line[2:6] == ["10", "4", "10.0 [0.0, 30.0]", "10.0"]  # pass@3, over all ten


def test_one_method_is_not_compared_with_itself() -> None:
    alone = study(arm("direct", {"1": "+"}))
    assert generalization_table(alone, "direct", "direct").rows == ()
    assert len(main_table(alone, "direct", "direct").rows) == 2


def test_another_baseline_is_named() -> None:
    table = prompting_table(example(), "cfr", ("cfr",))
    assert "vs. CFR (always-on)" in [column.title for column in table.columns]
    assert "Problems × runs: AIME24 4 × 2, AIME25 1 × 1." in table.notes


def test_stages_are_those_of_judged_attempts(tmp_path: Path) -> None:
    spent = {"solve": {"calls": 1, "input_tokens": 100, "output_tokens": 0, "seconds": 1}}
    row = {"method": "direct", "problem": "1", "input_tokens": 100, "stages": spent}
    path = tmp_path / "o.jsonl"
    lines = [row | {"run": 0, "correct": True}]
    lines += [row | {"run": run, "correct": False, "status": "failed"} for run in (1, 2, 3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read_file(path)
    assert found.arms[0].scores == {"1": (1, 1)}
    assert cells(stages_table(found))[1][2:4] == ["1.00", "100"]
