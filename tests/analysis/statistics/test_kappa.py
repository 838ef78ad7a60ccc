import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.report.statistics import kappa

PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


def test_by_hand() -> None:
    # Cohen's own kind of table: 20 and 15 agree, 5 and 10 do not. Observed 0.7, by chance 0.5.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert kappa(pairs) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_full_agreement_and_none() -> None:
    assert kappa([("a", "a"), ("b", "b")]) == 1.0
    assert kappa([("a", "b"), ("b", "a")]) == -1.0
    assert kappa([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]) == 0.0


def test_one_label_alone_says_nothing() -> None:
    assert kappa([("a", "a")] * 5) is None
    assert kappa([]) is None


@given(PAIRS)
def test_from_shares_instead_of_counts(pairs: list[tuple[str, str]]) -> None:
    n = len(pairs)
    observed = sum(one == other for one, other in pairs) / n
    by_chance = sum(
        sum(one == label for one, _ in pairs) / n * sum(other == label for _, other in pairs) / n
        for label in "abc"
    )
    found = kappa(pairs)
    if found is None:
        assert by_chance == pytest.approx(1)
    else:
        assert found == pytest.approx((observed - by_chance) / (1 - by_chance))
        assert found == kappa([(other, one) for one, other in pairs])
