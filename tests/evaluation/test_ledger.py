from constraint_first.run.budget import Amount, Ledger, Settlement


def ledger(spent: int = 0, mine: int = 0, others: int = 0) -> Ledger:
    limits = (1_000, None)
    return Ledger(limits, Amount(spent), Amount(), Amount(mine), Amount(others))


def test_what_all_workers_have_set_aside_counts() -> None:
    found = ledger(spent=100, mine=200, others=600)
    assert not found.reserve(Amount(101))
    assert found.reserve(Amount(100))
    assert (found.mine, found.reserved) == (Amount(300), Amount(900))
    assert not found.spend(Amount(1))


def test_what_was_used_is_spent_and_the_rest_is_free_again() -> None:
    found = ledger(mine=200)
    found.settle(Settlement(Amount(150, 0.3), Amount(40, 0.1)))
    assert (found.mine, found.spent) == (Amount(50), Amount(40, 0.1))


def test_what_was_counted_as_spent_when_its_worker_seemed_dead_is_not_counted_again() -> None:
    found = ledger(spent=200)  # all that it had set aside was taken for lost
    found.settle(Settlement(Amount(200), Amount(40)))
    assert (found.mine, found.spent) == (Amount(0), Amount(200))
    found.settle(Settlement(Amount(200), Amount(260)))  # an endpoint that counts more is believed
    assert found.spent == Amount(260)


def test_money_is_bounded_too() -> None:
    found = Ledger((None, 1.0), Amount(5, 0.6), Amount(), Amount(5, 0.2))
    assert found.spend(Amount(1, 0.1))
    assert not found.reserve(Amount(1, 0.2))
    assert found.reserve(Amount(1, 0.1))
