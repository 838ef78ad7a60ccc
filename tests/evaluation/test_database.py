from pathlib import Path

import pytest

from cfr.evaluation.store import Store, StoreError


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("none/such/runs.db", "there is no folder"),
        ("mysql://h/db", "SQLite or PostgreSQL"),
        ("nonsense://", "SQLite or PostgreSQL|not a store"),
        ("postgresql://me:hush@127.0.0.1:1/x", "cannot be opened"),
    ],
)
def test_an_address_that_is_no_store(
    url: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=message) as caught:
        Store(url)
    assert "hush" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_text("this is not a database, but it is long enough to be looked at " * 20)
    with pytest.raises(StoreError, match="cannot be opened as a store"):
        Store(str(path))
