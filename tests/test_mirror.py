"""Every module has a test file at the mirrored place, or a line here that says which covers it."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src" / "cfr"
MODULES = sorted(
    str(path.relative_to(SOURCES))
    for path in SOURCES.rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)

FAMILIES = "benchmark/constraintbench/families"
COVERED_BY: dict[str, str] = {
    f"{FAMILIES}/{name}.py": f"{FAMILIES}/test_families.py"
    for name in (
        "explicit_count",
        "explicit_digit",
        "explicit_fraction",
        "explicit_list",
        "explicit_people",
        "explicit_total",
        "explicit_unit",
        "implicit_calendar",
        "implicit_contest",
        "implicit_count",
        "implicit_fact",
        "implicit_interval",
        "implicit_length",
        "implicit_purchase",
        "joint_digit",
        "joint_factor",
        "joint_hard",
        "joint_hard_count",
        "joint_multiple",
        "joint_row",
        "joint_story",
        "misleading_chance",
        "misleading_extreme",
        "misleading_measure",
        "misleading_remainder",
        "misleading_rounding",
    )
} | {
    f"constraint/reply/{name}.py": "constraint/reply/test_reader.py"
    for name in (
        "capital_word",
        "directive",
        "division",
        "extent",
        "keyword",
        "letter",
        "letter_case",
        "markup",
        "mention",
        "option",
        "punctuation",
        "repetition",
        "tongue",
        "wording",
        "wrapping",
    )
}
"""Modules without a test file of their own, and the test that goes through them."""


def mirrored(module: str) -> Path:
    path = Path(module)
    return TESTS / path.parent / f"test_{path.name}"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_its_test(module: str) -> None:
    found = TESTS / COVERED_BY[module] if module in COVERED_BY else mirrored(module)
    assert found.is_file(), f"src/cfr/{module} has no {found.relative_to(TESTS.parent)}"
    assert "def test_" in found.read_text()


def test_every_line_is_needed() -> None:
    for module in COVERED_BY:
        assert module in MODULES, f"there is no src/cfr/{module}"
        assert not mirrored(module).exists(), f"{module} has a test file of its own"
