"""What the adapter takes from inside Inspect is there, and does what it is taken for."""

from __future__ import annotations

import pytest
from inspecting import NEEDS_INSPECT

from constraint_first.error import InputError

pytestmark = NEEDS_INSPECT
pytest.importorskip("inspect_ai", reason="inspect_ai (the extra `inspect`) is not installed")

from inspect_ai._util.registry import registry_name  # noqa: E402  # pyright: ignore[reportPrivateUsage]
from rich.text import Text  # noqa: E402

from constraint_first.adapter.inspect import PrerequisiteError, as_prerequisite, qualify  # noqa: E402


def test_names_have_the_package_ahead_of_them_once() -> None:
    def factory() -> None: ...

    assert qualify(factory, "direct") == "cfr/direct"
    # Inspect adds no prefix of its own, neither for an installed package nor for an editable one.
    assert registry_name(factory, "cfr/direct") == "cfr/direct"


def test_errors_are_printed_as_they_stand() -> None:
    with pytest.raises(PrerequisiteError) as raised, as_prerequisite():
        raise InputError("file 'a[red].csv': gone")
    assert Text.from_markup(str(raised.value.message)).plain == "file 'a[red].csv': gone"
    assert raised.value.__suppress_context__
