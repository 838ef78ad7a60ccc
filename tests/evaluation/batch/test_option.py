from pathlib import Path

import pytest

from constraint_first.model.batch import FileLimits
from constraint_first.run.grid import BatchOptions


def test_calls_are_single_unless_somebody_wants_batches() -> None:
    assert not BatchOptions().wanted
    assert BatchOptions(batch=True).wanted
    assert BatchOptions(batch=True).folder is None
    assert BatchOptions().limits == FileLimits(50_000, 200_000_000)


def test_a_folder_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = BatchOptions(batch_dir="waves", batch_file_requests=3, batch_file_bytes=9)
    assert options.wanted
    assert options.folder == tmp_path / "waves"
    assert options.limits == FileLimits(3, 9)


def test_a_provider_takes_half_of_the_price_unless_told_otherwise() -> None:
    assert BatchOptions(batch=True).price_factor == 0.5
    assert BatchOptions(batch_dir="waves").price_factor == 1.0
    assert BatchOptions(batch=True, batch_price_factor=0.25).price_factor == 0.25
