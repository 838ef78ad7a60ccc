"""Rows for a store's tables, made by hand: an attempt without anybody having attempted it."""

from typing import Any


def attempt(series: int, problem: int, run: int = 0, **values: Any) -> dict[str, Any]:
    """Make an attempt that ended well; what is given stands instead."""
    key = {"series": series, "problem": problem, "run": run}
    ended = {"status": "ok", "verdict": "correct", "tier": "exact", "answer": "1"}
    tokens = {"input_tokens": 1, "output_tokens": 2, "reasoning_tokens": 0, "cached_tokens": 0}
    rest = {"seconds": 0.5, "finished_at": 1.0, "error": None, "details": "{}", "text": "It is 1."}
    return key | ended | tokens | rest | values
