import json

from hand_made import arm, study

from constraint_first.report.exhibit.scores import robustness


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


def test_a_setting_for_each_decoding_of_a_model_that_has_several() -> None:
    found = robustness(STUDY, ["cfr"])
    assert [one.decoding for one in found] == [COOL, WARM, SEEDED]
    assert {one.model for one in found} == {"model"}


def test_accuracy_and_gain_by_hand() -> None:
    cool, warm, seeded = robustness(STUDY, ["cfr"])
    assert cool.scores["direct", "aime24"].accuracy == 25
    assert cool.scores["cfr", "aime24"].accuracy == 50
    assert cool.gains["cfr", "aime24"].points == 25
    assert warm.gains["cfr", "aime24"].points == -25
    assert ("cfr", "aime25") not in warm.gains  # its baseline was not run
    assert seeded.gains == {}


def test_one_decoding_shows_nothing() -> None:
    assert robustness(study(arm("direct", {"p": "+"})), ["cfr"]) == ()
