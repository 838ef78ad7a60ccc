from __future__ import annotations

from typing import Any

import pytest
from pictures import check, elements, words

from constraint_first.report.canvas import Caption, Figure, load, sheet

CAPTION = Caption("sheet", "A sheet", ("fig:sheet",))


def _drawn(text: str, x: float = 1.0) -> Figure:
    with sheet(2.0) as page:
        page.line(x, 1.0, text)
        return page.finish(CAPTION, "A word.", ["A note."])


def test_a_sheet_becomes_a_figure() -> None:
    figure = check(_drawn("word"))
    assert (figure.name, figure.title, figure.paper) == ("sheet", "A sheet", ("fig:sheet",))
    assert figure.notes == ("A note.",)
    assert words(figure) == ["word"]


def test_settings_are_put_back() -> None:
    settings: Any = load().rcParams
    before = dict(settings)
    _drawn("word")
    assert dict(settings) == before


def test_a_persons_own_settings_change_nothing() -> None:
    plain = _drawn("$x$")
    own = {"font.size": 30, "svg.fonttype": "path", "savefig.dpi": 10, "figure.facecolor": "red"}
    with load().rc_context(own):
        assert _drawn("$x$") == plain


@pytest.mark.parametrize("x", [-1.0, 1.0, 6.5])
def test_the_sheet_grows_for_what_reaches_over_its_edge(x: float) -> None:
    figure = check(_drawn("a word that takes room", x))
    width = float(elements(figure)[0].attrib["viewBox"].split()[2])
    assert width == pytest.approx(6.72 * 72, abs=0.1) if x == 1.0 else width > 6.8 * 72
