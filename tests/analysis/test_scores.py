"""Tables of scores, settings, gains and cost, on studies that can be worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, cells, costing, study, two_benchmarks

from constraint_first.report.comparison import Comparison, Pair, Plan, compare
from constraint_first.report.exhibit.cost import (
    exploratory_table,
    prompting_table,
    ratios_table,
    stages_table,
    tokens_table,
)
from constraint_first.report.exhibit.gains import (
    comparison_json,
    generalization_table,
    pair_notes,
    paired_table,
)
from constraint_first.report.exhibit.scores import (
    benchmarks_table,
    main_table,
    robustness_table,
    routing_table,
    scores_table,
    settings_table,
)
from constraint_first.report.reader import read_file
from constraint_first.report.study import StageCost
from constraint_first.report.table import to_latex, to_markdown

# Accuracy.

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


# Settings.


def decoding(temperature: float, seed: int | None = None, **more: str) -> str:
    return json.dumps({"temperature": temperature, "top_p": 0.95, "seed": seed} | more)


WARM = decoding(0.7)


def test_settings_as_they_were_recorded() -> None:
    long = decoding(0.0, 7, system="Answer with an integer from 0 to 999, and nothing else.")
    table = to_markdown(
        settings_table(
            study(
                arm("routed-cfr", {"p": "++"}, benchmark="aime24", decoding=WARM),
                arm("routed-cfr", {"p": "++++"}, benchmark="aime25", decoding=WARM),
                arm("llm-router", {"p": "+"}, decoding=long),
                arm("begun only", {}),
            )
        )
    )
    assert (
        "| model | Routed-CFR | AIME24, AIME25 | 0.7 | 0.95 | none | none | 2–4 | "
        "stage1 1,024; stage2 31,744; direct 32,768 | stage1, stage2 |"
    ) in table
    assert "| 0.0 | 0.95 | 7 | “Answer with an integer from 0 to 999, an…” | 1 |" in table
    assert (
        "| router 1,024; stage1 1,024; stage2 31,744; direct 32,768 | router, stage1, stage2 |"
    ) in table
    assert "begun only" not in table


@pytest.mark.parametrize("method", ["mine", "mine(x=1)"])
def test_what_is_not_on_record_is_not_made_up(method: str) -> None:
    table = to_markdown(settings_table(study(arm(method, {"p": "+"}))))
    assert "| – | – | – | – | 1 | – | – |" in table
    assert settings_table(study()).notes == ("This study has no attempts.",)


def test_a_stage_that_another_model_answers_says_so() -> None:
    method = "llm-router(model=openai/gpt-4o-mini,extractor=small)"
    table = to_markdown(settings_table(study(arm(method, {"p": "+"}))))
    assert (
        "router 1,024 by openai/gpt-4o-mini; stage1 1,024 by small; stage2 31,744; direct 32,768"
    ) in table


# Robustness.


def settings(temperature: float, seed: int | None = None, **more: str) -> str:
    return json.dumps({"temperature": temperature, "top_p": 0.95, "seed": seed} | more)


COOL, HOT, SEEDED = (
    settings(0.2),
    settings(0.7),
    settings(0.7, 101),
)
STUDY = study(
    arm("direct", {"p": "+-", "q": "--"}, benchmark="aime24", decoding=COOL),
    arm("cfr", {"p": "++", "q": "--"}, benchmark="aime24", decoding=COOL),
    arm("direct", {"p": "++", "q": "++"}, benchmark="aime24", decoding=HOT),
    arm("cfr", {"p": "+-", "q": "++"}, benchmark="aime24", decoding=HOT),
    arm("cfr", {"r": "+"}, benchmark="aime25", decoding=HOT),
    arm("direct", {"p": "+"}, benchmark="aime24", decoding=SEEDED),
    arm("direct", {"p": "+"}, model="once only", decoding=COOL),
)


def test_the_table_has_a_row_for_the_gain_below_each_method() -> None:
    table = robustness_table(STUDY, "cfr")
    kinds = [(line.cells[1].text, line.cells[2].text, line.kind) for line in table.rows[:3]]
    assert kinds == [
        ("Temperature 0.2", "Direct CoT", "row"),
        ("Temperature 0.2", "CFR (always-on)", "row"),
        ("Temperature 0.2", "Δ CFR (always-on)", "delta"),
    ]
    assert table.rows[1].cells[3].bold
    assert not table.rows[0].cells[3].bold
    assert table.rows[2].cells[3].text.startswith("+25.0")
    assert table.rows[0].cells[4].text == "–"
    notes = " ".join(table.notes)
    assert "AIME24: 1 problem, 1 run; in other rows 2 problems, 2 runs." in notes
    assert "model: other tables show temperature 0.2, top-p 0.95" in notes


def test_settings_are_named_by_what_tells_them_apart() -> None:
    labels = dict.fromkeys(line.cells[1].text for line in robustness_table(STUDY, "cfr").rows)
    assert [*labels] == ["Temperature 0.2", "Temperature 0.7", "Temperature 0.7, Seed 101"]


def test_one_decoding_shows_nothing() -> None:
    table = robustness_table(study(arm("direct", {"p": "+"})), "cfr")
    assert table.rows == ()
    assert table.notes == ("No model of this study was run under more than one decoding.",)


# Generalization.


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


def test_one_method_is_not_compared_with_itself_in_general() -> None:
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


# Paired comparison.

EIGHT = {str(n): "-" for n in range(8)}
ALL_RIGHT = dict.fromkeys(EIGHT, "+")


def compared(before: dict[str, str], after: dict[str, str], plan: Plan | None = None) -> Comparison:
    return compare(study(arm("direct", before), arm("cfr", after)), plan=plan or Plan())


def notes(before: dict[str, str], after: dict[str, str], plan: Plan | None = None) -> str:
    (pair,) = compared(before, after, plan).pairs
    return " ".join(pair_notes(pair))


def test_the_table_has_every_pair_and_its_notes() -> None:
    arms = [
        arm(method, marks, benchmark="aime24")
        for method, marks in (("direct", EIGHT), ("cfr", ALL_RIGHT), ("<i>x</i>", EIGHT))
    ]
    table = paired_table(compare(study(*arms), "Direct CoT"))
    text = to_markdown(table)
    assert "| AIME24 | 8 | 1 | 0.0 | 100.0 | +100.0 | 8 / 0 / 0 | 0.008 |" in text
    assert "**0.02**" in text
    assert r"0.0078 & \textbf{0.0156}" in to_latex(table)  # exact, for programs and papers
    assert "0.0156" in str(table.to_json())
    assert "family of 2 tests" in text
    assert "<i>" not in text


def test_a_pooled_row_says_what_it_pools() -> None:
    arms = [
        arm(method, EIGHT, benchmark=name)
        for name in ("aime24", "aime26", "mine")
        for method in ("direct", "cfr")
    ]
    text = to_markdown(paired_table(compare(study(*arms))))
    assert "| **AIME pooled (AIME24, AIME26)** | 16 |" in text
    assert text.count("pooled") == 1


def test_a_table_for_each_model_is_named_for_it() -> None:
    found = compared({"p": "-"}, {"p": "+"})
    assert (paired_table(found).name, paired_table(found).title) == (
        "paired",
        "Paired comparison, problem by problem",
    )
    table = paired_table(found, named=True)
    assert table.name == "paired-model"
    assert table.title == "Paired comparison, problem by problem: model"


def test_decodings_are_told_apart_in_the_table() -> None:
    arms = [
        arm(method, {"p": "+"}, model="", decoding=f'{{"temperature":{warmth}}}')
        for warmth in (0.2, 0.7)
        for method in ("direct", "cfr")
    ]
    table = paired_table(compare(study(*arms)))
    headings = [line.cells[0].text for line in table.rows if line.kind == "heading"]
    assert headings == [
        "CFR (always-on) against Direct CoT, Temperature 0.2",
        "CFR (always-on) against Direct CoT, Temperature 0.7",
    ]


def test_a_note_names_its_rows_unless_it_holds_for_all() -> None:
    arms = [
        *(arm("direct", EIGHT, benchmark="a"), arm("cfr", ALL_RIGHT, benchmark="a")),
        *(arm("direct", {"p": "-"}, benchmark="b"), arm("cfr", {"p": "-"}, benchmark="b")),
        arm("other", {"q": "+"}, benchmark="c"),
    ]
    said = paired_table(compare(study(*arms))).notes
    assert any(note.startswith("CFR (always-on) (b): Every problem is tied") for note in said)
    assert any(note.startswith("CFR (always-on) (a): All problems gain alike") for note in said)
    assert any(note.startswith("One run of each problem") for note in said)
    assert said[-1] == "other shares no judged problem with direct and is not compared."


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"1": "+-", "2": "--"}, {"1": "--", "2": "++"}, "The interval includes zero"),
        ({"1": "--"}, {"1": "++"}, "All problems gain alike"),
        ({"1": "+", "2": "+", "3": "+"}, {"1": "+"}, "has them judged: 2 problems."),
        ({"1": "+?"}, {"1": "+"}, "Not judged: 1 failed attempt; the run is incomplete."),
        ({"1": "++"}, {"1": "+"}, "Problems differ in how many runs they have"),
        ({"1": "+"}, {"1": "+"}, "One run of each problem"),
        ({"1": "++"}, {"1": "++"}, "Every problem is tied"),
        ({"1": "--", "2": "--"}, {"1": "++", "2": "--"}, "Problems that differ: 1; below 6 the"),
    ],
)
def test_what_limits_a_comparison_is_said(
    before: dict[str, str], after: dict[str, str], said: str
) -> None:
    assert said in notes(before, after)


def test_nothing_is_said_where_nothing_limits() -> None:
    six = {str(n): "--" for n in range(6)}
    one_less = dict.fromkeys(six, "++") | {"0": "+-"}
    assert notes(six, one_less) == ""
    assert "was drawn, with a seed" in notes(six, one_less, Plan(resamples=100))


def test_json_has_all_figures_and_the_notes() -> None:
    found = compared({"1": "+-", "2": "--"}, {"1": "++", "2": "+-"})
    made = comparison_json(replace(found, missing=("x",)))
    (pair,) = found.pairs
    assert {key: made[key] for key in ("family", "correction", "notes")} == {
        "family": 1,
        "correction": "holm",
        "notes": ["x shares no judged problem with direct and is not compared."],
    }
    assert made["pairs"] == [expected(pair)]


def expected(pair: Pair) -> dict[str, object]:
    return {
        "baseline": "direct",
        "method": "cfr",
        "benchmark": "set",
        "pooled": [],
        "group": "",
        "model": "model",
        "n": 2,
        "runs": 2,
        "baseline_accuracy": 25.0,
        "accuracy": 75.0,
        "gain": 50.0,
        "improved": 2,
        "tied": 0,
        "degraded": 0,
        "ci": [50.0, 50.0],
        "ci_percentile": [50.0, 50.0],
        "ci_exact": True,
        "p": 0.5,
        "p_holm": 0.5,
        "test": "exact sign-flip",
        "token_ratios": {"output": None, "shared_once": None, "every_time": None},
        "detectable": None,
        "notes": [*pair_notes(pair)],
    }


# Cost.


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


# Token ratio.

# Three programs: half the output of Direct CoT each, and a prompt of 200 that all of them share.
DIRECT = costing(arm("direct", {"1": "+", "2": "-"}, benchmark="aime24"), (100, 900))
VOTE = costing(
    arm("self-consistency", {"1": "+", "2": "+"}, benchmark="aime24"), (600, 810), shared=400
)


def test_three_ratios_of_each_method() -> None:
    table = ratios_table(compare(study(DIRECT, VOTE)))
    assert [column.title for column in table.columns[2:]] == [
        *("Output", "Prompt once", "Every time"),
    ]
    assert cells(table)[1] == ["self-consistency", "AIME24", "0.90×", "1.01×", "1.41×"]
    assert table.title == "Tokens relative to Direct CoT"
    assert table.notes[0].startswith("Output: written tokens alone.")


def test_only_problems_that_both_have_count() -> None:
    longer = costing(arm("cfr", {"1": "+"}, benchmark="aime24"), (100, 1_800))
    longer.attempts.update(costing(arm("cfr", {"9": "+"}), (10**6, 10**6)).attempts)
    table = ratios_table(compare(study(DIRECT, longer)))
    assert cells(table)[1][2:] == ["2.00×", "1.90×", "1.90×"]


def test_pooled_benchmarks_have_a_row_of_their_own() -> None:
    arms = [
        costing(arm(method, {"1": "+"}, benchmark=name), used)
        for name, used in (("aime24", (100, 100)), ("aime25", (100, 300)))
        for method in ("direct", "cfr")
    ]
    found = cells(ratios_table(compare(study(*arms))))
    assert [line[1] for line in found[1:]] == ["AIME24", "AIME25", "AIME pooled (AIME24, AIME25)"]


def test_a_table_for_each_model_is_named_for_it_with_its_tokens() -> None:
    comparison = compare(study(DIRECT, VOTE))
    table = ratios_table(comparison, named=True)
    assert (table.name, table.title) == (
        "token-ratios-model",
        "Tokens relative to Direct CoT: model",
    )
    assert ratios_table(comparison).name == "token-ratios"


def test_what_was_not_counted_has_no_ratio() -> None:
    table = ratios_table(compare(study(arm("direct", {"1": "+"}), arm("cfr", {"1": "-"}))))
    assert (table.rows, table.notes) == ((), ("Tokens are not on record.",))


def test_decodings_are_told_apart() -> None:
    arms = [
        costing(arm(method, {"p": "+"}, model="", decoding=f'{{"temperature":{warmth}}}'), (1, 1))
        for warmth in (0.2, 0.7)
        for method in ("direct", "cfr")
    ]
    table = ratios_table(compare(study(*arms)))
    headings = [line.cells[0].text for line in table.rows if line.kind == "heading"]
    assert headings == ["Temperature 0.2", "Temperature 0.7"]
