from dataclasses import replace

import pytest
from hand_made import arm, study

from constraint_first.report.comparison import Comparison, Pair, Plan, compare
from constraint_first.report.exhibit.gains import comparison_json, pair_notes, paired_table
from constraint_first.report.table import to_latex, to_markdown

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
