"""Table of the settings of every row.

Paper: appendix Implementation Details, "API Configuration".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constraint_first.analysis.audit.settings import RowSettings, StageRequest, row_settings
from constraint_first.analysis.notation import NONE
from constraint_first.analysis.study.decoding import read_decoding
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.decoding import shorten
from constraint_first.analysis.table.table import Column, Row, Table, row

__all__ = ["settings_table"]


def settings_table(study: Study) -> Table:
    """Tabulate the decoding of each row of the other tables, and the budgets of its method."""
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Benchmarks", "left")),
        *(Column("Temperature"), Column("Top-p"), Column("Seed"), Column("System prompt", "left")),
        *(Column("Runs"), Column("Output budget, tokens", "left"), Column("JSON mode", "left")),
    )
    rows = tuple(map(_row, row_settings(study)))
    notes = (
        "Budgets are those that a method asks for now; an engine lowers them where the context of "
        "the model is smaller. No stop sequences are set.",
        "Every stage that a method may ask for is shown, its fallback among them: direct, where a "
        "first stage's reply cannot be used.",
        f"{NONE}: not on record.",
    )
    return Table(
        "settings",
        "Settings of every row",
        columns,
        rows,
        notes=notes if rows else ("This study has no attempts.",),
        paper=("tab:api-settings",),
    )


def _row(one: RowSettings) -> Row:
    known = read_decoding(one.decoding)
    sampling = (_setting(known, name) for name in ("temperature", "top_p", "seed"))
    system = shorten(known["system"]) if known.get("system") else "none" if known else NONE
    json_stages = ", ".join(request.stage for request in one.requests if request.json)
    return row(
        model_label(one.model),
        one.method,
        ", ".join(map(benchmark_label, one.benchmarks)) or NONE,
        *sampling,
        system,
        "–".join(map(str, dict.fromkeys(one.runs))),
        "; ".join(map(_budget, one.requests)) or NONE,
        json_stages or ("none" if one.requests else NONE),
    )


def _budget(request: StageRequest) -> str:
    by = f" by {' or '.join(request.models)}" if request.models else ""
    return f"{request.stage} {' or '.join(f'{tokens:,}' for tokens in request.budgets)}{by}"


def _setting(known: Mapping[str, Any], name: str) -> str:
    if name not in known:
        return NONE
    return "none" if known[name] is None else str(known[name])
