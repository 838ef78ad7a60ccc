from constraint_first.report.study import benchmarks_named, groups_and_all, groups_of

YEARS = ("aime24", "aime25", "aime26")


def test_the_years_of_aime_are_a_group_and_nothing_else_is() -> None:
    assert groups_of(["cmimc25", *YEARS, "brumo25", "mine", ""]) == {"AIME": YEARS}
    assert groups_of(["aime26", "aime24", "aime26"]) == {"AIME": ("aime26", "aime24")}
    assert groups_of(["aime24", "cmimc25"]) == {}


def test_what_is_taken_together_is_each_group_and_all() -> None:
    assert groups_and_all(["cmimc25", *YEARS]) == [YEARS, ("cmimc25", *YEARS)]
    assert groups_and_all(YEARS) == [YEARS]
    assert groups_and_all(["a", "b"]) == [("a", "b")]
    assert groups_and_all([]) == []


def test_a_group_is_named_like_a_benchmark() -> None:
    assert benchmarks_named("aime", ["cmimc25", "aime24", "aime26"]) == ("aime24", "aime26")
    assert benchmarks_named("AIME", ["cmimc25"]) == ("AIME",)
    assert benchmarks_named("", ["", "mine"]) == ("",)
