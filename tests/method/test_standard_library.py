from constraint_first.method.program import AVAILABLE, MODULES


def test_what_is_promised_names_every_module() -> None:
    assert all(module in AVAILABLE for module in MODULES)
    assert "\n" not in AVAILABLE
