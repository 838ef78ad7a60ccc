from __future__ import annotations

import subprocess
import sys

import pytest

from constraint_first.report.canvas import Estimate, load
from constraint_first.report.exhibit.gains import GainBar, draw_gains
from constraint_first.report.notation import MissingExtra


def test_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra) as raised:
        load()
    assert str(raised.value) == "reports need matplotlib: pip install 'constraint-first[report]'"
    with pytest.raises(MissingExtra):
        draw_gains([GainBar("a", "b", Estimate(1.0))])


def test_matplotlib_is_imported_when_a_figure_is_drawn_and_pyplot_never() -> None:
    code = (
        "import sys\n"
        "from constraint_first.report.canvas import Estimate\n"
        "from constraint_first.report.exhibit.gains import GainBar, draw_gains\n"
        "assert 'matplotlib' not in sys.modules\n"
        "draw_gains([GainBar('a', 'b', Estimate(1.0))])\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
