from dataclasses import replace

from hand_made import arm, attempt, cells, study

from constraint_first.report.exhibit.gold import Quality
from constraint_first.report.exhibit.stage1 import extraction_table, parsing_table
from constraint_first.report.statistics import wilson
from constraint_first.report.table import to_markdown

# p1: 3 and 1 constraints, 2 and 0 derived; p2: 4 and a fallback, which has none; p3 has one run.
CFR = arm(
    "cfr",
    {
        "p1": [
            attempt("+", 0, kinds=["domain", "domain", "parity"], propagated=2),
            attempt("-", 1, kinds=["domain"], rung="repaired"),
        ],
        "p2": [
            attempt("+", 0, kinds=["bound"] * 4, propagated=1, rung="fields"),
            attempt("+", 1, kinds=[], rung="fallback"),
        ],
        "p3": [attempt("+", 0, kinds=["modular"] * 5, propagated=1), attempt("?", 1)],
    },
)
STUDY = study(arm("direct", {"p1": "++"}), CFR)


def test_recovery_steps_as_a_table() -> None:
    expected = "| 5 | 2 (40.0 %) | 0 (0.0 %) | 1 (20.0 %) | 1 (20.0 %) | 1 (20.0 %) | 60.0 % "
    assert expected in to_markdown(parsing_table(STUDY))
    assert parsing_table(STUDY).notes[-1].startswith("Runs of versions that did not tell them")


def test_a_step_of_another_name_is_counted_in_a_note() -> None:
    odd = study(arm("cfr", {"p": [attempt("+", kinds=[], rung="guessed")]}))
    assert (
        "by a step of another name and counted as malformed: 1 reply."
        in parsing_table(odd).notes[1]
    )


GOLD = {("model", "cfr"): Quality(0.5, 0.25, 8, 0.75, 12, True, 9, 4, 6)}


def test_soundness_comes_from_a_person_before_it_comes_from_gold() -> None:
    table = to_markdown(extraction_table(STUDY, GOLD))
    assert "| by gold: 8 of 9 constraints in 4 of 6 replies; complete: of 12 |" in table
    assert "| 50.0 % [21.5, 78.5] | 25.0 % [7.1, 59.1] | 75.0 % [46.8, 91.1] |" in table
    assert "By gold: valid is what the gold constraints" in table
    person = {("model", "cfr"): Quality(0.9, 0.1, 50)}
    table = to_markdown(extraction_table(STUDY, GOLD | person))
    assert "| 90.0 % [78.6, 95.7] | 10.0 % [4.3, 21.4] | – | by hand: 50 |" in table
    assert "By gold: valid" not in table
    assert "By hand: complete" in table


def test_range_and_format_of_the_answer_have_rows_of_their_own() -> None:
    apart = {"answer range": Quality(0.0, 1.0, 4, by_gold=True, statements=6)}
    quality = replace(GOLD["model", "cfr"], apart=apart)
    table = extraction_table(STUDY, {("model", "cfr"): quality})
    assert cells(table)[0][5:8] == cells(extraction_table(STUDY, GOLD))[0][5:8]
    assert cells(table)[1] == [
        *("", "answer range", "", "", "", "0.0 % [0.0, 49.0]", "100.0 % [51.0, 100.0]", ""),
        "by gold: 4 of 6",
    ]
    assert any("counted apart" in note for note in table.notes)
    assert not any("counted apart" in note for note in extraction_table(STUDY, GOLD).notes)


def test_all_replies_or_some_of_them_were_audited() -> None:
    every = {("model", "cfr"): Quality(None, None, 0, by_gold=True, audited=24, replies=24)}
    table = to_markdown(extraction_table(STUDY, every))
    assert "| – | – | – | by gold: 0 of 0 constraints in 24 replies |" in table
    assert "understate the uncertainty" not in table


def test_soundness_has_an_interval() -> None:
    table = to_markdown(extraction_table(STUDY, {("model", "cfr"): Quality(0.5, 0.0, 10)}))
    low, high = (100 * end for end in wilson(5, 10))
    assert f"| 50.0 % [{low:.1f}, {high:.1f}] | 0.0 % [0.0, " in table
    assert "understate the uncertainty" in table


def test_what_was_not_audited_is_not_a_number() -> None:
    table = to_markdown(extraction_table(STUDY))
    assert "| – | – | – | – |" in table
    assert "–: not audited" in table


def test_a_study_without_stage_1_says_so() -> None:
    bare = study(arm("direct", {"p": "+"}))
    for table in (parsing_table(bare), extraction_table(bare)):
        assert table.rows == ()
        assert table.notes == ("No attempt of this study has a Stage 1 reply on record.",)
