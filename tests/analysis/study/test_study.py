import pytest
from hand_made import arm, study, texts

from constraint_first.report.study import (
    Arm,
    Attempt,
    StudyError,
    benchmark_label,
    model_label,
    pooled_label,
)

BASE = arm("direct", {"1": "+-", "2": "0?", "3": "??"}, benchmark="aime24", model="a")
WARM = '{"temperature":1.0}'
STUDY = study(
    BASE,
    arm("cfr(x=1)", {"1": "+"}, benchmark="aime24", model="a"),
    arm("direct", {"4": "---"}, benchmark="aime25", model="b"),
    arm("direct", {"4": "+"}, benchmark="aime25", model="b", decoding=WARM),
    problems=texts({"1": "How many?", "9": "Never asked."}, "aime24"),
)


def test_scores_are_right_runs_of_judged_runs() -> None:
    assert BASE.scores == {"1": (1, 2), "2": (0, 1)}
    assert BASE.accuracy == (1 / 2 + 0 / 1) / 2
    assert (BASE.runs, BASE.fewest_runs) == (2, 1)
    assert BASE.statuses == {"ok": 2, "unparsed": 1, "failed": 3}
    assert BASE.rate("failed") == 0.5
    assert BASE.rate("truncated") == 0.0


def test_an_arm_without_attempts() -> None:
    empty = Arm("b", "direct", "Direct CoT", "m")
    assert (empty.accuracy, empty.runs, empty.fewest_runs, empty.rate("ok")) == (None, 0, 0, 0.0)


def test_an_arm_is_named_with_its_options() -> None:
    assert [one.name for one in STUDY.arms[:2]] == ["Direct CoT", "CFR (always-on) [x=1]"]
    assert STUDY.method_name("cfr(x=1)") == "CFR (always-on) [x=1]"
    assert STUDY.method_name("unknown") == "unknown"


def test_arms_are_found_by_any_of_their_names() -> None:
    assert STUDY.select(benchmark="aime24", method="direct") == [BASE]
    assert len(STUDY.select(model="b")) == 2
    assert STUDY.select(decoding=WARM) == [STUDY.arms[3]]
    assert STUDY.names("model") == ["a", "b"]
    assert STUDY.names("decoding") == ["{}", WARM]


def test_the_primary_decoding_has_most_attempts() -> None:
    assert STUDY.primary == {("aime24", "a"): "{}", ("aime25", "b"): "{}"}
    assert STUDY.main_arms() == list(STUDY.arms[:3])
    assert STUDY.primary_only().arms == STUDY.arms[:3]


def test_a_study_is_narrowed_down_with_its_problems() -> None:
    narrowed = STUDY.only(benchmark=["aime24"], model=[])
    assert narrowed.arms == STUDY.arms[:2]
    assert list(narrowed.problems) == [("aime24", "1")]
    assert STUDY.only(model=["b"]).problems == {}
    assert STUDY.only(benchmark=["AIME"]).arms == STUDY.only(benchmark=["aime24", "aime25"]).arms
    with pytest.raises(StudyError, match="by hand: has no model 'x'; it has a, b"):
        STUDY.only(model=["x"])
    with pytest.raises(StudyError, match="it has none"):
        study().only(benchmark=["x"])


def test_benchmarks_that_are_taken_together_are_all_named() -> None:
    assert pooled_label(["aime24", "aime26"]) == "AIME pooled (AIME24, AIME26)"
    assert pooled_label(["aime24", "aime25", "mine"]) == "pooled (AIME24, AIME25, mine)"


def test_what_was_attempted() -> None:
    assert STUDY.attempted == {("aime24", name) for name in "123"} | {("aime25", "4")}
    attempts = list(STUDY.all_attempts())
    assert len(attempts) == 6 + 1 + 3 + 1
    assert all(isinstance(attempt, Attempt) for attempt in attempts)


def test_the_fewest_and_the_most_judged_problems() -> None:
    assert STUDY.sizes("aime24") == (1, 2)
    assert STUDY.sizes("aime25") == (1, 1)
    assert study(arm("direct", {"1": "?"})).sizes("set") == (0, 0)


def test_names_as_the_paper_prints_them() -> None:
    assert benchmark_label("aime24") == "AIME24"
    assert benchmark_label("constraintbench-mini") == "ConstraintBench-mini"
    assert benchmark_label("mine") == "mine"
    assert model_label("deepseek-chat") == "DeepSeek-V4-Pro"
    assert model_label("mine") == "mine"
