from constraint_first.report.study import read_decoding, write_decoding


def test_what_is_no_object_has_no_settings() -> None:
    assert read_decoding("[]") == {}


def test_settings_are_written_as_stores_write_them() -> None:
    assert write_decoding({"seed": None, "temperature": 1}) == '{"temperature":1.0,"seed":null}'
    assert write_decoding("hot") == "{}"
    odd = write_decoding({"system": "\ud800", "seed": 10**30})
    assert read_decoding(odd) == {"seed": 10**30, "system": "\ud800"}
