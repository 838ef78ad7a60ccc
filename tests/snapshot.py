"""Texts that must not change unnoticed: compared with files that CFR_SNAPSHOT=write renews."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def assert_unchanged(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("CFR_SNAPSHOT") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
