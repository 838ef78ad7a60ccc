"""Tables of cost, on studies whose figures can be worked out by hand."""

import json
from pathlib import Path

import pytest
from hand_made import arm, cells, study, two_benchmarks

from constraint_first.report.exhibit.cost import prompting_table, stages_table, tokens_table
from constraint_first.report.reader import read_file
from constraint_first.report.study import StageCost


def test_methods_side_by_side() -> None:
    table = prompting_table(two_benchmarks(), "direct", ("cfr", "routed-cfr"))
    _, direct, routed, always = cells(table)
    assert direct[3:] == ["100", "900", "1,000", "1.00×", "0.33×"]
    assert routed[3:] == ["500", "1,500", "2,000", "2.00×", "0.67×"]
    assert always[3:] == ["500", "2,500", "3,000", "3.00×", "1.00×"]
    bold = [line.cells[1].bold for line in table.rows[1:]]
    assert bold == [False, True, True]


def test_tokens_by_model_and_by_stage() -> None:
    assert cells(tokens_table(two_benchmarks(), "direct", "routed-cfr")) == [
        ["DeepSeek-V4-Pro", "Direct CoT", "900", "900"],
        ["DeepSeek-V4-Pro", "Routed-CFR", "1,500 (1.67×)", "1,500 (1.67×)"],
    ]
    staged = arm(
        "cfr",
        {"1": "+", "2": "-"},
        stages={"stage1": StageCost(2, 600, 200), "stage2": StageCost(1, 0, 0)},
    )
    lines = cells(stages_table(study(staged)))
    assert lines[1] == ["CFR (always-on)", "stage1", "1.00", "300", "100", "100.0 %"]
    assert lines[2] == ["", "stage2", "0.50", "0", "0", "0.0 %"]


def test_what_was_not_counted_is_not_zero() -> None:
    plain = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "-"}))
    for line in cells(prompting_table(plain, "direct", ("cfr",)))[1:]:
        assert line[2:] == ["–"] * 5
    assert [line[2] for line in cells(tokens_table(plain, "direct", "cfr"))] == ["–", "–"]
    assert stages_table(plain).rows[1:] == ()


def test_another_baseline_is_named() -> None:
    table = prompting_table(two_benchmarks(), "cfr", ("cfr",))
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


def test_ratios_are_on_the_benchmarks_that_both_have() -> None:
    lines = {line[0]: line for line in cells(prompting_table(two_benchmarks(), "direct", ("cfr",)))}
    # Routed-CFR has AIME25 too, on which CFR was not run: 2,000 of 3,000 on AIME24 alone.
    assert lines["Routed-CFR"][-2:] == ["2.00×", "0.67×"]
    alone = cells(prompting_table(two_benchmarks(), "none", ("none",)))
    assert {tuple(line[-2:]) for line in alone[1:]} == {("–", "–")}


def test_a_price_adds_a_column_of_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = arm("direct", {"1": "+"}, stages={"direct": StageCost(1, 1_000, 2_000)})
    free = arm("direct", {"1": "+"}, model="free", stages={"direct": StageCost(1, 9, 9)})
    both = study(staged, free)
    titles = [column.title for column in prompting_table(both, "direct", ("cfr",)).columns]
    assert "Cost an attempt" not in titles
    (tmp_path / "models.toml").write_text("[model]\nprice = { input = 1, output = 1 }\n")
    monkeypatch.setenv("CFR_MODELS", str(tmp_path / "models.toml"))
    table = prompting_table(both, "direct", ("cfr",))
    assert table.columns[-1].title == "Cost an attempt"
    assert [line[-1] for line in cells(table) if len(line) > 1] == ["$0.003", "–"]
