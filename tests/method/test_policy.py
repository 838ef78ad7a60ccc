from dataclasses import replace

from constraint_first.method.policy import Evidence, Policy, Rule

EVIDENCE = Evidence(120, 40.0, 55.5, 15.5, (10.0, 21.0), 0.9)
POLICY = Policy(
    "small",
    (Rule(("latex", "not figure"), "reminder", EVIDENCE), Rule((), "check")),
    made="2026-11-15",
    by_problem=EVIDENCE,
)


def test_a_rule_fits_where_all_its_conditions_are_met() -> None:
    rule = POLICY.rules[0]
    assert rule.fits({"latex", "cue"})
    assert not rule.fits({"latex", "figure"})
    assert not rule.fits({"cue"})
    assert Rule((), "check").fits(())


def test_the_first_rule_that_fits_counts() -> None:
    assert POLICY.choose({"latex"}) == 0
    assert POLICY.choose({"cue"}) == 1
    assert replace(POLICY, rules=POLICY.rules[:1]).choose({"cue"}) is None


def test_conditions_in_words() -> None:
    assert POLICY.rules[0].words == "with LaTeX and without a figure"
    assert POLICY.rules[1].words == "of every kind"


def test_the_hash_is_of_what_is_decided_and_of_nothing_else() -> None:
    again = replace(POLICY, made="2027-01-01", by_problem=None, command="cfr calibrate")
    assert again.digest == POLICY.digest
    assert replace(POLICY, rules=POLICY.rules[::-1]).digest != POLICY.digest
    assert replace(POLICY, otherwise="cfr").digest != POLICY.digest
    assert replace(POLICY, rules=()).digest != POLICY.digest


def test_json_leaves_out_what_is_not_known() -> None:
    assert EVIDENCE.to_json()["interval"] == [10.0, 21.0]
    assert replace(EVIDENCE, interval=None, tokens=None).to_json() == {
        "problems": 120,
        "before": 40.0,
        "after": 55.5,
        "gain": 15.5,
    }
    written = POLICY.to_json()
    assert written["schema"] == 2
    assert written["rules"] == [
        {"when": ["latex", "not figure"], "method": "reminder", **EVIDENCE.to_json()},
        {"when": [], "method": "check"},
    ]
    assert "by_family" not in written
