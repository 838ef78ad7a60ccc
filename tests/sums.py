"""A small benchmark of sums, and replies to it that can be told right from wrong."""

import json
import re
from pathlib import Path
from typing import Any

from loopback import Reply, completion

from constraint_first.problem import Problem
from constraint_first.protocol import Call


def sums(count: int) -> tuple[Problem, ...]:
    """Pose sums; the nth is about the number n."""
    return tuple(Problem(_text(n), id=f"p{n}", answer=str(n + 1)) for n in range(count))


def write_sums(path: Path, count: int) -> Path:
    """Write the same problems into a file of one's own."""
    rows = ({"id": p.id, "problem": p.text, "answer": p.answer} for p in sums(count))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def number_in(asked: object) -> int:
    """Find out which problem a call or a request is about."""
    found = re.search(r"What is (\d+) \+ 1", str(asked))
    assert found, asked
    return int(found[1])


def right(call: Call) -> str:
    """Answer a call correctly."""
    return f"It is \\boxed{{{number_in(call) + 1}}}."


def reply_right(body: dict[str, Any]) -> Reply:
    """Answer a request correctly."""
    return completion(f"It is \\boxed{{{number_in(body) + 1}}}.")


def _text(n: int) -> str:
    return f"What is {n} + 1?"
