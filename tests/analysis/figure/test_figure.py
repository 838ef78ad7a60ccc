from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.analysis.figure.figure import Figure, FigureError, file_stem, save

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


def test_plain_words_make_plain_names() -> None:
    assert file_stem("grid", "aime25") == "grid-aime25"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_words_make_safe_names_that_tell_them_apart(one: str, other: str) -> None:
    stems = file_stem(one), file_stem(other)
    for stem in stems:
        assert stem.isascii()
        assert stem.replace("-", "").isalnum()
        assert len(stem) < 60
    assert (one == other) == (stems[0] == stems[1])
