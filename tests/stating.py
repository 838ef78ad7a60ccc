"""What a text states, as the sentences that a person is shown."""

from __future__ import annotations

from constraint_first.constraint.stated.read import read_stated


def said(text: str) -> set[str]:
    return {one.sentence for one in read_stated(text)}
