import re
from dataclasses import replace

from hand_made import arm, costing, study

from constraint_first.report.comparison import (
    Comparison,
    best_supported,
    compare,
    headline_pairs,
)
from constraint_first.report.exhibit.gains import verdict, verdict_note
from constraint_first.report.study import Arm

TWENTY = [str(n) for n in range(20)]


def right(method: str, count: int, benchmark: str = "aime24", tokens: int = 100) -> Arm:
    """Make an arm that has the first problems right."""
    marks = {problem: "+" if at < count else "-" for at, problem in enumerate(TWENTY)}
    return costing(arm(method, marks, benchmark=benchmark), (50, tokens))


def shown(text: str) -> str:
    """Leave the ends of intervals out."""
    return re.sub(r"\[[^]]*\]", "[…]", text)


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
    assert "2 problems" not in verdict(comparison, "cfr")
    assert "on 4 problems of AIME24 and AIME25 together" in verdict(comparison, "cfr")


def test_better_with_points_interval_size_and_tokens() -> None:
    comparison = compare(study(right("direct", 4), right("cfr", 16, tokens=250)))
    (pair,) = comparison.pairs
    low, high = (f"{end:.1f}" for end in pair.ci)
    assert verdict(comparison) == (
        f"On model, CFR (always-on) is better than Direct CoT: +60.0 points [{low}, {high}] on 20 "
        "problems of AIME24, at 2.50 times the output tokens."
    )


def test_worse_and_what_is_not_recorded() -> None:
    direct, cfr = (replace(right(name, n), model="") for name, n in (("direct", 16), ("cfr", 4)))
    bare = study(*(arm(a.method, a.attempts, benchmark="", model="") for a in (direct, cfr)))
    assert shown(verdict(compare(study(direct, cfr)))) == (
        "CFR (always-on) is worse than Direct CoT: −60.0 points […] on 20 problems of AIME24, "
        "at 1.00 times the output tokens."
    )
    without = replace(compare(bare).pairs[0], tokens=type(compare(bare).pairs[0].tokens)())
    said = verdict(Comparison((without,), 1))
    assert "on 20 problems of this set, output tokens not recorded." in said


def test_of_several_methods_it_is_the_best_supported_and_a_gain_before_a_loss() -> None:
    some = [right("direct", 10), right("worst", 0), right("a", 18), right("b", 20)]
    comparison = compare(study(*some))
    assert best_supported(comparison).method == "b"
    assert shown(verdict(comparison)).startswith("On model, b is better than Direct CoT: +50.0")
    losses = compare(study(*some[:2], right("c", 11)))
    assert best_supported(losses).method == "worst"
    assert shown(verdict(losses)).startswith(
        "On model, none of 2 methods is shown to be better than Direct CoT, and worst is worse: −50"
    )
    assert "the smallest p-value after correction" in verdict_note([losses])
    assert "2 tests for each model" in verdict_note([losses, losses])


def test_several_benchmarks_are_named_and_not_averaged() -> None:
    arms = [
        right(method, count, place)
        for place, method, count in (
            *(("aime24", "direct", 4), ("aime24", "cfr", 16)),
            *(("gsm8k", "direct", 16), ("gsm8k", "cfr", 6)),
            *(("math500", "direct", 10), ("math500", "cfr", 11)),
        )
    ]
    assert shown(verdict(compare(study(*arms)))) == (
        "On model, CFR (always-on) is better than Direct CoT: +60.0 points […] on 20 problems of "
        "AIME24, at 1.00 times the output tokens; but it is worse there: −50.0 points […] on 20 "
        "problems of GSM8K, at 1.00 times the output tokens; no difference is shown on MATH-500 "
        "(+5.0 […])."
    )


def test_unknown_says_what_was_measured_and_that_it_may_be_chance() -> None:
    one = compare(study(right("direct", 10), right("cfr", 12)))
    assert shown(verdict(one)) == (
        "On model, it is unknown whether CFR (always-on) is better than Direct CoT: +10.0 points "
        "[…] on 20 problems of AIME24, at 1.00 times the output tokens (p = 0.50 after correction, "
        "so it may be chance)."
    )
    two = compare(study(right("direct", 10), right("cfr", 12), right("x", 10)))
    assert verdict(two).startswith(
        "On model, it is unknown whether any of 2 methods is better than Direct CoT; the clearest "
        "difference is that of CFR (always-on): +10.0 points"
    )
    assert "Of several methods" not in verdict_note([one])


def test_ties_everywhere_are_unknown_too() -> None:
    assert verdict(compare(study(right("direct", 3), right("cfr", 3)))) == (
        "On model, it is unknown whether CFR (always-on) is better than Direct CoT: the two do not "
        "differ on any problem of AIME24."
    )
