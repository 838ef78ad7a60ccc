"""A study with something of everything, drawn by a seed, as the files that ``cfr`` reads."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

_KINDS = ("domain", "bound", "parity", "modular", "format", "monotonic", "weird", "")
_RUNGS = ("parsed", "parsed", "parsed", "repaired", "fields", "fallback", "odd")
_TEXTS = (
    "Find the remainder when {n}^3 is divided by 7.",
    "How many integers between 1 and {n} are even?",
    "What is the area of a square of side {n}?",
    "Find the smallest odd integer greater than {n}.",
    "",
)
_SAYS = (
    *("The answer is an integer.", "The answer is between 0 and 999.", "n is even"),
    *("The answer is less than 5", "x is a positive real"),
)
_WRONG = ("3/7", r"1+\sqrt{2}", "-4", "2.5", r"\frac{1}{6}", "1007")
_METHODS = (
    *("direct", "cfr", "routed-cfr", "llm-router", "cfr(reply=prose)", "cfr-brief"),
    "plan-and-solve",
)
_ARMS = [
    (model, benchmark, temperature)
    for model, benchmark, temperature in (
        *(("deepseek-chat", "aime24", 0.7), ("deepseek-chat", "aime24", 0.2)),
        *(("deepseek-chat", "aime25", 0.7), ("deepseek-chat", "mine", 0.7)),
        *(("a/b <i>|</i>", "aime24", 0.7), ("a/b <i>|</i>", "aime25", 0.7)),
    )
]


def _rows() -> Iterator[dict[str, Any]]:
    dice = Random(7)
    for model, benchmark, temperature in _ARMS:
        for method in _METHODS:
            for number in range(10):
                for run in range(1 if benchmark == "mine" else 2):
                    yield _row(dice, (model, benchmark, temperature, method), number, run)


def _row(dice: Random, arm: tuple[str, str, float, str], number: int, run: int) -> dict[str, Any]:
    model, benchmark, temperature, method = arm
    text, gold = _TEXTS[number % 5].format(n=number + 3), str(number * 37 % 50)
    status = dice.choices(["ok", "truncated", "unparsed", "failed"], [20, 1, 2, 1])[0]
    right = status == "ok" and dice.random() < (0.4 if method == "direct" else 0.6)
    answer = None if status != "ok" else gold if right else dice.choice(_WRONG)
    calls = {"stage1": 100, "stage2": 900} if method.startswith("cfr") else {"solve": 200}
    calls = {"router": 2, **calls} if "llm" in method else calls
    return {
        "benchmark": benchmark,
        "problem": f"p{number}",
        "method": method,
        "model": model,
        "problem_text": text or None,
        "gold": gold if number != 3 else None,
        "run": run,
        "decoding": {"temperature": temperature, "top_p": 0.95, "seed": None},
        "status": status,
        "answer": answer,
        "names": 2,
        "finished_at": 1.79e9 + number,
        "verdict": None if status == "failed" else "correct" if right else "incorrect",
        "input_tokens": dice.randint(50, 900),
        "output_tokens": dice.randint(100, 3_000),
        "text": f"I think $x^2$ … {number} <b>|</b> {answer}",
        "details": _details(dice, method, text),
        "stages": {
            stage: {"calls": 1, "input_tokens": 30, "output_tokens": out, "seconds": 0.5}
            for stage, out in calls.items()
        },
    }


def _details(dice: Random, method: str, text: str) -> dict[str, Any]:
    routed = dice.random() < 0.6 if "llm" in method else "How" in text or "integer" in text
    told = {"routed": routed} if "rout" in method else {}
    if method in ("direct", "plan-and-solve") or not told.get("routed", True):
        return told
    rung = dice.choice(_RUNGS)
    raw = [
        {"id": f"C{n}", "type": dice.choice(_KINDS), "description": dice.choice(_SAYS)}
        for n in range(dice.randint(0, 4))
    ]
    derived = {"id": "P1", "derived_from": ["C0"], "description": "It is a whole number."}
    spec = {
        "raw_constraints": raw,
        "propagated_constraints": [derived] * dice.randint(0, 1),
        "critical_constraints": ["C0"],
        "answer_format": "an integer",
        "likely_answer_range": dice.choice(["", "0 to 999"]),
    }
    return told | {"rung": rung} | ({} if rung == "fallback" else {"constraints": spec})


def write_runs(path: Path) -> Path:
    """Write attempts of two models, three benchmarks, two temperatures and seven methods."""
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows()))
    return path


def write_marks(labels: Path, classes: Path) -> None:
    """Write what two people marked of some Stage 1 replies, and how they classed errors."""
    dice = Random(1)
    lines: list[dict[str, Any]] = []
    names = ("benchmark", "problem", "method", "model", "decoding", "run", "names")
    for row in _rows():
        spec = row["details"].get("constraints")
        for person in ("ada", "ben") if spec and dice.random() < 0.2 else ():
            judged = [
                {"id": one["id"], "stage": stage, "mark": dice.choice(["entailed", "vague"])}
                for stage in ("raw", "propagated")
                for one in spec[f"{stage}_constraints"]
            ]
            missing = ["more"] * dice.randint(0, 2)
            line = {"annotator": person, "constraints": judged, "missing": missing}
            lines.append(line | {name: row[name] for name in names})
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = [
        {"problem": f"p{n}", "benchmark": name, "class": dice.choice(["arithmetic", "other"])}
        for name in ("aime24", "aime25")
        for n in range(0, 10, 3)
    ]
    stranger = {"problem": "nope", "class": "other"}
    classes.write_text("".join(json.dumps(line) + "\n" for line in (*given, stranger)))
