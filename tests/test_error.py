from package_modules import import_all

from constraint_first.error import CfrError, InputError, OutputError


def all_errors(kind: type[CfrError]) -> set[type[CfrError]]:
    return {kind, *(found for sub in kind.__subclasses__() for found in all_errors(sub))}


def test_a_wrong_file_is_a_wrong_input_to_a_shell() -> None:
    assert (CfrError.exit_code, InputError.exit_code, OutputError.exit_code) == (1, 2, 2)
    assert issubclass(InputError, CfrError)
    assert issubclass(OutputError, CfrError)


def test_the_message_is_kept_as_it_stands() -> None:
    assert str(InputError("x.jsonl: cannot be read")) == "x.jsonl: cannot be read"


def test_every_error_of_the_package_tells_a_shell_that_it_failed() -> None:
    import_all()
    codes = {
        kind.__name__: kind.exit_code
        for kind in all_errors(CfrError)
        if kind.__module__.startswith("constraint_first.")
    }
    assert {"InputError", "StoreError", "EngineError", "MethodError"} <= codes.keys()
    # 0 would be success; 126 and above are what shells say of a command themselves.
    assert all(0 < code < 126 for code in codes.values()), codes
