"""What edits alone bring on IFEval: stored replies of a model, as they are and edited.

    python tests/edit_measure.py

The replies are 990 to 495 requests, two each (``ifeval-replies.jsonl.gz`` beside ``ifeval.jsonl``
in ``../shared/data``, or where ``CFR_DATA`` says). Demands are read from the request's text; a
reply is right if it follows all gold instructions of its request, by the strict checks. The
interval is a bootstrap over requests.
"""

import gzip
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from constraint_first.constraint.reply.instruction import instruction_predicate, is_followed
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.report.statistics import bootstrap

DATA = Path(os.environ.get("CFR_DATA") or Path(__file__).parent.parent.parent / "shared" / "data")
REPLIES = DATA / "ifeval-replies.jsonl.gz"


@dataclass
class Measured:
    """Replies that are right as they are and edited; gains by request, of two replies each."""

    plain: int = 0
    edited: int = 0
    replies: int = 0
    changed: int = 0
    broken: int = 0
    """Right replies that an edit made wrong."""
    gains: Counter[str] = field(default_factory=Counter[str])

    def __str__(self) -> str:
        low, high = bootstrap(
            [*self.gains.values()], 100 * len(self.gains) / self.replies
        ).interval()
        return (
            f"{self.replies} replies to {len(self.gains)} requests: as they are "
            f"{100 * self.plain / self.replies:.1f}, edited {100 * self.edited / self.replies:.1f} "
            f"(+{100 * (self.edited - self.plain) / self.replies:.1f} "
            f"[{low:.1f}, {high:.1f}]); {self.changed} edited, "
            f"{self.broken} right ones made wrong"
        )


def measure() -> Measured:
    requests = {
        row["id"]: row
        for row in map(json.loads, (DATA / "ifeval.jsonl").read_text("utf-8").splitlines())
    }
    demands = {name: read_demands(row["problem"]) for name, row in requests.items()}
    gold = {
        name: [instruction_predicate(one["id"], one["kwargs"]) for one in row["instructions"]]
        for name, row in requests.items()
    }
    found = Measured()
    with gzip.open(REPLIES, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            name, text = row["id"], row["text"]
            after = repair_reply(demands[name], text)
            before, edited = (
                all(one is not None and is_followed(one, reply) for one in gold[name])
                for reply in (text, after)
            )
            found.replies += 1
            found.plain += before
            found.edited += edited
            found.changed += after != text
            found.broken += before and not edited
            found.gains[name] += edited - before
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{measure()}\n")
