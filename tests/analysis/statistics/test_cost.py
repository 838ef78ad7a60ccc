from pathlib import Path

import pytest
from hand_made import arm, cells, costing, study

from constraint_first.model.resolve import Cost
from constraint_first.report.comparison import (
    TokenRatios,
    Tokens,
    mean_tokens,
    token_ratios,
)
from constraint_first.report.exhibit.cost import mean_cost, stages_table
from constraint_first.report.study import StageCost

CHEAP = costing(arm("direct", {"1": "+", "2": "-"}), (100, 900))
DEAR = costing(arm("cfr", {"1": "++"}, benchmark="other"), (400, 2_600))


def test_means_are_over_judged_attempts() -> None:
    assert mean_tokens([CHEAP]) == Tokens(100, 900)
    # Two attempts of 100 and 900, two of 400 and 2,600.
    assert mean_tokens([CHEAP, DEAR]) == Tokens(250, 1_750)
    failed = costing(arm("direct", {"1": "+", "2": "?"}), (10, 30))
    assert mean_tokens([failed]) == Tokens(10, 30)
    assert Tokens(10, 30).total == 40


def test_what_was_not_counted_is_not_zero() -> None:
    plain = arm("direct", {"1": "+"})
    assert mean_tokens([plain]) is None
    assert mean_tokens([]) is None
    assert token_ratios([CHEAP], [plain]) == token_ratios([plain], [CHEAP]) == TokenRatios()


def test_ratios_of_output_and_of_all_tokens() -> None:
    assert token_ratios([DEAR], [CHEAP]) == (pytest.approx(2_600 / 900), 3.0, 3.0)
    silent = costing(arm("direct", {"1": "+"}), (100, 0))
    assert token_ratios([DEAR], [silent]) == (None, 30.0, 30.0)


def test_a_prompt_that_samples_share_counts_once_or_every_time() -> None:
    three = costing(arm("vote", {"1": "+", "2": "-"}), (600, 400), shared=400)
    assert mean_tokens([three]) == Tokens(600, 400, 400)
    assert (Tokens(600, 400, 400).shared_once, Tokens(600, 400, 400).total) == (600, 1_000)
    assert token_ratios([three], [CHEAP]) == (pytest.approx(4 / 9), 0.6, 1.0)


def test_stages_by_hand() -> None:
    stages = {"stage1": StageCost(4, 600, 200), "stage2": StageCost(2, 1_000, 200)}
    one = arm("cfr", {"1": "+-", "2": "+?"}, stages=stages)
    other = arm("cfr", {"1": "-"}, benchmark="other", stages={"stage2": StageCost(2, 0, 0)})
    # Four judged attempts of the two together.
    assert cells(stages_table(study(one, other)))[1:] == [
        ["CFR (always-on)", "stage1", "1.00", "150", "50", "40.0 %"],
        ["", "stage2", "1.00", "250", "50", "60.0 %"],
    ]
    silent = arm("cfr", {"1": "?"}, stages={"s": StageCost(1, 9, 9)})
    for bare in (silent, arm("cfr", {"1": "+"})):
        assert stages_table(study(bare)).rows == ()


def test_each_stage_is_priced_by_the_model_that_answered_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = {
        "router": StageCost(2, 1_000, 0, answered_by="small"),
        "direct": StageCost(2, 2_000, 500, cached_tokens=1_000),
    }
    one = arm("llm-router(model=small)", {"1": "+", "2": "-"}, stages=stages)
    assert mean_cost([one]) is None
    path = tmp_path / "models.toml"
    monkeypatch.setenv("CFR_MODELS", str(path))
    path.write_text("[model]\nprice = { input = 2, cached = 1, output = 4 }\n")
    assert mean_cost([one]) == Cost((2_000 + 1_000 + 2_000) / 2e6, complete=False)
    path.write_text(path.read_text() + "[small]\nprice = { input = 8, output = 8 }\n")
    dear = mean_cost([one])
    assert str(dear) == "$0.0065"
    assert mean_cost([one, arm("direct", {"1": "+"})]) is None  # stages are not on record
