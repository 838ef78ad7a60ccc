"""The splits that ship with the package: ``public`` and the small ``mini``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias, get_args

from cfr.benchmark.constraintbench.item import Item
from cfr.error import CfrError

__all__ = [
    "MINI_SIZE",
    "PUBLIC_SEED",
    "PUBLIC_SHA256",
    "PUBLIC_SIZE",
    "SPLITS",
    "Split",
    "SplitError",
    "is_constraintbench",
    "load",
    "public_bytes",
]

Split: TypeAlias = Literal["public", "mini"]
SPLITS: tuple[Split, ...] = get_args(Split)

# `generate(PUBLIC_SEED, PUBLIC_SIZE)` gives the shipped file byte for byte. 480 is 32 families at
# 3 levels, 5 times each; the first 24 already hold 6 of each tier and 8 of each level.
PUBLIC_SEED = 2026
PUBLIC_SIZE = 480
MINI_SIZE = 24
PUBLIC_SHA256 = "8bce5c1685e735eabf33df8651658fb3be16ecb40984ffef08852c3a5749b684"


class SplitError(CfrError):
    """A shipped split that is missing or has been changed."""


def is_constraintbench(benchmark: str) -> bool:
    """Say whether a benchmark goes by the name of ConstraintBench, or of a split of it."""
    return benchmark.startswith("constraintbench")


def load(name: Split) -> Sequence[Item]:
    """Read a shipped split."""
    if name not in SPLITS:
        raise SplitError(f"no split is called {name!r}; there are {' and '.join(SPLITS)}")
    items = _public()
    return items if name == "public" else items[:MINI_SIZE]


def public_bytes() -> bytes:
    """Read the shipped file and make sure that it is the one that was released."""
    try:
        folder = resources.files("cfr.benchmark.constraintbench") / "data"
        content = (folder / "public.jsonl").read_bytes()
    except OSError:
        raise SplitError(
            "the package has lost its benchmark/constraintbench/data/public.jsonl; install it again"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != PUBLIC_SHA256:
        raise SplitError(
            "benchmark/constraintbench/data/public.jsonl is not the released file "
            f"(SHA-256 {found[:12]}…, expected {PUBLIC_SHA256[:12]}…); install the package again"
        )
    return content


@cache
def _public() -> tuple[Item, ...]:
    return tuple(Item.from_json(json.loads(line)) for line in public_bytes().splitlines())
