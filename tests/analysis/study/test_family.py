from dataclasses import replace

import pytest
from hand_made import arm, study

from constraint_first.method.registry import METHODS
from constraint_first.report.study import (
    CFR,
    ROUTED_CFR,
    SELF_CONSISTENCY,
    Arm,
    StudyError,
    check_variants,
    family_label,
    family_named,
    family_of,
    find_variant,
    name_notes,
    short_names,
    variant_notes,
    variants,
    with_short_names,
)


def made(*names: str) -> list[Arm]:
    return [arm(name, {"0": "+"}) for name in names]


@pytest.mark.parametrize("name", METHODS)
def test_every_registered_method_is_a_family_whatever_its_options(name: str) -> None:
    assert family_of(Arm("b", name, "?", "m")) == name
    assert family_of(Arm("b", f"{name}(reply=json, rounds=2)", "?", "m")) == name
    assert family_of(Arm("b", "Made(here=1)", family_label(name), "m")) == name


def test_a_method_of_anyone_is_a_family_of_its_own() -> None:
    assert family_of(Arm("b", "mine(x=1)", "Mine", "m")) == "mine"
    assert family_of(Arm("b", "CFR (always-on)", "CFR (always-on)", "m")) == CFR
    assert family_label("mine") == "mine"


def test_a_family_is_found_by_its_name_and_by_its_label() -> None:
    found = study(*made("cfr(reply=json)", "mine(x=1)"), Arm("b", "Routed(x=1)", "Routed-CFR", "m"))
    named = {name: family_named(found, name) for name in ("CFR", "cfr (always-on)", "mine")}
    assert named == {"CFR": CFR, "cfr (always-on)": CFR, "mine": "mine"}
    assert family_named(found, "routed-cfr") == ROUTED_CFR
    assert family_named(found, "cfr(reply=prose)") == family_named(found, "direct") == ""


def test_a_vote_over_routed_cfr_is_a_vote() -> None:
    assert family_of(arm("self-consistency(base=routed-cfr)", {})) == SELF_CONSISTENCY


def test_the_bare_name_stands_for_its_family_unless_nothing_of_it_was_judged() -> None:
    found = study(*made("cfr(reply=json)", "cfr", "routed-cfr"))
    assert variants(found, CFR) == ["cfr(reply=json)", "cfr"]
    assert find_variant(found, CFR) == "cfr"
    failed = study(*made("cfr(reply=json)"), arm("cfr", {"0": "?"}))
    assert find_variant(failed, CFR) == "cfr(reply=json)"


def test_otherwise_the_one_with_most_judged_attempts_stands_for_it() -> None:
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
    return short_names(study(*(replace(one, label=label) for one in made(*names))))


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
