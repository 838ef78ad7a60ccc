from dataclasses import replace

from hand_made import arm, study

from cfr.analysis.report.headline import headline, headline_pairs
from cfr.analysis.statistics.comparison import Pair, compare


def only_pair(before: dict[str, str], after: dict[str, str]) -> Pair:
    (pair,) = compare(study(arm("direct", before), arm("cfr", after))).pairs
    return pair


def test_what_is_said_first_is_a_group_of_benchmarks_together() -> None:
    arms = [
        arm(method, {"p": mark, "q": mark}, benchmark=benchmark)
        for benchmark, method, mark in (
            *(("aime24", "direct", "-"), ("aime24", "cfr", "+")),
            *(("aime25", "direct", "-"), ("aime25", "cfr", "+"), ("aime25", "list-first", "+")),
        )
    ]
    comparison = compare(study(*arms))
    found = headline_pairs(comparison)
    assert [(pair.method, pair.benchmark) for pair in found] == [
        ("cfr", "pooled"),
        ("list-first", "aime25"),
    ]
    cold = replace(comparison.pairs[0], decoding="cold")  # not among those taken together
    assert cold in headline_pairs(replace(comparison, pairs=(cold, *comparison.pairs[1:])))
    said = headline(replace(found[0], model="m"), named=True)
    assert "on AIME24, AIME25 together with m: +100.0" in said


def test_a_difference_that_is_shown() -> None:
    eight = {str(n): "-" for n in range(8)} | {str(n): "+" for n in range(8, 20)}
    pair = only_pair(eight, dict.fromkeys(eight, "+"))
    low, high = (f"{end:.1f}" for end in pair.ci)
    assert headline(pair) == (
        f"CFR (always-on) against Direct CoT on set: +40.0 points (95 % [{low}, {high}]; 20 "
        "problems, 1 run); p = 0.008, 0.008 after correction."
    )


def test_a_difference_that_is_not_claimed() -> None:
    said = headline(only_pair({"1": "+-", "2": "--", "3": "++"}, {"1": "++", "2": "--", "3": "+"}))
    assert "3 problems, 1–2 runs" in said
    assert said.endswith("the interval includes zero, so no difference is claimed.")
    alike = headline(only_pair({"1": "--"}, {"1": "++"}))
    assert "(no interval; 1 problem, 2 runs)" in alike
    assert alike.endswith("1 after correction: no difference is claimed.")


def test_ties_everywhere_are_a_sentence() -> None:
    assert headline(only_pair({"1": "+", "2": "-"}, {"1": "+", "2": "-"})) == (
        "CFR (always-on) and Direct CoT do not differ on any problem of set (2 problems, 1 run)."
    )
