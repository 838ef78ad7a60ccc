"""The splits that ship with the package, of this version and of version 1."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal, TypeAlias, get_args

from constraint_first.benchmark.constraintbench.item import Item
from constraint_first.error import CfrError

__all__ = [
    "HARD_SIZE",
    "PUBLIC_SIZE",
    "SEED",
    "SHA256",
    "SPLITS",
    "Split",
    "SplitError",
    "find_item",
    "is_constraintbench",
    "load",
    "split_bytes",
    "split_name",
]

Split: TypeAlias = Literal["public", "mini", "hard", "public@1", "mini@1"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)

# `generate(SEED, PUBLIC_SIZE)` and `generate(SEED, HARD_SIZE, levels=(4,))` give the shipped files
# byte for byte. Each size divides evenly over the families and the levels of its split; the first
# 24 of `public` hold 6 of each tier and 8 of each level. CONTRIBUTING.md has how they are made.
SEED: Final = 2027
PUBLIC_SIZE: Final = 705
HARD_SIZE: Final = 120
_MINI_SIZE: Final = 24
SHA256: Final[dict[Split, str]] = {
    "public": "f7de99febb627cc484b7e28aa60455ee8705259fe68b2b7583954c1e80a09304",
    "hard": "93f527d56938eb2ac32f3ef1111dfb64c825e7c3d4686b28b64e260a45cccac1",
    "public@1": "8bce5c1685e735eabf33df8651658fb3be16ecb40984ffef08852c3a5749b684",
}
"""What the files hash to; a mini split is the beginning of a public one."""
_FILES: Final[dict[Split, str]] = {
    "public": "2/public.jsonl",
    "hard": "2/hard.jsonl",
    "public@1": "1/public.jsonl",
}


class SplitError(CfrError):
    """A shipped split that is missing or has been changed."""


def is_constraintbench(benchmark: str) -> bool:
    """Say whether a benchmark goes by the name of ConstraintBench, or of a split of it."""
    return benchmark.startswith("constraintbench")


def split_name(split: Split) -> str:
    """Name a split as a benchmark: public is the benchmark itself, @ sets an old version apart."""
    kind, at, version = split.partition("@")
    return "constraintbench" + ("" if kind == "public" else f"-{kind}") + at + version


def load(name: Split) -> Sequence[Item]:
    """Read a shipped split."""
    if name not in SPLITS:
        raise SplitError(f"no split is called {name!r}; there are {', '.join(SPLITS)}")
    if name in ("mini", "mini@1"):
        return _items("public" if name == "mini" else "public@1")[:_MINI_SIZE]
    return _items(name)


def find_item(name: str) -> Item | None:
    """Find a shipped problem by its id, which is its own through all splits and versions."""
    return _by_id().get(name)


def split_bytes(name: Split) -> bytes:
    """Read a shipped file and make sure that it is the one that was released."""
    path = f"benchmark/constraintbench/data/{_FILES[name]}"
    try:
        folder = resources.files("constraint_first.benchmark.constraintbench") / "data"
        content = (folder / _FILES[name]).read_bytes()
    except OSError:
        raise SplitError(f"the package has lost its {path}; install it again") from None
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise SplitError(
            f"{path} is not the released file (SHA-256 {found[:12]}…, expected "
            f"{SHA256[name][:12]}…); install the package again"
        )
    return content


@cache
def _items(name: Split) -> tuple[Item, ...]:
    return tuple(Item.from_json(json.loads(line)) for line in split_bytes(name).splitlines())


@cache
def _by_id() -> dict[str, Item]:
    return {item.id: item for name in SHA256 for item in _items(name)}
