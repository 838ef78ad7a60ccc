"""A small benchmark of requests with gold instructions, and replies that follow some of them."""

import json
import re
from pathlib import Path

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import run_sync
from constraint_first.benchmark.registry import GoldInstruction, write_instructions
from constraint_first.problem import Problem
from constraint_first.protocol import Call
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

NO_COMMA = GoldInstruction("punctuation:no_comma")
FEW_WORDS = GoldInstruction(
    "length_constraints:number_words", {"relation": "less than", "num_words": 10}
)
TITLE = GoldInstruction("detectable_format:title")


def requests(count: int) -> tuple[Problem, ...]:
    """Pose requests; every reply must be short and without commas, every second have a title."""
    return tuple(
        Problem(f"Write about thing {n}.", id=f"r{n}", answer=write_instructions(_asked(n)))
        for n in range(count)
    )


def _asked(n: int) -> list[GoldInstruction]:
    return [NO_COMMA, FEW_WORDS, *([TITLE] if n % 2 else [])]


def replies(call: Call) -> str:
    """Follow every instruction but the title; that one in every fourth reply alone."""
    found = re.search(r"thing (\d+)", str(call.messages))
    assert found, call
    n = int(found[1])
    return f"<<Thing {n}>>\nIt is there." if n % 4 == 1 else f"Thing {n} is there."


def titled_replies(call: Call) -> str:
    """Follow every instruction after a line that has a comma, and so breaks one strictly."""
    found = re.search(r"thing (\d+)", str(call.messages))
    ahead = "Well, here:\n" if found and int(found[1]) % 3 == 0 else ""
    return f"{ahead}<<Thing>>\nIt is there."


def request_store(url: str, count: int = 12, runs: int = 2) -> str:
    """Run two methods on the requests; the second has all titles, and some commas."""
    with Store(url) as store:
        for method, reply in (("direct", replies), ("reminder", titled_replies)):
            series = Series("requests", method, "m")
            run_sync(
                run(store, [prepare(store, series, requests(count), runs, Scripted(reply))], 4)
            )
    return url


def write_requests(path: Path, count: int) -> Path:
    """Write the same requests into a file of one's own."""
    rows = (
        {
            "id": f"r{n}",
            "problem": f"Write about thing {n}.",
            "instructions": [{"id": one.kind, "kwargs": {**one.arguments}} for one in _asked(n)],
        }
        for n in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
