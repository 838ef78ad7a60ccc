from __future__ import annotations

from pathlib import Path

import pytest

from constraint_first.report.canvas import Figure, FigureError, save

FIGURE = Figure("gains", "Gains", "Bars.", (), "<svg>−</svg>", b"\x89PNG")


def test_a_figure_is_kept_as_two_files(tmp_path: Path) -> None:
    svg, png = save(FIGURE, tmp_path / "new" / "folder")
    assert svg == tmp_path / "new" / "folder" / "gains.svg"
    assert svg.read_text(encoding="utf-8") == "<svg>−</svg>\n"
    assert png.read_bytes() == b"\x89PNG"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FigureError, match=r"file.*choose a folder that can be written"):
        save(FIGURE, tmp_path / "file")
