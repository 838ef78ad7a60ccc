from constraint_first.answer.workers import PROGRAM
from constraint_first.process import Pool


def test_the_module_serves_the_symbolic_tier() -> None:
    with Pool(PROGRAM, 1) as pool:
        assert pool.ask("judge", "2x", "x+x", False) == [True, "equal symbolically"]
        assert pool.ask("judge", "2x", "x", False) == [False, "different symbolically"]
        assert pool.ask("is_whole", r"\pi") is False
