from hand_made import arm, attempt, study

from constraint_first.report.exhibit.stage1 import categories, kinds_named

# Half of the replies are enough: p1 has domain and parity, p2 domain, p3 nothing, p4 other.
CFR = arm(
    "cfr",
    {
        "p1": [
            attempt("+", 0, kinds=["domain", "parity", "domain"]),
            attempt("+", 1, kinds=["domain"]),
        ],
        "p2": [attempt(m, n, kinds=k) for n, (m, k) in enumerate([("+", ["domain"]), ("-", [])])],
        "p3": [
            attempt("-", 0, kinds=["bound"]),
            attempt("-", 1, kinds=[]),
            attempt("-", 2, kinds=[], rung="fallback"),
        ],
        "p4": [attempt("-", 0, kinds=["colour", ""])],
        "not routed": [attempt("-", 0)],
    },
)
BASE = arm("direct", {"p1": "--", "p2": "--", "p3": "++", "p4": "+", "not routed": "+"})
STUDY = study(BASE, CFR)


def test_a_problem_has_the_kinds_that_half_of_its_replies_name() -> None:
    assert kinds_named([CFR]) == {
        ("set", "p1"): ("domain", "parity"),
        ("set", "p2"): ("domain",),
        ("set", "p3"): (),
        ("set", "p4"): ("other",),
    }


def test_frequency_and_gain_by_hand() -> None:
    found = {one.kind: one for one in categories(STUDY, "cfr")}
    assert len(found) == 9
    domain, parity, other = found["domain"], found["parity"], found["other"]
    assert (domain.present, domain.problems, domain.frequency) == (2, 4, 0.5)
    assert domain.gain
    assert (domain.gain.points, domain.gain.n) == (75.0, 2)  # 100 and 50
    assert parity.gain
    assert (parity.gain.points, parity.gain.interval) == (100.0, None)
    assert other.gain
    assert other.gain.points == -100.0
    assert (found["bound"].present, found["bound"].gain) == (0, None)


def test_without_the_baseline_there_is_frequency_alone() -> None:
    found = categories(study(CFR), "cfr")
    assert found[0].present == 2
    assert all(one.gain is None for one in found)


def test_a_method_without_stage_1_names_no_kind() -> None:
    assert categories(STUDY, "direct") == ()
