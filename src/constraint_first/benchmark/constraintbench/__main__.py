"""``python -m constraint_first.benchmark.constraintbench``: draw the shipped splits anew.

It writes ``public.jsonl`` and ``hard.jsonl`` into the folder that it is given and prints the lines
of ``split.py`` that must then say the same.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from constraint_first.benchmark.constraintbench.item import SEED, USUAL_LEVELS, Level, encode
from constraint_first.benchmark.constraintbench.make import FAMILIES, generate

_HARD: tuple[Level, ...] = (4,)
# So many of each family at each level: some 700 problems, and some 120 hard ones.
_RECIPES: dict[str, tuple[tuple[Level, ...], int]] = {
    "public": (USUAL_LEVELS, 5),
    "hard": (_HARD, 15),
}


def _release(folder: Path) -> None:
    for name, (levels, each) in _RECIPES.items():
        cells = sum(level in family.levels for family in FAMILIES.values() for level in levels)
        content = encode(generate(SEED, each * cells, levels=levels))
        (folder / f"{name}.jsonl").write_bytes(content)
        sys.stdout.write(f"{name.upper()}_SIZE: Final = {each * cells}\n")
        sys.stdout.write(f'    "{name}": "{hashlib.sha256(content).hexdigest()}",\n')


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m constraint_first.benchmark.constraintbench FOLDER")
    _release(Path(sys.argv[1]))
