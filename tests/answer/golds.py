"""The golds of every set at hand, each stated in many kinds of replies."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

DATA = Path(os.environ.get("CFR_DATA", Path(__file__).parents[3] / "shared" / "data"))

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
