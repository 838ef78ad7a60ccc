from dataclasses import replace

import pytest
from hand_made import arm, study, texts, two_benchmarks
from instructed import FEW_WORDS, NO_COMMA

from constraint_first.benchmark.registry import write_instructions
from constraint_first.method.registry import METHODS
from constraint_first.report.study import (
    CFR,
    ROUTED_CFR,
    Arm,
    ProblemText,
    StudyError,
    benchmark_label,
    benchmarks_of,
    by_model,
    check_variants,
    family_label,
    family_named,
    family_of,
    find_variant,
    groups_and_all,
    groups_of,
    model_label,
    name_notes,
    read_decoding,
    variant_notes,
    variants,
    with_short_names,
    write_decoding,
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


def test_names_are_those_of_the_paper_with_options() -> None:
    assert [one.name for one in STUDY.arms[:2]] == ["Direct CoT", "CFR (always-on) [x=1]"]
    assert STUDY.method_name("cfr(x=1)") == "CFR (always-on) [x=1]"
    assert STUDY.method_name("unknown") == "unknown"
    benchmarks = [benchmark_label(name) for name in ("aime24", "constraintbench-mini", "mine")]
    assert benchmarks == ["AIME24", "ConstraintBench-mini", "mine"]
    assert (model_label("deepseek-chat"), model_label("mine")) == ("DeepSeek-V4-Pro", "mine")


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


def test_arms_by_model_method_and_benchmark() -> None:
    other = arm("direct", {"1": "+"}, model="other")
    deepseek, second = by_model(study(*two_benchmarks().arms, other))
    assert (deepseek.model, deepseek.title) == ("deepseek-chat", "DeepSeek-V4-Pro")
    assert {method: list(arms) for method, arms in deepseek.methods.items()} == {
        "direct": ["aime24", "aime25"],
        "routed-cfr": ["aime24", "aime25"],
        "cfr": ["aime24"],
    }
    assert deepseek.name("cfr") == "CFR (always-on)"
    assert second.arms() == [other]
    assert benchmarks_of([deepseek, second]) == ["aime24", "aime25", "set"]
    (nameless,) = by_model(study(arm("direct", {"1": "+"}, model="")))
    assert nameless.title == "All attempts"


def test_methods_are_paired_on_what_both_have() -> None:
    (part,) = by_model(two_benchmarks())
    pairs = part.paired("cfr", "routed-cfr")
    assert [(one.method, other.method, one.benchmark) for one, other in pairs] == [
        ("cfr", "routed-cfr", "aime24")
    ]
    assert part.paired("cfr", "none such") == part.paired("none such", "cfr") == []
    assert part.shared_benchmarks("direct") == ["aime24"]
    assert part.keep(("direct", "routed-cfr")).shared_benchmarks("direct") == ["aime24", "aime25"]
    assert part.shared_benchmarks("none such") == []


def made(*names: str) -> list[Arm]:
    return [arm(name, {"0": "+"}) for name in names]


@pytest.mark.parametrize("name", METHODS)
def test_every_registered_method_is_a_family_whatever_its_options(name: str) -> None:
    assert family_of(Arm("b", name, "?", "m")) == name
    assert family_of(Arm("b", f"{name}(reply=json, rounds=2)", "?", "m")) == name
    assert family_of(Arm("b", "Made(here=1)", family_label(name), "m")) == name
    assert family_of(Arm("b", "mine(x=1)", "Mine", "m")) == family_label("mine") == "mine"


def test_a_family_is_found_by_its_name_and_by_its_label() -> None:
    found = study(*made("cfr(reply=json)", "mine(x=1)"), Arm("b", "Routed(x=1)", "Routed-CFR", "m"))
    named = {name: family_named(found, name) for name in ("CFR", "cfr (always-on)", "mine")}
    assert named == {"CFR": CFR, "cfr (always-on)": CFR, "mine": "mine"}
    assert family_named(found, "routed-cfr") == ROUTED_CFR
    assert family_named(found, "cfr(reply=prose)") == family_named(found, "direct") == ""


def test_the_bare_name_stands_for_its_family_or_the_one_with_most_judged_attempts() -> None:
    found = study(*made("cfr(reply=json)", "cfr", "routed-cfr"))
    assert variants(found, CFR) == ["cfr(reply=json)", "cfr"]
    assert find_variant(found, CFR) == "cfr"
    failed = study(*made("cfr(reply=json)"), arm("cfr", {"0": "?"}))
    assert find_variant(failed, CFR) == "cfr(reply=json)"
    few, many, more = "cfr(reply=json)", "cfr(reply=prose)", "cfr(x=1)"
    found = study(arm(few, {"1": "+"}), arm(many, {"1": "++"}), arm(more, {"1": "--"}))
    assert find_variant(found, CFR) == many
    assert find_variant(found, CFR, ["direct", few]) == few
    assert find_variant(found, ROUTED_CFR) is None


def test_which_variant_is_meant_is_said_where_there_are_others() -> None:
    found = study(*made("direct", "cfr(reply=json)", "cfr", "routed-cfr"))
    assert variant_notes(found, ["direct", "cfr(reply=json)", "routed-cfr", None, "none"]) == (
        "CFR (always-on) is cfr(reply=json) here; in these data are also cfr (--variant chooses).",
    )
    (said,) = variant_notes(found, ["cfr"], "--method")
    assert said.endswith("(--method chooses).")


def test_a_choice_must_be_there_and_be_one_of_its_family() -> None:
    found = study(*made("direct", "cfr(reply=json)", "cfr"))
    assert check_variants(found, ["cfr", "direct", "cfr"]) == ("cfr", "direct")
    with pytest.raises(StudyError, match=r"has no variant 'cfr\(x=1\)'; it has direct, cfr\("):
        check_variants(found, ["cfr(x=1)"])
    with pytest.raises(StudyError, match="are of one family; choose one of them"):
        check_variants(found, ["cfr", "cfr(reply=json)"])


def variants_named(*names: str) -> dict[str, str]:
    label = "Until two agree"
    named = with_short_names(study(*(replace(one, label=label) for one in made(*names))))
    return {one.method: one.name for one in named.arms}


def test_variants_are_told_apart_by_the_fewest_words() -> None:
    base = "program(tokens=200,check=off)"
    four = (
        "until-agreed",
        "until-agreed(base=program(tokens=200),most=3,agree=1)",
        f"until-agreed(base={base},most=3,agree=1,check=off)",
        "until-agreed(most=5)",
    )
    assert list(variants_named(*four).values()) == [
        "Until two agree",
        "Until two agree [most=3]",
        "Until two agree [most=3, check=off]",
        "Until two agree [most=5]",
    ]
    assert list(variants_named(four[2]).values()) == ["Until two agree"]
    same = ("one(a=1)", "two(a=1)")  # their options are the same
    assert list(variants_named(*same).values()) == [f"Until two agree [{name}]" for name in same]
    many = [f"x({','.join(f'{k}{n}={n}' for k in 'abcdef')})" for n in range(3)]
    assert list(variants_named(*many).values()) == [f"Until two agree [{name}]" for name in many]


def test_every_arm_gets_its_short_name_and_a_note_says_what_it_leaves_out() -> None:
    names = ("direct", "routed-cfr(reply=json)", "cfr(a=1,b=2)", "cfr(a=2,b=2)", "cfr(a=3)")
    found = with_short_names(study(*made(*names)))
    assert [one.name for one in found.arms] == [
        *("Direct CoT", "Routed-CFR"),
        *(f"CFR (always-on) [a={n}]" for n in (1, 2, 3)),
    ]
    assert name_notes(found) == (
        "Names have the options that tell variants apart. In full: Routed-CFR is "
        "routed-cfr(reply=json); CFR (always-on) [a=1] is cfr(a=1,b=2); CFR (always-on) [a=2] is "
        "cfr(a=2,b=2).",
    )
    assert name_notes(with_short_names(study(*made("direct", "cfr")))) == ()


YEARS = ("aime24", "aime25", "aime26")


def test_the_years_of_aime_are_a_group_and_nothing_else_is() -> None:
    assert groups_of(["cmimc25", *YEARS, "brumo25", "mine", ""]) == {"AIME": YEARS}
    assert groups_of(["aime26", "aime24", "aime26"]) == {"AIME": ("aime26", "aime24")}
    assert groups_of(["aime24", "cmimc25"]) == {}
    # Each group is taken together, and so are all.
    assert groups_and_all(["cmimc25", *YEARS]) == [YEARS, ("cmimc25", *YEARS)]
    assert groups_and_all(YEARS) == [YEARS]
    assert groups_and_all(["a", "b"]) == [("a", "b")]
    assert groups_and_all([]) == []


def test_settings_are_written_as_stores_write_them() -> None:
    assert write_decoding({"seed": None, "temperature": 1}) == '{"temperature":1.0,"seed":null}'
    assert write_decoding("hot") == "{}"
    odd = write_decoding({"system": "\ud800", "seed": 10**30})
    assert read_decoding(odd) == {"seed": 10**30, "system": "\ud800"}


def test_gold_instructions() -> None:
    asked = ProblemText("Write.", write_instructions([NO_COMMA, FEW_WORDS]))
    assert asked.instructions == (NO_COMMA, FEW_WORDS)
    assert asked.gold_name == "gold instructions"
    assert asked.gold_shown == "The reply does without “,”. The reply has at most 9 words."
