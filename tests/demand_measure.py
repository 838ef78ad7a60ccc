"""The reader of demands beside the instructions of requests: precision and recall, by kind.

    python tests/demand_measure.py even       # IFEval: the half that the rules were written with
    python tests/demand_measure.py odd        # IFEval: the other half, looked at since
    python tests/demand_measure.py in_sight   # written for this, looked at since
    python tests/demand_measure.py unseen     # written for this, never looked at
    python tests/demand_measure.py nothing    # written for this, none of them demands anything

How the two are compared: both are taken apart into plain statements. A list of words that must be
there is one statement a word (the word occurs at least once), a list of forbidden ones likewise (it
occurs at most zero times); two ends of a count of words, sentences, capital words, occurrences or
letters are two statements, because IFEval has an instruction for each; a case is its letters alone,
since IFEval adds *in English* to every one. A demand that was read is right if all its statements
are among those of the request's instructions. An instruction is found if all its statements were
read. Kinds that IFEval does not know (how a reply begins) are counted apart.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constraint_first.constraint.predicate import Predicate, parts
from constraint_first.constraint.reply.instruction import instruction_predicate
from constraint_first.constraint.reply.reader import read_demands

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "ifeval.jsonl"
WRITTEN = Path(__file__).parent / "constraint" / "reply" / "requests"
TWO_ENDS = {"words", "sentences", "capital_words", "occurrences", "letters"}


@dataclass
class Measured:
    """How many demands were read and right, and how many instructions there are and were found."""

    read: Counter[str] = field(default_factory=Counter[str])
    right: Counter[str] = field(default_factory=Counter[str])
    there: Counter[str] = field(default_factory=Counter[str])
    found: Counter[str] = field(default_factory=Counter[str])
    unknown: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def precision(self) -> float:
        return self.right.total() / self.read.total()

    @property
    def recall(self) -> float:
        return self.found.total() / max(1, self.there.total())


def statements(predicate: Predicate) -> frozenset[str]:
    return frozenset(one for part in parts(predicate) for one in _statements(dict(part)))


def _statements(part: dict[str, Any]) -> Iterable[str]:
    op = part["op"]
    if op in ("contains", "lacks"):
        end = "low 1" if op == "contains" else "high 0"
        yield from (f"occurrences {word.strip().lower()} {end}" for word in part["words"])
    elif op in TWO_ENDS:
        what = str(part.get("word", part.get("letter", ""))).strip().lower()
        yield from (f"{op} {what} {end} {part[end]}" for end in ("low", "high") if end in part)
    elif op == "case":
        yield f"case {part['case']}"
    else:
        yield json.dumps({name: _plain(value) for name, value in part.items()}, sort_keys=True)


def _plain(value: Any) -> Any:
    return " ".join(value.split()).lower() or value if isinstance(value, str) else value


def half_of(rows: Iterable[dict[str, Any]], half: str) -> list[dict[str, Any]]:
    rest = {"even": 0, "odd": 1}[half]
    return [row for row in rows if int(row["id"].rpartition("-")[2]) % 2 == rest]


def measure(rows: Iterable[dict[str, Any]]) -> Measured:
    result = Measured()
    for row in rows:
        demands = read_demands(row["problem"])
        read = [statements(one.predicate) for one in demands]
        gold = [_gold(one) for one in row["instructions"]]
        known, all_read = frozenset[str]().union(*gold), frozenset[str]().union(*read)
        for demand, one in zip(demands, read, strict=True):
            op = str(demand.predicate["op"])
            if op == "begins":
                result.unknown += 1
                continue
            result.read[op] += 1
            result.right[op] += one <= known
            if not one <= known:
                result.wrong.append((row["id"], demand.sentence))
        for instruction, one in zip(row["instructions"], gold, strict=True):
            result.there[instruction["id"]] += 1
            result.found[instruction["id"]] += one <= all_read
    return result


def _gold(instruction: dict[str, Any]) -> frozenset[str]:
    predicate = instruction_predicate(instruction["id"], instruction["kwargs"])
    assert predicate is not None
    return statements(predicate)


def written(name: str) -> list[dict[str, Any]]:
    """Requests that were written for this: ``in_sight``, ``unseen`` or ``nothing``."""
    return [json.loads(line) for line in (WRITTEN / f"{name}.jsonl").read_text().splitlines()]


def main(name: str) -> None:
    if name in ("even", "odd"):
        rows = half_of(map(json.loads, DATA.read_text().splitlines()), name)
    else:
        rows = written(name)
    result = measure(rows)
    for op in sorted(result.read):
        print(f"{op:45} read {result.read[op]:4} right {result.right[op]:4}")  # noqa: T201
    for kind in sorted(result.there):
        print(f"{kind:45} there {result.there[kind]:3} found {result.found[kind]:4}")  # noqa: T201
    right, read = result.right.total(), result.read.total()
    found, there = result.found.total(), result.there.total()
    print(f"{len(rows)} requests: {right} of {read} demands are right, {found} of {there} found")  # noqa: T201
    print(f"precision {result.precision:.4f} recall {result.recall:.4f}")  # noqa: T201
    print(f"kinds that IFEval does not know: {result.unknown}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
