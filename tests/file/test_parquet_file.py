"""Real files where pyarrow is installed; without it, what to install is said."""

import importlib.util
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from constraint_first.error import InputError
from constraint_first.file.rows import JsonLine, scan_parquet


def test_values_become_those_of_json(tmp_path: Path) -> None:
    arrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed here")
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    columns = {
        "id": [1, None],
        "problem": ["P", "Q"],
        "answer": [4.5, float("nan")],
        "day": [date(2024, 1, 2), None],
        "price": [Decimal("1.50"), None],
        "raw": [b"x", None],
        "nested": [{"a": [1, None]}, None],
        "sure": [True, False],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "x.parquet")
    first, second = scan_parquet(tmp_path / "x.parquet")
    assert first == JsonLine(
        1,
        {
            "id": 1,
            "problem": "P",
            "answer": 4.5,
            "day": "2024-01-02",
            "price": "1.50",
            "raw": "x",
            "nested": {"a": [1, None]},
            "sure": True,
        },
        "row",
    )
    assert second.place == "row 2"
    assert (second.value["id"], second.value["answer"], second.value["nested"]) == (None,) * 3


def test_a_file_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed here")
    for data in (b"", b"no", b"PAR1" + b"x" * 50 + b"PAR1"):
        (tmp_path / "x.parquet").write_bytes(data)
        with pytest.raises(InputError, match=r"x.parquet: not a Parquet file that can") as caught:
            list(scan_parquet(tmp_path / "x.parquet"))
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is here")
def test_without_the_library_what_to_install_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"x.parquet: reading Parquet needs pip .*\[parquet\]"):
        list(scan_parquet(tmp_path / "x.parquet"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x.parquet: cannot be read \(No such file"):
        list(scan_parquet(tmp_path / "x.parquet"))
