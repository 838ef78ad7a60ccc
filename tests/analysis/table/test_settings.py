import json

import pytest
from hand_made import arm, study

from constraint_first.report.exhibit.scores import settings_table
from constraint_first.report.table import to_markdown


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
