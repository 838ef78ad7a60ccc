"""Tables of what functions give: a JSON object a line with the function, its arguments, its result
and what the line shows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Function: TypeAlias = (
    Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
)


def wrong_results(
    table: Path, functions: Mapping[str, Function]
) -> dict[str, list[tuple[Any, Any, Any]]]:
    """List arguments, result and expected result where they differ, by what the line shows."""
    wrong: defaultdict[str, list[tuple[Any, Any, Any]]] = defaultdict(list)
    tested = set[str]()
    for line in table.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tested.add(row["of"])
        function: Callable[..., Any] = functions[row["of"]]
        # What JSON makes of a result: tuples become lists.
        found = json.loads(json.dumps(function(*row["args"])))
        if found != row["result"]:
            wrong[f"{row['of']}: {row['shows']}"].append((row["args"], found, row["result"]))
    assert tested == functions.keys(), "each function has a line"
    return dict(wrong)
