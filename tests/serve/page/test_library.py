from pathlib import Path

import pytest
from paged_store import ITEMS, make_store
from stored import attempt

from constraint_first.error import CfrError
from constraint_first.serve.page.site import ALL, RunLibrary, RunSource
from constraint_first.serve.setting import RequestError
from constraint_first.store import schema
from constraint_first.store.store import Store

FEW = ITEMS[:2]


def test_sources_go_by_numbers_and_each_is_there_once(tmp_path: Path) -> None:
    library = RunLibrary(["a.db", "b.jsonl", "a.db"])
    assert [(one.number, one.url, one.is_store) for one in library.sources] == [
        (1, "a.db", True),
        (2, "b.jsonl", False),
    ]
    for number in (0, 3, 99, -1):
        with pytest.raises(RequestError, match="no such store"):
            library.source(number)


def test_a_password_is_not_shown() -> None:
    source = RunSource(1, "postgresql://me:secret@host/db")
    assert "secret" not in source.name


def test_a_study_is_read_again_when_its_store_has_changed(tmp_path: Path) -> None:
    url = make_store(tmp_path / "runs.db", FEW, runs=1)
    library = RunLibrary([url])
    first = library.study(1)
    assert library.study(1) is first
    with Store(url) as store:
        row = attempt(1, 1, 7)
        store.change(lambda c: c.execute(schema.attempts.insert(), row))
    second = library.study(1)
    assert second is not first
    assert len(list(second.all_attempts())) == len(list(first.all_attempts())) + 1


def test_all_sources_can_be_one_study(tmp_path: Path) -> None:
    one = make_store(tmp_path / "one.db", FEW, runs=1)
    two = make_store(tmp_path / "two.db", FEW, runs=1, model="m-2")
    library = RunLibrary([one, two])
    assert library.study(ALL).names("model") == ["m-1", "m-2"]
    assert library.study(2).names("model") == ["m-2"]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(CfrError, match="no runs were named"):
        RunLibrary([]).study(ALL)
    with pytest.raises(CfrError, match="there is no such store"):
        RunLibrary([str(tmp_path / "gone.db")]).study(1)
    with Store(str(tmp_path / "empty.db")):
        pass
    with pytest.raises(CfrError, match="no attempts yet"):
        RunLibrary([str(tmp_path / "empty.db")]).study(1)


def test_a_database_on_a_server_has_a_stamp_too(postgres: str) -> None:
    with Store(postgres) as store:
        source = RunSource(1, postgres)
        before = source.stamp()
        assert source.is_store
        assert before == source.stamp()
        schema.METADATA.drop_all(store.database)
