import json

import pytest
from hand_made import arm, study

from cfr.analysis.audit.robustness import robustness, robustness_table, settings_table
from cfr.analysis.table.table import to_markdown


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


def test_settings_are_named_by_what_tells_them_apart() -> None:
    found = robustness(STUDY, ["cfr"])
    labels = [one.label for one in found]
    assert labels == ["Temperature 0.2", "Temperature 0.7", "Temperature 0.7, Seed 101"]
    assert {one.model for one in found} == {"model"}


def test_accuracy_and_gain_by_hand() -> None:
    cool, warm, seeded = robustness(STUDY, ["cfr"])
    assert cool.scores["direct", "aime24"].accuracy == 25
    assert cool.scores["cfr", "aime24"].accuracy == 50
    assert cool.gains["cfr", "aime24"].points == 25
    assert warm.gains["cfr", "aime24"].points == -25
    assert ("cfr", "aime25") not in warm.gains  # its baseline was not run
    assert seeded.gains == {}


def test_the_table_has_a_row_for_the_gain_below_each_method() -> None:
    table = robustness_table(STUDY, ["cfr"])
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
    assert "AIME24: 1 problem, 1 run; elsewhere 2 problems, 2 runs." in notes
    assert "model: other tables show temperature 0.2, top-p 0.95" in notes


def test_one_decoding_shows_nothing() -> None:
    table = robustness_table(study(arm("direct", {"p": "+"})), ["cfr"])
    assert table.rows == ()
    assert table.notes == ("No model of this study was run under more than one decoding.",)


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
        "stage1 1,024; stage2 31,744; direct 32,768 | stage1 |"
    ) in table
    assert "| 0.0 | 0.95 | 7 | “Answer with an integer from 0 to 999, an…” | 1 |" in table
    assert "begun only" not in table


@pytest.mark.parametrize("method", ["mine", "mine(x=1)"])
def test_what_is_not_on_record_is_not_made_up(method: str) -> None:
    table = to_markdown(settings_table(study(arm(method, {"p": "+"}))))
    assert "| – | – | – | – | 1 | – | – |" in table
    assert settings_table(study()).notes == ("This study has no attempts.",)
