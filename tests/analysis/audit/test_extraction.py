import pytest
from hand_made import arm, attempt, study

from constraint_first.report.exhibit.stage1 import count_constraints, count_recovery
from constraint_first.report.statistics import wilson

# p1: 3 and 1 constraints, 2 and 0 derived; p2: 4 and a fallback, which has none; p3 has one run.
CFR = arm(
    "cfr",
    {
        "p1": [
            attempt("+", 0, kinds=["domain", "domain", "parity"], propagated=2),
            attempt("-", 1, kinds=["domain"], rung="repaired"),
        ],
        "p2": [
            attempt("+", 0, kinds=["bound"] * 4, propagated=1, rung="fields"),
            attempt("+", 1, kinds=[], rung="fallback"),
        ],
        "p3": [attempt("+", 0, kinds=["modular"] * 5, propagated=1), attempt("?", 1)],
    },
)
STUDY = study(arm("direct", {"p1": "++"}), CFR)


def test_the_ladder_by_hand() -> None:
    (found,) = count_recovery(STUDY)
    assert found.by_rung == {"parsed": 2, "repaired": 1, "fields": 1, "fallback": 1}
    assert (found.total, found.malformed, found.unknown) == (5, 3, 0)
    assert (found.malformed_rate, found.malformed_interval) == (0.6, wilson(3, 5))


def test_an_empty_reply_is_not_malformed() -> None:
    rows = [attempt("+", n, kinds=[], rung=rung) for n, rung in enumerate(["empty", "fallback"])]
    (found,) = count_recovery(study(arm("cfr", {"p": rows})))
    assert (found.total, found.malformed, found.unknown) == (2, 1, 0)


def test_a_rung_of_another_name_is_malformed() -> None:
    odd = study(arm("cfr", {"p": [attempt("+", kinds=[], rung="guessed")]}))
    assert (count_recovery(odd)[0].malformed, count_recovery(odd)[0].unknown) == (1, 1)


def test_means_are_over_replies_and_then_over_problems() -> None:
    (found,) = count_constraints(STUDY)
    assert (found.problems, found.replies) == (3, 5)
    assert found.raw.value == pytest.approx((2 + 2 + 5) / 3)
    assert found.propagated.value == pytest.approx((1 + 0.5 + 1) / 3)
    assert found.raw.interval
    assert found.raw.interval[0] < 3 < found.raw.interval[1]


def test_an_interval_needs_problems_that_differ() -> None:
    alike = {name: [attempt("+", kinds=["domain"])] for name in ("p1", "p2")}
    (found,) = count_constraints(study(arm("cfr", alike)))
    assert (found.raw.value, found.raw.interval) == (1.0, None)


def test_counts_beyond_all_measure_still_have_an_interval() -> None:
    wild = {f"p{n}": [attempt("+", kinds=["domain"] * (20_000 if n else 1))] for n in range(300)}
    (found,) = count_constraints(study(arm("cfr", wild)))
    assert found.raw.value == pytest.approx((299 * 20_000 + 1) / 300)
    assert found.raw.interval
    assert found.raw.interval[0] <= found.raw.value <= found.raw.interval[1]


def test_replies_without_a_common_unit_still_have_an_interval() -> None:
    many = {
        f"p{n}": [attempt("+", run, kinds=["domain"] * (1 + n % 3)) for run in range(n)]
        for n in range(1, 60)
    }
    (found,) = count_constraints(study(arm("cfr", many)))
    assert found.raw.interval
    assert found.raw.interval[0] < found.raw.value < found.raw.interval[1]


def test_a_study_without_stage_1_has_no_counts() -> None:
    bare = study(arm("direct", {"p": "+"}))
    assert (count_recovery(bare), count_constraints(bare)) == ((), ())
