"""Golds read back out of sentences: every set of the data folder, every way to state an answer.

    .venv/bin/python perf/golds.py [--data DIR] [--show N]

A gold is put into a sentence, the answer is read out of it, and must be equal to the gold. A gold
that is not equal to itself is counted apart: it is no value, or one that cannot be read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter
from pathlib import Path

from cfr.answer import GradingCase, grade_each

HERE = Path(__file__).parent
DATA = Path(os.environ.get("CFR_DATA", HERE.parents[1] / "shared" / "data"))
REASONING = "Let us work through this. The first step gives 17, and 17 + 4 = 21.\n\n"
TEMPLATES = {
    "the answer is G.": REASONING + "So the answer is {}.",
    "The answer is $G$.": REASONING + "The answer is ${}$.",
    r"The answer is \(G\).": REASONING + r"The answer is \({}\).",
    "So the final answer is: G": REASONING + "So the final answer is: {}",
    "**Answer:** G": REASONING + "**Answer:** {}",
    "**Final answer: G**": REASONING + "**Final answer: {}**",
    r"\boxed{G}": REASONING + r"Therefore we get $\boxed{{{}}}$.",
    r"The answer is \boxed{G}.": REASONING + r"The answer is \boxed{{{}}}.",
    "#### G": REASONING + "#### {}",
    "Therefore, x = $G$.": REASONING + "Therefore, $x = {}$.",
    "G on the last line": REASONING + "{}",
    "$G$ on the last line": REASONING + "${}$",
    "G alone": "{}",
    "JSON": '{{"final_answer": "{}"}}',
}
_NAMED = re.compile(r"[=<>≤≥≠:]|\\(?:leq?|geq?|neq?|in)(?![a-z])|\\text|[A-Za-z]{3,}")


def golds(data: Path) -> dict[str, list[str]]:
    """The distinct golds of every set."""
    found: dict[str, list[str]] = {}
    for path in sorted((*data.glob("*.jsonl"), *data.glob("panel/*.jsonl"))):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        answers = {str(row["answer"]) for row in rows if row.get("answer") not in (None, "")}
        if answers:
            found[path.stem] = sorted(answers)
    return found


def stated(name: str, gold: str) -> str:
    """A reply that states a gold; dollar signs that the gold brings along are not doubled."""
    bare = re.fullmatch(r"\$([^$]+)\$", gold)
    inner = bare[1] if bare and ("$" in name or "(" in name or "box" in name) else gold
    if name == "JSON":
        inner = json.dumps(gold)[1:-1]
    return TEMPLATES[name].format(inner)


def fits(name: str, gold: str) -> bool:
    """Whether a person could write this gold so."""
    if name.startswith("Therefore, x") and _NAMED.search(gold):
        return False
    in_maths = "$" in name or r"\(" in name
    words = re.search(
        r"(?<![\\A-Za-z])[A-Za-z]{3,}(?! *[({])", re.sub(r"\\[A-Za-z]+(?:\{[^{}]*\})?", "", gold)
    )
    return not (in_maths and ("$" in gold.strip("$") or words))


def main() -> None:
    """Print, for every set and way to state an answer, how many golds were read back."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="failures a cell")
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    for name, every in golds(options.data).items():
        if options.sets and not re.search(options.sets, name):
            continue
        itself = list(grade_each(GradingCase(gold + " ", gold) for gold in every))
        values = [gold for gold, verdict in zip(every, itself, strict=True) if verdict.correct]
        print(f"\n{name}: {len(every)} golds, {len(every) - len(values)} not equal to themselves")
        for how in TEMPLATES:
            chosen = [gold for gold in values if fits(how, gold)]
            cases = [GradingCase.from_reply(stated(how, gold), gold) for gold in chosen]
            verdicts = list(grade_each(cases))
            lost = [
                (gold, verdict.answer)
                for gold, verdict in zip(chosen, verdicts, strict=True)
                if not verdict.correct
            ]
            totals["read"] += len(chosen) - len(lost)
            totals["lost"] += len(lost)
            print(f"  {how:28} {len(chosen) - len(lost):5} of {len(chosen):5}")
            for gold, answer in lost[: options.show]:
                print(f"      {gold!r} -> {answer!r}")
    print(f"\n{totals['read']} of {totals['read'] + totals['lost']} read back")


if __name__ == "__main__":
    main()
