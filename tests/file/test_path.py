from pathlib import Path

import pytest

from constraint_first.file.safe import expand_user


def test_a_home_folder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert expand_user("~/x.jsonl") == Path("/home/ada/x.jsonl")
    assert expand_user("x~.jsonl") == Path("x~.jsonl")


def test_that_of_nobody_is_left_as_it_is() -> None:
    assert expand_user("~nobody-here/x.jsonl") == Path("~nobody-here/x.jsonl")
