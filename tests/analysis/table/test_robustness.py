import json

from hand_made import arm, study

from constraint_first.report.exhibit.scores import robustness_table


def decoding(temperature: float, seed: int | None = None, **more: str) -> str:
    return json.dumps({"temperature": temperature, "top_p": 0.95, "seed": seed} | more)


COOL, WARM, SEEDED = decoding(0.2), decoding(0.7), decoding(0.7, 101)
STUDY = study(
    arm("direct", {"p": "+-", "q": "--"}, benchmark="aime24", decoding=COOL),
    arm("cfr", {"p": "++", "q": "--"}, benchmark="aime24", decoding=COOL),
    arm("direct", {"p": "++", "q": "++"}, benchmark="aime24", decoding=WARM),
    arm("cfr", {"p": "+-", "q": "++"}, benchmark="aime24", decoding=WARM),
    arm("cfr", {"r": "+"}, benchmark="aime25", decoding=WARM),
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
