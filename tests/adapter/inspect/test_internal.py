"""What the adapter takes from inside Inspect is there, and does what it is taken for."""

from __future__ import annotations

import pytest
from inspecting import NEEDS_INSPECT

from cfr.error import InputError

pytestmark = NEEDS_INSPECT
pytest.importorskip("inspect_ai", reason="inspect_ai (the extra `inspect`) is not installed")

from inspect_ai.model import get_model  # noqa: E402
from rich.text import Text  # noqa: E402

from cfr.adapter.inspect.internal import (  # noqa: E402
    PrerequisiteError,
    as_prerequisite,
    as_sample_error,
    qualify,
)


def test_names_have_the_package_ahead_of_them_once() -> None:
    assert qualify(test_names_have_the_package_ahead_of_them_once, "direct") == "cfr/direct"
    # Inspect itself puts it there for what is installed.
    assert qualify(get_model, "direct") == "direct"


def test_errors_are_printed_as_they_stand() -> None:
    with pytest.raises(PrerequisiteError) as raised, as_prerequisite():
        raise InputError("file 'a[red].csv': gone")
    assert Text.from_markup(str(raised.value.message)).plain == "file 'a[red].csv': gone"
    assert raised.value.__suppress_context__


def test_errors_of_a_sample_are_told_as_they_stand() -> None:
    with pytest.raises(PrerequisiteError) as raised, as_sample_error():
        raise InputError("sample 1 [x]: gone")
    assert raised.value.message == "sample 1 [x]: gone"
