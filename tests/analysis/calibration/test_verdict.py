from dataclasses import replace

from constraint_first.method.policy import Evidence, Policy, Rule
from constraint_first.report.calibrate import say_no, say_yes, shown

from .simulated import simulate

WHOLE = Evidence(2_368, 41.0, 59.2, 18.2, (15.1, 21.3), 0.97)
RULE = Rule(("not latex",), "program", Evidence(1_000, 40.0, 65.0, 25.0, (20.0, 30.0), 0.9))


def test_yes_says_what_to_expect_and_where_from() -> None:
    said = say_yes(Policy("m", (RULE,), by_family=replace(WHOLE, gain=12.0)), WHOLE)
    assert said.startswith(
        "Yes: on problems like these, expect +18.2 points [15.1, 21.3] (41.0 → 59.2, n = 2,368) "
        "at 0.97 times the output tokens"
    )
    assert "program on problems without LaTeX (+25.0 [20.0, 30.0] on 1,000 problems)" in said
    assert "All other problems are left to direct." in said
    assert "With whole families of problems left out it is still +12.0 points" in said
    assert "\n" not in said


def test_yes_says_what_is_not_shown() -> None:
    unsure = replace(WHOLE, gain=1.0, interval=(-1.0, 3.0), tokens=None)
    assert "it is not shown" in say_yes(Policy("m", (RULE,), by_family=unsure), WHOLE)
    assert "they have one" in say_yes(Policy("m", (RULE,)), WHOLE)
    everywhere = Policy("m", (replace(RULE, when=(), evidence=None),))
    assert "program on problems of every kind." in say_yes(everywhere, WHOLE)
    assert "left to direct" not in say_yes(everywhere, WHOLE)


def test_no_says_what_came_nearest_and_what_to_do() -> None:
    data = simulate(1, 200, 2)
    said = say_no(data, ("method-1", replace(WHOLE, gain=2.0, interval=(-1.0, 5.0))))
    assert said.startswith("No: no method's gain is certain to be above zero with these runs (n = ")
    assert "The largest by itself is that of method-1, +2.0 points [−1.0, 5.0]" in said
    assert "as the best of 2 it may be chance" in said
    assert "points would mostly show" in said
    assert "cfr eval" in said
    assert "run them on the same problems" in say_no(data, None)


def test_a_gain_without_spread_or_tokens() -> None:
    plain = replace(WHOLE, interval=None, tokens=None)
    assert shown(plain) == "+18.2 points (41.0 → 59.2, n = 2,368)"
