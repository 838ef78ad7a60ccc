"""Table of the settings of every row.

Paper: appendix Implementation Details, "API Configuration".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from cfr.analysis.notation import NONE
from cfr.analysis.study.decoding import read_decoding
from cfr.analysis.study.study import Arm, Study, benchmark_label, model_label
from cfr.analysis.table.decoding import shorten
from cfr.analysis.table.table import Column, Row, Table, row
from cfr.evaluation.series import probe_calls
from cfr.method.registry import MethodError, make

__all__ = ["settings_table"]


def settings_table(study: Study) -> Table:
    """Show how each row of the other tables was decoded, and what its method may spend."""
    groups: dict[tuple[str, str, str], list[Arm]] = {}
    for arm in study.arms:
        if arm.attempts:
            groups.setdefault((arm.model, arm.method, arm.decoding), []).append(arm)
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Benchmarks", "left")),
        *(Column("Temperature"), Column("Top-p"), Column("Seed"), Column("System prompt", "left")),
        *(Column("Runs"), Column("Output budget, tokens", "left"), Column("JSON mode", "left")),
    )
    rows = [_settings_row(arms) for arms in groups.values()]
    notes = (
        "Budgets are those that a method asks for now; an engine lowers them where the context of "
        "the model is smaller. No stop sequences are set.",
        f"{NONE}: not on record.",
    )
    return Table(
        "settings",
        "Settings of every row",
        columns,
        tuple(rows),
        notes=notes if rows else ("This study has no attempts.",),
        paper=("tab:api-settings",),
    )


def _settings_row(arms: Sequence[Arm]) -> Row:
    first, known = arms[0], read_decoding(arms[0].decoding)
    sampling = (_setting_cell(known, name) for name in ("temperature", "top_p", "seed"))
    system = shorten(known["system"]) if known.get("system") else "none" if known else NONE
    runs = sorted({arm.runs for arm in arms})
    return row(
        model_label(first.model),
        first.name,
        ", ".join(benchmark_label(arm.benchmark) for arm in arms) or NONE,
        *sampling,
        system,
        "–".join(map(str, dict.fromkeys((runs[0], runs[-1])))),
        *_asked(first.method),
    )


def _setting_cell(known: Mapping[str, Any], name: str) -> str:
    if name not in known:
        return NONE
    return "none" if known[name] is None else str(known[name])


@cache
def _asked(method: str) -> tuple[str, str]:
    """Say how much a method asks for in each stage, and in which stages it asks for JSON."""
    try:
        calls = list(probe_calls(make(method)))
    except MethodError:
        return NONE, NONE  # a method of somebody else's
    budgets: dict[str, set[int]] = {}
    for call in calls:
        budgets.setdefault(call.stage, set()).add(call.max_tokens)
    shown = (
        f"{stage} {' or '.join(f'{n:,}' for n in sorted(tokens))}"
        for stage, tokens in budgets.items()
    )
    json_stages = dict.fromkeys(call.stage for call in calls if call.json)
    return "; ".join(shown), ", ".join(json_stages) or "none"
