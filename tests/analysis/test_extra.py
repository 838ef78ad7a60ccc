import sys

import pytest

from constraint_first.report.notation import REPORT, MissingExtra, require


@pytest.mark.parametrize("name", REPORT)
def test_a_library_that_is_missing_is_named_with_the_way_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(*REPORT)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"{name}: pip install 'constraint-first\[report\]'"):
        require(*REPORT)
