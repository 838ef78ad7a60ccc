import hashlib
import os
from pathlib import Path

import platformdirs
import pytest

from constraint_first.model.error import ModelFileError
from constraint_first.model.pull import (
    DEFAULT_MODEL,
    Model,
    catalogue,
    find_model,
    model_folder,
    sha256_of,
)

CONTENT = b"a small model"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFR_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def model() -> Model:
    """A model whose file is here."""
    found = Model(
        name="small",
        file="small.gguf",
        license="none",
        bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        about="",
        context=64,
        hugging_face=None,
        parts=(),
    )
    found.path.parent.mkdir(parents=True)
    found.path.write_bytes(CONTENT)
    return found


def test_the_catalogue_pins_every_file() -> None:
    assert next(iter(catalogue())) == DEFAULT_MODEL
    for entry in catalogue().values():
        assert sum(part.bytes for part in entry.parts) == entry.bytes
        assert len(entry.sha256) == 64
        assert entry.path.parent == model_folder()
        numbers = [
            int("".join(filter(str.isdigit, part.member.split("/")[-1])) or 0)
            for part in entry.parts
        ]
        assert numbers == sorted(numbers)
    with pytest.raises(ModelFileError, match="choose from qwen"):
        find_model("gpt-7")


def test_models_of_the_catalogue_tell_their_licence_and_context() -> None:
    for entry in catalogue().values():
        assert entry.file.endswith(".gguf")
        assert entry.license
        assert entry.about
        assert entry.context >= 2_048
        assert find_model(entry.name) is entry


def test_where_model_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_folder() == tmp_path / "cache" / "models"
    monkeypatch.delenv("CFR_CACHE")
    assert model_folder() == platformdirs.user_cache_path("constraint-first") / "models"


def test_a_hash_is_that_of_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "large"
    data = os.urandom(2**22 + 5)
    path.write_bytes(data)
    read: list[int] = []
    assert sha256_of(path, read.append) == hashlib.sha256(data).hexdigest()
    assert read == [2**22, 5]


def test_a_file_that_is_as_it_should_be(model: Model) -> None:
    read: list[int] = []
    model.verify(read.append)
    assert read == [len(CONTENT)]
    assert (model.path.parent / "small.gguf.verified").is_file()


def test_a_file_that_is_not_here(model: Model) -> None:
    assert model.present
    assert model.remove()
    assert not model.present
    assert not model.remove()
    with pytest.raises(ModelFileError, match="small: not on this machine; run 'cfr models pull'"):
        model.verify()


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT[:-1] + b"?", CONTENT + b"!"])
def test_a_file_that_is_another(model: Model, content: bytes) -> None:
    model.path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"wrong size or SHA-256\); run 'cfr models remove"):
        model.verify()


def test_a_file_is_hashed_again_only_when_it_has_changed(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []

    def counted(path: Path, _progress: object) -> str:
        hashed.append(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr("constraint_first.model.pull.sha256_of", counted)
    model.verify_if_changed()
    model.verify_if_changed()
    assert hashed == [model.path]
    os.utime(model.path, ns=(1, 1))
    model.verify_if_changed()
    assert len(hashed) == 2


def test_a_change_under_a_restored_time_is_found(model: Model) -> None:
    model.verify()
    before = model.path.stat()
    model.path.write_bytes(CONTENT[:-1] + b"?")
    os.utime(model.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert model.path.stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(ModelFileError, match="wrong size or SHA-256"):
        model.verify_if_changed()


def test_another_file_in_its_place_is_found(model: Model, tmp_path: Path) -> None:
    model.verify()
    other = tmp_path / "other"
    other.write_bytes(CONTENT[:-1] + b"?")
    stat = model.path.stat()
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(model.path)
    with pytest.raises(ModelFileError, match="wrong size or SHA-256"):
        model.verify_if_changed()


def test_a_change_while_it_is_checked_is_found_the_next_time(model: Model) -> None:
    model.verify(lambda _bytes: os.utime(model.path, ns=(1, 1)))
    hashed: list[int] = []
    model.verify_if_changed()
    model.verify(hashed.append)
    assert hashed == [len(CONTENT)]


def test_a_note_of_an_older_version_is_no_note(model: Model) -> None:
    stat = model.path.stat()
    stamp = model.path.with_name("small.gguf.verified")
    stamp.write_text(f"{model.sha256} {stat.st_size} {stat.st_mtime_ns}")
    model.path.write_bytes(b"?" * len(CONTENT))
    os.utime(model.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(ModelFileError, match="wrong size or SHA-256"):
        model.verify_if_changed()


def test_the_note_of_a_check_goes_through_no_link(model: Model, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    stamp = model.path.with_name("small.gguf.verified")
    stamp.symlink_to(mine)
    model.verify()
    assert mine.read_text() == "precious"
    assert not stamp.is_symlink()


def test_removing_a_model_forgets_that_it_was_checked(model: Model) -> None:
    model.verify()
    assert model.remove()
    assert list(model.path.parent.iterdir()) == []
