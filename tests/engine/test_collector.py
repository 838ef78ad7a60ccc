import gc

from constraint_first.attempt.drive import collecting_rarely


def test_the_collector_has_its_own_pace_again_afterwards() -> None:
    before = gc.get_threshold()
    with collecting_rarely():
        assert gc.get_threshold()[0] >= 20_000
        assert gc.get_threshold()[1:] == before[1:]
    assert gc.get_threshold() == before


def test_one_that_is_off_stays_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with collecting_rarely():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
